//! What any front needs to speak to the daemon: where its socket is, starting it, calls that survive
//! its upgrade, and texts of unknown origin made fit to be shown.
//!
//! - [`Link`] is the daemon over one connection after another; [`Pool`] is several of them, for a
//!   front that lives long and waits for much at once. [`Rpc`] is one connection.
//! - [`ClientError`] says why a call has no answer.
//! - [`OutputReader`] reads a terminal's output page by page.
//! - [`approval`] follows a question of the gate that other fronts may answer too.
//! - [`escape`] makes control characters visible; [`timestamp`] writes points in time.
//!
//! **Invariant:** this crate knows the daemon by its contract alone, and no front.

pub mod approval;
mod error;
pub mod escape;
mod link;
mod lock_file;
mod output_reader;
mod pool;
pub mod question;
pub mod refusal;
mod rpc;
pub mod socket_path;
mod start;
pub mod timestamp;
mod transport;
mod units;
pub mod waiting_question;

pub use error::{BadAnswer, ClientError};
pub use jsonrpsee::core::client::Subscription;
pub use link::{Introduction, Link, StartPolicy};
pub use output_reader::{Form, OutputReader, Page, gap_note};
pub use pool::Pool;
pub use rpc::{RawRequest, Request, Rpc};

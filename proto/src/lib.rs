//! The contract of termd's socket: what is said, never how it is sent.
//!
//! Newline-delimited JSON-RPC 2.0 with two kinds of namespace on one socket: ACP v1's `terminal/*`
//! ([`acp`]), to the letter, and the native API ([`terminal`], [`interact`], [`screen`], [`command`], [`search`], [`mod@file`], [`policy`],
//! [`approval`], [`audit`], [`daemon`]),
//! which `termctl` and every front of our own use. Params are named; every list takes a cursor; every
//! wait takes a timeout and returns an offset to go on from.
//!
//! **Invariant:** no I/O, no clock, no randomness in this crate, and nothing here knows SQLite,
//! tokio or a PTY.

#![warn(missing_docs)]

mod absent;
pub mod acp;
pub mod approval;
pub mod attention;
pub mod audit;
pub mod byte_count;
pub mod cells;
pub mod command;
pub mod daemon;
pub mod duration;
pub mod error;
pub mod event;
pub mod file;
pub mod glance;
pub mod hyperlink;
pub mod id;
pub mod import;
pub mod interact;
pub mod method;
pub mod palette;
pub mod paths;
pub mod policy;
pub mod recording;
pub mod screen;
pub mod search;
pub mod secret;
pub mod shell;
pub mod tag;
pub mod terminal;

pub use error::{ErrorKind, code};
pub use id::{Label, Offset, TerminalId, TerminalRef};
pub use method::Method;
pub use tag::{Tag, Tags};

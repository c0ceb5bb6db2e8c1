//! The terminal model: bytes in, a screen out. Pure.
//!
//! A [`Model`] is what xterm would show after the same bytes: both screens, scrollback, cursor,
//! modes, marks. [`feed`](Model::feed) takes text in runs and hands escape sequences to vte's state
//! machine; it cannot fail or panic, whatever the bytes, and what it keeps is bounded.
//!
//! **Invariant:** no tokio, no files, no clock in this room. It does not know what a PTY is: it
//! gives answers and events back as values ([`Fed`]).

#![warn(missing_docs)]

mod charset;
mod codec;
mod color;
mod control;
mod event;
mod grid;
mod hex;
mod model;
mod modes;
mod parser;
pub mod plain;
pub mod render;
mod screen;
mod scrollback;
mod terminal;
#[cfg(test)]
mod testing;

pub use event::{Event, Fed};
pub use grid::Size;
pub use model::Model;
pub use model::dump::DUMP_VERSION;
pub use model::snapshot::Snapshot;
pub use screen::marks::{Mark, MarkKind};
pub use scrollback::Scrollback;

//! A terminal emulator without a terminal: bytes in, a true screen and plain text out.
//!
//! A [`Model`] holds what xterm would show after the same bytes: both screens, scrollback, cursor,
//! modes and marks. [`plain::PlainText`] turns output into plain text, and [`render`] writes a
//! screen as text, ANSI or HTML.
//!
//! No function fails or panics, whatever the bytes, and the memory of each value is bounded.
//!
//! **Invariant:** no threads, no files, no clock. The model does not know what a PTY is: replies
//! and events come back as values ([`Fed`]).

#![warn(missing_docs)]

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod charset;
mod codec;
mod color;
mod control;
mod event;
mod grid;
mod hex;
mod model;
mod modes;
pub mod output;
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

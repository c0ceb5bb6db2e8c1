//! The shell that agents call, end to end: the real binaries, over the real socket.

// A test fails by panicking, and says on stderr why it was skipped.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr)]
// Expected output is built as it reads.
#![allow(clippy::format_collect)]

mod children;
mod gate;
mod in_place;
mod inherited;
mod ordinary_user;
mod output;
mod signals;
mod test_shells;
mod tty;

use test_shells::{Ended, TestShells};

//! The exit codes of this program itself, and what it may print.

use std::fmt::Display;

use thiserror::Error;

use crate::standard_fds::stderr;

/// The command was started, and its end is not known.
pub(crate) const EXIT_LOST: i32 = 125;
/// The command was not run: the gate refused it, or the real shell cannot be executed.
pub(crate) const EXIT_REFUSED: i32 = 126;
/// There is no real shell.
pub(crate) const EXIT_NOT_FOUND: i32 = 127;

/// Why a command that was started has no exit code.
#[derive(Debug, Error)]
pub(crate) enum LostError {
    #[error("the command was started, and termd cannot be reached any more")]
    Unreachable,
    #[error("the command was started, and termd does not tell its end: {0}")]
    Refused(String),
    #[error("the command was closed before its exit code was known")]
    Closed,
    #[error("cannot write the command's output: {0}")]
    Output(std::io::Error),
    #[error("cannot move the command's output through a pipe: {0}")]
    Pipe(std::io::Error),
    #[error("cannot wait for the command: {0}")]
    Poll(std::io::Error),
}

/// Prints `termd: MESSAGE`. Without a reader it is lost.
pub(crate) fn print_line(message: &impl Display) {
    print(format!("termd: {message}\n").as_bytes());
}

/// Prints what the real shell says.
pub(crate) fn print(text: &[u8]) {
    let _ = rustix::io::write(stderr(), text);
}

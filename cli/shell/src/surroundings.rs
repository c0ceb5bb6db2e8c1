//! What this process stands in, as far as the command is to have it: its standard input, output and
//! error, and its directory.

use std::os::fd::BorrowedFd;

use nix::unistd::getpgrp;
use rustix::fs::fstat;
use rustix::process::Pid;
use rustix::termios::{isatty, tcgetpgrp, tcgetwinsize};
use termd_proto::terminal::{DEFAULT_COLS, DEFAULT_ROWS};
use thiserror::Error;

use crate::standard_fds::{StandardFds, stderr, stdin, stdout};

/// Why the command cannot have in the daemon what it would have here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub(crate) enum Unfit {
    #[error("standard output or standard error is closed")]
    ClosedOutput,
    #[error("standard input, output and error are a tty in part")]
    MixedTtys,
    #[error("it is in the background of its tty")]
    BackgroundJob,
    #[error("its arguments, environment or directory are not UTF-8")]
    NotUtf8,
    #[error("its directory is removed, or out of reach")]
    NoDirectory,
    #[error("it has more open descriptors than can be passed on")]
    ManyFds,
    #[error("/proc does not show what it has")]
    NoProc,
}

/// What the command has for standard input, output and error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Surroundings {
    /// A PTY of the size of this one.
    Tty { cols: u16, rows: u16 },
    /// This process's standard input, and pipes for the output.
    Pipes {
        has_stdin: bool,
        output: OutputPipes,
    },
}

/// How many pipes the output comes by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OutputPipes {
    /// One for both, so that the order between the two is kept.
    One,
    Two,
}

impl Surroundings {
    pub(crate) fn look(fds: &StandardFds) -> Result<Self, Unfit> {
        if !fds.has(1) || !fds.has(2) {
            return Err(Unfit::ClosedOutput);
        }
        match [stdin(), stdout(), stderr()].map(isatty) {
            [true, true, true] => tty(),
            // Errors may go to a person's tty while the rest is a pipeline.
            [false, false, _] => Ok(Self::Pipes {
                has_stdin: fds.has(0),
                output: if is_same_file(stdout(), stderr()) {
                    OutputPipes::One
                } else {
                    OutputPipes::Two
                },
            }),
            _ => Err(Unfit::MixedTtys),
        }
    }
}

fn tty() -> Result<Surroundings, Unfit> {
    // Without a controlling tty there are no jobs.
    let foreground: Option<Pid> = tcgetpgrp(stdin()).ok();
    let own_group = getpgrp().as_raw();
    if foreground.is_some_and(|foreground| foreground.as_raw_pid() != own_group) {
        return Err(Unfit::BackgroundJob);
    }
    let (cols, rows) = size();
    Ok(Surroundings::Tty { cols, rows })
}

/// The size of the tty, columns first. One that has none counts as of the usual size.
pub(crate) fn size() -> (u16, u16) {
    match tcgetwinsize(stdin()) {
        Ok(size) if size.ws_col > 0 && size.ws_row > 0 => (size.ws_col, size.ws_row),
        _ => (DEFAULT_COLS, DEFAULT_ROWS),
    }
}

/// Whether both are one file. Two openings of one file count as one: written apart they would overwrite
/// each other, and the output would be lost.
fn is_same_file(first: BorrowedFd<'_>, second: BorrowedFd<'_>) -> bool {
    let identity = |fd| fstat(fd).ok().map(|file| (file.st_dev, file.st_ino));
    let first = identity(first);
    first.is_some() && first == identity(second)
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;
    use std::os::fd::AsFd;

    use super::*;

    #[test]
    fn a_file_is_the_same_however_it_was_opened() {
        let dir = tempfile::tempdir().unwrap();
        let open = |name| {
            let path = dir.path().join(name);
            let mut options = OpenOptions::new();
            options.append(true).create(true).open(path).unwrap()
        };
        let (first, again, other) = (open("a"), open("a"), open("b"));
        assert!(is_same_file(first.as_fd(), again.as_fd()));
        assert!(!is_same_file(first.as_fd(), other.as_fd()));
    }
}

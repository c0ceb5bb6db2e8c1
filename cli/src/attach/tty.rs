//! The person's tty: its size, raw mode, and the way back on every path.
//!
//! Promises: while a [`RawTty`] lives the tty is raw; when it is dropped, or the program panics,
//! the tty has the modes it had. Signals are the caller's: it must end by dropping this.

use std::io::{self, IsTerminal as _};
use std::os::fd::AsFd;
use std::sync::{Mutex, Once, PoisonError};

use rustix::termios::{OptionalActions, QueueSelector, Termios};

use super::residue::Residue;
use crate::arg_types::Size;
use crate::error::CliError;

/// The modes to go back to, for the panic hook; at the most one tty is raw at a time.
static SAVED: Mutex<Option<Termios>> = Mutex::new(None);
static HOOK: Once = Once::new();

/// The size of the terminal that standard output is, if it is one and has a size.
pub(crate) fn stdout_size() -> Option<Size> {
    let window = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
    (window.ws_col > 0 && window.ws_row > 0).then_some(Size {
        cols: window.ws_col,
        rows: window.ws_row,
    })
}

/// Whether a person is at both ends.
pub(crate) fn is_interactive() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// Raw mode on standard input's tty, for as long as this lives.
#[derive(Debug)]
pub(crate) struct RawTty(());

impl RawTty {
    /// Switches raw mode on.
    pub(crate) fn enter() -> Result<Self, CliError> {
        let cannot =
            |error: rustix::io::Errno| CliError::Io("cannot set the tty's modes", error.into());
        let stdin = io::stdin();
        let before = rustix::termios::tcgetattr(&stdin).map_err(cannot)?;
        let mut raw = before.clone();
        raw.make_raw();
        *SAVED.lock().unwrap_or_else(PoisonError::into_inner) = Some(before);
        HOOK.call_once(|| {
            let next = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |panic| {
                if restore() {
                    // No lock: the thread that panics may hold it.
                    let _ = rustix::io::write(io::stdout().as_fd(), &Residue::default().reset());
                }
                next(panic);
            }));
        });
        let tty = Self(());
        rustix::termios::tcsetattr(&stdin, OptionalActions::Now, &raw).map_err(cannot)?;
        Ok(tty)
    }
}

impl Drop for RawTty {
    fn drop(&mut self) {
        restore();
    }
}

/// Sets the saved modes, if there are any; whether there were.
fn restore() -> bool {
    let saved = SAVED.lock().unwrap_or_else(PoisonError::into_inner).take();
    let Some(saved) = saved else {
        return false;
    };
    let stdin = io::stdin();
    // What is typed ahead, a terminal's late answers among it, was not meant for the shell.
    let _ = rustix::termios::tcflush(&stdin, QueueSelector::IFlush);
    let _ = rustix::termios::tcsetattr(&stdin, OptionalActions::Now, &saved);
    true
}

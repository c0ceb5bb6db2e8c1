//! The person's tty: its size, and raw mode.
//!
//! The tty is raw while a [`RawTty`] lives. It gets its modes back on drop and on a panic. The caller
//! must catch signals and drop the [`RawTty`].

use std::io::{self, IsTerminal as _};
use std::os::fd::AsFd;
use std::sync::{Mutex, Once, PoisonError};

use rustix::termios::{OptionalActions, QueueSelector, Termios};

use super::undo::undo_all;
use crate::arg_types::Size;
use crate::error::CliError;

/// The modes to restore, also by the panic hook. Only one tty is raw at a time.
static SAVED: Mutex<Option<Termios>> = Mutex::new(None);
static HOOK: Once = Once::new();

/// The size of standard output's tty, if it is a tty and has a size.
pub(crate) fn stdout_size() -> Option<Size> {
    let window = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
    (window.ws_col > 0 && window.ws_row > 0).then_some(Size {
        cols: window.ws_col,
        rows: window.ws_row,
    })
}

/// Whether standard input and standard output are ttys.
pub(crate) fn is_interactive() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// Raw mode of standard input's tty.
#[derive(Debug)]
pub(crate) struct RawTty(());

impl RawTty {
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
                    // Without the lock of `Stdout`, which the panicking thread may hold.
                    let _ = rustix::io::write(io::stdout().as_fd(), &undo_all());
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

/// Restores the saved modes. Returns whether there were any.
fn restore() -> bool {
    let saved = SAVED.lock().unwrap_or_else(PoisonError::into_inner).take();
    let Some(saved) = saved else {
        return false;
    };
    let stdin = io::stdin();
    // Unread input, such as the tty's late answers, is not for the shell.
    let _ = rustix::termios::tcflush(&stdin, QueueSelector::IFlush);
    let _ = rustix::termios::tcsetattr(&stdin, OptionalActions::Now, &saved);
    true
}

//! The person's tty: its size, and its modes.
//!
//! The tty is raw, or does not echo, while a [`ChangedTty`] lives. It gets its modes back on drop and on a
//! panic. The caller must catch signals and drop the [`ChangedTty`].

use std::io::{self, IsTerminal as _};
use std::os::fd::AsFd;
use std::sync::{Mutex, Once, PoisonError};

use rustix::termios::{LocalModes, OptionalActions, QueueSelector, Termios};

use super::undo::undo_all;
use crate::arg_types::Size;
use crate::error::CliError;

/// The modes to restore, also by the panic hook. Only one tty is changed at a time.
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

/// Standard input's tty in other modes than its own.
#[derive(Debug)]
pub(crate) struct ChangedTty(());

impl ChangedTty {
    /// Raw mode.
    pub(crate) fn raw() -> Result<Self, CliError> {
        Self::change(Termios::make_raw)
    }

    /// Typed lines are not shown, but for their ends.
    pub(crate) fn without_echo() -> Result<Self, CliError> {
        Self::change(|modes| {
            modes.local_modes.remove(LocalModes::ECHO);
            modes.local_modes.insert(LocalModes::ECHONL);
        })
    }

    /// Raw mode once more, where another process may have set others meanwhile.
    pub(crate) fn renew_raw() -> Result<(), CliError> {
        let cannot =
            |error: rustix::io::Errno| CliError::Io("cannot set the tty's modes", error.into());
        let stdin = io::stdin();
        let mut modes = rustix::termios::tcgetattr(&stdin).map_err(cannot)?;
        modes.make_raw();
        rustix::termios::tcsetattr(&stdin, OptionalActions::Now, &modes).map_err(cannot)
    }

    fn change(change: impl FnOnce(&mut Termios)) -> Result<Self, CliError> {
        let cannot =
            |error: rustix::io::Errno| CliError::Io("cannot set the tty's modes", error.into());
        let stdin = io::stdin();
        let before = rustix::termios::tcgetattr(&stdin).map_err(cannot)?;
        let mut modes = before.clone();
        change(&mut modes);
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
        rustix::termios::tcsetattr(&stdin, OptionalActions::Now, &modes).map_err(cannot)?;
        Ok(tty)
    }
}

impl Drop for ChangedTty {
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

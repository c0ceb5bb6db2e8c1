//! The tty's settings, asked and changed on the master's descriptor: there they are the other
//! side's (`tty_ioctl(4)`).
//!
//! **Hiding a forced secret.** A tty that reads lines and shows them would put the secret into the
//! transcript. So ECHO is cleared, the secret written, and ECHO set again once the tty has taken the
//! bytes: the kernel passes them on by a worker, which poll(2) on the other side waits for. What is
//! left of a race is that a program which saves and changes the settings in these microseconds saves
//! them without ECHO. It is only run into by somebody who forces a secret upon a program that has not
//! asked for one.

use std::os::fd::OwnedFd;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pty::{OpenptFlags, ioctl_tiocgptpeer};
use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};

use crate::terminal::handle::LineDiscipline;

/// No waiting: only what is there.
const AT_ONCE: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 0,
};

/// How the tty reads; `None` where it cannot say.
pub(crate) fn line_discipline(master: &OwnedFd) -> Option<LineDiscipline> {
    let termios = tcgetattr(master).ok()?;
    Some(LineDiscipline {
        echo: termios.local_modes.contains(LocalModes::ECHO),
        canonical: termios.local_modes.contains(LocalModes::ICANON),
    })
}

/// Whether the tty reads lines.
pub(crate) fn is_canonical(master: &OwnedFd) -> bool {
    line_discipline(master).is_some_and(|tty| tty.canonical)
}

/// A tty that does not show what it reads for a while.
#[derive(Debug)]
pub(crate) struct HiddenEcho(LocalModes);

impl HiddenEcho {
    /// Clears ECHO where the tty reads lines and shows them; `None`: there was nothing to hide.
    pub(crate) fn begin(master: &OwnedFd) -> Option<Self> {
        let mut termios = tcgetattr(master).ok()?;
        let shown = LocalModes::ICANON | LocalModes::ECHO;
        if !termios.local_modes.contains(shown) {
            return None;
        }
        termios.local_modes.remove(LocalModes::ECHO);
        tcsetattr(master, OptionalActions::Now, &termios).ok()?;
        Some(Self(LocalModes::ECHO))
    }

    /// Sets ECHO again, once the tty has what was written; not where the program has taken the tty
    /// over meanwhile.
    pub(crate) fn end(self, master: &OwnedFd) {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        if let Ok(other_side) = ioctl_tiocgptpeer(master, flags) {
            // It is the kernel's worker that is waited for, not input.
            let _ = poll(
                &mut [PollFd::new(&other_side, PollFlags::IN)],
                Some(&AT_ONCE),
            );
        }
        if let Ok(mut termios) = tcgetattr(master)
            && termios.local_modes.contains(LocalModes::ICANON)
        {
            termios.local_modes.insert(self.0);
            // Nothing to be done where it fails: the other side is gone.
            let _ = tcsetattr(master, OptionalActions::Now, &termios);
        }
    }
}

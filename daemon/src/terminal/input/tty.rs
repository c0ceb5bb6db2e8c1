//! The tty's settings, read and changed on the master's descriptor, where they are the other side's
//! (`tty_ioctl(4)`).
//!
//! **Hiding a forced secret.** A tty that reads lines and echoes them would put the secret into the
//! transcript. So ECHO is cleared, the secret written, and ECHO set again once the tty has taken the
//! bytes: a kernel worker passes them on, and poll(2) on the other side waits for that worker. One
//! race is left: a program that saves and changes the settings in these microseconds saves them
//! without ECHO. It takes a secret that is forced upon a program that has not asked for one.

use std::os::fd::OwnedFd;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pty::{OpenptFlags, ioctl_tiocgptpeer};
use rustix::termios::{
    LocalModes, OptionalActions, OutputModes, SpecialCodeIndex, tcgetattr, tcgetpgrp, tcsetattr,
};

/// How a tty takes input (termios(3)).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineDiscipline {
    /// ECHO.
    pub echo: bool,
    /// ICANON.
    pub canonical: bool,
    /// ISIG or OPOST is off, as cfmakeraw(3) leaves them: of a program that passes everything on (ssh,
    /// sudo, `docker run`). Line editors leave both on.
    pub raw: bool,
}

impl LineDiscipline {
    /// Whether a line is read and not echoed: what getpass(3), `read -s` and sudo(8) set for a secret.
    pub fn awaits_secret(self) -> bool {
        self.canonical && !self.echo
    }
}

/// How the tty reads; `None` where it cannot say.
pub(crate) fn line_discipline(master: &OwnedFd) -> Option<LineDiscipline> {
    let termios = tcgetattr(master).ok()?;
    let (local, output) = (termios.local_modes, termios.output_modes);
    Some(LineDiscipline {
        echo: local.contains(LocalModes::ECHO),
        canonical: local.contains(LocalModes::ICANON),
        raw: !(local.contains(LocalModes::ISIG) && output.contains(OutputModes::OPOST)),
    })
}

pub(crate) fn is_canonical(master: &OwnedFd) -> bool {
    line_discipline(master).is_some_and(|tty| tty.canonical)
}

/// Whether output waits to be read. The poll waits for the kernel's worker, which may have some on its
/// way.
pub(crate) fn has_output(master: &OwnedFd) -> bool {
    let mut fds = [PollFd::new(master, PollFlags::IN)];
    let is_ready = poll(&mut fds, Some(&Timespec::default()));
    is_ready.is_ok() && fds[0].revents().contains(PollFlags::IN)
}

/// The foreground process group; `None` where there is none.
pub(crate) fn foreground_group(master: &OwnedFd) -> Option<i32> {
    let group = tcgetpgrp(master).ok()?;
    Some(group.as_raw_nonzero().get())
}

/// The character that ends input; `None` where the tty has none (`_POSIX_VDISABLE`, 0).
pub(crate) fn end_of_file_character(master: &OwnedFd) -> Option<u8> {
    let character = tcgetattr(master).ok()?.special_codes[SpecialCodeIndex::VEOF];
    (character != 0).then_some(character)
}

/// A tty whose echo is off for a while; holds the modes to set again.
#[derive(Debug)]
pub(crate) struct HiddenEcho(LocalModes);

impl HiddenEcho {
    /// Clears ECHO where the tty reads lines and echoes them; `None` where there is nothing to hide.
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

    /// Sets ECHO again once the tty has what was written, unless the program has taken the tty over.
    pub(crate) fn end(self, master: &OwnedFd) {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        if let Ok(other_side) = ioctl_tiocgptpeer(master, flags) {
            // The poll waits for the kernel's worker, not for input.
            let mut fds = [PollFd::new(&other_side, PollFlags::IN)];
            let _ = poll(&mut fds, Some(&Timespec::default()));
        }
        if let Ok(mut termios) = tcgetattr(master)
            && termios.local_modes.contains(LocalModes::ICANON)
        {
            termios.local_modes.insert(self.0);
            // This fails where the other side is gone.
            let _ = tcsetattr(master, OptionalActions::Now, &termios);
        }
    }
}

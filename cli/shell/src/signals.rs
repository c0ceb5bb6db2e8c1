//! Signals to this process, which go to the command.

use std::os::fd::{AsFd, BorrowedFd};

use nix::errno::Errno;
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use termd_proto::terminal::Inherited;

/// Those that are passed on. SIGWINCH is the size of the tty.
const PASSED_ON: [Signal; 10] = [
    Signal::SIGHUP,
    Signal::SIGINT,
    Signal::SIGQUIT,
    Signal::SIGTERM,
    Signal::SIGUSR1,
    Signal::SIGUSR2,
    Signal::SIGALRM,
    Signal::SIGCONT,
    Signal::SIGTSTP,
    Signal::SIGWINCH,
];
/// Of those, the signals that end a command that has not been started.
const ENDING: [Signal; 4] = [
    Signal::SIGHUP,
    Signal::SIGINT,
    Signal::SIGQUIT,
    Signal::SIGTERM,
];
/// What shells add to the number of the signal that has ended a command.
const SIGNAL_EXIT_BASE: i32 = 128;

/// Signals as a descriptor. From then on they do nothing else, up to the exit: this process never dies by
/// one that comes late.
#[derive(Debug)]
pub(crate) struct Signals {
    fd: SignalFd,
    before: SigSet,
}

impl Signals {
    /// Takes all signals but those that the command ignores or has blocked: they would not reach it.
    pub(crate) fn take(inherited: &Inherited) -> Result<Self, Errno> {
        let unreachable = [&inherited.ignored_signals, &inherited.blocked_signals];
        let is_unreachable =
            |signal: Signal| unreachable.iter().any(|set| set.contains(&(signal as i32)));
        let taken = PASSED_ON.into_iter();
        let taken: SigSet = taken.filter(|signal| !is_unreachable(*signal)).collect();
        let before = SigSet::thread_get_mask()?;
        let flags = SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK;
        let signals = Self {
            fd: SignalFd::with_flags(&taken, flags)?,
            before,
        };
        let mut blocked = taken;
        // A reader of the output that has gone shows as EPIPE.
        blocked.add(Signal::SIGPIPE);
        blocked.thread_block()?;
        Ok(signals)
    }

    /// The next signal that has come.
    pub(crate) fn next(&self) -> Option<Signal> {
        let info = self.fd.read_signal().ok()??;
        let number = i32::try_from(info.ssi_signo).ok()?;
        Signal::try_from(number).ok()
    }

    /// A signal that has come and ends a command. Others that have come are dropped.
    pub(crate) fn next_ending(&self) -> Option<Signal> {
        std::iter::from_fn(|| self.next()).find(|signal| ENDING.contains(signal))
    }

    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    /// Gives the signals back, for the program that takes this one's place. Those that have come do what
    /// they do by default.
    pub(crate) fn give_back(self) {
        // It cannot fail: the mask came from the kernel.
        let _ = self.before.thread_set_mask();
    }
}

/// The exit code for a command that this signal has ended.
pub(crate) fn exit_code_of(signal: Signal) -> i32 {
    SIGNAL_EXIT_BASE + signal as i32
}

/// The same, by the signal's name on the wire; a name that is none counts as SIGKILL.
pub(crate) fn exit_code_by_name(name: &str) -> i32 {
    let known = name.parse::<Signal>().ok().map(|signal| signal as i32);
    let real_time = || {
        let beyond: i32 = name.strip_prefix("SIGRTMIN+")?.parse().ok()?;
        Some(nix::libc::SIGRTMIN() + beyond)
    };
    let number = known.or_else(real_time);
    SIGNAL_EXIT_BASE + number.unwrap_or(Signal::SIGKILL as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes_are_those_of_shells() {
        for (name, code) in [
            ("SIGTERM", 143),
            ("SIGKILL", 137),
            ("SIGRTMIN+3", 165),
            ("SIGNONE", 137),
        ] {
            assert_eq!(exit_code_by_name(name), code, "{name}");
        }
    }
}

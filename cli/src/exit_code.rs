//! Exit codes, and the code for a command's end.
//!
//! Pure. docs/termctl.md and `termctl --help` have the same table.

use std::num::NonZeroU8;

use crate::signal_number;
use termd_proto::terminal::ExitStatus;

/// termctl's exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ExitCode(pub(crate) u8);

impl ExitCode {
    pub(crate) const OK: Self = Self(0);
    pub(crate) const FAILED: Self = Self(1);
    /// The arguments do not make sense.
    pub(crate) const USAGE: Self = Self(2);
    /// No such terminal, or more than one.
    pub(crate) const NO_TERMINAL: Self = Self(3);
    /// The daemon cannot be reached or started.
    pub(crate) const UNREACHABLE: Self = Self(4);
    /// The journal has nothing to compare the audit with.
    pub(crate) const NO_ANCHORS: Self = Self(5);
    /// A timeout ran out, as of timeout(1).
    pub(crate) const TIMED_OUT: Self = Self(124);
    /// termctl or the daemon could not do it, in a verb that passes on a command's code.
    pub(crate) const OWN_FAILURE: Self = Self(125);
    /// The command cannot be executed, or the gate refused it.
    pub(crate) const NOT_EXECUTABLE: Self = Self(126);
    /// There is no such command.
    pub(crate) const NOT_FOUND: Self = Self(127);
    /// Standard output was closed; a shell shows this code for SIGPIPE.
    pub(crate) const PIPE: Self = Self(141);

    /// The code that a shell shows for a process that signal `number` ended.
    pub(crate) const fn of_signal(number: NonZeroU8) -> Self {
        Self(number.get().saturating_add(128))
    }

    /// The code that a shell shows for a command's end.
    pub(crate) fn of_command(status: &ExitStatus) -> Self {
        match (&status.signal, status.exit_code) {
            (Some(name), _) => signal_number::number(name).map_or(Self(128), Self::of_signal),
            (None, Some(code)) => u8::try_from(code).map_or(Self(u8::MAX), Self),
            (None, None) => Self::FAILED,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_s_end_as_a_shell_shows_it() {
        let table = [
            (Some(0), None, 0),
            (Some(3), None, 3),
            (Some(255), None, 255),
            (None, Some("SIGHUP"), 129),
            (None, Some("SIGINT"), 130),
            (None, Some("SIGKILL"), 137),
            (None, Some("SIGSEGV"), 139),
            (None, Some("SIGTERM"), 143),
            (None, Some("SIGSYS"), 159),
            (None, Some("SIGRTMIN+1"), 163),
            (None, Some("40"), 168),
            (None, Some("SIGNOVEL"), 128),
        ];
        for (exit_code, signal, want) in table {
            let status = ExitStatus {
                exit_code,
                signal: signal.map(str::to_owned),
            };
            assert_eq!(ExitCode::of_command(&status), ExitCode(want), "{status:?}");
        }
    }
}

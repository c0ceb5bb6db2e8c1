//! Which limit of a process an exit shows. Pure.
//!
//! The kernel tells of two by a signal of their own: SIGXCPU at the soft limit of `RLIMIT_CPU`,
//! SIGXFSZ at `RLIMIT_FSIZE` (setrlimit(2)). A shell whose program was hit passes it on as 128 and
//! the signal's number. What ignores SIGXCPU is killed a second later, and looks like anything
//! else that was. It must not know terminals, or who is told.

use nix::libc::{SIGXCPU, SIGXFSZ};
use termd_proto::terminal::{Confinement, EndCause, ExitStatus};

use super::record::signal_name;

/// What a shell adds to the number of the signal that ended its program (POSIX, 2.8.2).
const SHELLS_BASE: i32 = 128;

/// The limit that this exit shows, and its value in milliseconds or bytes. None where no such limit
/// holds: then somebody else sent the signal.
pub(super) fn limit_shown(
    status: &ExitStatus,
    held_to: Option<&Confinement>,
) -> Option<(EndCause, u64)> {
    let held_to = held_to?;
    let limits = [
        (SIGXCPU, EndCause::CpuTime, held_to.cpu_time_ms),
        (SIGXFSZ, EndCause::FileBytes, held_to.file_bytes),
    ];
    limits.into_iter().find_map(|(signal, cause, limit)| {
        let by_signal = status
            .signal
            .as_ref()
            .is_some_and(|name| *name == signal_name(signal));
        let code = status.exit_code.and_then(|code| i32::try_from(code).ok());
        let by_shell = code == Some(SHELLS_BASE + signal);
        limit
            .filter(|_| by_signal || by_shell)
            .map(|limit| (cause, limit))
    })
}

/// The same of a command line in a shell.
pub(super) fn limit_of_command(
    exit_code: i32,
    held_to: Option<&Confinement>,
) -> Option<(EndCause, u64)> {
    let status = ExitStatus {
        exit_code: u32::try_from(exit_code).ok(),
        signal: None,
    };
    limit_shown(&status, held_to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exit_shows_the_limit_that_holds() {
        let held_to = Confinement {
            cpu_time_ms: Some(1_000),
            file_bytes: Some(4_096),
            ..Confinement::default()
        };
        let cpu_alone = Confinement {
            file_bytes: None,
            ..held_to.clone()
        };
        let cpu = Some((EndCause::CpuTime, 1_000));
        let file = Some((EndCause::FileBytes, 4_096));
        for (code, signal, held_to, expected) in [
            (None, Some("SIGXCPU"), Some(&held_to), cpu),
            (None, Some("SIGXFSZ"), Some(&held_to), file),
            (Some(152), None, Some(&held_to), cpu),
            (Some(153), None, Some(&held_to), file),
            (None, Some("SIGXFSZ"), Some(&cpu_alone), None),
            (None, Some("SIGXCPU"), None, None),
            (None, Some("SIGKILL"), Some(&held_to), None),
            (Some(24), None, Some(&held_to), None),
            (Some(0), None, Some(&held_to), None),
            (Some(u32::MAX), None, Some(&held_to), None),
            (None, None, Some(&held_to), None),
        ] {
            let status = ExitStatus {
                exit_code: code,
                signal: signal.map(str::to_owned),
            };
            assert_eq!(limit_shown(&status, held_to), expected, "{status:?}");
        }
        assert_eq!(limit_of_command(152, Some(&held_to)), cpu);
        assert_eq!(limit_of_command(-1, Some(&held_to)), None);
    }
}

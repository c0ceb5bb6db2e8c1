//! The limit of a process that an exit shows. Pure.
//!
//! The kernel signals two limits: SIGXCPU at the soft limit of `RLIMIT_CPU`, SIGXFSZ at `RLIMIT_FSIZE`
//! (setrlimit(2)). A shell passes its program's signal on as 128 plus the signal's number. A program
//! that ignores SIGXCPU is killed a second later, which the keeper tells from other kills.

use nix::libc::{SIGXCPU, SIGXFSZ};
use termd_proto::terminal::{Confinement, EndCause};

use termd_keeper::protocol::message::WaitStatus;

/// A shell's exit code for a program that a signal ended is this plus the signal's number (POSIX,
/// 2.8.2).
const SIGNAL_EXIT_BASE: i32 = 128;

/// The limit that an exit shows, and its value in milliseconds or bytes; `None` where no such limit
/// was set, and somebody sent the signal.
pub(crate) fn limit_shown(
    status: WaitStatus,
    held_to: Option<&Confinement>,
) -> Option<(EndCause, u64)> {
    let held_to = held_to?;
    let cpu_time = (EndCause::CpuTime, held_to.cpu_time_ms);
    let file_bytes = (EndCause::FileBytes, held_to.file_bytes);
    let (cause, limit) = match status {
        WaitStatus::CpuTimeUp => cpu_time,
        WaitStatus::Signaled(signal) => one_of_two(signal, cpu_time, file_bytes)?,
        WaitStatus::Exited(code) => {
            one_of_two(code.checked_sub(SIGNAL_EXIT_BASE)?, cpu_time, file_bytes)?
        }
    };
    limit.map(|limit| (cause, limit))
}

/// The limit that the exit code of a command in a shell shows.
pub(crate) fn limit_of_command(
    exit_code: i32,
    held_to: Option<&Confinement>,
) -> Option<(EndCause, u64)> {
    limit_shown(WaitStatus::Exited(exit_code), held_to)
}

fn one_of_two<T>(signal: i32, cpu_time: T, file_bytes: T) -> Option<T> {
    match signal {
        SIGXCPU => Some(cpu_time),
        SIGXFSZ => Some(file_bytes),
        _ => None,
    }
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
        let (exited, signaled) = (WaitStatus::Exited, WaitStatus::Signaled);
        for (status, held_to, expected) in [
            (signaled(SIGXCPU), Some(&held_to), cpu),
            (signaled(SIGXFSZ), Some(&held_to), file),
            (WaitStatus::CpuTimeUp, Some(&held_to), cpu),
            (exited(152), Some(&held_to), cpu),
            (exited(153), Some(&held_to), file),
            (signaled(SIGXFSZ), Some(&cpu_alone), None),
            (signaled(SIGXCPU), None, None),
            (WaitStatus::CpuTimeUp, None, None),
            (signaled(9), Some(&held_to), None),
            (exited(24), Some(&held_to), None),
            (exited(0), Some(&held_to), None),
            (exited(i32::MIN), Some(&held_to), None),
        ] {
            assert_eq!(limit_shown(status, held_to), expected, "{status:?}");
        }
        assert_eq!(limit_of_command(152, Some(&held_to)), cpu);
        assert_eq!(limit_of_command(-1, Some(&held_to)), None);
    }
}

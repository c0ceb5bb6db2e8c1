//! Exit statuses and signals, as the wire names them.

use termd_keeper::protocol::message::WaitStatus;
use termd_proto::terminal::ExitStatus;

/// The exit status on the wire.
pub fn exit_status(status: WaitStatus) -> ExitStatus {
    match status {
        WaitStatus::Exited(code) => ExitStatus {
            exit_code: Some(u32::try_from(code).unwrap_or(u32::MAX)),
            signal: None,
        },
        WaitStatus::Signaled(signal) => by_signal(signal),
        WaitStatus::CpuTimeUp => by_signal(nix::libc::SIGKILL),
    }
}

fn by_signal(signal: i32) -> ExitStatus {
    ExitStatus {
        exit_code: None,
        signal: Some(signal_name(signal)),
    }
}

/// A signal's name, such as `SIGTERM` or `SIGRTMIN+3`.
pub fn signal_name(signal: i32) -> String {
    match nix::sys::signal::Signal::try_from(signal) {
        Ok(known) => known.as_str().to_owned(),
        Err(_) => format!("SIGRTMIN+{}", signal - nix::libc::SIGRTMIN()),
    }
}

/// A signal's number from its name (`SIGTERM` or `TERM`, in any case) or from its number.
pub fn signal_number(name: &str) -> Option<i32> {
    let upper = name.to_ascii_uppercase();
    let full = if upper.starts_with("SIG") {
        upper
    } else {
        format!("SIG{upper}")
    };
    let by_name = full
        .parse::<nix::sys::signal::Signal>()
        .ok()
        .map(|signal| signal as i32);
    let by_number = || {
        name.parse()
            .ok()
            .filter(|n| (1..=nix::libc::SIGRTMAX()).contains(n))
    };
    by_name.or_else(by_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_have_their_posix_names() {
        assert_eq!(signal_name(15), "SIGTERM");
        assert_eq!(signal_name(nix::libc::SIGRTMIN() + 3), "SIGRTMIN+3");
        let table = [
            ("SIGINT", Some(2)),
            ("int", Some(2)),
            ("9", Some(9)),
            ("0", None),
            ("X", None),
        ];
        for (name, number) in table {
            assert_eq!(signal_number(name), number, "{name}");
        }
    }

    #[test]
    fn exactly_one_of_code_and_signal_is_set() {
        let exited = exit_status(WaitStatus::Exited(3));
        assert_eq!((exited.exit_code, exited.signal), (Some(3), None));
        let killed = exit_status(WaitStatus::Signaled(9));
        assert_eq!(
            (killed.exit_code, killed.signal.as_deref()),
            (None, Some("SIGKILL"))
        );
    }
}

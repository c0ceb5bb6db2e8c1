//! waitid(2): which child has ended, and reaping it.
//!
//! The keeper looks at an ended child before it reaps it. Until then the child's pid is its own, and
//! the keeper can act on it.
#![allow(unsafe_code)] // waitid(2) itself: nix knows no real-time signals, rustix returns no pid.

use nix::libc;

use crate::protocol::message::WaitStatus;

/// A child that has ended and is not reaped.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ended {
    pub(crate) pid: i32,
    pub(crate) status: WaitStatus,
}

/// Any ended child, left unreaped.
pub(crate) fn next_ended() -> Option<Ended> {
    wait(libc::P_ALL, 0, libc::WNOHANG | libc::WNOWAIT)
}

/// Reaps a child that has ended or is about to; waits for its end.
pub(crate) fn reap(pid: i32) {
    wait(libc::P_PID, pid.cast_unsigned(), 0);
}

fn wait(kind: libc::idtype_t, id: libc::id_t, flags: i32) -> Option<Ended> {
    loop {
        // SAFETY: an all-zero siginfo_t is valid: it holds integers and unions of them.
        let mut info = unsafe { std::mem::zeroed::<libc::siginfo_t>() };
        // SAFETY: `info` is writable and of the right type.
        let waited = unsafe { libc::waitid(kind, id, &raw mut info, libc::WEXITED | flags) };
        if waited == -1 {
            if std::io::Error::last_os_error().kind() == std::io::ErrorKind::Interrupted {
                continue;
            }
            return None;
        }
        // SAFETY: waitid filled in a SIGCHLD siginfo, or left it zero where no child has ended.
        let (pid, value) = unsafe { (info.si_pid(), info.si_status()) };
        if pid == 0 {
            return None;
        }
        let status = if info.si_code == libc::CLD_EXITED {
            WaitStatus::Exited(value)
        } else {
            WaitStatus::Signaled(value)
        };
        return Some(Ended { pid, status });
    }
}

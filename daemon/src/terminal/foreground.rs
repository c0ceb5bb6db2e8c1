//! Which program a terminal's keys go to: the leader of the tty's foreground process group.

use nix::libc::pid_t;

/// The program that reads what is typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForegroundProcess {
    /// Its process id, which is its group's too.
    pub pid: pid_t,
    /// Its name, of which the kernel keeps 15 bytes (`proc_pid_comm(5)`).
    pub program: String,
}

impl ForegroundProcess {
    /// The process of this id, if it is there.
    pub(super) fn of(pid: pid_t) -> Option<Self> {
        let comm = std::fs::read(format!("/proc/{pid}/comm")).ok()?;
        let program = String::from_utf8_lossy(&comm).trim_end().to_owned();
        Some(Self { pid, program })
    }
}

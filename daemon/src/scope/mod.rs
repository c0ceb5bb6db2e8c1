//! Transient scopes of the user's systemd: a cgroup for one command, with limits on all of it
//! together.
//!
//! [`enclose`] puts a process that already is there (held before its exec) into a new scope, waits
//! until systemd has done so, and believes only what the cgroup's own files say. It is bounded by
//! [`LONGEST_ENCLOSING`]. [`Cgroup`] is a scope that stands: its directory, and how many of its
//! processes the kernel has killed for memory.
//!
//! It must not know terminals, profiles and the keeper.

mod cgroup;
mod manager;

use std::time::Duration;

use termd_proto::TerminalId;
use termd_proto::terminal::ScopeLimits;
use thiserror::Error;

pub use cgroup::{Cgroup, MemoryEvents};

/// From the first word to systemd to its last; a manager that is busy for longer is taken for one
/// that does not answer. Well below [`termd_keeper::protocol::exec_gate::LONGEST_HOLD`].
pub const LONGEST_ENCLOSING: Duration = Duration::from_secs(8);

/// The slice that holds all terminals' scopes, beneath `app.slice` as systemd's own advice is
/// (`systemd.special(7)`).
pub const SLICE: &str = "app-termd.slice";

/// One limit of a scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScopeWall {
    /// `MemoryMax=`, with no swap beside it.
    Memory,
    /// `CPUQuota=`.
    Cpu,
    /// `TasksMax=`.
    Tasks,
    /// `IOWeight=`.
    IoWeight,
}

impl ScopeWall {
    /// Its name in answers and records; never changed.
    pub fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory_max",
            Self::Cpu => "cpu_quota",
            Self::Tasks => "tasks_max",
            Self::IoWeight => "io_weight",
        }
    }

    /// Those that these limits ask for.
    pub fn asked(limits: &ScopeLimits) -> Vec<Self> {
        let all = [
            (Self::Memory, limits.memory_bytes.is_some()),
            (Self::Cpu, limits.cpu_percent.is_some()),
            (Self::Tasks, limits.tasks.is_some()),
            (Self::IoWeight, limits.io_weight.is_some()),
        ];
        let asked = all.into_iter().filter(|(_, asked)| *asked);
        asked.map(|(wall, _)| wall).collect()
    }
}

/// Why there is no scope.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ScopeError {
    /// The user's D-Bus or systemd cannot be reached.
    #[error("no systemd user manager is reached: {0}")]
    NoManager(String),
    /// systemd does not make it.
    #[error("systemd makes no scope: {0}")]
    Refused(String),
    /// systemd has not answered in time.
    #[error("systemd has not made the scope within {} s", LONGEST_ENCLOSING.as_secs())]
    TimedOut,
    /// systemd says that it is done, and the process is somewhere else.
    #[error("the command is not in its scope but in {0}")]
    NotInside(String),
}

/// A process in a scope of its own.
#[derive(Debug)]
pub struct Enclosed {
    /// Where.
    pub cgroup: Cgroup,
    /// What holds, by the cgroup's own files.
    pub held: Vec<ScopeWall>,
    /// What was asked for and does not, and why.
    pub missing: Vec<(ScopeWall, String)>,
}

/// The name of a terminal's scope.
pub fn unit_name(id: &TerminalId) -> String {
    format!("termd-{id}.scope")
}

/// Puts a process into a new scope with these limits.
pub async fn enclose(
    id: &TerminalId,
    pid: i32,
    limits: &ScopeLimits,
) -> Result<Enclosed, ScopeError> {
    let unit = unit_name(id);
    let made = manager::start_scope(&unit, pid, limits);
    let made = tokio::time::timeout(LONGEST_ENCLOSING, made);
    made.await.map_err(|_| ScopeError::TimedOut)??;
    let cgroup = Cgroup::of(pid, id)?;
    let (mut held, mut missing) = (Vec::new(), Vec::new());
    for wall in ScopeWall::asked(limits) {
        match cgroup.holds(wall, limits) {
            Ok(()) => held.push(wall),
            Err(why) => missing.push((wall, why)),
        }
    }
    Ok(Enclosed {
        cgroup,
        held,
        missing,
    })
}

/// Which unit this daemon runs as, where it is one of the user's services.
fn own_service() -> Option<String> {
    let listed = std::fs::read_to_string("/proc/self/cgroup").ok()?;
    users_service(cgroup::path_in(&listed)?).map(str::to_owned)
}

/// The user's service that this is the cgroup of. A system service's name means nothing to the
/// user's manager.
fn users_service(cgroup: &str) -> Option<&str> {
    let (above, name) = cgroup.rsplit_once('/')?;
    let is_users = above.contains("/user@") && name.ends_with(".service");
    is_users.then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_service_of_the_user_is_bound_to() {
        let user = "/user.slice/user-1000.slice/user@1000.service";
        let table = [
            (
                format!("{user}/app.slice/termd.service"),
                Some("termd.service"),
            ),
            (format!("{user}/app.slice/run-1.scope"), None),
            (user.to_owned(), None),
            ("/system.slice/cron.service".to_owned(), None),
            (
                "/user.slice/user-1000.slice/session-3.scope".to_owned(),
                None,
            ),
            ("/".to_owned(), None),
        ];
        for (cgroup, expected) in table {
            assert_eq!(users_service(&cgroup), expected, "{cgroup}");
        }
    }

    #[test]
    fn what_is_asked_for_has_a_name() {
        let limits = ScopeLimits {
            memory_bytes: Some(1),
            io_weight: Some(50),
            ..ScopeLimits::default()
        };
        let names: Vec<&str> = ScopeWall::asked(&limits)
            .into_iter()
            .map(ScopeWall::name)
            .collect();
        assert_eq!(names, ["memory_max", "io_weight"]);
        assert!(ScopeWall::asked(&ScopeLimits::default()).is_empty());
        let id = TerminalId::from_random(3);
        assert_eq!(unit_name(&id), format!("termd-{id}.scope"));
    }
}

//! A cgroup for one command, with limits on all of its processes together: the keeper's, where systemd
//! has delegated one to the daemon, or else a transient scope of the user's systemd.
//!
//! [`enclose`] sets limits in the cgroup that a process was born in. Otherwise it moves a process that is
//! paused before its exec into a new scope, and waits for systemd at most [`MAX_SCOPE_START`]. It reads
//! from the cgroup's own files which limits are in force. A [`Cgroup`] is the directory of a cgroup that
//! exists, and counts the processes that the kernel has killed in it for memory.
//!
//! It must not know terminals, profiles and the keeper.

mod cgroup;
mod manager;

use std::time::Duration;

use termd_proto::TerminalId;
use termd_proto::terminal::ScopeLimits;
use thiserror::Error;

pub use cgroup::{Cgroup, MemoryEvents};

/// The limit on starting a scope. A manager that is busy for longer counts as one that does not
/// answer. Well below [`termd_keeper::protocol::exec_gate::MAX_EXEC_PAUSE`].
pub const MAX_SCOPE_START: Duration = Duration::from_secs(8);

/// The slice of all terminals' scopes, beneath `app.slice` as `systemd.special(7)` advises.
pub const SLICE: &str = "app-termd.slice";

/// Where the keeper puts itself and the server in a delegated cgroup.
const OWN_CGROUP: &str = "/daemon";

/// One limit of a scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScopeLimit {
    /// `MemoryMax=`, with no swap beside it.
    Memory,
    /// `CPUQuota=`.
    Cpu,
    /// `TasksMax=`.
    Tasks,
    /// `IOWeight=`.
    IoWeight,
}

impl ScopeLimit {
    /// Its name in answers and records; never changed.
    pub fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory_max",
            Self::Cpu => "cpu_quota",
            Self::Tasks => "tasks_max",
            Self::IoWeight => "io_weight",
        }
    }

    /// The limits that are requested.
    pub fn requested(limits: &ScopeLimits) -> Vec<Self> {
        let all = [
            (Self::Memory, limits.memory_bytes.is_some()),
            (Self::Cpu, limits.cpu_percent.is_some()),
            (Self::Tasks, limits.tasks.is_some()),
            (Self::IoWeight, limits.io_weight.is_some()),
        ];
        let requested = all.into_iter().filter(|(_, is_requested)| *is_requested);
        requested.map(|(limit, _)| limit).collect()
    }
}

/// Why there is no scope.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ScopeError {
    /// The user's D-Bus or systemd cannot be reached.
    #[error("no systemd user manager is reached: {0}")]
    NoManager(String),
    /// systemd refuses to make one.
    #[error("systemd makes no scope: {0}")]
    Refused(String),
    /// systemd has not answered in time.
    #[error("systemd has not made the scope within {} s", MAX_SCOPE_START.as_secs())]
    TimedOut,
    /// systemd reports success, and the process is in another cgroup.
    #[error("the command is not in its scope but in {0}")]
    NotInside(String),
}

/// A process in a cgroup of its own.
#[derive(Debug)]
pub struct Enclosed {
    /// Its cgroup.
    pub cgroup: Cgroup,
    /// The limits in force, by the cgroup's own files.
    pub held: Vec<ScopeLimit>,
    /// The requested limits that are not, and why.
    pub missing: Vec<(ScopeLimit, String)>,
}

/// The name of a terminal's scope.
pub fn unit_name(id: &TerminalId) -> String {
    format!("termd-{id}.scope")
}

/// Holds a process to these limits in a cgroup of its own: the one that it was born in, or a new scope.
pub async fn enclose(
    id: &TerminalId,
    pid: i32,
    limits: &ScopeLimits,
) -> Result<Enclosed, ScopeError> {
    let cgroup = if let Ok(cgroup) = Cgroup::of(pid, id) {
        cgroup.request(limits);
        cgroup
    } else {
        let unit = unit_name(id);
        let start = manager::start_scope(&unit, pid, limits);
        let started = tokio::time::timeout(MAX_SCOPE_START, start).await;
        started.map_err(|_| ScopeError::TimedOut)??;
        Cgroup::of(pid, id)?
    };
    let (mut held, mut missing) = (Vec::new(), Vec::new());
    for limit in ScopeLimit::requested(limits) {
        match cgroup.check(limit, limits) {
            Ok(()) => held.push(limit),
            Err(error) => missing.push((limit, error.to_string())),
        }
    }
    Ok(Enclosed {
        cgroup,
        held,
        missing,
    })
}

/// The unit that this daemon runs as, where it is one of the user's services.
fn own_service() -> Option<String> {
    let listed = std::fs::read_to_string("/proc/self/cgroup").ok()?;
    users_service(cgroup::path_in(&listed)?).map(str::to_owned)
}

/// The user's service of a cgroup. The user's manager does not know system services.
fn users_service(cgroup: &str) -> Option<&str> {
    let cgroup = cgroup.strip_suffix(OWN_CGROUP).unwrap_or(cgroup);
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
            (
                format!("{user}/app.slice/termd.service/daemon"),
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
    fn what_is_requested_has_a_name() {
        let limits = ScopeLimits {
            memory_bytes: Some(1),
            io_weight: Some(50),
            ..ScopeLimits::default()
        };
        let names: Vec<&str> = ScopeLimit::requested(&limits)
            .into_iter()
            .map(ScopeLimit::name)
            .collect();
        assert_eq!(names, ["memory_max", "io_weight"]);
        assert!(ScopeLimit::requested(&ScopeLimits::default()).is_empty());
        let id = TerminalId::from_random(3);
        assert_eq!(unit_name(&id), format!("termd-{id}.scope"));
    }
}

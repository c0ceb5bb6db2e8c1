//! Which processes the kernel has killed for memory, by the counters of cgroups.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use termd_proto::TerminalId;

use crate::scope::Cgroup;
use termd_keeper::protocol::message::WaitStatus;

/// A kill that was seen this long before a root's death by SIGKILL was the root's. The keeper tells
/// of the death and the cgroup of the kill, each in its own time.
const RECENT: Duration = Duration::from_secs(2);

/// The scopes of terminals whose root runs, with the kills that were seen in them.
#[derive(Debug, Default)]
pub(super) struct MemoryKills {
    by_id: HashMap<TerminalId, Scope>,
    /// The kills that were seen in all scopes of the slice, including scopes that are gone.
    seen_in_slice: u64,
}

#[derive(Debug)]
struct Scope {
    cgroup: Cgroup,
    kills: u64,
    last_kill: Option<Instant>,
}

/// Whether a root died because the kernel killed it for memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Death {
    Other,
    /// The kill was reported a moment ago.
    ForMemory,
    /// The kill is to be reported.
    ForMemoryUnreported,
}

impl MemoryKills {
    pub(super) fn insert(&mut self, id: &TerminalId, cgroup: Cgroup) {
        if self.by_id.is_empty() {
            // systemd may have made the slice anew since.
            self.seen_in_slice = cgroup.killed_for_memory_beside().unwrap_or(0);
        }
        let scope = Scope {
            kills: cgroup.killed_for_memory().unwrap_or(0),
            cgroup,
            last_kill: None,
        };
        self.by_id.insert(id.clone(), scope);
    }

    pub(super) fn remove(&mut self, id: &TerminalId) {
        self.by_id.remove(id);
    }

    pub(super) fn cgroup(&self, id: &TerminalId) -> Option<&Cgroup> {
        self.by_id.get(id).map(|scope| &scope.cgroup)
    }

    /// Whether the kernel has killed more of a terminal since the last look.
    pub(super) fn has_more(&mut self, id: &TerminalId) -> bool {
        let more = self.by_id.get_mut(id).map_or(0, Scope::new_kills);
        self.seen_in_slice += more;
        more > 0
    }

    /// A root was reaped. Forgets its scope.
    pub(super) fn root_was_reaped(&mut self, id: &TerminalId, status: WaitStatus) -> Death {
        let Some(mut scope) = self.by_id.remove(id) else {
            return Death::Other;
        };
        let more = if scope.cgroup.killed_for_memory().is_some() {
            scope.new_kills()
        } else {
            // systemd has removed the scope already. A kill of the slice that is in none of the
            // scopes that are left was in this one.
            let left: u64 = self.by_id.values_mut().map(Scope::new_kills).sum();
            self.seen_in_slice += left;
            let all = scope.cgroup.killed_for_memory_beside();
            all.unwrap_or(0).saturating_sub(self.seen_in_slice)
        };
        self.seen_in_slice += more;
        let is_recent = scope.last_kill.is_some_and(|last| last.elapsed() < RECENT);
        match status {
            WaitStatus::Signaled(nix::libc::SIGKILL) if more > 0 => Death::ForMemoryUnreported,
            WaitStatus::Signaled(nix::libc::SIGKILL) if is_recent => Death::ForMemory,
            WaitStatus::Signaled(_) | WaitStatus::Exited(_) | WaitStatus::CpuTimeUp => Death::Other,
        }
    }
}

impl Scope {
    fn new_kills(&mut self) -> u64 {
        let kills = self.cgroup.killed_for_memory().unwrap_or(self.kills);
        let new = kills.saturating_sub(self.kills);
        if new > 0 {
            self.kills = kills;
            self.last_kill = Some(Instant::now());
        }
        new
    }
}

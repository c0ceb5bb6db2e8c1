//! What the files of a cgroup say (Documentation/admin-guide/cgroup-v2.rst): whether a limit holds,
//! and what the kernel killed for memory.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use termd_proto::TerminalId;
use termd_proto::terminal::ScopeLimits;
use tokio::net::unix::pipe;

use super::{ScopeError, ScopeWall, unit_name};

/// Where the unified hierarchy is (`file-hierarchy(7)`).
const ROOT: &str = "/sys/fs/cgroup";

/// The cgroup of a terminal's scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cgroup {
    directory: PathBuf,
}

impl Cgroup {
    /// That of this process, which must be the scope of this terminal.
    pub fn of(pid: i32, id: &TerminalId) -> Result<Self, ScopeError> {
        let listed = fs::read_to_string(format!("/proc/{pid}/cgroup"));
        let listed = listed.map_err(|error| ScopeError::NotInside(error.to_string()))?;
        let path = path_in(&listed).unwrap_or("no unified hierarchy");
        let directory = PathBuf::from(format!("{ROOT}{path}"));
        let name = directory.file_name().and_then(|name| name.to_str());
        if name != Some(unit_name(id).as_str()) {
            return Err(ScopeError::NotInside(path.to_owned()));
        }
        Ok(Self { directory })
    }

    /// Its directory.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Its directory as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.directory.as_os_str().as_bytes().to_vec()
    }

    /// Whether a limit holds; else why not.
    pub(super) fn holds(&self, wall: ScopeWall, limits: &ScopeLimits) -> Result<(), String> {
        let (file, controller) = match wall {
            ScopeWall::Memory => ("memory.max", "memory"),
            ScopeWall::Cpu => ("cpu.max", "cpu"),
            ScopeWall::Tasks => ("pids.max", "pids"),
            ScopeWall::IoWeight => ("io.weight", "io"),
        };
        let Ok(text) = fs::read_to_string(self.directory.join(file)) else {
            return Err(self.why_without(controller, file));
        };
        if says(wall, limits, text.trim()) {
            Ok(())
        } else {
            Err(format!("{file} says {}", text.trim()))
        }
    }

    /// Why it lacks a controller's file. A controller can be there without it: weights of disks are
    /// an option of the kernel's (`CONFIG_BLK_CGROUP_IOCOST`).
    fn why_without(&self, controller: &str, file: &str) -> String {
        let there = fs::read_to_string(self.directory.join("cgroup.controllers"));
        let there = there.unwrap_or_default();
        if there.split_whitespace().any(|name| name == controller) {
            format!("this kernel has no {file}")
        } else {
            format!("the {controller} controller is not delegated to the user manager")
        }
    }

    /// How many of its processes the kernel has killed for memory; `None`: it is gone.
    pub fn killed_for_memory(&self) -> Option<u64> {
        oom_kills(&self.directory)
    }

    /// The same of all scopes that are, or were, beside it.
    pub fn killed_for_memory_beside(&self) -> Option<u64> {
        oom_kills(self.directory.parent()?)
    }

    /// Follows [`killed_for_memory`](Self::killed_for_memory). Inside of a tokio runtime.
    pub fn follow(&self) -> std::io::Result<MemoryEvents> {
        let flags = CreateFlags::CLOEXEC | CreateFlags::NONBLOCK;
        let inotify = inotify::init(flags)?;
        let file = self.directory.join("memory.events");
        inotify::add_watch(&inotify, file, WatchFlags::MODIFY | WatchFlags::DELETE_SELF)?;
        // tokio's one type for anything that is read when it is ready.
        Ok(MemoryEvents(pipe::Receiver::from_owned_fd_unchecked(
            inotify,
        )?))
    }
}

/// Wakes when a cgroup's `memory.events` has changed, or is gone.
#[derive(Debug)]
pub struct MemoryEvents(pipe::Receiver);

impl MemoryEvents {
    /// Resolves at the next change. Cancel safe.
    pub async fn changed(&mut self) -> std::io::Result<()> {
        let mut buffer = [0; 4096];
        loop {
            self.0.readable().await?;
            match self.0.try_read(&mut buffer) {
                // Which change is not asked: the file says how it stands.
                Ok(_) => return Ok(()),
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// The path of the unified hierarchy in `/proc/PID/cgroup`.
pub(super) fn path_in(listed: &str) -> Option<&str> {
    listed.lines().find_map(|line| line.strip_prefix("0::"))
}

fn oom_kills(directory: &Path) -> Option<u64> {
    oom_kills_in(&fs::read_to_string(directory.join("memory.events")).ok()?)
}

fn oom_kills_in(events: &str) -> Option<u64> {
    let mut lines = events.lines();
    lines
        .find_map(|line| line.strip_prefix("oom_kill "))?
        .parse()
        .ok()
}

/// Whether a file says what was asked, or something stricter: the kernel rounds.
fn says(wall: ScopeWall, limits: &ScopeLimits, text: &str) -> bool {
    let at_most = |asked: Option<u64>| {
        let value = text.parse::<u64>().ok();
        value.is_some_and(|value| asked.is_some_and(|asked| value <= asked))
    };
    match wall {
        ScopeWall::Memory => at_most(limits.memory_bytes),
        ScopeWall::Tasks => at_most(limits.tasks),
        ScopeWall::Cpu => {
            let mut both = text.split(' ').map(|part| part.parse::<u64>().ok());
            let (quota, period) = (both.next().flatten(), both.next().flatten());
            let asked = limits.cpu_percent.zip(period);
            quota.zip(asked).is_some_and(|(quota, (percent, period))| {
                quota.saturating_mul(100) <= percent.saturating_mul(period)
            })
        }
        ScopeWall::IoWeight => {
            let weight = text.strip_prefix("default ");
            let weight = weight.and_then(|rest| rest.lines().next()?.parse::<u64>().ok());
            weight.is_some() && weight == limits.io_weight
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_believed_only_where_the_file_says_it() {
        let limits = ScopeLimits {
            memory_bytes: Some(10_000),
            cpu_percent: Some(150),
            tasks: Some(20),
            io_weight: Some(50),
        };
        let table = [
            (ScopeWall::Memory, "8192", true),
            (ScopeWall::Memory, "10000", true),
            (ScopeWall::Memory, "12288", false),
            (ScopeWall::Memory, "max", false),
            (ScopeWall::Memory, "", false),
            (ScopeWall::Cpu, "150000 100000", true),
            (ScopeWall::Cpu, "15000 10000", true),
            (ScopeWall::Cpu, "151000 100000", false),
            (ScopeWall::Cpu, "max 100000", false),
            (ScopeWall::Cpu, "150000", false),
            (ScopeWall::Tasks, "20", true),
            (ScopeWall::Tasks, "21", false),
            (ScopeWall::Tasks, "max", false),
            (ScopeWall::IoWeight, "default 50", true),
            (ScopeWall::IoWeight, "default 50\n8:0 100", true),
            (ScopeWall::IoWeight, "default 100", false),
            (ScopeWall::IoWeight, "50", false),
        ];
        for (wall, text, expected) in table {
            assert_eq!(says(wall, &limits, text), expected, "{wall:?} {text:?}");
            assert!(!says(wall, &ScopeLimits::default(), text), "{wall:?}");
        }
    }

    #[test]
    fn a_limit_without_its_file_says_whose_fault_that_is() {
        let directory = tempfile::tempdir().expect("a directory");
        let cgroup = Cgroup {
            directory: directory.path().to_owned(),
        };
        let limits = ScopeLimits {
            io_weight: Some(50),
            ..ScopeLimits::default()
        };
        let why = || cgroup.holds(ScopeWall::IoWeight, &limits).unwrap_err();
        let controllers = directory.path().join("cgroup.controllers");
        fs::write(&controllers, "cpu memory pids\n").expect("written");
        assert!(why().contains("not delegated"), "{}", why());
        fs::write(&controllers, "cpu io memory pids\n").expect("written");
        assert_eq!(why(), "this kernel has no io.weight");
    }

    #[test]
    fn kills_are_counted_and_not_other_events() {
        let events = "low 0\nhigh 0\nmax 7\noom 2\noom_kill 3\noom_group_kill 1\n";
        assert_eq!(oom_kills_in(events), Some(3));
        assert_eq!(oom_kills_in("oom 1\n"), None);
        assert_eq!(oom_kills_in("oom_kill x\n"), None);
    }

    #[test]
    fn the_unified_hierarchy_is_found_among_others() {
        assert_eq!(path_in("0::/a/b.scope\n"), Some("/a/b.scope"));
        assert_eq!(path_in("4:memory:/x\n0::/y\n"), Some("/y"));
        assert_eq!(path_in("4:memory:/x\n"), None);
    }

    /// This process is in no terminal's scope.
    #[test]
    fn another_cgroup_is_refused() {
        let pid = rustix::process::getpid().as_raw_pid();
        let other = Cgroup::of(pid, &TerminalId::from_random(9));
        assert!(matches!(other, Err(ScopeError::NotInside(_))), "{other:?}");
    }
}

//! The files of a cgroup (Documentation/admin-guide/cgroup-v2.rst): setting limits, whether one is in
//! force, and how many processes the kernel killed for memory.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use termd_proto::TerminalId;
use termd_proto::terminal::ScopeLimits;
use thiserror::Error;
use tokio::net::unix::pipe;

use super::{ScopeError, ScopeLimit, unit_name};

/// The mount point of the unified hierarchy (`file-hierarchy(7)`).
const ROOT: &str = "/sys/fs/cgroup";

/// Why a requested limit is not in force.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(super) enum LimitError {
    #[error("this kernel has no {0}")]
    NoFile(&'static str),
    #[error("the {0} controller is not delegated to the user manager")]
    NotDelegated(&'static str),
    #[error("{file} says {value}")]
    OtherValue { file: &'static str, value: String },
}

/// The period of a quota of processor time, in microseconds; the kernel's default.
const CPU_PERIOD: u64 = 100_000;

/// The cgroup of a terminal: its scope, or made by the keeper in what systemd has delegated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cgroup {
    directory: PathBuf,
}

impl Cgroup {
    /// The cgroup of a process, which must be this terminal's own.
    pub fn of(pid: i32, id: &TerminalId) -> Result<Self, ScopeError> {
        let listed = fs::read_to_string(format!("/proc/{pid}/cgroup"));
        let listed = listed.map_err(|error| ScopeError::NotInside(error.to_string()))?;
        let path = path_in(&listed).unwrap_or("no unified hierarchy");
        let directory = PathBuf::from(format!("{ROOT}{path}"));
        let name = directory.file_name().and_then(|name| name.to_str());
        let unit = unit_name(id);
        if !name.is_some_and(|name| name == unit || name == id.as_str()) {
            return Err(ScopeError::NotInside(path.to_owned()));
        }
        Ok(Self { directory })
    }

    /// Asks the kernel for limits. What comes of it, [`check`](Self::check) reads.
    pub(super) fn request(&self, limits: &ScopeLimits) {
        let memory = limits.memory_bytes.map(|bytes| bytes.to_string());
        let cpu = limits.cpu_percent.map(|percent| {
            let quota = percent.saturating_mul(CPU_PERIOD / 100);
            format!("{quota} {CPU_PERIOD}")
        });
        let swap = memory.is_some().then(|| "0".to_owned());
        let tasks = limits.tasks.map(|tasks| tasks.to_string());
        let weight = limits.io_weight.map(|weight| format!("default {weight}"));
        for (controller, file, value) in [
            ("memory", "memory.max", memory),
            ("memory", "memory.swap.max", swap),
            ("cpu", "cpu.max", cpu),
            ("pids", "pids.max", tasks),
            ("io", "io.weight", weight),
        ] {
            let Some(value) = value else { continue };
            if let Some(unit) = self.directory.parent() {
                // From then on the controller is on for all terminals, which costs each a little.
                let _ = write(unit, "cgroup.subtree_control", &format!("+{controller}"));
            }
            if let Err(error) = write(&self.directory, file, &value) {
                tracing::debug!(file, %value, %error, "the cgroup takes no limit");
            }
        }
    }

    /// Its directory.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Its directory as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.directory.as_os_str().as_bytes().to_vec()
    }

    /// Whether a limit is in force.
    pub(super) fn check(&self, limit: ScopeLimit, limits: &ScopeLimits) -> Result<(), LimitError> {
        let (file, controller) = match limit {
            ScopeLimit::Memory => ("memory.max", "memory"),
            ScopeLimit::Cpu => ("cpu.max", "cpu"),
            ScopeLimit::Tasks => ("pids.max", "pids"),
            ScopeLimit::IoWeight => ("io.weight", "io"),
        };
        let Ok(text) = fs::read_to_string(self.directory.join(file)) else {
            return Err(self.without_file(controller, file));
        };
        let value = text.trim();
        if is_in_force(limit, limits, value) {
            return Ok(());
        }
        let value = value.to_owned();
        Err(LimitError::OtherValue { file, value })
    }

    /// Why it lacks a controller's file. A kernel can have the controller without the file: weights of
    /// disks are an option (`CONFIG_BLK_CGROUP_IOCOST`).
    fn without_file(&self, controller: &'static str, file: &'static str) -> LimitError {
        let there = fs::read_to_string(self.directory.join("cgroup.controllers"));
        let there = there.unwrap_or_default();
        if there.split_whitespace().any(|name| name == controller) {
            LimitError::NoFile(file)
        } else {
            LimitError::NotDelegated(controller)
        }
    }

    /// How many of its processes the kernel has killed for memory; `None` once the cgroup is gone.
    pub fn killed_for_memory(&self) -> Option<u64> {
        oom_kills(&self.directory)
    }

    /// The same for all cgroups beside it, past ones included.
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
                // The event does not matter: the file has the new state.
                Ok(_) => return Ok(()),
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// Writes a file of a cgroup. One that the kernel lacks is not created.
fn write(directory: &Path, file: &str, value: &str) -> std::io::Result<()> {
    let mut file = OpenOptions::new().write(true).open(directory.join(file))?;
    file.write_all(value.as_bytes())
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

/// Whether a file has the requested value, or a stricter one: the kernel rounds.
fn is_in_force(limit: ScopeLimit, limits: &ScopeLimits, text: &str) -> bool {
    let at_most = |asked: Option<u64>| {
        let value = text.parse::<u64>().ok();
        value.is_some_and(|value| asked.is_some_and(|asked| value <= asked))
    };
    match limit {
        ScopeLimit::Memory => at_most(limits.memory_bytes),
        ScopeLimit::Tasks => at_most(limits.tasks),
        ScopeLimit::Cpu => {
            let mut both = text.split(' ').map(|part| part.parse::<u64>().ok());
            let (quota, period) = (both.next().flatten(), both.next().flatten());
            let asked = limits.cpu_percent.zip(period);
            quota.zip(asked).is_some_and(|(quota, (percent, period))| {
                quota.saturating_mul(100) <= percent.saturating_mul(period)
            })
        }
        ScopeLimit::IoWeight => {
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
            (ScopeLimit::Memory, "8192", true),
            (ScopeLimit::Memory, "10000", true),
            (ScopeLimit::Memory, "12288", false),
            (ScopeLimit::Memory, "max", false),
            (ScopeLimit::Memory, "", false),
            (ScopeLimit::Cpu, "150000 100000", true),
            (ScopeLimit::Cpu, "15000 10000", true),
            (ScopeLimit::Cpu, "151000 100000", false),
            (ScopeLimit::Cpu, "max 100000", false),
            (ScopeLimit::Cpu, "150000", false),
            (ScopeLimit::Tasks, "20", true),
            (ScopeLimit::Tasks, "21", false),
            (ScopeLimit::Tasks, "max", false),
            (ScopeLimit::IoWeight, "default 50", true),
            (ScopeLimit::IoWeight, "default 50\n8:0 100", true),
            (ScopeLimit::IoWeight, "default 100", false),
            (ScopeLimit::IoWeight, "50", false),
        ];
        for (limit, text, expected) in table {
            assert_eq!(
                is_in_force(limit, &limits, text),
                expected,
                "{limit:?} {text:?}"
            );
            assert!(
                !is_in_force(limit, &ScopeLimits::default(), text),
                "{limit:?}"
            );
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
        let why = || {
            cgroup
                .check(ScopeLimit::IoWeight, &limits)
                .unwrap_err()
                .to_string()
        };
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

    /// A kernel's files are there already; it takes what is written into them.
    #[test]
    fn limits_are_requested_where_their_files_are() {
        let unit = tempfile::tempdir().expect("a directory");
        let cgroup = Cgroup {
            directory: unit.path().join("terminal"),
        };
        fs::create_dir(cgroup.directory()).expect("a directory");
        fs::write(unit.path().join("cgroup.subtree_control"), "").expect("written");
        for file in ["memory.max", "memory.swap.max", "cpu.max", "pids.max"] {
            fs::write(cgroup.directory().join(file), "").expect("written");
        }
        let limits = ScopeLimits {
            memory_bytes: Some(1 << 20),
            cpu_percent: Some(150),
            tasks: Some(20),
            io_weight: Some(50),
        };
        cgroup.request(&limits);
        let read = |file: &str| fs::read_to_string(cgroup.directory().join(file));
        for (file, value) in [
            ("memory.max", "1048576"),
            ("memory.swap.max", "0"),
            ("cpu.max", "150000 100000"),
            ("pids.max", "20"),
        ] {
            assert_eq!(read(file).expect("read"), value, "{file}");
        }
        assert!(read("io.weight").is_err(), "no file is created");
    }

    /// This process is in no terminal's scope.
    #[test]
    fn another_cgroup_is_refused() {
        let pid = rustix::process::getpid().as_raw_pid();
        let other = Cgroup::of(pid, &TerminalId::from_random(9));
        assert!(matches!(other, Err(ScopeError::NotInside(_))), "{other:?}");
    }
}

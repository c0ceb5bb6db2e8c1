//! Profiles: what a command is held to while it runs, by a name that rules and fronts give.
//!
//! Pure. Of several profiles for one text the strictest of each thing holds: the intersection of
//! what may be written and seen, the minimum of the limits. It must not know rules, or who enforces.

pub(crate) mod environment;
pub(crate) mod quantity;
pub(crate) mod sandbox;

use std::path::PathBuf;

use serde::{Deserialize, Deserializer, de};
use termd_proto::terminal::ScopeLimits;

use crate::profile::environment::{EnvRules, EnvSpec};
use crate::profile::quantity::{Bytes, Length, Percent};
use crate::profile::sandbox::{
    Places, SandboxBuilder, SandboxKind, SandboxSpec, TEMPORARY, TemporaryFiles, Walls,
    is_placeable,
};

/// Longest name, in bytes.
const MAX_NAME_BYTES: usize = 64;
/// Shortest idle timeout: a shorter one would end what somebody is about to use.
const MIN_IDLE: Length = Length::SECOND;
/// The least memory of a scope: below it not even a shell starts, and the kernel kills whatever does.
const MIN_MEMORY: Bytes = Bytes::of(1 << 20);
/// The most tasks of a scope: the kernel has no more numbers (`PID_MAX_LIMIT`).
const MAX_TASKS: u64 = 1 << 22;
/// The smallest quota of kept output, in bytes: four blocks of the database, one of which is the
/// head.
pub const MIN_TERMINAL_QUOTA_BYTES: u64 = 256 << 10;
/// Paths that one list of a profile may hold; the keeper takes 256 with what is built in.
pub const MAX_PATHS: usize = 128;

/// The name of a profile.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ProfileName(String);

impl ProfileName {
    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The kind of sandbox that this name stands for by itself: those names are built in.
    pub fn built_in(&self) -> Option<SandboxKind> {
        BUILT_IN.into_iter().find(|kind| kind.as_str() == self.0)
    }
}

/// Profiles that are there without being written: a sandbox of this kind, and nothing else.
pub(crate) const BUILT_IN: [SandboxKind; 4] = [
    SandboxKind::None,
    SandboxKind::ReadOnly,
    SandboxKind::Workspace,
    SandboxKind::NoNetwork,
];

impl<'de> Deserialize<'de> for ProfileName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if name.is_empty() || name.len() > MAX_NAME_BYTES || !name.chars().all(plain) {
            let said = "a profile's name is made of 1 to 64 letters, digits, - and _";
            return Err(de::Error::custom(said));
        }
        Ok(Self(name))
    }
}

/// A path in the configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ConfigPath(PathBuf);

impl<'de> Deserialize<'de> for ConfigPath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let path = PathBuf::from(String::deserialize(deserializer)?);
        if !is_placeable(&path) {
            let said = "a path is absolute, below ~/ or below the workspace, and holds no ..";
            return Err(de::Error::custom(said));
        }
        Ok(Self(path))
    }
}

/// `limits` of a profile: of each process on its own (setrlimit(2)), and of all of them together
/// (a scope of the user's systemd).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LimitsSpec {
    /// Processor time.
    pub cpu_time: Option<Length>,
    /// Address space.
    pub address_space: Option<Bytes>,
    /// Open files.
    pub open_files: Option<u64>,
    /// Processes and threads.
    pub processes: Option<u64>,
    /// The size of a file that it writes.
    pub file_bytes: Option<Bytes>,
    /// Memory of all.
    pub memory: Option<Bytes>,
    /// Processors, of all.
    pub cpu: Option<Percent>,
    /// Processes and threads of all.
    pub tasks: Option<u64>,
    /// The weight of all where a disk is busy; others have 100.
    pub io_weight: Option<u64>,
}

impl LimitsSpec {
    fn merge(self, other: Self) -> Self {
        Self {
            cpu_time: least(self.cpu_time, other.cpu_time),
            address_space: least(self.address_space, other.address_space),
            open_files: least(self.open_files, other.open_files),
            processes: least(self.processes, other.processes),
            file_bytes: least(self.file_bytes, other.file_bytes),
            memory: least(self.memory, other.memory),
            cpu: least(self.cpu, other.cpu),
            tasks: least(self.tasks, other.tasks),
            io_weight: least(self.io_weight, other.io_weight),
        }
    }

    /// What of it takes a scope; `None`: nothing does.
    pub fn scope(&self) -> Option<ScopeLimits> {
        let limits = ScopeLimits {
            memory_bytes: self.memory.map(Bytes::get),
            cpu_percent: self.cpu.map(Percent::get),
            tasks: self.tasks,
            io_weight: self.io_weight,
        };
        (limits != ScopeLimits::default()).then_some(limits)
    }

    /// Which of them makes no sense.
    fn check(&self) -> Result<(), String> {
        let refused = [
            (
                self.open_files.is_some_and(|files| files < 3),
                "`limits.open_files` must be 3 or more: a command has 3".to_owned(),
            ),
            (
                self.processes == Some(0),
                "`limits.processes` must be 1 or more".to_owned(),
            ),
            (
                self.memory.is_some_and(|memory| memory < MIN_MEMORY),
                format!("`limits.memory` must be {MIN_MEMORY} or more"),
            ),
            (
                self.tasks
                    .is_some_and(|tasks| !(1..=MAX_TASKS).contains(&tasks)),
                format!("`limits.tasks` must be 1 to {MAX_TASKS}"),
            ),
            (
                self.io_weight
                    .is_some_and(|weight| !(1..=10_000).contains(&weight)),
                "`limits.io_weight` must be 1 to 10000".to_owned(),
            ),
        ];
        let mut refused = refused.into_iter();
        match refused.find(|(is_refused, _)| *is_refused) {
            Some((_, why)) => Err(why),
            None => Ok(()),
        }
    }
}

fn least<T: Ord>(one: Option<T>, other: Option<T>) -> Option<T> {
    one.into_iter().chain(other).min()
}

/// `[policy.profiles.NAME]`, as it was written and found to make sense.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "WrittenProfile")]
pub struct ProfileSpec {
    timeout: Option<Length>,
    idle_timeout: Option<Length>,
    output_bytes: Option<Bytes>,
    terminal_quota: Option<Bytes>,
    limits: LimitsSpec,
    scope_best_effort: Option<bool>,
    sandbox: SandboxSpec,
    /// What it says of the environment.
    pub env: EnvSpec,
}

/// The keys of a profile.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct WrittenProfile {
    timeout: Option<Length>,
    idle_timeout: Option<Length>,
    output_bytes: Option<Bytes>,
    terminal_quota: Option<Bytes>,
    limits: LimitsSpec,
    sandbox: Option<SandboxKind>,
    writable: Option<Vec<ConfigPath>>,
    protected: Option<Vec<ConfigPath>>,
    hidden: Option<Vec<ConfigPath>>,
    workspaces: Option<Vec<ConfigPath>>,
    network: Option<bool>,
    daemon_socket: Option<bool>,
    best_effort: Option<bool>,
    private_tmp: Option<bool>,
    builder: Option<SandboxBuilder>,
    env: EnvSpec,
}

impl TryFrom<WrittenProfile> for ProfileSpec {
    type Error = String;

    fn try_from(written: WrittenProfile) -> Result<Self, String> {
        let kind = written.sandbox.unwrap_or(SandboxKind::None);
        let needing = [
            ("writable", written.writable.is_some()),
            ("protected", written.protected.is_some()),
            ("hidden", written.hidden.is_some()),
            ("workspaces", written.workspaces.is_some()),
            ("network", written.network.is_some()),
            ("daemon_socket", written.daemon_socket.is_some()),
            ("best_effort", written.best_effort.is_some()),
            ("private_tmp", written.private_tmp == Some(true)),
            ("builder", written.builder.is_some()),
        ];
        let has_scope = written.limits.scope().is_some();
        // What is written and does nothing would be believed to do something.
        if let (SandboxKind::None, Some((key, _))) =
            (kind, needing.into_iter().find(|(_, given)| *given))
            && !(key == "best_effort" && has_scope)
        {
            return Err(format!("`{key}` needs a `sandbox` other than \"none\""));
        }
        if kind == SandboxKind::NoNetwork {
            if written.network == Some(true) {
                return Err("`network = true` contradicts `sandbox = \"no-network\"`".to_owned());
            }
            for (key, given) in needing.into_iter().filter(|(_, given)| *given) {
                if given && matches!(key, "writable" | "workspaces" | "private_tmp") {
                    return Err(format!(
                        "`{key}` does nothing in `sandbox = \"no-network\"`, where all may be \
                         written: take \"workspace\" with `network = false`"
                    ));
                }
            }
        }
        let named = written.writable.iter().flatten();
        let hosts = |path: &&ConfigPath| TEMPORARY.iter().any(|own| path.0 == PathBuf::from(own));
        if written.private_tmp == Some(true) && named.into_iter().any(|path| hosts(&path)) {
            return Err("`writable` names a directory that `private_tmp` hides".to_owned());
        }
        if written.idle_timeout.is_some_and(|idle| idle < MIN_IDLE) {
            return Err("`idle_timeout` must be 1s or more".to_owned());
        }
        written.limits.check()?;
        if (written.terminal_quota).is_some_and(|quota| quota.get() < MIN_TERMINAL_QUOTA_BYTES) {
            return Err("`terminal_quota` must be 256KiB or more".to_owned());
        }
        let plain = SandboxSpec::plain(kind);
        Ok(Self {
            timeout: written.timeout,
            idle_timeout: written.idle_timeout,
            output_bytes: written.output_bytes,
            terminal_quota: written.terminal_quota,
            limits: written.limits,
            scope_best_effort: has_scope.then_some(written.best_effort.unwrap_or(false)),
            sandbox: SandboxSpec {
                writable: paths("writable", written.writable)?,
                protected: paths("protected", written.protected)?,
                hidden: paths("hidden", written.hidden)?,
                workspaces: paths("workspaces", written.workspaces)?,
                network: written.network.unwrap_or(plain.network),
                daemon_socket: written.daemon_socket.unwrap_or(plain.daemon_socket),
                best_effort: written.best_effort.unwrap_or(plain.best_effort),
                temporary: match written.private_tmp {
                    Some(true) => TemporaryFiles::Private,
                    Some(false) | None => plain.temporary,
                },
                builder: written.builder.unwrap_or(plain.builder),
                kind,
            },
            env: written.env,
        })
    }
}

fn paths(key: &str, written: Option<Vec<ConfigPath>>) -> Result<Vec<PathBuf>, String> {
    let written = written.unwrap_or_default();
    if written.len() > MAX_PATHS {
        return Err(format!("`{key}` may hold {MAX_PATHS} paths at the most"));
    }
    Ok(written.into_iter().map(|path| path.0).collect())
}

impl ProfileSpec {
    /// One that is built in.
    pub fn built_in(kind: SandboxKind) -> Self {
        Self {
            timeout: None,
            idle_timeout: None,
            output_bytes: None,
            terminal_quota: None,
            limits: LimitsSpec::default(),
            scope_best_effort: None,
            sandbox: SandboxSpec::plain(kind),
            env: EnvSpec::default(),
        }
    }
}

/// What a command is held to. The default: nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Profile {
    /// The profiles that it was made of, each once.
    pub names: Vec<String>,
    /// From its start to its end.
    pub timeout: Option<Length>,
    /// Without activity.
    pub idle_timeout: Option<Length>,
    /// Output in all.
    pub output_bytes: Option<Bytes>,
    /// Output that is kept.
    pub terminal_quota: Option<Bytes>,
    /// Of each process, and of all together.
    pub limits: LimitsSpec,
    /// Whether it runs where a scope cannot hold it; `None`: it wants none.
    pub scope_best_effort: Option<bool>,
    /// Each holds.
    pub sandboxes: Vec<SandboxSpec>,
    /// Its environment.
    pub env: EnvRules,
}

impl Profile {
    /// The profile of this name, with the environment that it has on its front.
    pub(crate) fn of(name: &ProfileName, spec: &ProfileSpec, env: EnvRules) -> Self {
        let is_sandboxed = spec.sandbox.kind != SandboxKind::None;
        Self {
            names: vec![name.as_str().to_owned()],
            timeout: spec.timeout,
            idle_timeout: spec.idle_timeout,
            output_bytes: spec.output_bytes,
            terminal_quota: spec.terminal_quota,
            limits: spec.limits,
            scope_best_effort: spec.scope_best_effort,
            sandboxes: is_sandboxed
                .then(|| spec.sandbox.clone())
                .into_iter()
                .collect(),
            env,
        }
    }

    /// Nothing but an environment.
    pub(crate) fn bare(env: EnvRules) -> Self {
        Self {
            env,
            ..Self::default()
        }
    }

    /// Both together: of each thing the stricter.
    #[must_use]
    pub fn merge(mut self, other: Self) -> Self {
        self.timeout = least(self.timeout, other.timeout);
        self.idle_timeout = least(self.idle_timeout, other.idle_timeout);
        self.output_bytes = least(self.output_bytes, other.output_bytes);
        self.terminal_quota = least(self.terminal_quota, other.terminal_quota);
        self.limits = self.limits.merge(other.limits);
        // `false` is the stricter, and what wants no scope has no say.
        self.scope_best_effort = least(self.scope_best_effort, other.scope_best_effort);
        self.env = self.env.merge(other.env);
        for name in other.names {
            if !self.names.contains(&name) {
                self.names.push(name);
            }
        }
        for sandbox in other.sandboxes {
            if !self.sandboxes.contains(&sandbox) {
                self.sandboxes.push(sandbox);
            }
        }
        self
    }

    /// The walls of all its sandboxes together at a place; `None`: it has none.
    pub fn walls(&self, places: &Places) -> Option<Walls> {
        let walls = self.sandboxes.iter().filter_map(|spec| spec.walls(places));
        walls.reduce(Walls::merge)
    }

    /// The kinds of its sandboxes.
    pub fn kinds(&self) -> Vec<SandboxKind> {
        self.sandboxes.iter().map(|spec| spec.kind).collect()
    }
}

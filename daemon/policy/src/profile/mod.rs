//! Profiles: what a command is held to while it runs, by a name that rules and kinds of clients give.
//!
//! Of several profiles for one text the strictest of each thing holds: the intersection of what may be
//! written and seen, the minimum of the limits. Who enforces a profile is not known here.

pub(crate) mod environment;
pub(crate) mod error;
mod escape_sockets;
pub(crate) mod host_paths;
pub(crate) mod limits;
pub(crate) mod moved_settings;
pub(crate) mod name;
pub(crate) mod protected_paths;
pub(crate) mod quantity;
pub(crate) mod sandbox;
pub(crate) mod sandbox_access;
mod secret_files;
pub(crate) mod spec;

use environment::EnvRules;
use host_paths::HostPaths;
use limits::{LimitsSpec, least};
use name::ProfileName;
use quantity::{ByteSize, TimeSpan};
use sandbox::{SandboxKind, SandboxSpec};
use sandbox_access::SandboxAccess;
use spec::ProfileSpec;

/// What a command is held to while it runs. The default is nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Profile {
    /// The names of the profiles that this one was merged from, each once.
    pub names: Vec<String>,
    /// The longest time from the command's start to its end.
    pub timeout: Option<TimeSpan>,
    /// The longest time without activity.
    pub idle_timeout: Option<TimeSpan>,
    /// Bytes of output in all.
    pub output_bytes: Option<ByteSize>,
    /// Bytes of output that are kept.
    pub terminal_quota: Option<ByteSize>,
    /// Limits of each process, and of all processes together.
    pub limits: LimitsSpec,
    /// Whether the command runs where no scope can hold it. `None`: it needs no scope.
    pub scope_best_effort: Option<bool>,
    /// The sandboxes, all of which hold.
    pub sandboxes: Vec<SandboxSpec>,
    /// The rules of its environment.
    pub env: EnvRules,
}

impl Profile {
    /// The profile of this name, with these rules of its environment.
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

    /// A profile that only has an environment.
    pub(crate) fn bare(env: EnvRules) -> Self {
        Self {
            env,
            ..Self::default()
        }
    }

    /// This profile and another one together: the stricter of each thing.
    #[must_use]
    pub fn merge(mut self, other: Self) -> Self {
        self.timeout = least(self.timeout, other.timeout);
        self.idle_timeout = least(self.idle_timeout, other.idle_timeout);
        self.output_bytes = least(self.output_bytes, other.output_bytes);
        self.terminal_quota = least(self.terminal_quota, other.terminal_quota);
        self.limits = self.limits.merge(other.limits);
        // `false` is the stricter one. A profile without a scope has no say.
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

    /// What all its sandboxes together let a command access. `None` if it has no sandbox.
    pub fn sandbox_access(&self, host: &HostPaths) -> Option<SandboxAccess> {
        let accesses = self.sandboxes.iter().filter_map(|spec| spec.access(host));
        accesses.reduce(SandboxAccess::merge)
    }

    /// The kinds of its sandboxes.
    pub fn kinds(&self) -> Vec<SandboxKind> {
        self.sandboxes.iter().map(|spec| spec.kind).collect()
    }
}

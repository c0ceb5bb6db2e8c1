//! A profile as it is written.

use std::path::PathBuf;

use serde::{Deserialize, Deserializer, de};

use super::environment::EnvSpec;
use super::error::{MAX_PATHS, ProfileError};
use super::host_paths::is_placeable;
use super::limits::LimitsSpec;
use super::quantity::{ByteSize, TimeSpan};
use super::sandbox::{SandboxKind, SandboxSpec, TEMPORARY};
use super::sandbox_access::{GitAccess, SandboxBuilder, TemporaryFiles};

/// The shortest idle timeout. A shorter one would end a terminal that somebody is about to use.
const MIN_IDLE: TimeSpan = TimeSpan::SECOND;
/// The smallest quota of kept output, in bytes: four blocks of the database, one of which is the head.
pub const MIN_TERMINAL_QUOTA_BYTES: u64 = 256 << 10;

/// A path in a configuration.
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

/// `[policy.profiles.NAME]` as it is written, checked.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "WrittenProfile")]
pub struct ProfileSpec {
    pub(super) timeout: Option<TimeSpan>,
    pub(super) idle_timeout: Option<TimeSpan>,
    pub(super) output_bytes: Option<ByteSize>,
    pub(super) terminal_quota: Option<ByteSize>,
    pub(super) limits: LimitsSpec,
    pub(super) scope_best_effort: Option<bool>,
    pub(super) sandbox: SandboxSpec,
    /// What the profile says of the environment.
    pub env: EnvSpec,
}

/// The keys of a profile.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct WrittenProfile {
    timeout: Option<TimeSpan>,
    idle_timeout: Option<TimeSpan>,
    output_bytes: Option<ByteSize>,
    terminal_quota: Option<ByteSize>,
    limits: LimitsSpec,
    sandbox: Option<SandboxKind>,
    writable: Option<Vec<ConfigPath>>,
    protected: Option<Vec<ConfigPath>>,
    hidden: Option<Vec<ConfigPath>>,
    workspaces: Option<Vec<ConfigPath>>,
    git: Option<GitAccess>,
    network: Option<bool>,
    daemon_socket: Option<bool>,
    best_effort: Option<bool>,
    private_tmp: Option<bool>,
    builder: Option<SandboxBuilder>,
    env: EnvSpec,
}

impl TryFrom<WrittenProfile> for ProfileSpec {
    type Error = ProfileError;

    fn try_from(written: WrittenProfile) -> Result<Self, ProfileError> {
        let kind = written.sandbox.unwrap_or(SandboxKind::None);
        let needing = [
            ("writable", written.writable.is_some()),
            ("protected", written.protected.is_some()),
            ("hidden", written.hidden.is_some()),
            ("workspaces", written.workspaces.is_some()),
            ("git", written.git.is_some()),
            ("network", written.network.is_some()),
            ("daemon_socket", written.daemon_socket.is_some()),
            ("best_effort", written.best_effort.is_some()),
            ("private_tmp", written.private_tmp == Some(true)),
            ("builder", written.builder.is_some()),
        ];
        let has_scope = written.limits.scope().is_some();
        if let (SandboxKind::None, Some((key, _))) =
            (kind, needing.into_iter().find(|(_, given)| *given))
            && !(key == "best_effort" && has_scope)
        {
            return Err(ProfileError::NeedsSandbox(key));
        }
        if kind == SandboxKind::NoNetwork {
            if written.network == Some(true) {
                return Err(ProfileError::Network);
            }
            for (key, given) in needing.into_iter().filter(|(_, given)| *given) {
                if given && matches!(key, "writable" | "workspaces" | "git" | "private_tmp") {
                    return Err(ProfileError::NoEffect(key));
                }
            }
        }
        let named = written.writable.iter().flatten();
        let hosts = |path: &&ConfigPath| TEMPORARY.iter().any(|own| path.0 == PathBuf::from(own));
        if written.private_tmp == Some(true) && named.into_iter().any(|path| hosts(&path)) {
            return Err(ProfileError::WritableHidden);
        }
        if written.idle_timeout.is_some_and(|idle| idle < MIN_IDLE) {
            return Err(ProfileError::IdleTimeout);
        }
        written.limits.check()?;
        if (written.terminal_quota).is_some_and(|quota| quota.get() < MIN_TERMINAL_QUOTA_BYTES) {
            return Err(ProfileError::TerminalQuota);
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
                git: written.git.unwrap_or(plain.git),
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

fn paths(
    key: &'static str,
    written: Option<Vec<ConfigPath>>,
) -> Result<Vec<PathBuf>, ProfileError> {
    let written = written.unwrap_or_default();
    if written.len() > MAX_PATHS {
        return Err(ProfileError::TooManyPaths(key));
    }
    Ok(written.into_iter().map(|path| path.0).collect())
}

impl ProfileSpec {
    /// A built-in profile with a sandbox of this kind.
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

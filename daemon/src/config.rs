//! `config.toml`: what a person may set, its defaults and its bounds.
//!
//! A file that does not parse, or sets what is out of bounds or unknown, is refused whole with the
//! place of the fault; termd never runs on half a configuration.

mod approved;
mod error;
mod in_force;
mod store;

use std::fs;
use std::io;
use std::ops::RangeInclusive;
use std::path::Path;
use std::time::Duration;

use serde::Deserialize;

use crate::store::Retention;
use termd_policy::secrets::redact::{PatternError, Redactor};
use termd_policy::{Policy, PolicySpec, RuleSource};

use error::{parse_error, place, shown};

pub use approved::{
    ApprovedError, ApprovedInForce, ApprovedPlace, Draft, approved_file, keep_approved,
};
pub use error::ConfigError;
pub use in_force::{Change, InForce};
pub use store::{Bound, StoreConfig};

/// Longest file: nobody writes one by hand, and it is read whole.
const MAX_CONFIG_BYTES: u64 = 4 << 20;
/// The most that `outputByteLimit` may keep at hand for one terminal, in bytes: one answer is as
/// long as that, and longer ones would have to be paged.
pub const MAX_WINDOW_BYTES: u64 = 64 << 20;
/// The longest grace, in milliseconds: `systemctl stop` gives up after 90 s.
const MAX_GRACE_MS: u64 = 60_000;
/// How long a question of the gate waits for an answer where nothing else is set: a person may be at
/// lunch, an agent's client seldom waits longer.
const APPROVAL_TIMEOUT_MS: u64 = 300_000;
/// The bounds of that, in milliseconds: nobody reads and answers in less than a second; what waits
/// for more than a day was forgotten.
const APPROVAL_TIMEOUT_BOUNDS_MS: RangeInclusive<u64> = 1_000..=86_400_000;
const DAY_MS: i64 = 86_400_000;

/// The whole configuration.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// From SIGTERM or SIGHUP to SIGKILL, in milliseconds.
    pub kill_grace_ms: u64,
    /// How long a question of the gate waits for an answer, in milliseconds; then it is denied.
    pub approval_timeout_ms: u64,
    /// How much output is kept in memory.
    pub spool: SpoolConfig,
    /// How much of everything there may be.
    pub limits: LimitsConfig,
    /// How long the database keeps what.
    pub retention: RetentionConfig,
    /// How much of the disk output may take.
    pub store: StoreConfig,
    /// How shells are started.
    pub shell: ShellConfig,
    /// What the gate does with which commands.
    pub policy: PolicySpec,
    /// What is recorded of what is done.
    pub audit: AuditConfig,
}

/// `[spool]`: how much output is kept in memory.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SpoolConfig {
    /// For a terminal whose creator set no `outputByteLimit`, in bytes.
    pub default_window_bytes: u64,
    /// What an `outputByteLimit` can raise it to, in bytes.
    pub max_window_bytes: u64,
}

/// `[limits]`: how much of everything there may be.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LimitsConfig {
    /// Terminals whose command runs.
    pub terminals: usize,
    /// Those of one client process of one front.
    pub terminals_of_client: usize,
    /// Those of one front.
    pub terminals_of_front: usize,
}

/// How many terminals may run at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MaxRunning {
    /// Of everybody.
    pub of_all: usize,
    /// Of one client process of one front.
    pub of_client: usize,
    /// Of one front.
    pub of_front: usize,
}

impl LimitsConfig {
    /// What it says of running terminals.
    pub fn running(&self) -> MaxRunning {
        MaxRunning {
            of_all: self.terminals,
            of_client: self.terminals_of_client,
            of_front: self.terminals_of_front,
        }
    }
}

/// `[retention]`: how long the database keeps what.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RetentionConfig {
    /// Transcripts of ended terminals, in days.
    pub transcript_days: u32,
    /// All transcripts together, in bytes as stored.
    pub transcript_bytes: u64,
    /// Audit records, in days.
    pub audit_days: u32,
}

/// `[shell]`: how shells are started.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ShellConfig {
    /// Whether interactive shells are made to say where commands begin and end.
    pub integration: bool,
}

/// `[audit]`: what is recorded of what is done.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AuditConfig {
    /// Patterns of secrets beside termd's own: what they find is stored nowhere but in transcripts.
    pub redact: Vec<String>,
    /// Whether what is typed is recorded, and not only how much it was and its hash. Never while
    /// the tty does not echo.
    pub log_input: bool,
    /// Whether the journal is told of the chain's head, so that what is cut off is missed.
    pub journal: bool,
}

impl Default for AuditConfig {
    fn default() -> Self {
        Self {
            redact: Vec::new(),
            log_input: false,
            journal: true,
        }
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            kill_grace_ms: 1_500,
            approval_timeout_ms: APPROVAL_TIMEOUT_MS,
            spool: SpoolConfig::default(),
            limits: LimitsConfig::default(),
            retention: RetentionConfig::default(),
            store: StoreConfig::default(),
            shell: ShellConfig::default(),
            policy: PolicySpec::default(),
            audit: AuditConfig::default(),
        }
    }
}

impl Default for SpoolConfig {
    fn default() -> Self {
        Self {
            default_window_bytes: 1 << 20,
            max_window_bytes: MAX_WINDOW_BYTES,
        }
    }
}

impl Default for LimitsConfig {
    fn default() -> Self {
        Self {
            terminals: 2_048,
            // Half, and three quarters: what one runaway takes leaves the others, and a person at
            // `termctl`, enough to work with and to end it by.
            terminals_of_client: 1_024,
            terminals_of_front: 1_536,
        }
    }
}

impl Default for RetentionConfig {
    fn default() -> Self {
        Self {
            transcript_days: 30,
            transcript_bytes: 10 << 30,
            audit_days: 365,
        }
    }
}

impl Default for ShellConfig {
    fn default() -> Self {
        Self { integration: true }
    }
}

/// A configuration with the text that it was read from.
#[derive(Debug, Clone)]
pub struct ConfigFile {
    /// What it sets.
    pub config: Config,
    /// Its `[policy]`, ready to decide by.
    pub policy: Policy,
    /// The text.
    pub text: String,
}

impl ConfigFile {
    /// Reads the file; where there is none, the defaults hold.
    pub fn load(path: &Path) -> Result<Self, ConfigError> {
        let unreadable = |source| ConfigError::Read {
            path: path.to_owned(),
            source,
        };
        match fs::metadata(path) {
            Ok(metadata) if metadata.len() > MAX_CONFIG_BYTES => {
                return Err(unreadable(io::ErrorKind::FileTooLarge.into()));
            }
            Err(source) if source.kind() == io::ErrorKind::NotFound => {
                return Self::parse(String::new(), path);
            }
            Ok(_) | Err(_) => {}
        }
        let text = fs::read_to_string(path).map_err(unreadable)?;
        Self::parse(text, path)
    }

    /// Reads a text, which is said to be that of a file.
    pub fn parse(text: String, path: &Path) -> Result<Self, ConfigError> {
        let config = Config::parse(&text, path)?;
        let line = |at: usize| place(&text, at).0;
        let resolve = |directory: &str| {
            let real = fs::canonicalize(directory).ok()?;
            let real = real.into_os_string().into_string().ok()?;
            (real != directory).then_some(real)
        };
        let origin = RuleSource {
            line: &line,
            resolve: &resolve,
        };
        let policy = Policy::compile(&config.policy, &origin).map_err(|error| {
            let (line, column) = place(&text, error.at);
            ConfigError::Parse {
                path: path.to_owned(),
                line,
                column,
                message: shown(&error.problem),
            }
        })?;
        Ok(Self {
            config,
            policy,
            text,
        })
    }
}

impl Config {
    /// Reads the file; where there is none, the defaults hold.
    pub fn load(path: &Path) -> Result<Self, ConfigError> {
        ConfigFile::load(path).map(|file| file.config)
    }

    fn parse(text: &str, path: &Path) -> Result<Self, ConfigError> {
        let config: Self = toml::from_str(text).map_err(|error| parse_error(text, path, &error))?;
        let bounds: [(bool, &'static str, &'static str); 8] = [
            (
                config.kill_grace_ms <= MAX_GRACE_MS,
                "kill_grace_ms",
                "0 to 60,000",
            ),
            (
                APPROVAL_TIMEOUT_BOUNDS_MS.contains(&config.approval_timeout_ms),
                "approval_timeout_ms",
                "1,000 to 86,400,000",
            ),
            (
                config.spool.max_window_bytes <= MAX_WINDOW_BYTES,
                "spool.max_window_bytes",
                "67,108,864 at the most",
            ),
            (
                config.spool.default_window_bytes <= config.spool.max_window_bytes,
                "spool.default_window_bytes",
                "no more than spool.max_window_bytes",
            ),
            (
                (1..=4_096).contains(&config.limits.terminals),
                "limits.terminals",
                "1 to 4,096",
            ),
            (
                (1..=4_096).contains(&config.limits.terminals_of_client),
                "limits.terminals_of_client",
                "1 to 4,096",
            ),
            (
                (1..=4_096).contains(&config.limits.terminals_of_front),
                "limits.terminals_of_front",
                "1 to 4,096",
            ),
            (
                config.retention.audit_days >= 1,
                "retention.audit_days",
                "1 or more",
            ),
        ];
        let bounds = bounds.into_iter().chain(config.store.bounds());
        if let Some((_, key, bounds)) = bounds.into_iter().find(|(holds, ..)| !holds) {
            return Err(ConfigError::OutOfBounds {
                path: path.to_owned(),
                key,
                bounds,
            });
        }
        config.redactor().map_err(|source| ConfigError::Redact {
            path: path.to_owned(),
            source,
        })?;
        Ok(config)
    }

    /// What takes secrets out of what is stored.
    pub fn redactor(&self) -> Result<Redactor, PatternError> {
        Redactor::with_patterns(&self.audit.redact)
    }

    /// From SIGTERM or SIGHUP to SIGKILL.
    pub fn kill_grace(&self) -> Duration {
        Duration::from_millis(self.kill_grace_ms)
    }

    /// How long a question of the gate waits for an answer.
    pub fn approval_timeout(&self) -> Duration {
        Duration::from_millis(self.approval_timeout_ms)
    }

    /// How long the database keeps what.
    pub fn store_retention(&self) -> Retention {
        Retention {
            transcript_age_ms: i64::from(self.retention.transcript_days) * DAY_MS,
            transcript_bytes: self.retention.transcript_bytes,
            audit_age_ms: i64::from(self.retention.audit_days) * DAY_MS,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Config, String> {
        Config::parse(text, Path::new("c.toml")).map_err(|error| error.to_string())
    }

    #[test]
    fn nothing_set_means_the_defaults() {
        assert_eq!(parse(""), Ok(Config::default()));
        let absent = Config::load(Path::new("/nonexistent/config.toml"));
        assert_eq!(absent.ok(), Some(Config::default()));
    }

    #[test]
    fn a_fault_is_named_with_its_place() {
        let table = [
            ("kill_grace_ms = 60001", "kill_grace_ms must be"),
            (
                "approval_timeout_ms = 999",
                "approval_timeout_ms must be 1,000 to",
            ),
            (
                "[spool]\nmax_window_bytes = 99999999999",
                "spool.max_window_bytes must be",
            ),
            (
                "[spool]\ndefault_window_bytes = 5\nmax_window_bytes = 4",
                "no more than",
            ),
            (
                "[audit]\nredact = [\"a\", \"(\"]",
                "audit.redact, pattern 2",
            ),
            ("[audit]\nlog_imput = true", "c.toml:2:1: unknown field"),
            ("[limits]\nterminals = 0", "limits.terminals must be 1"),
            (
                "[store]\nterminal_quota = \"1KiB\"",
                "store.terminal_quota must be 256KiB",
            ),
            (
                "[store]\nfree_floor = \"some\"",
                "c.toml:2:14: invalid value",
            ),
            (
                "[limits]\nterminals_of_front = 4097",
                "limits.terminals_of_front must be 1",
            ),
            ("kil_grace_ms = 1", "c.toml:1:1: unknown field"),
            ("kill_grace_ms = \"x\"", "c.toml:1:17: invalid type"),
            ("# käse\n\n[limits]\n 'ä' = 1", "c.toml:4:2: unknown field"),
            ("kill_grace_ms = 1\nspool = [", "c.toml:2:"),
            ("kill_grace_ms = 1 2", "c.toml:1:17: "),
            ("kill_grace_ms = \"\u{1}\"", "c.toml:1:18: "),
            ("\"a\\u001b[2J\" = 1", "unknown field `a\\u{1b}[2J`"),
        ];
        for (text, expected) in table {
            let error = parse(text).expect_err(text);
            assert!(error.contains(expected), "{text:?}: {error}");
            assert_eq!(error.lines().count(), 1, "{text:?}: {error}");
        }
    }
}

//! The tables of `config.toml`: defaults and bounds.

use std::ops::RangeInclusive;
use std::path::Path;
use std::time::Duration;

use serde::Deserialize;

use super::agents_config::AgentsConfig;
use super::error::{ConfigError, parse_error};
use super::store_config::StoreConfig;
use crate::store::Retention;
use termd_policy::PolicySpec;
use termd_policy::secrets::redact::{PatternError, Redactor};

/// Most output that an `outputByteLimit` keeps in memory for one terminal, in bytes. One answer is as
/// long; a longer one would have to be paged.
pub const MAX_WINDOW_BYTES: u64 = 64 << 20;
/// The longest grace, in milliseconds. `systemctl stop` gives up after 90 s.
const MAX_GRACE_MS: u64 = 60_000;
/// How long a question of the gate waits for an answer by default, in milliseconds. An agent's client
/// seldom waits longer.
const APPROVAL_TIMEOUT_MS: u64 = 300_000;
/// The bounds of that time. No person reads and answers within a second, and a question of yesterday was
/// forgotten.
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
    /// How many terminals may run at once.
    pub limits: LimitsConfig,
    /// How long transcripts and records are kept.
    pub retention: RetentionConfig,
    /// How much of the disk output may take.
    pub store: StoreConfig,
    /// How what was printed is searched.
    pub search: SearchConfig,
    /// How shells are started.
    pub shell: ShellConfig,
    /// What the gate decides of commands.
    pub policy: PolicySpec,
    /// The shells of agents.
    pub agents: AgentsConfig,
    /// What audit records say.
    pub audit: AuditConfig,
    /// Who is told what terminals want.
    pub attention: AttentionConfig,
}

/// `[spool]`: how much output is kept in memory.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SpoolConfig {
    /// In bytes, for a terminal whose creator set no `outputByteLimit`.
    pub default_window_bytes: u64,
    /// In bytes, what an `outputByteLimit` can raise that to.
    pub max_window_bytes: u64,
}

impl SpoolConfig {
    /// How much output is kept in memory for a terminal with this `outputByteLimit`, in bytes.
    pub fn window(&self, output_byte_limit: u64) -> u64 {
        output_byte_limit
            .max(self.default_window_bytes)
            .min(self.max_window_bytes)
    }
}

/// `[limits]`: how many terminals may run at once.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LimitsConfig {
    /// Of everybody.
    pub terminals: usize,
    /// Of one client process of one front.
    pub terminals_of_client: usize,
    /// Of one front.
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
    /// The limits by their meaning.
    pub fn running(&self) -> MaxRunning {
        MaxRunning {
            of_all: self.terminals,
            of_client: self.terminals_of_client,
            of_front: self.terminals_of_front,
        }
    }
}

/// `[retention]`: how long transcripts and records are kept.
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

/// `[search]`: how what was printed is searched.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SearchConfig {
    /// Whether there is an index. Without one a search reads all output.
    pub index: bool,
}

impl Default for SearchConfig {
    fn default() -> Self {
        Self { index: true }
    }
}

/// `[attention]`: who is told what terminals want.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AttentionConfig {
    /// A program and its arguments, which are run at each news; empty: none.
    pub command: Vec<String>,
}

/// `[audit]`: what audit records say.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AuditConfig {
    /// Patterns of secrets in addition to termd's own. What they find is stored only in transcripts.
    pub redact: Vec<String>,
    /// Whether the text of what is typed is recorded, and not only its length and its hash. Text that
    /// the tty does not echo is never recorded.
    pub log_input: bool,
    /// Whether the journal gets the head of the chain, so that records cut off its end are missed.
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
            search: SearchConfig::default(),
            shell: ShellConfig::default(),
            policy: PolicySpec::default(),
            agents: AgentsConfig::default(),
            audit: AuditConfig::default(),
            attention: AttentionConfig::default(),
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
            // Half, and three quarters. A runaway client leaves enough for the others, and for a
            // person at `termctl` who ends it.
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

impl Config {
    /// Reads the text of the file at `path`.
    pub(super) fn parse(text: &str, path: &Path) -> Result<Self, ConfigError> {
        let config: Self = toml::from_str(text).map_err(|error| parse_error(text, path, &error))?;
        let bounds: [(bool, &'static str, &'static str); 9] = [
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
            (
                config
                    .attention
                    .command
                    .first()
                    .is_none_or(|program| !program.is_empty()),
                "attention.command",
                "a program and its arguments",
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

    /// The patterns of secrets, compiled.
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

    /// How long transcripts and records are kept.
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

    fn parse(text: &str) -> Result<Config, ConfigError> {
        Config::parse(text, Path::new("c.toml"))
    }

    #[test]
    fn nothing_set_means_the_defaults() {
        assert_eq!(parse("").unwrap(), Config::default());
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
            (
                "[attention]\ncommand = [\"\"]",
                "attention.command must be a program",
            ),
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
            (
                "[policy]\nforeign_terminals = \"some\"",
                "c.toml:2:21: unknown variant",
            ),
            (
                "[policy.fronts.mcp]\nconfirmed = \"yes\"",
                "c.toml:2:13: unknown variant",
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
            let error = parse(text).expect_err(text).to_string();
            assert!(error.contains(expected), "{text:?}: {error}");
            assert_eq!(error.lines().count(), 1, "{text:?}: {error}");
        }
    }
}

//! The settings of the environment: terminal-mcp's `TERMINAL_MCP_*`, each with a `TERMD_*` twin that
//! wins. A value that makes no sense is an error at the start, so that no server runs without it.

use std::ffi::OsString;
use std::time::Duration;

use regex::Regex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use termd_proto::daemon::ClientSettings;
use termd_proto::policy::{GateSettings, MAX_GATE_PATTERN_BYTES, MAX_GATE_PATTERNS};
use termd_proto::terminal::{
    DEFAULT_COLS, DEFAULT_ROWS, MAX_DIMENSION, MAX_IDLE_TIMEOUT_MS, MIN_COLS,
};
use thiserror::Error;

/// The longest wait of one call.
pub(crate) const MAX_TIMEOUT: Duration = Duration::from_hours(1);
/// How long a one-shot is waited for where the call does not say, in seconds. Clients give a call up
/// after 60 s, and the answer has to be there before. More than 45 s leaves no time for a start on a
/// busy machine.
pub(crate) const ONE_SHOT_SECONDS: u32 = 45;
/// The most output of one call: as much as one `session.read` goes through.
pub(crate) const MAX_OUTPUT_BYTES: u64 = 1 << 20;
/// The least output that a call can be bounded to, in bytes: some lines of each end.
pub(crate) const MIN_OUTPUT_BYTES: u64 = 1_000;
/// The most output of one call where nobody says: some 2,500 tokens, and less than each client cuts.
const DEFAULT_OUTPUT_BYTES: u64 = 8 << 10;
/// The longest idle timeout in seconds.
pub(crate) const MAX_IDLE_SECONDS: u64 = MAX_IDLE_TIMEOUT_MS / 1_000;

// The part of long output that is kept; terminal-mcp's words. A doc comment would be shown to models.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Truncation {
    /// The beginning. The next read goes on behind it.
    #[default]
    Tail,
    /// Both ends, and what looks like an error in the middle.
    HeadTail,
    /// The end.
    TailOnly,
    /// All, up to the most that one call gives. Beyond it as [`Truncation::Tail`].
    None,
}

impl Truncation {
    const ALL: [Self; 4] = [Self::Tail, Self::HeadTail, Self::TailOnly, Self::None];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Tail => "tail",
            Self::HeadTail => "head_tail",
            Self::TailOnly => "tail_only",
            Self::None => "none",
        }
    }
}

/// What becomes of a one-shot (`session_exec`, `terminal_run`) that takes longer than its call waits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum ExecTimeout {
    /// It goes on, and the answer says where to read on.
    #[default]
    Continue,
    /// It is ended, as terminal-mcp does it.
    End,
}

/// Where the prompt after a command's output stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PromptPlace {
    /// In a field of its own.
    Apart,
    /// At the end of the output, as terminal-mcp has it.
    Output,
}

/// The settings of the environment.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Most terminals of this client that run at once.
    pub(crate) max_running: u32,
    /// The time after which an idle terminal is closed. `None`: never.
    pub(crate) idle_timeout: Option<Duration>,
    /// Rows of a new terminal.
    pub(crate) rows: u16,
    /// Columns of a new terminal.
    pub(crate) cols: u16,
    /// The quiet time after which output has settled.
    pub(crate) settle: Duration,
    /// The most bytes of output in one answer.
    pub(crate) max_output_bytes: u64,
    /// The bytes of each terminal's output that the daemon keeps at hand.
    pub(crate) buffer_bytes: u64,
    /// The default of calls that do not say.
    pub(crate) truncation: Truncation,
    pub(crate) exec_timeout: ExecTimeout,
    pub(crate) prompt: PromptPlace,
    pub(crate) gate: GateSettings,
}

impl Default for Settings {
    /// terminal-mcp's defaults, but for long output (its 100,000 bytes are some 30,000 tokens) and for what
    /// becomes of one-shots.
    fn default() -> Self {
        Self {
            max_running: 10,
            idle_timeout: Some(Duration::from_mins(30)),
            rows: DEFAULT_ROWS,
            cols: DEFAULT_COLS,
            settle: Duration::from_secs(2),
            max_output_bytes: DEFAULT_OUTPUT_BYTES,
            buffer_bytes: 1_000_000,
            truncation: Truncation::HeadTail,
            exec_timeout: ExecTimeout::Continue,
            prompt: PromptPlace::Apart,
            gate: GateSettings::default(),
        }
    }
}

/// A variable's value makes no sense.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("{variable}={value:?}: it has to be {wanted}")]
pub struct SettingsError {
    variable: String,
    value: String,
    wanted: String,
}

/// A setting's value, and its variable.
struct Found {
    variable: String,
    value: String,
}

impl Found {
    fn not(&self, wanted: impl Into<String>) -> SettingsError {
        SettingsError {
            variable: self.variable.clone(),
            value: self.value.chars().take(100).collect(),
            wanted: wanted.into(),
        }
    }

    fn number(&self, least: u64, most: u64) -> Result<u64, SettingsError> {
        self.value
            .trim()
            .parse()
            .ok()
            .filter(|number| (least..=most).contains(number))
            .ok_or_else(|| self.not(format!("a whole number from {least} to {most}")))
    }
}

impl Settings {
    /// Reads the settings by a lookup of variables.
    pub fn from_environment(
        lookup: impl Fn(&str) -> Option<OsString>,
    ) -> Result<Self, SettingsError> {
        let find = |name: &str| {
            ["TERMD_", "TERMINAL_MCP_"].iter().find_map(|prefix| {
                let variable = format!("{prefix}{name}");
                let value = lookup(&variable)?.to_string_lossy().into_owned();
                (!value.trim().is_empty()).then_some(Found { variable, value })
            })
        };
        let mut settings = Self::default();
        if let Some(found) = find("MAX_SESSIONS") {
            settings.max_running = found.number(1, 100_000)?.try_into().unwrap_or(u32::MAX);
        }
        if let Some(found) = find("IDLE_TIMEOUT") {
            settings.idle_timeout = idle_timeout(found.number(0, MAX_IDLE_SECONDS)?);
        }
        let dimension = |found: &Found, least: u16| {
            let number = found.number(least.into(), MAX_DIMENSION.into())?;
            Ok(u16::try_from(number).unwrap_or(MAX_DIMENSION))
        };
        if let Some(found) = find("DEFAULT_ROWS") {
            settings.rows = dimension(&found, 1)?;
        }
        if let Some(found) = find("DEFAULT_COLS") {
            settings.cols = dimension(&found, MIN_COLS)?;
        }
        if let Some(found) = find("READ_SETTLE_TIMEOUT") {
            settings.settle = found
                .value
                .trim()
                .parse()
                .ok()
                .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
                .filter(|settle| *settle <= MAX_TIMEOUT)
                .ok_or_else(|| found.not("seconds from 0 to 3600"))?;
        }
        if let Some(found) = find("MAX_OUTPUT_BYTES") {
            settings.max_output_bytes = found.number(MIN_OUTPUT_BYTES, MAX_OUTPUT_BYTES)?;
        }
        if let Some(found) = find("MAX_BUFFER_BYTES") {
            settings.buffer_bytes = found.number(1, 1 << 40)?;
        }
        // terminal-mcp looks for idle sessions this often; the daemon has a timer for each.
        if let Some(found) = find("CLEANUP_INTERVAL") {
            found.number(0, MAX_IDLE_SECONDS)?;
        }
        if let Some(found) = find("TRUNCATION_MODE") {
            let word = found.value.trim().to_lowercase();
            settings.truncation = Truncation::ALL
                .into_iter()
                .find(|truncation| truncation.as_str() == word)
                .ok_or_else(|| found.not(Truncation::ALL.map(Truncation::as_str).join(", ")))?;
        }
        if let Some(found) = find("EXEC_TIMEOUT") {
            settings.exec_timeout = match found.value.trim().to_lowercase().as_str() {
                "continue" => ExecTimeout::Continue,
                "end" => ExecTimeout::End,
                _ => return Err(found.not("continue or end")),
            };
        }
        if let Some(found) = find("PROMPT") {
            settings.prompt = match found.value.trim().to_lowercase().as_str() {
                "apart" => PromptPlace::Apart,
                "output" => PromptPlace::Output,
                _ => return Err(found.not("apart or output")),
            };
        }
        if let Some(found) = find("SAFETY_GATE") {
            settings.gate.enabled = match found.value.trim().to_lowercase().as_str() {
                "on" | "true" | "yes" | "1" => true,
                "off" | "false" | "no" | "0" => false,
                _ => return Err(found.not("on or off")),
            };
        }
        if let Some(found) = find("DANGEROUS_PATTERNS") {
            settings.gate.patterns = patterns(&found)?;
        }
        Ok(settings)
    }

    /// The settings that the daemon obeys.
    pub(crate) fn to_daemon(&self) -> ClientSettings {
        ClientSettings {
            max_running: Some(self.max_running),
            gate: self.gate.clone(),
        }
    }
}

/// An idle timeout in seconds; 0 is never.
pub(crate) fn idle_timeout(seconds: u64) -> Option<Duration> {
    (seconds > 0).then(|| Duration::from_secs(seconds))
}

/// Regular expressions with semicolons between.
fn patterns(found: &Found) -> Result<Vec<String>, SettingsError> {
    let patterns: Vec<String> = found
        .value
        .split(';')
        .map(str::trim)
        .filter(|pattern| !pattern.is_empty())
        .map(str::to_owned)
        .collect();
    if patterns.len() > MAX_GATE_PATTERNS {
        return Err(found.not(format!("{MAX_GATE_PATTERNS} patterns at the most")));
    }
    for pattern in &patterns {
        if pattern.len() > MAX_GATE_PATTERN_BYTES || Regex::new(pattern).is_err() {
            return Err(found.not(format!(
                "regular expressions (no look-around, no back-references) of \
                 {MAX_GATE_PATTERN_BYTES} bytes at the most with `;` between, which {pattern:?} is not"
            )));
        }
    }
    Ok(patterns)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(variables: &[(&str, &str)]) -> Result<Settings, SettingsError> {
        Settings::from_environment(|name| {
            let (_, value) = variables.iter().find(|(variable, _)| *variable == name)?;
            Some(OsString::from(value))
        })
    }

    #[test]
    fn without_variables_it_is_terminal_mcp_s_defaults() {
        assert_eq!(settings(&[]), Ok(Settings::default()));
        assert_eq!(
            settings(&[("TERMD_MAX_SESSIONS", " ")]),
            Ok(Settings::default())
        );
    }

    #[test]
    fn each_is_heard_and_the_twin_wins() {
        let heard = settings(&[
            ("TERMINAL_MCP_MAX_SESSIONS", "20"),
            ("TERMD_MAX_SESSIONS", "30"),
            ("TERMINAL_MCP_IDLE_TIMEOUT", "0"),
            ("TERMINAL_MCP_DEFAULT_ROWS", "50"),
            ("TERMINAL_MCP_DEFAULT_COLS", "132"),
            ("TERMINAL_MCP_READ_SETTLE_TIMEOUT", "0.25"),
            ("TERMINAL_MCP_MAX_OUTPUT_BYTES", "5000"),
            ("TERMINAL_MCP_CLEANUP_INTERVAL", "5"),
            ("TERMINAL_MCP_MAX_BUFFER_BYTES", "2000000"),
            ("TERMINAL_MCP_SAFETY_GATE", "Off"),
            (
                "TERMINAL_MCP_DANGEROUS_PATTERNS",
                r"\bdeploy\b; drop\s+it ;",
            ),
            ("TERMINAL_MCP_TRUNCATION_MODE", "head_tail"),
            ("TERMINAL_MCP_EXEC_TIMEOUT", "End"),
            ("TERMINAL_MCP_PROMPT", "output"),
        ]);
        let want = Settings {
            max_running: 30,
            idle_timeout: None,
            rows: 50,
            cols: 132,
            settle: Duration::from_millis(250),
            max_output_bytes: 5_000,
            buffer_bytes: 2_000_000,
            truncation: Truncation::HeadTail,
            exec_timeout: ExecTimeout::End,
            prompt: PromptPlace::Output,
            gate: GateSettings {
                enabled: false,
                patterns: vec![r"\bdeploy\b".to_owned(), r"drop\s+it".to_owned()],
            },
        };
        assert_eq!(heard, Ok(want));
    }

    #[test]
    fn what_makes_no_sense_is_refused_by_the_variable_s_name() {
        let table = [
            ("MAX_SESSIONS", "0"),
            ("MAX_SESSIONS", "many"),
            ("IDLE_TIMEOUT", "-1"),
            ("DEFAULT_ROWS", "0"),
            ("DEFAULT_COLS", "1"),
            ("DEFAULT_COLS", "5000"),
            ("READ_SETTLE_TIMEOUT", "-1"),
            ("READ_SETTLE_TIMEOUT", "NaN"),
            ("MAX_OUTPUT_BYTES", "10"),
            ("CLEANUP_INTERVAL", "x"),
            ("TRUNCATION_MODE", "middle"),
            ("EXEC_TIMEOUT", "45"),
            ("PROMPT", "no"),
            ("SAFETY_GATE", "maybe"),
            ("DANGEROUS_PATTERNS", "a(;b"),
            ("DANGEROUS_PATTERNS", "(?=look)"),
        ];
        for (name, value) in table {
            let variable = format!("TERMINAL_MCP_{name}");
            let error = settings(&[(&variable, value)]).unwrap_err();
            assert_eq!(error.variable, variable, "{error}");
        }
    }
}

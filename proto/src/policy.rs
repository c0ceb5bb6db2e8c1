//! `policy.*`: what the gate says of a command before it runs.
//!
//! The gate is a seat belt, not a wall: it reads what is about to be run and asks where that looks
//! dangerous or cannot be understood. A program that wants to do harm is not held up by it.

use serde::{Deserialize, Serialize};

use crate::terminal::{Front, ScopeLimits};

/// Longest text that is judged, in bytes; longer ones are [`Verdict::Unknown`].
pub const MAX_JUDGED_BYTES: usize = 64 << 10;
/// Most commands in one text that are judged; more of them are [`Verdict::Unknown`].
pub const MAX_JUDGED_COMMANDS: usize = 1_000;
/// Most extra patterns of one client.
pub const MAX_GATE_PATTERNS: usize = 64;
/// Longest extra pattern, in bytes.
pub const MAX_GATE_PATTERN_BYTES: usize = 1_024;

/// What a text is, as far as reading it tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Nothing in it is known to be dangerous.
    Safe,
    /// It cannot be understood well enough to say.
    Unknown,
    /// Something in it destroys, stops or gives away.
    Dangerous,
}

impl Verdict {
    /// The word for it in JSON, tables and audit records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Safe => "safe",
            Self::Unknown => "unknown",
            Self::Dangerous => "dangerous",
        }
    }
}

/// What is done about it. The greater one is the stricter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// It runs.
    Allow,
    /// It runs once the caller has said `confirmed`.
    Confirm,
    /// It does not run, whatever the caller says.
    Deny,
}

/// Where in a text something is, in bytes of UTF-8.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// Its first byte.
    pub start: usize,
    /// The byte after its last.
    pub end: usize,
}

/// What the gate says of one text or argv.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judgement {
    /// What it is.
    pub verdict: Verdict,
    /// Why, in one line for a person; `None` where it is safe.
    pub reason: Option<String>,
    /// The part that the reason speaks of, in the text judged (an argv: its words joined by one
    /// space, each quoted where it needs it).
    pub span: Option<Span>,
    /// What is done about it.
    pub effect: Effect,
    /// The rule of config.toml that decided the effect, by its number from 1; absent: the verdict did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<usize>,
    /// The rule of approved.toml by which it runs, by its number from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approved: Option<usize>,
    /// Where it asks: whether only a person can agree, and the caller's `confirmed` does not count.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub needs_person: bool,
}

/// Most questions of one `policy.explain`.
pub const MAX_EXPLAINED: usize = 1_000;

/// A question to the policy: a line or an argv, not both, and who would ask for it from where.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PolicyQuery {
    /// A line as it would be typed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<String>,
    /// A program and its arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub argv: Option<Vec<String>>,
    /// The program that a line would be typed into; absent: a shell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// The directory; absent: the connection's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The front; absent: the connection's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub front: Option<Front>,
    /// The client's name; absent: the connection's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// The user; absent: the connection's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uid: Option<u32>,
}

/// What is decided of a [`PolicyQuery`], and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Explanation {
    /// What it is, and what is done about it.
    #[serde(flatten)]
    pub judgement: Judgement,
    /// Why the effect is what it is, in one line.
    pub why: String,
    /// Where the rule that decided stands: the file and its line, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule_at: Option<(String, usize)>,
    /// What it would run under; absent: nothing but the environment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<ExplainedProfile>,
    /// Variables of the daemon's environment that it would not get.
    pub env_dropped: Vec<String>,
    /// Variables that it would get by the policy.
    pub env_set: Vec<String>,
}

/// What a command would be held to. Absent numbers: it is not.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ExplainedProfile {
    /// The profiles: of several, the strictest of each thing.
    pub names: Vec<String>,
    /// Wall-clock time, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// Time without activity, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_timeout_ms: Option<u64>,
    /// Output in all, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_bytes: Option<u64>,
    /// Output that is kept, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub terminal_quota: Option<u64>,
    /// Processor time of a process, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_seconds: Option<u64>,
    /// Address space of a process, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address_space: Option<u64>,
    /// Open files of a process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_files: Option<u64>,
    /// Processes and threads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processes: Option<u64>,
    /// Size of a file that a process writes, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_bytes: Option<u64>,
    /// What all of it together is held to; absent: nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<ScopeLimits>,
    /// Its walls; absent: it has no sandbox.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<ExplainedSandbox>,
}

/// The walls of a sandbox. Paths are as they would be for the directory asked about.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct ExplainedSandbox {
    /// `read-only`, `workspace`, `no-network`.
    pub kinds: Vec<String>,
    /// May be written.
    pub writable: Vec<String>,
    /// May not, though something above may.
    pub protected: Vec<String>,
    /// Cannot be seen.
    pub hidden: Vec<String>,
    /// Whether there is a network.
    pub network: bool,
    /// Whether the daemon's own socket may be used.
    pub daemon_socket: bool,
    /// Whether it runs where a wall cannot be held.
    pub best_effort: bool,
    /// Whether `/tmp` and `/var/tmp` are its own.
    #[serde(default)]
    pub private_tmp: bool,
    /// Whether bubblewrap builds it.
    #[serde(default)]
    pub bubblewrap: bool,
}

/// How one client wants the gate to be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GateSettings {
    /// Whether verdicts ask for a confirmation. Rules of config.toml hold all the same, and what
    /// ran is recorded with its verdict.
    pub enabled: bool,
    /// Regular expressions (the `regex` crate's) that make a text dangerous, beside what is
    /// built in.
    pub patterns: Vec<String>,
}

impl Default for GateSettings {
    fn default() -> Self {
        Self {
            enabled: true,
            patterns: Vec::new(),
        }
    }
}

/// Params of `policy.check`: judges a shell line, or an argv, not both; runs nothing and records
/// nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckPolicy {
    /// A line as it would be typed.
    pub line: Option<String>,
    /// A program and its arguments.
    pub argv: Option<Vec<String>>,
    /// The program that the line would be typed into; absent: a shell.
    pub program: Option<String>,
    /// The directory; absent: the connection's.
    pub cwd: Option<String>,
    /// The front; absent: the connection's.
    pub front: Option<Front>,
}

/// Params of `policy.explain`: says what is decided of each question, by which rule, why, and what it
/// would run under; runs nothing and records nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExplainPolicy {
    /// The questions, at most [`MAX_EXPLAINED`].
    pub queries: Vec<PolicyQuery>,
    /// The text of a config.toml to decide by; absent: the one that is in force.
    pub config: Option<String>,
    /// The file that `config` is of, for the answers; absent: the daemon's own.
    pub config_path: Option<String>,
}

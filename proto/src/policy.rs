//! `policy.*`: what the gate says of a command before it runs.
//!
//! The gate is a seat belt, not a wall: it reads what is about to be run and asks where that looks
//! dangerous or cannot be understood. A program that wants to do harm is not held up by it.

use jsonrpsee::core::RpcResult;
use jsonrpsee::proc_macros::rpc;
use serde::{Deserialize, Serialize};

use crate::terminal::Front;

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

/// What is done about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
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

/// `policy.*`: what the gate says.
#[rpc(server, client, namespace = "policy", namespace_separator = ".")]
pub trait Policy {
    /// Judges a shell line, or an argv, not both; runs nothing and records nothing. `program`: the
    /// program that the line would be typed into (absent: a shell).
    #[method(name = "check", param_kind = map, with_extensions)]
    async fn check(
        &self,
        line: Option<String>,
        argv: Option<Vec<String>>,
        program: Option<String>,
        cwd: Option<String>,
        front: Option<Front>,
    ) -> RpcResult<Judgement>;
}

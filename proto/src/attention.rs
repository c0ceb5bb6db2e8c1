//! `attention.report`: an agent says by its hook that it waits for its person, or is done. Who watches
//! sees it in `approval.list`.

use serde::{Deserialize, Serialize};

use crate::terminal::Owner;

/// The longest text that is shown, in bytes.
pub const MAX_TEXT_BYTES: usize = 512;

/// What an agent wants of its person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttentionState {
    /// It waits for an answer.
    Input,
    /// It has done what it was asked for.
    Done,
}

/// Params of `attention.report`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportAttention {
    /// What it wants.
    pub state: AttentionState,
    /// In its words; at most [`MAX_TEXT_BYTES`] of it are shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// What an agent has said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attention {
    /// Counts them, from 1, under one server.
    pub number: u64,
    /// What it wants.
    pub state: AttentionState,
    /// In its words, without control characters; perhaps empty.
    pub text: String,
    /// Which agent.
    pub of: Owner,
    /// When, in milliseconds since the Unix epoch.
    pub at_ms: i64,
}

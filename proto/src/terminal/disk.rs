//! Limits of what is kept on the disk, and output that is not kept.

use serde::{Deserialize, Serialize};

use super::EndCause;
use crate::id::Offset;

/// A limit of `[store]` in config.toml: of what is kept on the disk. None of them ends a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DiskLimit {
    /// What is kept of one terminal's output.
    TerminalQuota,
    /// What is kept of all terminals' output together.
    TotalQuota,
    /// The free space of the file system below which no output is kept.
    FreeFloor,
}

impl DiskLimit {
    /// The word for it in JSON, tables and the database.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::TerminalQuota => "terminal_quota",
            Self::TotalQuota => "total_quota",
            Self::FreeFloor => "free_floor",
        }
    }
}

/// Any limit that a terminal may reach, by its word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ReachedLimit {
    /// One of its profile, for which its command is ended.
    Ends(EndCause),
    /// One of the disk, for which some of its output is not kept.
    Disk(DiskLimit),
}

/// Why a part of a terminal's output is not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GapCause {
    /// The terminal's own quota: its head and its tail are kept.
    TerminalQuota,
    /// The quota of all: the terminal's own was made smaller for it.
    TotalQuota,
    /// The disk had less free space than its floor.
    FreeFloor,
    /// It was past retention.
    Retention,
    /// Somebody has deleted the transcript.
    Deleted,
    /// Unknown: the database did not have it when a server began.
    Lost,
}

impl GapCause {
    /// The word for it in JSON, tables and the database.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::TerminalQuota => "terminal_quota",
            Self::TotalQuota => "total_quota",
            Self::FreeFloor => "free_floor",
            Self::Retention => "retention",
            Self::Deleted => "deleted",
            Self::Lost => "lost",
        }
    }
}

impl From<DiskLimit> for GapCause {
    fn from(limit: DiskLimit) -> Self {
        match limit {
            DiskLimit::TerminalQuota => Self::TerminalQuota,
            DiskLimit::TotalQuota => Self::TotalQuota,
            DiskLimit::FreeFloor => Self::FreeFloor,
        }
    }
}

/// Output that is not kept, between output that is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gap {
    /// The first byte that is not kept.
    pub start: Offset,
    /// The offset after the last.
    pub end: Offset,
    /// Why.
    pub cause: GapCause,
}

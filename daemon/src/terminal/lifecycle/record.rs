//! What a terminal is: fixed at its creation, and kept by the keeper as notes for the next server.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use termd_policy::secrets::output::KnownSecrets;
use termd_proto::acp::Meta;
use termd_proto::terminal::{Children, Confinement, Owner, Stdin, Stdio};
use termd_proto::{Label, Offset, Tags, TerminalId};

use super::agents::TerminalAgents;
use super::idle_timeout::IdleTimeout;
use super::progress::Progress;
use crate::clock::{boottime_ms, now_ms};
use crate::shell::ShellNonce;
use crate::store::TerminalRow;
use crate::terminal::screen::scrollback::ScrollbackLines;
use crate::terminal::screen::size::Size;

/// Most bytes of notes that the keeper takes. Longer notes leave out argv, its line and
/// `_meta`, which the database has.
const MAX_NOTES_BYTES: usize = 60 * 1024;

/// What a terminal is, fixed at its creation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    pub id: TerminalId,
    pub label: Option<Label>,
    #[serde(default, skip_serializing_if = "Tags::is_empty")]
    pub tags: Tags,
    pub argv: Vec<String>,
    /// The line that an agent asked its shell to run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_line: Option<String>,
    /// The directory that the command was started in.
    pub cwd: String,
    /// The root process; 0 in notes, which are written before it is forked.
    pub pid: i32,
    pub owner: Owner,
    pub created_at_ms: i64,
    /// The same in milliseconds of `CLOCK_BOOTTIME`, from which the times of its output are counted. Only
    /// the notes have it.
    #[serde(default)]
    pub created_at_boottime_ms: Option<u64>,
    /// When it was imported from a recording. Only the database has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imported_at_ms: Option<i64>,
    /// Columns at its creation.
    pub cols: u16,
    /// Rows at its creation.
    pub rows: u16,
    /// How much `terminal/output` shows, in bytes.
    pub output_byte_limit: u64,
    /// Whether the terminal ends with the connection that it is bound to.
    pub close_on_disconnect: bool,
    /// Whether it does not count for its client's own bound. Only the notes have it.
    #[serde(default)]
    pub one_shot: bool,
    #[serde(default)]
    pub idle_timeout: Option<IdleTimeout>,
    /// The limits that the command is held to. Notes are older than what enforces them, and lack that.
    #[serde(default)]
    pub held_to: Option<Confinement>,
    /// When the command is to be ended, in milliseconds of `CLOCK_MONOTONIC`. Every server of the same
    /// boot can read that clock. Only the notes have it.
    #[serde(default)]
    pub deadline_ms: Option<u64>,
    /// Directories that were created for this sandbox or for another one that needs them. Only the
    /// notes have them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub made: Vec<PathBuf>,
    /// The workspace of its sandbox, without links. Only the notes have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<PathBuf>,
    #[serde(default)]
    pub scrollback: ScrollbackLines,
    #[serde(default)]
    pub stdio: Stdio,
    /// What it reads on pipes. Only the notes have it.
    #[serde(default)]
    pub stdin: Stdin,
    /// How long what the command of an agent's shell starts may outlive it. Only the notes have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub children: Option<Children>,
    /// The process of the agent that it was created for: the pid, and the start in clock ticks since boot.
    /// Only the notes have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_process: Option<(i32, u64)>,
    /// `_meta` of the request.
    pub meta: Option<Meta>,
    /// The secrets of the command's environment, which are hidden in output. Only the notes have them.
    #[serde(default, skip_serializing_if = "KnownSecrets::is_empty")]
    pub secrets: KnownSecrets,
    /// The nonce that the shell signs command lines with. Only the notes have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shell_nonce: Option<ShellNonce>,
}

/// The notes: the record, and what may change.
#[derive(Serialize)]
struct Notes<'a> {
    #[serde(flatten)]
    record: &'a Record,
    agents: &'a TerminalAgents,
}

impl Record {
    /// The notes for the keeper.
    pub(crate) fn to_notes(&self, agents: &TerminalAgents) -> Vec<u8> {
        let notes = |record| serde_json::to_vec(&Notes { record, agents }).unwrap_or_default();
        let whole = notes(self);
        if whole.len() <= MAX_NOTES_BYTES {
            return whole;
        }
        notes(&Self {
            argv: Vec::new(),
            agent_line: None,
            meta: None,
            ..self.clone()
        })
    }

    /// The record in the keeper's notes, completed from the database's row where there is one.
    pub fn from_notes(notes: &[u8], row: Option<&TerminalRow>) -> Option<Self> {
        let noted: Option<Self> = serde_json::from_slice(notes).ok();
        let Some(row) = row else {
            return noted;
        };
        let Some(noted) = noted else {
            return Some(Self::from_row(row));
        };
        // The notes are older than what enforces the limits.
        let noted = Self {
            held_to: row.held_to.clone().or_else(|| noted.held_to.clone()),
            ..noted
        };
        if !noted.argv.is_empty() {
            // The database has argv without its secrets; a live terminal shows what runs.
            return Some(noted);
        }
        Some(Self {
            argv: row.argv.clone(),
            agent_line: row.agent_line.clone(),
            meta: row.meta.clone(),
            ..noted
        })
    }

    /// The record of a terminal that only the database knows.
    pub fn from_row(row: &TerminalRow) -> Self {
        Self {
            id: row.id.clone(),
            label: row.label.clone(),
            tags: row.tags.clone(),
            argv: row.argv.clone(),
            agent_line: row.agent_line.clone(),
            cwd: row.cwd.clone(),
            pid: row.pid,
            owner: row.owner.clone(),
            created_at_ms: row.created_at_ms,
            created_at_boottime_ms: None,
            imported_at_ms: row.imported_at_ms,
            cols: row.first_cols.unwrap_or(row.cols),
            rows: row.first_rows.unwrap_or(row.rows),
            output_byte_limit: row.output_byte_limit,
            close_on_disconnect: false,
            one_shot: false,
            idle_timeout: row.idle_timeout_ms.map(IdleTimeout::stored),
            held_to: row.held_to.clone(),
            deadline_ms: None,
            made: Vec::new(),
            workspace: None,
            scrollback: row
                .scrollback_lines
                .map_or_else(ScrollbackLines::default, ScrollbackLines::stored),
            stdio: row.stdio,
            stdin: Stdin::Null,
            children: None,
            agent_process: None,
            meta: row.meta.clone(),
            secrets: KnownSecrets::default(),
            shell_nonce: None,
        }
    }

    /// When it was created, in milliseconds of `CLOCK_BOOTTIME`; by the time of day where an earlier termd
    /// has not noted it.
    pub(crate) fn start_by_boottime(&self) -> u64 {
        self.created_at_boottime_ms.unwrap_or_else(|| {
            let age = now_ms().saturating_sub(self.created_at_ms);
            boottime_ms().saturating_sub(u64::try_from(age).unwrap_or(0))
        })
    }

    /// The size at the start.
    pub fn first_size(&self) -> Size {
        Size {
            cols: self.cols,
            rows: self.rows,
        }
    }

    /// The database's row in this state, without the last activity and what a person has seen.
    pub fn to_row(&self, progress: &Progress) -> TerminalRow {
        let exit = progress.exit.as_ref();
        TerminalRow {
            id: self.id.clone(),
            label: self.label.clone(),
            tags: self.tags.clone(),
            argv: self.argv.clone(),
            agent_line: self.agent_line.clone(),
            cwd: self.cwd.clone(),
            pid: self.pid,
            cols: progress.size.cols,
            rows: progress.size.rows,
            owner: self.owner.clone(),
            created_at_ms: self.created_at_ms,
            exited_at_ms: exit.map(|exit| exit.at_ms),
            exit_status: exit.and_then(|exit| exit.status.clone()),
            released_at_ms: progress.released_at_ms,
            imported_at_ms: self.imported_at_ms,
            seen_at_ms: None,
            closed_at_ms: progress.closed_at_ms,
            close_cause: progress.close_cause,
            end_cause: progress.end_cause,
            held_to: self.held_to.clone(),
            idle_timeout_ms: self.idle_timeout.map(IdleTimeout::ms),
            last_activity_ms: None,
            scrollback_lines: Some(self.scrollback.lines()),
            first_cols: Some(self.cols),
            first_rows: Some(self.rows),
            output_byte_limit: self.output_byte_limit,
            start: Offset::ZERO,
            end: progress.end,
            stdio: self.stdio,
            meta: self.meta.clone(),
        }
    }
}

//! What goes into the store and comes out of it.

use serde_json::{Map, Value};
use termd_proto::terminal::{CloseCause, Confinement, EndCause, ExitStatus, Gap, Owner, Stdio};
use termd_proto::{Label, Offset, TerminalId};
use tokio::sync::watch;

use super::audit_words::{AuditAction, AuditOutcome};

/// Bytes in a whole transcript block.
pub const BLOCK_BYTES: usize = 64 * 1024;

/// One terminal's row.
#[derive(Debug, Clone, PartialEq)]
pub struct TerminalRow {
    /// Its id.
    pub id: TerminalId,
    /// Its label.
    pub label: Option<Label>,
    /// As run.
    pub argv: Vec<String>,
    /// Where it was started.
    pub cwd: String,
    /// Its root process.
    pub pid: i32,
    /// Columns.
    pub cols: u16,
    /// Rows.
    pub rows: u16,
    /// Who asked for it.
    pub owner: Owner,
    /// When it was started.
    pub created_at_ms: i64,
    /// When its exit was known.
    pub exited_at_ms: Option<i64>,
    /// How it ended.
    pub exit_status: Option<ExitStatus>,
    /// When `terminal/release` ended its ACP life.
    pub released_at_ms: Option<i64>,
    /// When it was closed.
    pub closed_at_ms: Option<i64>,
    /// Why it was closed, where nobody asked for it.
    pub close_cause: Option<CloseCause>,
    /// The limit that ended its command.
    pub end_cause: Option<EndCause>,
    /// What its command is held to.
    pub held_to: Option<Confinement>,
    /// It is closed after so many milliseconds without activity.
    pub idle_timeout_ms: Option<u64>,
    /// When something last happened in it, as of this row.
    pub last_activity_ms: Option<i64>,
    /// Lines of scrollback that its screen keeps.
    pub scrollback_lines: Option<u32>,
    /// Columns that it was started with.
    pub first_cols: Option<u16>,
    /// Rows that it was started with.
    pub first_rows: Option<u16>,
    /// What `terminal/output` keeps.
    pub output_byte_limit: u64,
    /// Transcript before this was dropped by retention.
    pub start: Offset,
    /// End of what is stored.
    pub end: Offset,
    /// What its command has for standard input, output and error.
    pub stdio: Stdio,
    /// The `_meta` of its creation.
    pub meta: Option<Map<String, Value>>,
}

/// A part of a transcript on its way to the disk.
#[derive(Debug)]
pub struct Block {
    /// Whose.
    pub terminal: TerminalId,
    /// The first byte's offset: a multiple of [`BLOCK_BYTES`] after whole blocks. A block with the
    /// offset of one already stored is longer than it and replaces it.
    pub start: Offset,
    /// At most [`BLOCK_BYTES`].
    pub bytes: Vec<u8>,
    /// What is to be known of each byte, a bit each from the lowest on; `None`: nothing. Kept and
    /// dropped with the block.
    pub origins: Option<Vec<u8>>,
    /// Told the offset after the last byte once it is committed.
    pub committed: watch::Sender<Offset>,
}

/// Output that is not kept from now on, or never was.
#[derive(Debug)]
pub struct GapWrite {
    /// Whose.
    pub terminal: TerminalId,
    /// Where: all of what it has grown to. Blocks in it are dropped.
    pub gap: Gap,
    /// When, in milliseconds since the epoch.
    pub at_ms: i64,
    /// Told the gap's end once it is committed; `None`: what lies in it was stored before.
    pub committed: Option<watch::Sender<Offset>>,
}

/// How much a transcript takes, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TranscriptSize {
    /// Whose.
    pub terminal: TerminalId,
    /// Output that is kept of it.
    pub length: u64,
    /// The same as it is stored.
    pub stored: u64,
}

/// An audit record to be written; its number, time, and hashes are the store's to give.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditEntry {
    /// When, in milliseconds since the epoch.
    pub at_ms: i64,
    /// What was done.
    pub action: AuditAction,
    /// What came of it.
    pub outcome: AuditOutcome,
    /// Who.
    pub actor: Owner,
    /// To which terminal.
    pub terminal: Option<TerminalId>,
    /// What else.
    pub detail: Map<String, Value>,
}

/// A part of a transcript, read back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredBytes {
    /// The first byte's offset: later than asked for where retention dropped something.
    pub start: Offset,
    /// The bytes, without a gap.
    pub bytes: Vec<u8>,
    /// The origins of the blocks that these are of, each with the offset of its block's first byte;
    /// none of blocks that have none.
    pub origins: Vec<(Offset, Vec<u8>)>,
}

/// A screen as it was at an offset: bytes that the terminal model made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScreenCheckpoint {
    /// The output up to here is in it.
    pub at: Offset,
    /// The model's dump.
    pub dump: Vec<u8>,
}

/// From an offset on, a terminal had this size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SizeChange {
    /// The first byte of output that may have been meant for it.
    pub at: Offset,
    /// Columns.
    pub cols: u16,
    /// Rows.
    pub rows: u16,
}

/// How long what is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retention {
    /// Transcripts of ended terminals older than this are dropped, in milliseconds.
    pub transcript_age_ms: i64,
    /// Transcripts together are kept below this, oldest ended terminals dropped first, in bytes
    /// as stored.
    pub transcript_bytes: u64,
    /// Audit records older than this are dropped, in milliseconds.
    pub audit_age_ms: i64,
}

/// A command line has begun to run in a terminal's shell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandStarted {
    /// Its number in its terminal, from 1.
    pub number: u64,
    /// The command line; empty where it was hidden, or is not known.
    pub text: String,
    /// Where, if the shell has said so.
    pub cwd: Option<String>,
    /// When, in milliseconds since the epoch.
    pub at_ms: i64,
    /// Where its output begins.
    pub start_offset: Offset,
}

/// It has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandEnded {
    /// Its number in its terminal.
    pub number: u64,
    /// As the shell says; `None`: nobody knows.
    pub exit_code: Option<i32>,
    /// When, in milliseconds since the epoch.
    pub at_ms: i64,
    /// Where its output ends.
    pub end_offset: Offset,
}

/// What happens to a command in a shell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandChange {
    /// It has begun.
    Started(CommandStarted),
    /// It has ended; its beginning was told before.
    Ended(CommandEnded),
}

/// The same on its way to the disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandWrite {
    /// Whose; its row was put before.
    pub terminal: TerminalId,
    /// What.
    pub change: CommandChange,
}

/// Which commands are wanted; an absent field does not restrict.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommandQuery {
    /// Of this terminal.
    pub terminal: Option<TerminalId>,
    /// Whose text holds each of these words as a part of it.
    pub text: Option<String>,
    /// That exited with this code.
    pub exit_code: Option<i32>,
    /// Whether they failed: by a signal, or an exit code other than 0.
    pub failed: Option<bool>,
    /// Started not before this time.
    pub since_ms: Option<i64>,
    /// Started before this time.
    pub until_ms: Option<i64>,
}

/// About how much text is in a value.
pub(super) fn weight(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(values) => values.iter().map(weight).sum(),
        Value::Object(fields) => fields.values().map(weight).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

//! `import.*`: a recording that was made elsewhere becomes a closed terminal.
//!
//! A client begins an import, adds what happened in order, and finishes it. Until then nothing is stored:
//! an import that is not finished ends with its connection.

use serde::{Deserialize, Serialize};

use crate::acp::Meta;
use crate::id::{Label, TerminalId};

/// The most output of one recording, in bytes. All of it is stored by one transaction, which holds other
/// writers up for less than a second, and a screen is made from no more.
pub const MAX_IMPORT_BYTES: u64 = 64 << 20;
/// The most sizes of one recording: a person who drags a window's edge for an hour.
pub const MAX_IMPORT_SIZES: usize = 10_000;
/// The most markers of one recording, each a row of the database.
pub const MAX_IMPORT_MARKERS: usize = 10_000;
/// The longest text of a marker, in bytes. A command line is shorter.
pub const MAX_MARKER_BYTES: usize = 64 << 10;
/// The longest recording, in milliseconds: a year. A longer one has a broken clock.
pub const MAX_IMPORT_MS: u64 = 366 * 86_400_000;
/// The latest beginning of a recording, in milliseconds since the Unix epoch: the end of the year 9999,
/// which is the last that dates are written of.
pub const MAX_IMPORT_START_MS: i64 = 253_402_300_799_999;
/// The most imports of all clients at once: each holds its recording, packed, in memory.
pub const MAX_IMPORTS: usize = 4;

/// Params of `import.begin`: what was recorded.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct BeginImport {
    /// A name for the terminal.
    #[serde(default)]
    pub label: Option<Label>,
    /// The program and its arguments, where they are known.
    #[serde(default)]
    pub argv: Vec<String>,
    /// Columns at its start.
    pub cols: u16,
    /// Rows at its start.
    pub rows: u16,
    /// When it began, in milliseconds since the Unix epoch; absent: now.
    #[serde(default)]
    pub started_at_ms: Option<i64>,
    /// Kept with the terminal, untouched.
    #[serde(rename = "_meta", default)]
    pub meta: Option<Meta>,
}

/// Answer to `import.begin`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportBegun {
    /// The id that the terminal will have.
    pub id: TerminalId,
}

/// Params of `import.add`: what happened next, in order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddToImport {
    /// As `import.begin` answered.
    pub id: TerminalId,
    /// The events.
    pub events: Vec<ImportEvent>,
}

/// Something that happened in a recording.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportEvent {
    /// When, in milliseconds since the start. A time before that of the event before is taken for that.
    pub at_ms: u64,
    /// What.
    #[serde(flatten)]
    pub kind: ImportEventKind,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ImportEventKind {
    /// This was printed.
    Output(String),
    /// The terminal was given another size.
    Size {
        /// Columns.
        cols: u16,
        /// Rows.
        rows: u16,
    },
    /// A command or a chapter began.
    Marker(String),
}

/// Params of `import.finish`: stores the recording.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FinishImport {
    /// As `import.begin` answered.
    pub id: TerminalId,
    /// When it ended, in milliseconds since the start; absent: with the last event.
    #[serde(default)]
    pub ended_at_ms: Option<u64>,
    /// The exit code of what was recorded, where it is known.
    #[serde(default)]
    pub exit_code: Option<u32>,
}

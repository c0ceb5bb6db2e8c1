//! What a terminal is, apart from what happens in it: fixed at its creation, and what of it the
//! keeper keeps for the next server.

use std::path::PathBuf;
use std::time::Instant;

use serde::{Deserialize, Serialize};
use termd_proto::acp::Meta;
use termd_proto::terminal::{CloseCause, Confinement, EndCause, ExitStatus, Owner, Stdio};
use termd_proto::{Label, Offset, TerminalId};

use super::activity::IdleTimeout;
use crate::shell::ShellNonce;
use crate::store::TerminalRow;
use crate::terminal::screen::ScrollbackLines;
use termd_keeper::protocol::message::WaitStatus;
use termd_vt::Model;

/// Longest notes that the keeper takes; argv and `_meta` are left out of longer ones, and the
/// database has them.
const MAX_NOTES_BYTES: usize = 60 * 1024;

/// What a terminal is, fixed at its creation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Its id.
    pub id: TerminalId,
    /// Its label.
    pub label: Option<Label>,
    /// As run.
    pub argv: Vec<String>,
    /// Where it was started.
    pub cwd: String,
    /// Its root process; 0 in notes, which are older than it.
    pub pid: i32,
    /// Who asked for it.
    pub owner: Owner,
    /// When it was started, in milliseconds since the epoch.
    pub created_at_ms: i64,
    /// Columns at its creation.
    pub cols: u16,
    /// Rows at its creation.
    pub rows: u16,
    /// What `terminal/output` keeps, in bytes.
    pub output_byte_limit: u64,
    /// Whether it ends with the connection that holds it.
    pub close_on_disconnect: bool,
    /// Without activity for so long it is closed.
    #[serde(default)]
    pub idle_timeout: Option<IdleTimeout>,
    /// What its command is held to; in notes without what holds it, for they are older than that.
    #[serde(default)]
    pub held_to: Option<Confinement>,
    /// When it is to be ended, in milliseconds of `CLOCK_MONOTONIC`, which one server after the
    /// other can read: a terminal does not outlive the boot. The notes have it, the database not.
    #[serde(default)]
    pub deadline_ms: Option<u64>,
    /// Directories that were made for it to be protected, or for another one that needs them. The
    /// notes have them, the database not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub made: Vec<PathBuf>,
    /// How much scrollback its screen keeps.
    #[serde(default)]
    pub scrollback: ScrollbackLines,
    /// What its command has for standard input, output and error.
    #[serde(default)]
    pub stdio: Stdio,
    /// The `_meta` of its creation.
    pub meta: Option<Meta>,
    /// What its shell signs command lines with. The keeper's notes have it, the database not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shell_nonce: Option<ShellNonce>,
}

impl Record {
    /// The notes for the keeper.
    pub fn to_notes(&self) -> Vec<u8> {
        let whole = serde_json::to_vec(self).unwrap_or_default();
        if whole.len() <= MAX_NOTES_BYTES {
            return whole;
        }
        let short = Self {
            argv: Vec::new(),
            meta: None,
            ..self.clone()
        };
        serde_json::to_vec(&short).unwrap_or_default()
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
        // The notes are older than what holds it.
        let noted = Self {
            held_to: row.held_to.clone().or_else(|| noted.held_to.clone()),
            ..noted
        };
        if !noted.argv.is_empty() {
            // The database has argv without its secrets; what runs is shown as it runs.
            return Some(noted);
        }
        Some(Self {
            argv: row.argv.clone(),
            meta: row.meta.clone(),
            ..noted
        })
    }

    /// The record of a terminal that only the database knows.
    pub fn from_row(row: &TerminalRow) -> Self {
        Self {
            id: row.id.clone(),
            label: row.label.clone(),
            argv: row.argv.clone(),
            cwd: row.cwd.clone(),
            pid: row.pid,
            owner: row.owner.clone(),
            created_at_ms: row.created_at_ms,
            cols: row.first_cols.unwrap_or(row.cols),
            rows: row.first_rows.unwrap_or(row.rows),
            output_byte_limit: row.output_byte_limit,
            close_on_disconnect: false,
            idle_timeout: row.idle_timeout_ms.map(IdleTimeout::stored),
            held_to: row.held_to.clone(),
            deadline_ms: None,
            made: Vec::new(),
            scrollback: row
                .scrollback_lines
                .map_or_else(ScrollbackLines::default, ScrollbackLines::stored),
            stdio: row.stdio,
            meta: row.meta.clone(),
            shell_nonce: None,
        }
    }

    /// The size that it was started with.
    pub fn first_size(&self) -> Size {
        Size {
            cols: self.cols,
            rows: self.rows,
        }
    }

    /// The database's row for this terminal in this state, but for its last activity.
    pub fn to_row(&self, progress: &Progress) -> TerminalRow {
        let exit = progress.exit.as_ref();
        TerminalRow {
            id: self.id.clone(),
            label: self.label.clone(),
            argv: self.argv.clone(),
            cwd: self.cwd.clone(),
            pid: self.pid,
            cols: progress.size.cols,
            rows: progress.size.rows,
            owner: self.owner.clone(),
            created_at_ms: self.created_at_ms,
            exited_at_ms: exit.map(|exit| exit.at_ms),
            exit_status: exit.and_then(|exit| exit.status.clone()),
            released_at_ms: progress.released_at_ms,
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

/// A terminal's size in character cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Columns.
    pub cols: u16,
    /// Rows.
    pub rows: u16,
}

impl Size {
    /// A model's.
    pub fn of(model: &Model) -> Self {
        let size = model.size();
        let cells = |count| u16::try_from(count).unwrap_or(u16::MAX);
        Self {
            cols: cells(size.cols),
            rows: cells(size.rows),
        }
    }
}

/// A command's end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exit {
    /// How; `None` where nobody saw it, because the daemon itself was gone.
    pub status: Option<ExitStatus>,
    /// When it was known and the output drained, in milliseconds since the epoch.
    pub at_ms: i64,
}

/// What a screen is at, for whoever waits for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScreenState {
    /// Counts its changes.
    pub seq: u64,
    /// A picture is being drawn and not done (mode 2026).
    pub drawing: bool,
    /// When the last change was.
    pub changed_at: Instant,
}

impl ScreenState {
    /// Of a screen that has not changed since this server knows it.
    pub fn still(seq: u64) -> Self {
        Self {
            seq,
            drawing: false,
            changed_at: Instant::now(),
        }
    }
}

/// What changes in a terminal's life, as everyone may watch it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// The end of its output.
    pub end: Offset,
    /// Its size.
    pub size: Size,
    /// What its screen is at.
    pub screen: ScreenState,
    /// Set once, after its child was reaped and its output drained.
    pub exit: Option<Exit>,
    /// When `terminal/release` ended its ACP life.
    pub released_at_ms: Option<i64>,
    /// When it was closed.
    pub closed_at_ms: Option<i64>,
    /// Why, where nobody asked for it.
    pub close_cause: Option<CloseCause>,
    /// The limit that ended its command.
    pub end_cause: Option<EndCause>,
}

/// The exit status as the protocol says it.
pub fn exit_status(status: WaitStatus) -> ExitStatus {
    match status {
        WaitStatus::Exited(code) => ExitStatus {
            exit_code: Some(u32::try_from(code).unwrap_or(u32::MAX)),
            signal: None,
        },
        WaitStatus::Signaled(signal) => by_signal(signal),
        WaitStatus::CpuTimeUp => by_signal(nix::libc::SIGKILL),
    }
}

fn by_signal(signal: i32) -> ExitStatus {
    ExitStatus {
        exit_code: None,
        signal: Some(signal_name(signal)),
    }
}

/// A signal's name, such as `SIGTERM` or `SIGRTMIN+3`.
pub fn signal_name(signal: i32) -> String {
    match nix::sys::signal::Signal::try_from(signal) {
        Ok(known) => known.as_str().to_owned(),
        Err(_) => format!("SIGRTMIN+{}", signal - nix::libc::SIGRTMIN()),
    }
}

/// A signal's number from its name, `SIGTERM` or `TERM` in any case, or from its number.
pub fn signal_number(name: &str) -> Option<i32> {
    let upper = name.to_ascii_uppercase();
    let full = if upper.starts_with("SIG") {
        upper
    } else {
        format!("SIG{upper}")
    };
    let by_name = full
        .parse::<nix::sys::signal::Signal>()
        .ok()
        .map(|signal| signal as i32);
    let by_number = || {
        name.parse()
            .ok()
            .filter(|n| (1..=nix::libc::SIGRTMAX()).contains(n))
    };
    by_name.or_else(by_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_have_their_posix_names() {
        assert_eq!(signal_name(15), "SIGTERM");
        assert_eq!(signal_name(nix::libc::SIGRTMIN() + 3), "SIGRTMIN+3");
        let table = [
            ("SIGINT", Some(2)),
            ("int", Some(2)),
            ("9", Some(9)),
            ("0", None),
            ("X", None),
        ];
        for (name, number) in table {
            assert_eq!(signal_number(name), number, "{name}");
        }
    }

    #[test]
    fn exactly_one_of_code_and_signal_is_set() {
        let exited = exit_status(WaitStatus::Exited(3));
        assert_eq!((exited.exit_code, exited.signal), (Some(3), None));
        let killed = exit_status(WaitStatus::Signaled(9));
        assert_eq!(
            (killed.exit_code, killed.signal.as_deref()),
            (None, Some("SIGKILL"))
        );
    }
}

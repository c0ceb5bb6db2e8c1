//! One recording on its way into the store. Pure, but for the memory that it takes.

use std::fmt;

use termd_proto::import::{
    BeginImport, FinishImport, ImportEvent, ImportEventKind, MAX_IMPORT_BYTES, MAX_IMPORT_MARKERS,
    MAX_IMPORT_MS, MAX_IMPORT_SIZES, MAX_IMPORT_START_MS, MAX_MARKER_BYTES,
};
use termd_proto::terminal::{ExitStatus, Owner, Stdio};
use termd_proto::{Offset, Tags, TerminalId};
use termd_vt::Model;

use crate::clock::now_ms;
use crate::service::create::checked_size;
use crate::store::{
    CommandChange, CommandEnded, CommandStarted, ImportedOutput, ImportedTerminal,
    ScreenCheckpoint, SizeChange, TerminalRow,
};
use crate::terminal::error::TerminalError;
use crate::terminal::screen::checkpoints::{KEYFRAME_BYTES, KEYFRAME_SCROLLBACK_ROWS};
use crate::terminal::screen::new_model;
use crate::terminal::screen::scrollback::ScrollbackLines;
use crate::terminal::screen::size::Size;

/// A recording as far as it has come.
pub(super) struct Recording {
    begun: BeginImport,
    started_at_ms: i64,
    first_size: Size,
    /// The most bytes of output.
    max_bytes: u64,
    output: ImportedOutput,
    model: Model,
    keyframes: Vec<ScreenCheckpoint>,
    sizes: Vec<SizeChange>,
    markers: Vec<Marker>,
    /// The time of the last event, in milliseconds since the start.
    now_ms: u64,
}

struct Marker {
    text: String,
    at: Offset,
    at_ms: u64,
}

impl fmt::Debug for Recording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("Recording");
        debug
            .field("end", &self.output.end())
            .finish_non_exhaustive()
    }
}

impl Recording {
    /// Begins one. `quota` is how many bytes of one terminal's output are kept.
    pub(super) fn begin(
        id: TerminalId,
        begun: BeginImport,
        quota: Option<u64>,
    ) -> Result<Self, TerminalError> {
        let first_size = checked_size(Some(begun.cols), Some(begun.rows))?;
        let started_at_ms = begun.started_at_ms.unwrap_or_else(now_ms);
        if !(0..=MAX_IMPORT_START_MS).contains(&started_at_ms) {
            return Err(invalid(
                "started_at_ms",
                "must be in the years 1970 to 9999",
            ));
        }
        Ok(Self {
            begun,
            started_at_ms,
            first_size,
            max_bytes: quota.map_or(MAX_IMPORT_BYTES, |quota| quota.min(MAX_IMPORT_BYTES)),
            output: ImportedOutput::of(id)?,
            model: new_model(first_size, ScrollbackLines::default(), Stdio::Pty),
            keyframes: Vec::new(),
            sizes: Vec::new(),
            markers: Vec::new(),
            now_ms: 0,
        })
    }

    /// Adds what happened next.
    pub(super) fn add(&mut self, event: ImportEvent) -> Result<(), TerminalError> {
        self.go_on_to(event.at_ms)?;
        let at = self.output.end();
        match event.kind {
            ImportEventKind::Output(text) => {
                if at.0 + text.len() as u64 > self.max_bytes {
                    let problem =
                        format!("may hold {} bytes of output at the most", self.max_bytes);
                    return Err(invalid("events", &problem));
                }
                self.output.add(text.as_bytes(), self.now_ms);
                // Queries were answered when they were printed.
                let _ = self.model.feed(text.as_bytes());
                self.keep_keyframe();
            }
            ImportEventKind::Size { cols, rows } => {
                let size = checked_size(Some(cols), Some(rows))?;
                if self.sizes.last().is_some_and(|last| last.at == at) {
                    // Of two at one offset the database has the later one.
                    self.sizes.pop();
                }
                if self.sizes.len() >= MAX_IMPORT_SIZES {
                    let problem = format!("may hold {MAX_IMPORT_SIZES} sizes at the most");
                    return Err(invalid("events", &problem));
                }
                self.sizes.push(SizeChange {
                    at,
                    cols,
                    rows,
                    at_ms: Some(self.now_ms),
                });
                let _ = self.model.resize(size.into());
            }
            ImportEventKind::Marker(text) => {
                if self.markers.len() >= MAX_IMPORT_MARKERS || text.len() > MAX_MARKER_BYTES {
                    let problem = format!(
                        "may hold {MAX_IMPORT_MARKERS} markers of {MAX_MARKER_BYTES} bytes at the most"
                    );
                    return Err(invalid("events", &problem));
                }
                let at_ms = self.now_ms;
                self.markers.push(Marker { text, at, at_ms });
            }
        }
        Ok(())
    }

    /// The terminal that it becomes.
    pub(super) fn finish(
        mut self,
        end: &FinishImport,
        owner: Owner,
        imported_at_ms: i64,
    ) -> Result<ImportedTerminal, TerminalError> {
        self.go_on_to(end.ended_at_ms.unwrap_or_default())?;
        let last_size = Size::of(&self.model);
        let row = TerminalRow {
            id: end.id.clone(),
            label: self.begun.label.clone(),
            argv: self.begun.argv.clone(),
            agent_line: None,
            cwd: String::new(),
            pid: 0,
            cols: last_size.cols,
            rows: last_size.rows,
            owner,
            created_at_ms: self.started_at_ms,
            exited_at_ms: Some(self.at(self.now_ms)),
            exit_status: end.exit_code.map(|code| ExitStatus {
                exit_code: Some(code),
                signal: None,
            }),
            released_at_ms: None,
            imported_at_ms: Some(imported_at_ms),
            seen_at_ms: None,
            tags: Tags::default(),
            closed_at_ms: Some(imported_at_ms),
            close_cause: None,
            end_cause: None,
            held_to: None,
            idle_timeout_ms: None,
            last_activity_ms: Some(self.at(self.now_ms)),
            scrollback_lines: None,
            first_cols: Some(self.first_size.cols),
            first_rows: Some(self.first_size.rows),
            output_byte_limit: self.max_bytes,
            start: Offset::ZERO,
            end: Offset::ZERO,
            stdio: Stdio::Pty,
            meta: self.begun.meta.clone(),
        };
        Ok(ImportedTerminal {
            row,
            commands: self.commands(),
            screen: ScreenCheckpoint {
                at: self.output.end(),
                dump: self.model.dump(),
            },
            keyframes: self.keyframes,
            output: self.output,
            sizes: self.sizes,
        })
    }

    /// A command for each marker, which ends where the next one begins.
    fn commands(&self) -> Vec<CommandChange> {
        let ends = self.markers.iter().skip(1);
        let ends = ends.map(|next| (next.at, next.at_ms));
        let ends = ends.chain([(self.output.end(), self.now_ms)]);
        let numbered = (1..).zip(self.markers.iter().zip(ends));
        let changes = numbered.flat_map(|(number, (marker, (end_offset, ended_ms)))| {
            [
                CommandChange::Started(CommandStarted {
                    number,
                    text: marker.text.clone(),
                    cwd: None,
                    at_ms: self.at(marker.at_ms),
                    start_offset: marker.at,
                }),
                CommandChange::Ended(CommandEnded {
                    number,
                    exit_code: None,
                    at_ms: self.at(ended_ms),
                    end_offset,
                }),
            ]
        });
        changes.collect()
    }

    fn keep_keyframe(&mut self) {
        let at = self.output.end();
        let last = self.keyframes.last().map_or(Offset::ZERO, |last| last.at);
        if at.since(last) >= KEYFRAME_BYTES {
            let dump = self.model.short_dump(KEYFRAME_SCROLLBACK_ROWS);
            self.keyframes.push(ScreenCheckpoint { at, dump });
        }
    }

    fn go_on_to(&mut self, at_ms: u64) -> Result<(), TerminalError> {
        if at_ms > MAX_IMPORT_MS {
            return Err(invalid(
                "at_ms",
                "may be a year after the start at the most",
            ));
        }
        self.now_ms = self.now_ms.max(at_ms);
        Ok(())
    }

    /// The time of day, in milliseconds since the Unix epoch.
    fn at(&self, at_ms: u64) -> i64 {
        let later = i64::try_from(at_ms).unwrap_or(i64::MAX);
        self.started_at_ms.saturating_add(later)
    }
}

fn invalid(field: &'static str, problem: &str) -> TerminalError {
    TerminalError::Invalid {
        field,
        problem: problem.to_owned(),
    }
}

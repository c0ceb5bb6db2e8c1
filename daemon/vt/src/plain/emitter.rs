//! Emits rows to the reader: each once, and a second time only if it changed after that.

use super::output::{Emitted, Output};
use super::row::{Row, RowEnd};
use crate::codec::{Reader, Writer};

/// Where the emitted text ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Tail {
    /// At the start of a line.
    #[default]
    LineStart,
    /// After the text of a row, on the same line.
    After { row: u64, end: RowEnd },
}

/// Ends the style that a row's text has left on.
const RESET: &str = "\x1b[m";

/// Emits the rows of the live region.
#[derive(Debug, Clone, Default)]
pub(super) struct Emitter {
    pub(super) out: Output,
    tail: Tail,
    /// A style is on at the end of the emitted text.
    is_styled: bool,
    /// The row that left the region last.
    left: Option<u64>,
    scratch: String,
}

impl Emitter {
    /// Emits a row that leaves the region at its top.
    pub(super) fn emit_leaving(&mut self, row: &Row) {
        let above = self.left.replace(row.id);
        let end = match row.end {
            RowEnd::Open => RowEnd::Line,
            end => end,
        };
        self.emit_final(row, above, end);
    }

    /// Emits the final state of a row, if it was not emitted or has changed since.
    pub(super) fn emit_final(&mut self, row: &Row, above: Option<u64>, end: RowEnd) {
        if row.emitted.is_none() {
            self.emit_new(row, above, end);
            return;
        }
        self.with_text(row, |emitter, text| {
            let emitted = row.emitted.and_then(|emitted| emitted.rest_of(text));
            match emitted {
                Some("") => {}
                Some(rest) if emitter.is_after(row) => emitter.out.text.push_str(rest),
                _ => {
                    emitter.end_line();
                    emitter.out.anchor(row.start);
                    emitter.out.text.push_str(text);
                    emitter.after(row, end);
                    return;
                }
            }
            if emitter.is_after(row) {
                emitter.after(row, end);
            }
        });
    }

    /// Emits a row that may still change, if it was not emitted. For the row that was emitted last
    /// it emits what was added at the end.
    pub(super) fn emit_early(&mut self, row: &mut Row, above: Option<u64>, end: RowEnd) {
        match row.emitted {
            None => {
                let from = self.emit_new(row, above, end);
                let text = self.out.text.get(from.0..from.1).unwrap_or_default();
                row.emitted = Some(Emitted::of(text));
            }
            Some(emitted) if self.is_after(row) => {
                let mut known = emitted;
                self.with_text(row, |emitter, text| {
                    match emitted.rest_of(text) {
                        Some(rest) => emitter.out.text.push_str(rest),
                        // A prompt that was edited, or a progress bar, is emitted again when its
                        // line ends.
                        None if end == RowEnd::Line => {
                            emitter.end_line();
                            emitter.out.text.push_str(text);
                        }
                        None => return,
                    }
                    emitter.after(row, end);
                    known = Emitted::of(text);
                });
                row.emitted = Some(known);
            }
            Some(_) => {}
        }
    }

    /// Marks a row as emitted, as the reader has it already.
    pub(super) fn know(&mut self, row: &mut Row, above: Option<u64>, end: RowEnd) {
        row.emitted = None;
        self.emit_early(row, above, end);
        self.out.clear();
    }

    /// What a reader knows who has the row as it is now.
    pub(super) fn known(&mut self, row: &Row) -> Option<Emitted> {
        let mut known = None;
        self.with_text(row, |_, text| known = Some(Emitted::of(text)));
        known
    }

    pub(super) fn last_left(&self) -> Option<u64> {
        self.left
    }

    pub(super) fn dump(&self, out: &mut Writer) {
        match self.tail {
            Tail::LineStart => out.u8(0),
            Tail::After { row, end } => {
                out.u8(1);
                out.u64(row);
                end.dump(out);
            }
        }
        out.u8(u8::from(self.left.is_some()));
        out.u64(self.left.unwrap_or_default());
    }

    pub(super) fn restore(from: &mut Reader<'_>) -> Option<Self> {
        let tail = if from.flag()? {
            let row = from.u64()?;
            let end = RowEnd::restore(from)?;
            Tail::After { row, end }
        } else {
            Tail::LineStart
        };
        let (has_left, left) = (from.flag()?, from.u64()?);
        Some(Self {
            tail,
            left: has_left.then_some(left),
            ..Self::default()
        })
    }

    /// A copy of the state, with no text waiting.
    pub(super) fn rest(&self) -> Self {
        Self {
            tail: self.tail,
            is_styled: self.is_styled,
            left: self.left,
            out: self.out.like(),
            scratch: String::new(),
        }
    }

    /// Ends the line that was emitted last, if it is open.
    pub(super) fn end_line(&mut self) {
        if self.tail != Tail::LineStart {
            self.end_style();
            self.out.text.push('\n');
            self.tail = Tail::LineStart;
        }
    }

    /// Returns where the row's text is in the output.
    fn emit_new(&mut self, row: &Row, above: Option<u64>, end: RowEnd) -> (usize, usize) {
        match self.tail {
            Tail::After { row, end } if end == RowEnd::Wrap && Some(row) == above => {}
            _ => self.end_line(),
        }
        self.end_style();
        self.out.anchor(row.start);
        let start = self.out.text.len();
        row.write(&mut self.out.text);
        let stop = self.out.text.len();
        self.after(row, end);
        (start, stop)
    }

    fn is_after(&self, row: &Row) -> bool {
        matches!(self.tail, Tail::After { row: last, .. } if last == row.id)
    }

    fn end_style(&mut self) {
        if std::mem::take(&mut self.is_styled) {
            self.out.text.push_str(RESET);
        }
    }

    fn after(&mut self, row: &Row, end: RowEnd) {
        self.is_styled = row.ends_styled();
        if end == RowEnd::Line {
            self.end_style();
            self.out.text.push('\n');
            self.tail = Tail::LineStart;
        } else {
            self.tail = Tail::After { row: row.id, end };
        }
    }

    fn with_text(&mut self, row: &Row, act: impl FnOnce(&mut Self, &str)) {
        let mut text = std::mem::take(&mut self.scratch);
        text.clear();
        row.write(&mut text);
        act(self, &text);
        self.scratch = text;
    }
}

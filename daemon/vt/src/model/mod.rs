//! The terminal model's public interface.

mod continuation;
pub(crate) mod dump;
pub(crate) mod screen;
pub(crate) mod snapshot;

use crate::event::Fed;
use crate::grid::cell::{Cell, Content};
use crate::grid::{Grid, Size};
use crate::parser::Parser;
use crate::screen::marks::{Mark, MarkKind};
use crate::scrollback::Scrollback;
use crate::terminal::Terminal;

/// A terminal: what xterm would show after the bytes that were fed to it.
#[derive(Debug)]
pub struct Model {
    parser: Parser,
    pub(crate) terminal: Terminal,
}

impl Model {
    /// Makes a fresh terminal. A size out of bounds becomes the nearest within: see
    /// [`Size::clamped`].
    pub fn new(size: Size, scrollback: Scrollback) -> Self {
        Self {
            parser: Parser::default(),
            terminal: Terminal::new(size.clamped(), scrollback),
        }
    }

    /// Takes output of the program. The result does not depend on how the output is cut into
    /// pieces.
    pub fn feed(&mut self, bytes: &[u8]) -> Fed {
        self.terminal.screen.begin_change();
        let offset = self.terminal.offset;
        self.parser.feed(&mut self.terminal, bytes, offset);
        std::mem::take(&mut self.terminal.fed)
    }

    /// Treats LF as CR LF from here on, as a tty with ONLCR does: LNM is set, and RIS sets it
    /// again. A dump does not keep the latter; call this again after a restore.
    #[must_use]
    pub fn with_new_lines(mut self) -> Self {
        self.terminal.new_lines = true;
        self.terminal.modes.line_feed_new_line = true;
        self
    }

    /// Sets the offset in the output of the byte that is fed next.
    pub fn go_on_at(&mut self, offset: u64) {
        self.terminal.offset = offset;
    }

    /// Goes on behind output that is missing, if `offset` is not that of the next byte: what stands before
    /// and behind it is neither one sequence (CAN) nor one line of the primary screen.
    pub fn skip_to(&mut self, offset: u64) {
        if offset == self.terminal.offset {
            return;
        }
        self.feed(b"\x18");
        if !self.is_alternate() && self.cursor().0 > 0 {
            self.feed(b"\r\n");
        }
        self.go_on_at(offset);
    }

    /// Continues the count of changes from here and marks every row as changed. Use it for a model
    /// that replaces another, whose viewers have seen counts of the old one.
    pub fn count_on_from(&mut self, seq: u64) {
        let screen = &mut self.terminal.screen;
        screen.set_change(screen.seq.max(seq));
        screen.grid.mark_all();
    }

    /// Returns the offset up to which the output has been processed: the start of an unfinished
    /// character or escape sequence, or else the end.
    pub fn whole_until(&self) -> u64 {
        let unfinished = self.parser.unfinished().len() as u64;
        self.terminal.offset.saturating_sub(unfinished)
    }

    /// Returns the number of the last change. It grows with each feed and resize.
    pub fn seq(&self) -> u64 {
        self.terminal.screen.seq
    }

    /// Returns whether the program is in the middle of a frame (mode 2026).
    pub fn is_drawing(&self) -> bool {
        self.terminal.modes.synchronized_output
    }

    /// Returns a row's text, without the blanks at its end.
    pub fn row_text(&self, y: usize) -> String {
        let mut text = String::new();
        self.push_row_text(y, &mut text);
        text.truncate(text.trim_end_matches(' ').len());
        text
    }

    /// Appends a row's text with the blanks at its end, so that the next row's text can follow.
    fn push_row_text(&self, y: usize, text: &mut String) {
        self.push_cells(self.terminal.screen.grid.row(y).cells(), text);
    }

    fn push_cells(&self, cells: &[Cell], text: &mut String) {
        for cell in cells {
            match cell.content() {
                Content::Blank if cell.is_filler() => {}
                Content::Blank => text.push(' '),
                Content::Char(c) => text.push(c),
                Content::Grapheme(number) => {
                    text.push_str(self.terminal.screen.graphemes.get(number));
                }
                Content::Tail => {}
            }
        }
    }

    /// Returns all lines as text, those of the scrollback first. Rows that autowrap made of one
    /// line are joined.
    pub fn lines(&self) -> Vec<String> {
        let stored = (0..self.terminal.screen.scrollback.len()).filter_map(|at| {
            let row = self.terminal.screen.scrollback.row(at)?;
            let mut text = String::new();
            row.push_text(&mut text);
            Some((text, row.wrapped()))
        });
        let shown = (0..self.terminal.screen.size.rows).map(|y| {
            let mut text = String::new();
            self.push_row_text(y, &mut text);
            (text, self.terminal.screen.grid.row(y).wrapped)
        });
        let mut lines = Vec::new();
        let mut line = String::new();
        for (text, wrapped) in stored.chain(shown) {
            line.push_str(&text);
            if !wrapped {
                line.truncate(line.trim_end_matches(' ').len());
                lines.push(std::mem::take(&mut line));
            }
        }
        lines
    }

    /// Returns the id of the screen's first row, which is the number of rows that have left the
    /// screen at the top.
    pub fn rows_printed(&self) -> u64 {
        self.terminal.screen.scrollback.pushed()
    }

    /// Returns an empty scrollback with the bounds of this model's.
    pub fn scrollback_bounds(&self) -> Scrollback {
        let (rows, bytes) = self.terminal.screen.scrollback.bounds();
        Scrollback::new(rows, bytes)
    }

    /// Returns about how many bytes of memory the model takes: both screens, the scrollback and the
    /// tables.
    pub fn memory(&self) -> usize {
        let terminal = &self.terminal;
        let screens = std::iter::once(&terminal.screen.grid).chain(&terminal.screen.hidden);
        size_of::<Self>()
            + screens.map(Grid::memory).sum::<usize>()
            + terminal.screen.scrollback.bytes()
            + terminal.screen.styles.memory()
            + terminal.screen.graphemes.memory()
            + terminal.screen.marks.len() * size_of::<Mark>()
    }

    /// Returns the text of the cursor's row before the cursor and from it on, with the blanks at
    /// its end.
    pub fn cursor_line(&self) -> (String, String) {
        let (col, row) = self.cursor();
        let col = col + usize::from(self.terminal.screen.cursor.wrap_pending);
        let (mut before, mut after) = (String::new(), String::new());
        let cells = self.terminal.screen.grid.row(row).cells();
        let (head, tail) = cells.split_at(col.min(cells.len()));
        self.push_cells(head, &mut before);
        before.extend(std::iter::repeat_n(' ', col.saturating_sub(cells.len())));
        self.push_cells(tail, &mut after);
        (before, after)
    }

    /// Returns whether the cursor has left the column where the newest prompt ended: something stands
    /// there. `None` where no end of a prompt is known.
    pub fn cursor_left_prompt(&self) -> Option<bool> {
        let newest = self.marks().next_back()?;
        let (_, col) = self.terminal.screen.mark_place();
        (newest.kind == MarkKind::PromptEnd).then_some(col != newest.col)
    }

    /// Returns what the shell does, as it says itself (OSC 133, 633).
    pub fn command_state(&self) -> termd_proto::screen::CommandState {
        self.terminal.shell.command_state
    }

    /// Returns the cursor's column and row, counted from 0.
    pub fn cursor(&self) -> (usize, usize) {
        (
            self.terminal.screen.cursor.col,
            self.terminal.screen.cursor.row,
        )
    }

    /// Returns the size of the screen.
    pub fn size(&self) -> Size {
        self.terminal.screen.size
    }

    /// Returns the marks on rows that are kept, in the order in which they were made.
    pub fn marks(&self) -> impl DoubleEndedIterator<Item = &Mark> {
        self.terminal
            .screen
            .marks
            .since(self.terminal.screen.scrollback.oldest())
    }

    /// Takes another size and breaks long lines anew. A size out of bounds becomes the nearest
    /// within.
    pub fn resize(&mut self, size: Size) -> Fed {
        self.terminal.screen.begin_change();
        self.terminal.resize(size);
        std::mem::take(&mut self.terminal.fed)
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{fed, rows};

    #[test]
    fn what_is_behind_missing_output_joins_nothing_before_it() {
        let alternate = "\x1b[?1049hab";
        for (before, behind, want) in [
            ("ab", "cd", ["ab", "cd"]),
            ("ab\r\n", "cd", ["ab", "cd"]),
            ("ab\x1b[3", "1m", ["ab", "1m"]),
            ("\x1b]0;ti", "tle", ["tle", ""]),
            (alternate, "cd", ["abcd", ""]),
            ("abcdef", "gh", ["abcdef", "gh"]),
        ] {
            let mut model = fed(6, 2, before);
            model.skip_to(1_000);
            model.feed(behind.as_bytes());
            assert_eq!(rows(&model), want, "{before:?}");
            assert_eq!(model.whole_until(), 1_000 + behind.len() as u64);
        }
        let mut model = fed(6, 2, "ab\x1b[3");
        model.skip_to(5);
        model.feed(b"1mcd");
        assert_eq!(rows(&model), ["abcd", ""], "nothing is missing");
    }
}

//! The terminal model: bytes in, a screen out. Pure.
//!
//! A [`Model`] is what xterm would show after the same bytes: both screens, scrollback, cursor,
//! modes, marks. [`feed`](Model::feed) takes text in runs and hands escape sequences to vte's state
//! machine; it cannot fail or panic, whatever the bytes, and what it keeps is bounded.
//!
//! **Invariant:** no tokio, no files, no clock in this room. It does not know what a PTY is: it
//! gives answers and events back as values ([`Fed`]).

#![warn(missing_docs)]

mod cell;
mod characters;
mod charset;
mod cluster;
mod control;
mod core;
mod cursor;
mod dump;
mod event;
mod extras;
mod grapheme;
mod grid;
mod input;
mod keyboard;
mod lines;
mod marks;
mod mode;
mod palette;
pub mod plain;
mod print;
mod reflow;
pub mod render;
mod row;
mod scrollback;
mod snapshot;
mod stash;
mod style;
mod tabs;
mod terminfo;
#[cfg(test)]
mod testing;
mod titles;
mod view;
mod width;

pub use dump::DUMP_VERSION;
pub use event::{Event, Fed};
pub use grid::Size;
pub use marks::{Mark, MarkKind};
pub use scrollback::Scrollback;
pub use snapshot::Snapshot;

use self::core::Core;
use self::input::Input;

/// A terminal.
#[derive(Debug)]
pub struct Model {
    input: Input,
    core: Core,
}

impl Model {
    /// A fresh terminal. Columns below 2 and rows below 1 are taken as 2 and 1.
    /// Both end at [`MAX_COLS`](Size::MAX_COLS) and [`MAX_ROWS`](Size::MAX_ROWS).
    pub fn new(size: Size, scrollback: Scrollback) -> Self {
        Self {
            input: Input::default(),
            core: Core::new(size.clamped(), scrollback),
        }
    }

    /// Takes output of the program in. How it is cut into pieces makes no difference.
    pub fn feed(&mut self, bytes: &[u8]) -> Fed {
        self.core.seq += 1;
        self.input.feed(&mut self.core, bytes);
        self.core.offset += bytes.len() as u64;
        std::mem::take(&mut self.core.fed)
    }

    /// Takes LF as CR LF from here on, as through a tty with ONLCR: LNM is set, and RIS sets it
    /// again. A dump does not keep the latter: it is for whoever restores it to say.
    #[must_use]
    pub fn with_new_lines(mut self) -> Self {
        self.core.new_lines = true;
        self.core.modes.line_feed_new_line = true;
        self
    }

    /// The bytes fed next stand at this offset of the output.
    pub fn go_on_at(&mut self, offset: u64) {
        self.core.offset = offset;
    }

    /// Goes on counting the changes from here, and takes every row as changed now: for a model made
    /// anew, whose viewers have counts from the one before it.
    pub fn count_on_from(&mut self, seq: u64) {
        self.core.seq = self.core.seq.max(seq);
        self.core.grid.mark_all(self.core.seq);
    }

    /// The offset up to which the output is whole: what follows it is the beginning of a character
    /// or an escape sequence whose rest is not there yet.
    pub fn whole_until(&self) -> u64 {
        let unfinished = self.input.unfinished().len() as u64;
        self.core.offset.saturating_sub(unfinished)
    }

    /// Counts the changes: greater after each feed or resize.
    pub fn seq(&self) -> u64 {
        self.core.seq
    }

    /// Whether a picture is being drawn and not done (mode 2026).
    pub fn is_drawing(&self) -> bool {
        self.core.modes.synchronized_output
    }

    /// The rows' text, for tests and for the conformance runner: blanks at the end left out.
    pub fn row_text(&self, y: usize) -> String {
        let mut text = String::new();
        self.push_row_text(y, &mut text);
        text.truncate(text.trim_end_matches(' ').len());
        text
    }

    /// A row's text with the blanks at its end, so that the next row's may follow.
    fn push_row_text(&self, y: usize, text: &mut String) {
        self.push_cells(self.core.grid.row(y).cells(), text);
    }

    fn push_cells(&self, cells: &[cell::Cell], text: &mut String) {
        for cell in cells {
            match cell.content() {
                cell::Content::Blank if cell.is_filler() => {}
                cell::Content::Blank => text.push(' '),
                cell::Content::Char(c) => text.push(c),
                cell::Content::Grapheme(number) => text.push_str(self.core.graphemes.get(number)),
                cell::Content::Tail => {}
            }
        }
    }

    /// All lines as text, those of the scrollback first; rows that belong to one line are joined.
    pub fn lines(&self) -> Vec<String> {
        let stored = (0..self.core.scrollback.len()).filter_map(|at| {
            let row = self.core.scrollback.row(at)?;
            let mut text = String::new();
            row.push_text(&mut text);
            Some((text, row.wrapped()))
        });
        let shown = (0..self.core.size.rows).map(|y| {
            let mut text = String::new();
            self.push_row_text(y, &mut text);
            (text, self.core.grid.row(y).wrapped)
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

    /// The id of the screen's first row: the rows that left the screen at the top so far.
    pub fn rows_printed(&self) -> u64 {
        self.core.scrollback.pushed()
    }

    /// An empty scrollback with the bounds of this model's.
    pub fn scrollback_bounds(&self) -> Scrollback {
        let (rows, bytes) = self.core.scrollback.bounds();
        Scrollback::new(rows, bytes)
    }

    /// Bytes that it takes in memory, about: both screens, scrollback and the tables.
    pub fn memory(&self) -> usize {
        let core = &self.core;
        let screens = std::iter::once(&core.grid).chain(&core.hidden);
        size_of::<Self>()
            + screens.map(grid::Grid::memory).sum::<usize>()
            + core.scrollback.bytes()
            + core.styles.memory()
            + core.graphemes.memory()
            + core.marks.len() * size_of::<Mark>()
    }

    /// The cursor's row as text, up to the cursor and from it on, with the blanks at its end.
    pub fn cursor_line(&self) -> (String, String) {
        let (col, row) = self.cursor();
        let col = col + usize::from(self.core.cursor.wrap_pending);
        let (mut before, mut after) = (String::new(), String::new());
        let cells = self.core.grid.row(row).cells();
        let (head, tail) = cells.split_at(col.min(cells.len()));
        self.push_cells(head, &mut before);
        before.extend(std::iter::repeat_n(' ', col.saturating_sub(cells.len())));
        self.push_cells(tail, &mut after);
        (before, after)
    }

    /// What the shell says that it does (OSC 133, 633).
    pub fn command_state(&self) -> termd_proto::screen::CommandState {
        self.core.extras.command_state
    }

    /// The cursor's column and row.
    pub fn cursor(&self) -> (usize, usize) {
        (self.core.cursor.col, self.core.cursor.row)
    }

    /// Its size.
    pub fn size(&self) -> Size {
        self.core.size
    }
}

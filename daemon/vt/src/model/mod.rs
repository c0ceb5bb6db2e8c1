//! The public face of the terminal model.

mod continuation;
pub(crate) mod dump;
mod screen;
pub(crate) mod snapshot;

use crate::event::Fed;
use crate::grid::cell::{Cell, Content};
use crate::grid::{Grid, Size};
use crate::parser::Parser;
use crate::screen::marks::Mark;
use crate::scrollback::Scrollback;
use crate::terminal::Terminal;

/// A terminal.
#[derive(Debug)]
pub struct Model {
    parser: Parser,
    pub(crate) terminal: Terminal,
}

impl Model {
    /// A fresh terminal. Columns below 2 and rows below 1 are taken as 2 and 1.
    /// Both end at [`MAX_COLS`](Size::MAX_COLS) and [`MAX_ROWS`](Size::MAX_ROWS).
    pub fn new(size: Size, scrollback: Scrollback) -> Self {
        Self {
            parser: Parser::default(),
            terminal: Terminal::new(size.clamped(), scrollback),
        }
    }

    /// Takes output of the program in. How it is cut into pieces makes no difference.
    pub fn feed(&mut self, bytes: &[u8]) -> Fed {
        self.terminal.screen.begin_change();
        let offset = self.terminal.offset;
        self.parser.feed(&mut self.terminal, bytes, offset);
        std::mem::take(&mut self.terminal.fed)
    }

    /// Takes LF as CR LF from here on, as through a tty with ONLCR: LNM is set, and RIS sets it
    /// again. A dump does not keep the latter: it is for whoever restores it to say.
    #[must_use]
    pub fn with_new_lines(mut self) -> Self {
        self.terminal.new_lines = true;
        self.terminal.modes.line_feed_new_line = true;
        self
    }

    /// The bytes fed next stand at this offset of the output.
    pub fn go_on_at(&mut self, offset: u64) {
        self.terminal.offset = offset;
    }

    /// Goes on counting the changes from here, and takes every row as changed now: for a model made
    /// anew, whose viewers have counts from the one before it.
    pub fn count_on_from(&mut self, seq: u64) {
        let screen = &mut self.terminal.screen;
        screen.set_change(screen.seq.max(seq));
        screen.grid.mark_all();
    }

    /// The offset up to which the output is whole: what follows it is the beginning of a character
    /// or an escape sequence whose rest is not there yet.
    pub fn whole_until(&self) -> u64 {
        let unfinished = self.parser.unfinished().len() as u64;
        self.terminal.offset.saturating_sub(unfinished)
    }

    /// Counts the changes: greater after each feed or resize.
    pub fn seq(&self) -> u64 {
        self.terminal.screen.seq
    }

    /// Whether a picture is being drawn and not done (mode 2026).
    pub fn is_drawing(&self) -> bool {
        self.terminal.modes.synchronized_output
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
        self.push_cells(self.terminal.screen.grid.row(y).cells(), text);
    }

    fn push_cells(&self, cells: &[Cell], text: &mut String) {
        for cell in cells {
            match cell.content() {
                Content::Blank if cell.is_filler() => {}
                Content::Blank => text.push(' '),
                Content::Char(c) => text.push(c),
                Content::Grapheme(number) => {
                    text.push_str(self.terminal.screen.graphemes.get(number))
                }
                Content::Tail => {}
            }
        }
    }

    /// All lines as text, those of the scrollback first; rows that belong to one line are joined.
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

    /// The id of the screen's first row: the rows that left the screen at the top so far.
    pub fn rows_printed(&self) -> u64 {
        self.terminal.screen.scrollback.pushed()
    }

    /// An empty scrollback with the bounds of this model's.
    pub fn scrollback_bounds(&self) -> Scrollback {
        let (rows, bytes) = self.terminal.screen.scrollback.bounds();
        Scrollback::new(rows, bytes)
    }

    /// Bytes that it takes in memory, about: both screens, scrollback and the tables.
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

    /// The cursor's row as text, up to the cursor and from it on, with the blanks at its end.
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

    /// What the shell says that it does (OSC 133, 633).
    pub fn command_state(&self) -> termd_proto::screen::CommandState {
        self.terminal.shell.command_state
    }

    /// The cursor's column and row.
    pub fn cursor(&self) -> (usize, usize) {
        (
            self.terminal.screen.cursor.col,
            self.terminal.screen.cursor.row,
        )
    }

    /// Its size.
    pub fn size(&self) -> Size {
        self.terminal.screen.size
    }

    /// The marks on rows that are kept, in the order in which they were made.
    pub fn marks(&self) -> impl DoubleEndedIterator<Item = &Mark> {
        self.terminal
            .screen
            .marks
            .since(self.terminal.screen.scrollback.oldest())
    }

    /// Takes another size; sizes out of bounds become the nearest within.
    pub fn resize(&mut self, size: Size) -> Fed {
        self.terminal.screen.begin_change();
        self.terminal.resize(size);
        std::mem::take(&mut self.terminal.fed)
    }
}

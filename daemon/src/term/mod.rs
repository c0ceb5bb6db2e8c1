//! The terminal model: bytes in, a screen out. Pure.
//!
//! A [`Model`] is what xterm would show after the same bytes: both screens, scrollback, cursor,
//! modes, marks. [`feed`](Model::feed) takes text in runs and hands escape sequences to vte's state
//! machine; it cannot fail or panic, whatever the bytes, and what it keeps is bounded.
//!
//! **Invariant:** no tokio, no files, no clock in this room. It does not know what a PTY is: it
//! gives answers and events back as values ([`Fed`]).

mod cell;
mod charset;
mod control;
mod core;
mod cursor;
mod dump;
mod event;
mod extras;
mod grapheme;
mod grid;
mod input;
mod marks;
mod mode;
mod print;
mod reflow;
mod row;
mod scrollback;
mod snapshot;
mod style;
mod tabs;

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

    /// The rows' text, for tests and for the conformance runner: blanks at the end left out.
    pub fn row_text(&self, y: usize) -> String {
        let row = self.core.grid.row(y);
        let mut text = String::new();
        for cell in row.cells() {
            match cell.content() {
                cell::Content::Blank => text.push(' '),
                cell::Content::Char(c) => text.push(c),
                cell::Content::Grapheme(number) => text.push_str(self.core.graphemes.get(number)),
                cell::Content::Tail => {}
            }
        }
        text.truncate(text.trim_end_matches(' ').len());
        text
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

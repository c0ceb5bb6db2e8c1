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
mod cluster;
mod control;
mod core;
mod cursor;
mod event;
mod extras;
mod grapheme;
mod grid;
mod input;
mod keyboard;
mod marks;
mod mode;
mod palette;
mod print;
mod row;
mod scrollback;
mod stash;
mod style;
mod tabs;
mod terminfo;
#[cfg(test)]
mod testing;
mod titles;
mod view;

pub use event::{Event, Fed};
pub use grid::Size;
pub use scrollback::Scrollback;

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
    pub fn new(size: Size, scrollback: Scrollback) -> Self {
        let size = Size {
            cols: size.cols.max(2),
            rows: size.rows.max(1),
        };
        Self {
            input: Input::default(),
            core: Core::new(size, scrollback),
        }
    }

    /// Takes output of the program in. How it is cut into pieces makes no difference.
    pub fn feed(&mut self, bytes: &[u8]) -> Fed {
        self.core.seq += 1;
        self.input.feed(&mut self.core, bytes);
        self.core.offset += bytes.len() as u64;
        std::mem::take(&mut self.core.fed)
    }

    /// Takes another size. A placeholder: cuts and fills.
    pub fn resize(&mut self, size: Size) {
        let _ = size;
    }

    /// The bytes fed next stand at this offset of the output.
    pub fn go_on_at(&mut self, offset: u64) {
        self.core.offset = offset;
    }

    /// Counts the changes: greater after each feed or resize.
    pub fn seq(&self) -> u64 {
        self.core.seq
    }

    /// Whether a picture is being drawn and not done (mode 2026).
    pub fn is_drawing(&self) -> bool {
        self.core.modes.synchronized_output
    }

    /// A placeholder.
    pub fn dump(&self) -> Vec<u8> {
        Vec::new()
    }

    /// A placeholder.
    pub fn restore(scrollback: Scrollback, dump: &[u8]) -> Option<Self> {
        let _ = (scrollback, dump);
        None
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

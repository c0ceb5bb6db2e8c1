//! A model as bytes, and back.
//!
//! A dump is the state itself and not sequences that restore it. It is exact, it keeps its meaning
//! when a control function changes, and its scrollback is a copy of packed blocks: 10,000 lines
//! take a fraction of a millisecond.
//!
//! | Part | Content |
//! |---|---|
//! | `termd` and a byte | [`DUMP_VERSION`] |
//! | bytes | [`State`] in JSON: all that is small |
//! | links | those of the screens' styles |
//! | rows | the scrollback, the shown screen, and the hidden one if there is one |
//! | bytes | the parser's unfinished sequence |

pub(crate) mod extras;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use self::extras::Extras;
use crate::Model;
use crate::codec::{Reader, Writer};
use crate::event::Fed;
use crate::grid::row::Row;
use crate::grid::style::Link;
use crate::grid::{Grid, Size};
use crate::modes::Modes;
use crate::parser::Parser;
use crate::screen::ActiveScreen;
use crate::screen::cursor::Cursor;
use crate::screen::margins::Margins;
use crate::screen::marks::Marks;
use crate::screen::tab_stops::TabStops;
use crate::scrollback::{Scrollback, read_link, read_rows, write_link, write_rows};
use crate::terminal::Terminal;
use crate::terminal::saved_state::SavedState;

/// The version of the dump's form. [`Model::restore`] returns `None` for a dump of another version;
/// feed the output again in that case.
pub const DUMP_VERSION: u8 = 1;

const MAGIC: &[u8; 5] = b"termd";

/// The state without rows and parser.
#[derive(Serialize, Deserialize)]
struct State {
    size: Size,
    shown: ActiveScreen,
    cursor: Cursor,
    saved: [Option<Cursor>; 2],
    margins: Margins,
    tabs: TabStops,
    modes: Modes,
    extras: Extras,
    stash: SavedState,
    marks: Marks,
    last_printed: Option<char>,
    seq: u64,
    offset: u64,
    has_hidden: bool,
}

impl Model {
    /// Returns the whole state as bytes, for [`restore`](Self::restore).
    pub fn dump(&self) -> Vec<u8> {
        self.dump_with(&self.terminal.screen.scrollback)
    }

    /// Returns the state as [`dump`](Self::dump) does, with these many newest rows of the scrollback.
    pub fn short_dump(&self, scrollback_rows: usize) -> Vec<u8> {
        self.dump_with(&self.terminal.screen.scrollback.newest(scrollback_rows))
    }

    fn dump_with(&self, scrollback: &Scrollback) -> Vec<u8> {
        let terminal = &self.terminal;
        let mut out = Writer::default();
        out.raw(MAGIC);
        out.u8(DUMP_VERSION);
        let state = State {
            size: terminal.screen.size,
            shown: terminal.screen.active,
            cursor: terminal.screen.cursor.clone(),
            saved: terminal.screen.saved.clone(),
            margins: terminal.screen.margins,
            tabs: terminal.screen.tabs.clone(),
            modes: terminal.modes.clone(),
            extras: Extras::of(terminal),
            stash: terminal.saved.clone(),
            marks: terminal.screen.marks.clone(),
            last_printed: terminal.screen.last_printed,
            seq: terminal.screen.seq,
            offset: terminal.offset,
            has_hidden: terminal.screen.hidden.is_some(),
        };
        // A test would find a state that JSON cannot hold. Its dump would be refused.
        out.bytes(&serde_json::to_vec(&state).unwrap_or_default());
        let links = terminal.screen.styles.links();
        out.count(links.len());
        for link in links {
            write_link(&mut out, link);
        }
        scrollback.write(&mut out);
        for grid in std::iter::once(&terminal.screen.grid).chain(&terminal.screen.hidden) {
            let rows = (0..grid.size().rows).map(|y| grid.row(y));
            write_rows(
                &mut out,
                rows,
                &terminal.screen.styles,
                &terminal.screen.graphemes,
            );
        }
        out.bytes(&self.parser.unfinished());
        out.finish()
    }

    /// Returns the model of a dump, resized to this size, with a scrollback of these bounds. `None`
    /// where the bytes are not a dump, are damaged, or are of another [`DUMP_VERSION`].
    pub fn restore(size: Size, scrollback: Scrollback, dump: &[u8]) -> Option<Self> {
        let mut model = Self::restored(scrollback, dump)?;
        model.terminal.resize(size);
        Some(model)
    }

    /// Returns the model of a dump at the size that it had.
    pub fn restored(scrollback: Scrollback, dump: &[u8]) -> Option<Self> {
        let mut from = Reader::new(dump.strip_prefix(MAGIC)?);
        if from.u8()? != DUMP_VERSION {
            return None;
        }
        let state: State = serde_json::from_slice(from.bytes()?).ok()?;
        if !state.is_sound() {
            return None;
        }
        let mut terminal = Terminal::new(state.size, scrollback);
        for _ in 0..from.count(5)? {
            let link: Link = read_link(&mut from)?;
            terminal.screen.styles.link_number(link);
        }
        terminal.screen.scrollback.read(&mut from)?;
        terminal.screen.grid = read_grid(&mut terminal, &mut from, &state)?;
        if state.has_hidden {
            terminal.screen.hidden = Some(read_grid(&mut terminal, &mut from, &state)?);
        }
        let unfinished = from.bytes()?;
        if !from.is_empty() {
            return None;
        }
        terminal.screen.active = state.shown;
        terminal.screen.cursor = state.cursor;
        terminal.screen.saved = state.saved;
        terminal.screen.margins = state.margins;
        terminal.screen.tabs = state.tabs;
        terminal.modes = state.modes;
        state.extras.restore(&mut terminal);
        terminal.saved = state.stash;
        terminal.screen.marks = state.marks;
        terminal.screen.last_printed = state.last_printed;
        let mut styles = std::mem::take(&mut terminal.screen.styles);
        for cursor in terminal.screen.cursors_mut() {
            cursor.style_id = styles.number(cursor.style);
        }
        terminal.screen.styles = styles;
        terminal.update_fast_text();
        let mut parser = Parser::default();
        parser.feed(&mut terminal, unfinished, 0);
        // The unfinished bytes have had their effect before the dump.
        terminal.fed = Fed::default();
        terminal.screen.set_change(state.seq);
        terminal.offset = state.offset;
        Some(Self { parser, terminal })
    }
}

fn read_grid(terminal: &mut Terminal, from: &mut Reader<'_>, state: &State) -> Option<Grid> {
    let rows: Vec<Row> = read_rows(
        from,
        state.size,
        &mut terminal.screen.styles,
        &mut terminal.screen.graphemes,
    )?;
    Some(Grid::from_rows(state.size, rows, state.seq))
}

impl State {
    /// Whether all rows and columns are within the size.
    fn is_sound(&self) -> bool {
        let Size { cols, rows } = self.size;
        let is_inside = |cursor: &Cursor| cursor.row < rows && cursor.col < cols;
        let Margins {
            top,
            bottom,
            left,
            right,
        } = self.margins;
        self.size == self.size.clamped()
            && is_inside(&self.cursor)
            && top <= bottom
            && bottom < rows
            && left <= right
            && right < cols
    }
}

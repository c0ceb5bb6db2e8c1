//! A model in bytes, and back: how a screen survives its server.
//!
//! A dump is the state itself, and not sequences that would bring it about again: it is as exact as
//! the state, it does not change its meaning when a control function does, and of the scrollback it
//! is a copy of packed blocks, so that 10,000 lines take a fraction of a millisecond.
//!
//! | | |
//! |---|---|
//! | `termd` and a byte | [`DUMP_VERSION`] |
//! | bytes | [`State`] in JSON: all that is small |
//! | rows | the scrollback, the shown screen, the hidden one if there is one |
//! | bytes | what the parser has read of a sequence that is not whole yet |

pub(super) mod wire;

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use self::wire::{Reader, Writer};
use super::Model;
use super::core::{Core, Margins, Shown};
use super::cursor::Cursor;
use super::event::Fed;
use super::extras::Extras;
use super::grid::{Grid, Size};
use super::input::Input;
use super::marks::Marks;
use super::mode::Modes;
use super::row::Row;
use super::scrollback::{Scrollback, read_link, read_rows, write_link, write_rows};
use super::stash::Stash;
use super::style::Link;
use super::tabs::TabStops;

/// The form of a dump. Another number is another form, and [`Model::restore`] gives `None` for it:
/// the transcript has all that is needed to make the model anew.
pub const DUMP_VERSION: u8 = 1;

const MAGIC: &[u8; 5] = b"termd";

/// All of a model that is neither rows nor parser.
#[derive(Serialize, Deserialize)]
struct State {
    size: Size,
    shown: Shown,
    cursor: Cursor,
    saved: [Option<Cursor>; 2],
    margins: Margins,
    tabs: TabStops,
    modes: Modes,
    extras: Extras,
    stash: Stash,
    marks: Marks,
    last_printed: Option<char>,
    seq: u64,
    offset: u64,
    has_hidden: bool,
}

impl Model {
    /// All of it in bytes.
    pub fn dump(&self) -> Vec<u8> {
        let core = &self.core;
        let mut out = Writer::default();
        out.raw(MAGIC);
        out.u8(DUMP_VERSION);
        let state = State {
            size: core.size,
            shown: core.shown,
            cursor: core.cursor.clone(),
            saved: core.saved.clone(),
            margins: core.margins,
            tabs: core.tabs.clone(),
            modes: core.modes.clone(),
            extras: core.extras.clone(),
            stash: core.stash.clone(),
            marks: core.marks.clone(),
            last_printed: core.last_printed,
            seq: core.seq,
            offset: core.offset,
            has_hidden: core.hidden.is_some(),
        };
        // A state that JSON cannot say, which a test would find, is a dump that nobody can read.
        out.bytes(&serde_json::to_vec(&state).unwrap_or_default());
        let links = core.styles.links();
        out.count(links.len());
        for link in links {
            write_link(&mut out, link);
        }
        core.scrollback.write(&mut out);
        for grid in std::iter::once(&core.grid).chain(&core.hidden) {
            let rows = (0..grid.size().rows).map(|y| grid.row(y));
            write_rows(&mut out, rows, &core.styles, &core.graphemes);
        }
        out.bytes(&self.input.unfinished());
        out.finish()
    }

    /// A model from its dump, at this size and with a scrollback of these bounds. `None` where the
    /// bytes are no dump, damaged, or of another [`DUMP_VERSION`].
    pub fn restore(size: Size, scrollback: Scrollback, dump: &[u8]) -> Option<Self> {
        let mut model = Self::restored(scrollback, dump)?;
        model.core.resize(size);
        Some(model)
    }

    /// The same at the size that it had.
    pub fn restored(scrollback: Scrollback, dump: &[u8]) -> Option<Self> {
        let mut from = Reader::new(dump.strip_prefix(MAGIC)?);
        if from.u8()? != DUMP_VERSION {
            return None;
        }
        let state: State = serde_json::from_slice(from.bytes()?).ok()?;
        if !state.is_sound() {
            return None;
        }
        let mut core = Core::new(state.size, scrollback);
        for _ in 0..from.count(5)? {
            let link: Link = read_link(&mut from)?;
            core.styles.link_number(link);
        }
        core.scrollback.read(&mut from)?;
        core.grid = read_grid(&mut core, &mut from, &state)?;
        if state.has_hidden {
            core.hidden = Some(read_grid(&mut core, &mut from, &state)?);
        }
        let unfinished = from.bytes()?;
        if !from.is_empty() {
            return None;
        }
        core.shown = state.shown;
        core.cursor = state.cursor;
        core.saved = state.saved;
        core.margins = state.margins;
        core.tabs = state.tabs;
        core.modes = state.modes;
        core.extras = state.extras;
        core.stash = state.stash;
        core.marks = state.marks;
        core.last_printed = state.last_printed;
        let mut styles = std::mem::take(&mut core.styles);
        for cursor in core.cursors_mut() {
            cursor.style_id = styles.number(cursor.style);
        }
        core.styles = styles;
        core.choose_way_of_text();
        let mut input = Input::default();
        input.feed(&mut core, unfinished);
        // What is unfinished has done all that it does so far.
        core.fed = Fed::default();
        core.seq = state.seq;
        core.offset = state.offset;
        Some(Self { input, core })
    }
}

fn read_grid(core: &mut Core, from: &mut Reader<'_>, state: &State) -> Option<Grid> {
    let rows: Vec<Row> = read_rows(from, state.size, &mut core.styles, &mut core.graphemes)?;
    Some(Grid::from_rows(state.size, rows, state.seq))
}

impl State {
    /// Whether all that is counted in rows and columns is within the size.
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

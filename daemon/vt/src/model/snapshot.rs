//! A model as a value that can be compared: what tests mean by the same model.
//!
//! The numbers of styles, links and graphemes depend on how a model came about, so they are
//! resolved. The numbers of changes are left out for the same reason.

use termd_proto::screen::LineSize;

use super::dump::extras::Extras;
use crate::Model;
use crate::grid::cell::{Cell, Content};
use crate::grid::row::Row;
use crate::grid::style::{Link, LinkId, Style, StyleId};
use crate::grid::{Grid, Size};
use crate::modes::Modes;
use crate::screen::ActiveScreen;
use crate::screen::cursor::Cursor;
use crate::screen::margins::Margins;
use crate::screen::marks::Mark;
use crate::screen::tab_stops::TabStops;
use crate::terminal::saved_state::SavedState;

/// The state of a model, for comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    size: Size,
    shown: ActiveScreen,
    screen: Vec<RowValue>,
    hidden: Option<Vec<RowValue>>,
    scrollback: Vec<RowValue>,
    pushed: u64,
    cursor: CursorValue,
    saved: [Option<CursorValue>; 2],
    margins: Margins,
    tabs: TabStops,
    modes: Modes,
    extras: Extras,
    saved_state: SavedState,
    marks: Vec<Mark>,
    last_printed: Option<char>,
    offset: u64,
    unfinished: Vec<u8>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct RowValue {
    text: String,
    /// Each cell's kind, and the columns at which its style changes.
    cells: Vec<u32>,
    styles: Vec<(usize, ResolvedStyle)>,
    wrapped: bool,
    size: LineSize,
    complex: bool,
}

type ResolvedStyle = (Style, Option<Link>);
type CursorValue = (Cursor, Option<Link>);

impl Model {
    /// Returns the state as a value that can be compared.
    pub fn snapshot(&self) -> Snapshot {
        let terminal = &self.terminal;
        let rows = |grid: &Grid| {
            let rows = 0..grid.size().rows;
            rows.map(|y| self.row_value(grid.row(y))).collect()
        };
        let cursor = |cursor: &Cursor| {
            let mut bare = cursor.clone();
            bare.style_id = StyleId(0);
            let (style, link) = self.resolved(cursor.style);
            bare.style = style;
            (bare, link)
        };
        let mut scratch = (
            terminal.screen.styles.clone(),
            terminal.screen.graphemes.clone(),
        );
        let scrollback = (0..terminal.screen.scrollback.len())
            .filter_map(|at| terminal.screen.scrollback.row(at));
        let scrollback: Vec<Row> = scrollback
            .map(|row| row.to_row(&mut scratch.0, &mut scratch.1))
            .collect();
        let mut with_scratch = terminal.clone();
        (with_scratch.screen.styles, with_scratch.screen.graphemes) = scratch;
        let packed = Self {
            parser: super::Parser::default(),
            terminal: with_scratch,
        };
        Snapshot {
            size: terminal.screen.size,
            shown: terminal.screen.active,
            screen: rows(&terminal.screen.grid),
            hidden: terminal.screen.hidden.as_ref().map(rows),
            scrollback: scrollback.iter().map(|row| packed.row_value(row)).collect(),
            pushed: terminal.screen.scrollback.pushed(),
            cursor: cursor(&terminal.screen.cursor),
            saved: terminal
                .screen
                .saved
                .each_ref()
                .map(|saved| saved.as_ref().map(cursor)),
            margins: terminal.screen.margins,
            tabs: terminal.screen.tabs.clone(),
            modes: terminal.modes.clone(),
            extras: Extras::of(terminal),
            saved_state: self.saved_state_value(),
            marks: self.marks().copied().collect(),
            last_printed: terminal.screen.last_printed,
            offset: terminal.offset,
            unfinished: self.parser.unfinished(),
        }
    }

    fn saved_state_value(&self) -> SavedState {
        let mut saved_state = self.terminal.saved.clone();
        if let Some(before) = &mut saved_state.before_vt52 {
            before.cursor.style_id = StyleId(0);
            before.cursor.style.link = LinkId(0);
        }
        saved_state
    }

    fn resolved(&self, mut style: Style) -> ResolvedStyle {
        let link = self.terminal.screen.styles.link(style.link).cloned();
        style.link = LinkId(0);
        (style, link)
    }

    fn row_value(&self, row: &Row) -> RowValue {
        let cells = &row.cells()[..row.occupied()];
        let mut value = RowValue {
            text: String::new(),
            cells: Vec::with_capacity(cells.len()),
            styles: Vec::new(),
            wrapped: row.wrapped,
            size: row.size,
            complex: row.complex,
        };
        let mut last = None;
        for (x, cell) in cells.iter().enumerate() {
            if last != Some(cell.style()) {
                last = Some(cell.style());
                let style = self.resolved(self.terminal.screen.styles.get(cell.style()));
                if value.styles.last().is_none_or(|(_, known)| *known != style) {
                    value.styles.push((x, style));
                }
            }
            value.cells.push(match cell.content() {
                Content::Grapheme(_) => cell.with_grapheme(0).low(),
                _ => cell.low(),
            });
            push_text(&mut value.text, *cell, |number| {
                self.terminal.screen.graphemes.get(number)
            });
        }
        value
    }
}

fn push_text<'a>(text: &mut String, cell: Cell, grapheme: impl Fn(u32) -> &'a str) {
    match cell.content() {
        Content::Blank => text.push(' '),
        Content::Char(c) => text.push(c),
        Content::Grapheme(number) => text.push_str(grapheme(number)),
        Content::Tail => {}
    }
}

//! What the terminal shows: both grids, the cursor, margins, tab stops, scrollback and marks.
//!
//! Each file adds one family of control functions to [`Screen`], under xterm's names. A function
//! that depends on a mode gets the modes as an argument; the screen itself keeps none.

mod alternate;
pub(crate) mod checksum;
mod cluster;
pub(crate) mod cursor;
mod edit;
pub(crate) mod erase;
mod glyph_sweep;
mod line_run;
mod line_size;
pub(crate) mod margins;
pub(crate) mod marks;
mod movement;
mod print;
mod print_lines;
pub(crate) mod rectangle;
mod reflow;
pub(crate) mod scroll;
mod tab;
pub(crate) mod tab_stops;
mod text_run;

use serde::{Deserialize, Serialize};
use termd_proto::screen::Color;

use self::cursor::Cursor;
use self::line_run::LineRun;
use self::margins::Margins;
use self::marks::{Mark, MarkKind, Marks};
use self::tab_stops::TabStops;
use crate::grid::cell::{Cell, Protection};
use crate::grid::grapheme::Graphemes;
use crate::grid::row::Row;
use crate::grid::style::Styles;
use crate::grid::{Grid, Size};
use crate::modes::Modes;
use crate::scrollback::Scrollback;

/// Which of the two screens is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum ActiveScreen {
    /// The screen that has scrollback.
    #[default]
    Primary,
    /// The screen of full-screen programs.
    Alternate,
}

/// Both screens of a terminal, and the state that decides where text goes on them.
#[derive(Debug, Clone)]
pub(crate) struct Screen {
    pub(crate) size: Size,
    /// The rows that are shown.
    pub(crate) grid: Grid,
    /// The rows of the screen that is not shown. The alternate screen is made when a program first
    /// switches to it; an empty one is dropped when the program leaves it.
    pub(crate) hidden: Option<Grid>,
    /// Which screen `grid` belongs to.
    pub(crate) active: ActiveScreen,
    pub(crate) cursor: Cursor,
    /// DECSC of the primary and of the alternate screen.
    pub(crate) saved: [Option<Cursor>; 2],
    pub(crate) margins: Margins,
    pub(crate) tabs: TabStops,
    /// The styles that cells of both grids name by number.
    pub(crate) styles: Styles,
    /// The characters that do not fit a cell.
    pub(crate) graphemes: Graphemes,
    /// Rows that scrolled off the top of the primary screen.
    pub(crate) scrollback: Scrollback,
    /// Where prompts, commands and their output begin and end.
    pub(crate) marks: Marks,
    /// The character that REP repeats. A control function clears it.
    pub(crate) last_printed: Option<char>,
    /// The number of the change in progress; rows that change are stamped with it.
    pub(crate) seq: u64,
    /// Whole lines found in the input; kept so that its memory is used again.
    line_run: LineRun,
    /// Whether a run of text may be written into a row without a look at modes, charsets and
    /// margins for each character. [`update_fast_text`](Self::update_fast_text) keeps it.
    fast_text: bool,
}

impl Screen {
    pub(crate) fn new(size: Size, scrollback: Scrollback) -> Self {
        Self {
            size,
            grid: Grid::new(size),
            hidden: None,
            active: ActiveScreen::Primary,
            cursor: Cursor::default(),
            saved: [None, None],
            margins: Margins::whole(size),
            tabs: TabStops::default(),
            styles: Styles::default(),
            graphemes: Graphemes::default(),
            scrollback,
            marks: Marks::default(),
            last_printed: None,
            seq: 0,
            line_run: LineRun::default(),
            fast_text: true,
        }
    }

    /// Begins a change; its number is greater than that of each one before it.
    pub(crate) fn begin_change(&mut self) {
        self.set_change(self.seq + 1);
    }

    /// Goes on counting changes from this number.
    pub(crate) fn set_change(&mut self, seq: u64) {
        self.seq = seq;
        for grid in self.grids_mut() {
            grid.begin_change(seq);
        }
    }

    /// Both grids, the shown one first.
    pub(crate) fn grids(&self) -> impl Iterator<Item = &Grid> {
        std::iter::once(&self.grid).chain(&self.hidden)
    }

    fn grids_mut(&mut self) -> impl Iterator<Item = &mut Grid> {
        std::iter::once(&mut self.grid).chain(&mut self.hidden)
    }

    /// Marks the cursor's position. The alternate screen has no marks, as its rows have no ids.
    pub(crate) fn mark(&mut self, kind: MarkKind) {
        if self.active == ActiveScreen::Alternate {
            return;
        }
        let (row, col) = self.mark_place();
        self.marks
            .add(Mark { kind, row, col }, self.scrollback.oldest());
    }

    /// The id of the cursor's row, and the column of the next character: the number of columns where a
    /// wrap is pending.
    pub(crate) fn mark_place(&self) -> (u64, usize) {
        (
            self.scrollback.pushed() + self.cursor.row as u64,
            self.cursor.col + usize::from(self.cursor.wrap_pending),
        )
    }

    /// What an erased cell looks like now.
    #[inline]
    pub(crate) fn blank(&mut self) -> Cell {
        if self.cursor.style.background == Color::Default {
            return Cell::BLANK;
        }
        Cell::erased(self.styles.number(self.cursor.style.erased()))
    }

    /// The cursor's row, to change it.
    #[inline]
    pub(crate) fn cursor_row(&mut self) -> &mut Row {
        self.grid.row_mut(self.cursor.row)
    }

    /// Must follow every change of what decides how text is written: modes, charsets, margins,
    /// protection.
    pub(crate) fn update_fast_text(&mut self, modes: &Modes) {
        let whole_width = self.margins.left == 0 && self.margins.right + 1 == self.size.cols;
        self.fast_text = whole_width
            && modes.autowrap
            && !modes.insert
            && modes.utf8
            && self.cursor.charsets.is_ascii()
            && self.cursor.protection == Protection::None;
    }

    /// Must follow every change of the cursor's style.
    #[inline]
    pub(crate) fn style_changed(&mut self) {
        self.cursor.style_id = self.styles.number(self.cursor.style);
        if self.styles.is_crowded() {
            self.sweep_styles();
        }
    }
}

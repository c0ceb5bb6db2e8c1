//! The terminal's state, and the few moves that everything else is made of.
//!
//! The parser (`input`) tells it what to do by xterm's control-function names; the files of
//! `control` do it, each a family of functions, with what is here. Nothing in here can fail.

pub(crate) mod extras;
pub(crate) mod keyboard;
pub(crate) mod modes;
pub(crate) mod stash;
pub(crate) mod terminfo;
pub(crate) mod titles;

use serde::{Deserialize, Serialize};

use crate::event::{Event, Fed};
use crate::grid::cell::{Cell, Content};
use crate::grid::grapheme::Graphemes;
use crate::grid::row::Row;
use crate::grid::style::Styles;
use crate::grid::{Grid, Size};
use crate::screen::cursor::Cursor;
use crate::screen::marks::Marks;
use crate::screen::tab_stops::TabStops;
use crate::scrollback::Scrollback;
use crate::terminal::modes::Modes;

/// Which screen is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Shown {
    /// The one with scrollback.
    #[default]
    Primary,
    /// The one of full-screen programs.
    Alternate,
}

/// DECSTBM and DECSLRM: rows and columns that scroll, all included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Margins {
    /// First row.
    pub top: usize,
    /// Last row.
    pub bottom: usize,
    /// First column.
    pub left: usize,
    /// Last column.
    pub right: usize,
}

impl Margins {
    /// The whole screen.
    pub(crate) fn whole(size: Size) -> Self {
        Self {
            top: 0,
            bottom: size.rows - 1,
            left: 0,
            right: size.cols - 1,
        }
    }
}

/// The state.
#[derive(Debug, Clone)]
pub(crate) struct Terminal {
    /// The screen's size.
    pub size: Size,
    /// The rows that are shown.
    pub grid: Grid,
    /// The rows of the screen that is not shown; the alternate screen is made when it is first
    /// asked for, and given up when it is left.
    pub hidden: Option<Grid>,
    /// Which one `grid` is.
    pub shown: Shown,
    /// The cursor.
    pub cursor: Cursor,
    /// DECSC of the primary and of the alternate screen.
    pub saved: [Option<Cursor>; 2],
    /// Scroll margins.
    pub margins: Margins,
    /// Modes.
    pub modes: Modes,
    /// Tab stops.
    pub tabs: TabStops,
    /// Looks.
    pub styles: Styles,
    /// Long characters.
    pub graphemes: Graphemes,
    /// What left the primary screen at the top.
    pub scrollback: Scrollback,
    /// Where prompts, commands and their output begin and end.
    pub marks: Marks,
    /// Titles, colours, keyboards: what `control` keeps beside the grid.
    pub extras: crate::terminal::extras::Extras,
    /// What programs have put aside.
    pub stash: crate::terminal::stash::Stash,
    /// The character that REP repeats: the one that came last, if no control came after it.
    pub last_printed: Option<char>,
    /// The change that is being made.
    pub seq: u64,
    /// Bytes fed before the ones at hand.
    pub offset: u64,
    /// What has come of the bytes at hand.
    pub fed: Fed,
    /// RIS leaves LNM set.
    pub new_lines: bool,
    /// Room for lines that are looked for, kept from one time to the next.
    pub(crate) lines: crate::screen::line_run::Lines,
    /// Whether runs of ASCII can be written as they are; kept by
    /// [`choose_way_of_text`](Self::choose_way_of_text).
    pub(crate) plain_text: bool,
}

impl Terminal {
    /// A fresh terminal.
    pub(crate) fn new(size: Size, scrollback: Scrollback) -> Self {
        let mut terminal = Self {
            size,
            grid: Grid::new(size),
            hidden: None,
            shown: Shown::Primary,
            cursor: Cursor::default(),
            saved: [None, None],
            margins: Margins::whole(size),
            modes: Modes::default(),
            tabs: TabStops::default(),
            styles: Styles::default(),
            graphemes: Graphemes::default(),
            scrollback,
            marks: Marks::default(),
            extras: crate::terminal::extras::Extras::default(),
            stash: crate::terminal::stash::Stash::default(),
            last_printed: None,
            seq: 0,
            offset: 0,
            fed: Fed::default(),
            new_lines: false,
            lines: crate::screen::line_run::Lines::default(),
            plain_text: true,
        };
        terminal.choose_way_of_text();
        terminal
    }

    /// What an erased cell looks like now.
    #[inline]
    pub(crate) fn blank(&mut self) -> Cell {
        if self.cursor.style.background == termd_proto::screen::Color::Default {
            return Cell::BLANK;
        }
        Cell::erased(self.styles.number(self.cursor.style.erased()))
    }

    /// The cursor's row, to change.
    #[inline]
    pub(crate) fn cursor_row(&mut self) -> &mut Row {
        self.grid.row_mut(self.cursor.row, self.seq)
    }

    /// Says a fact, at the end of the bytes read so far.
    pub(crate) fn event(&mut self, event: Event) {
        let offset = self.offset;
        self.fed.event(offset, event);
    }

    /// Must be called after anything that decides how text is written has changed: modes, charsets,
    /// margins, protection.
    pub(crate) fn choose_way_of_text(&mut self) {
        let whole_width = self.margins.left == 0 && self.margins.right + 1 == self.size.cols;
        self.plain_text = whole_width
            && self.modes.autowrap
            && !self.modes.insert
            && self.modes.utf8
            && self.cursor.charsets.is_ascii()
            && self.cursor.protection == crate::grid::cell::Protection::None;
    }

    /// Sets the cursor's look after SGR or OSC 8 changed it.
    #[inline]
    pub(crate) fn style_changed(&mut self) {
        self.cursor.style_id = self.styles.number(self.cursor.style);
        if self.styles.is_crowded() {
            self.sweep_styles();
        }
    }

    /// IND: down one row; at the bottom margin the region scrolls.
    #[inline]
    pub(crate) fn index(&mut self) {
        if self.cursor.row == self.margins.bottom {
            let inside = (self.margins.left..=self.margins.right).contains(&self.cursor.col);
            if inside {
                self.scroll_up(1);
            }
        } else if self.cursor.row + 1 < self.size.rows {
            self.cursor.row += 1;
        }
    }

    /// SU inside the margins; what leaves the primary screen at its very top is kept.
    #[inline]
    pub(crate) fn scroll_up(&mut self, count: usize) {
        let blank = self.blank();
        let margins = self.margins;
        if margins.left > 0 || margins.right + 1 < self.size.cols {
            self.scroll_columns_up(count, blank);
            return;
        }
        let count = count.min(margins.bottom + 1 - margins.top);
        if margins.top == 0 && self.shown == Shown::Primary {
            for _ in 0..count {
                self.scrollback
                    .push(self.grid.row(0), &self.styles, &self.graphemes);
                self.grid.scroll_up_one(0, margins.bottom, blank, self.seq);
            }
        } else {
            self.grid
                .scroll_up(margins.top, margins.bottom, count, blank, self.seq);
        }
    }

    /// SD inside the margins.
    pub(crate) fn scroll_down(&mut self, count: usize) {
        let blank = self.blank();
        let margins = self.margins;
        if margins.left > 0 || margins.right + 1 < self.size.cols {
            self.scroll_columns_down(count, blank);
            return;
        }
        self.grid
            .scroll_down(margins.top, margins.bottom, count, blank, self.seq);
    }

    fn scroll_columns_up(&mut self, count: usize, blank: Cell) {
        let m = self.margins;
        for y in m.top..=m.bottom {
            self.copy_columns(y + count, y, blank);
        }
    }

    fn scroll_columns_down(&mut self, count: usize, blank: Cell) {
        let m = self.margins;
        for y in (m.top..=m.bottom).rev() {
            match y.checked_sub(count) {
                Some(from) if from >= m.top => self.copy_columns(from, y, blank),
                _ => self.copy_columns(usize::MAX, y, blank),
            }
        }
    }

    /// Copies the columns inside the margins from one row to another; from a row outside the
    /// margins come blanks.
    fn copy_columns(&mut self, from: usize, to: usize, blank: Cell) {
        let m = self.margins;
        let width = m.right + 1 - m.left;
        let cells: Vec<Cell> = if (m.top..=m.bottom).contains(&from) {
            let row = self.grid.row(from);
            (m.left..=m.right).map(|x| row.cell(x)).collect()
        } else {
            vec![blank; width]
        };
        self.split_wide_at(to, m.left);
        self.split_wide_at(to, m.right + 1);
        let intricate = from < self.size.rows && self.grid.row(from).intricate;
        let row = self.grid.row_mut(to, self.seq);
        row.intricate |= intricate;
        row.cells_mut(m.left, m.right + 1).copy_from_slice(&cells);
        self.mend_halves(to);
    }

    /// Before columns from `col` on are overwritten or moved: a wide character that lies over the
    /// border becomes blanks.
    pub(crate) fn split_wide_at(&mut self, y: usize, col: usize) {
        let row = self.grid.row(y);
        if !row.intricate || col == 0 || !row.cell(col).is_tail() {
            return;
        }
        let (left, right) = (row.cell(col - 1).style(), row.cell(col).style());
        let row = self.grid.row_mut(y, self.seq);
        row.set(col - 1, Cell::erased(left));
        row.set(col, Cell::erased(right));
    }

    /// After cells of a row were moved about: halves of wide characters that lost the other half
    /// become blanks.
    pub(crate) fn mend_halves(&mut self, y: usize) {
        if !self.grid.row(y).intricate {
            return;
        }
        let cols = self.size.cols;
        let row = self.grid.row_mut(y, self.seq);
        row.truncate(cols);
        let length = row.cells().len();
        for x in 0..length {
            let cell = row.cell(x);
            let lost = if cell.is_tail() {
                x == 0 || !row.cell(x - 1).is_wide()
            } else {
                cell.is_wide() && !row.cell(x + 1).is_tail()
            };
            if lost {
                row.set(x, Cell::erased(cell.style()));
            }
        }
    }

    /// Forgets looks and links that nothing on the screens has. Scrollback has its own.
    pub(crate) fn sweep_styles(&mut self) {
        let mut used = vec![self.cursor.style_id];
        let mut links = vec![self.cursor.style.link];
        let before_vt52 = self.stash.before_vt52.as_ref().map(|before| &before.cursor);
        for saved in self.saved.iter().flatten().chain(before_vt52) {
            used.push(saved.style_id);
            links.push(saved.style.link);
        }
        for grid in std::iter::once(&self.grid).chain(&self.hidden) {
            for row in grid.rows() {
                used.extend(row.cells().iter().map(|cell| cell.style()));
            }
        }
        used.sort_unstable();
        used.dedup();
        let sweep = self.styles.sweep(&used, &links);
        for grid in std::iter::once(&mut self.grid).chain(&mut self.hidden) {
            for row in grid.rows_mut() {
                row.map(|cell| cell.with_style(sweep.style(cell.style())));
            }
        }
        for cursor in self.cursors_mut() {
            cursor.style_id = sweep.style(cursor.style_id);
            cursor.style.link = sweep.link(cursor.style.link);
        }
    }

    /// The cursor, and those that were put aside.
    pub(crate) fn cursors_mut(&mut self) -> impl Iterator<Item = &mut Cursor> {
        let before_vt52 = self.stash.before_vt52.as_mut();
        std::iter::once(&mut self.cursor)
            .chain(self.saved.iter_mut().flatten())
            .chain(before_vt52.map(|before| &mut before.cursor))
    }

    /// Forgets graphemes that no cell holds.
    pub(crate) fn sweep_graphemes(&mut self) {
        let grids = || std::iter::once(&self.grid).chain(&self.hidden);
        let used = grids()
            .flat_map(Grid::rows)
            .flat_map(Row::cells)
            .filter_map(|cell| match cell.content() {
                Content::Grapheme(number) => Some(number),
                _ => None,
            });
        let mut used: Vec<u32> = used.collect();
        used.sort_unstable();
        used.dedup();
        let renumbered = self.graphemes.sweep(used.into_iter());
        let renumber = |cell: Cell| match cell.content() {
            Content::Grapheme(old) => {
                cell.with_grapheme(renumbered.get(old as usize).copied().unwrap_or(0))
            }
            _ => cell,
        };
        for grid in std::iter::once(&mut self.grid).chain(&mut self.hidden) {
            for row in grid.rows_mut().iter_mut().filter(|row| row.intricate) {
                row.map(renumber);
            }
        }
    }
}

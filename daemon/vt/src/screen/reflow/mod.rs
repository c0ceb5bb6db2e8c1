//! Resizing. Lines of the primary screen and its scrollback are broken anew; the alternate screen
//! is cut.
//!
//! The height changes as in xterm: a lower screen loses blank rows below the cursor first, then
//! rows at the top go to the scrollback; a higher screen takes rows back from there. For the width,
//! a `wrapped` row and the next one are one line. The cursor, DECSC's cursor and the marks stay on
//! their characters. Margins are reset, tab stops stay.

mod line;
#[cfg(test)]
mod tests;

use self::line::Breaker;
use crate::grid::cell::Cell;
use crate::grid::row::Row;
use crate::grid::{Grid, Size};
use crate::screen::ActiveScreen;
use crate::screen::Screen;
use crate::screen::cursor::Cursor;
use crate::screen::margins::Margins;

/// A place in the rows of the primary screen and its scrollback.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place {
    /// The row's id.
    row: u64,
    /// The column. The number of columns means: behind the last one.
    col: usize,
}

impl Screen {
    /// Takes another size, which must be within the bounds.
    pub(crate) fn resize(&mut self, size: Size) {
        let shown = std::mem::replace(&mut self.grid, Grid::new(Size { cols: 2, rows: 1 }));
        let hidden = self.hidden.take();
        match self.active {
            ActiveScreen::Primary => {
                self.grid = self.resize_primary(shown, size);
                self.hidden = hidden.map(|grid| self.clip(grid, size, ActiveScreen::Alternate));
            }
            ActiveScreen::Alternate => {
                self.grid = self.clip(shown, size, ActiveScreen::Alternate);
                self.hidden = hidden.map(|grid| self.resize_primary(grid, size));
            }
        }
        self.size = size;
        self.margins = Margins::whole(size);
        if self.styles.is_crowded() {
            self.sweep_styles();
        }
        if self.graphemes.is_crowded() {
            self.sweep_graphemes();
        }
    }

    /// Cuts and fills a screen whose lines are not broken.
    fn clip(&mut self, grid: Grid, size: Size, screen: ActiveScreen) -> Grid {
        let live = self.active == screen;
        let lost = if live {
            (self.cursor.row + 1).saturating_sub(size.rows)
        } else {
            0
        };
        let is_narrower = size.cols < grid.size().cols;
        let mut rows = grid.into_rows();
        rows.drain(..lost.min(rows.len()));
        rows.truncate(size.rows);
        for row in &mut rows {
            row.wrapped = false;
            if is_narrower {
                clip_row(row, size.cols);
            }
        }
        let saved = self.saved[1].as_mut();
        for cursor in live.then_some(&mut self.cursor).into_iter().chain(saved) {
            cursor.row = cursor.row.saturating_sub(lost).min(size.rows - 1);
            cursor.wrap_pending &= cursor.col + 1 == size.cols;
            cursor.col = cursor.col.min(size.cols - 1);
        }
        Grid::from_rows(size, rows, self.seq)
    }

    fn resize_primary(&mut self, grid: Grid, size: Size) -> Grid {
        let old = grid.size();
        let top = self.scrollback.pushed();
        let place = |cursor: &Cursor| Place {
            row: top + cursor.row as u64,
            col: cursor.col + usize::from(cursor.wrap_pending && cursor.col + 1 == old.cols),
        };
        let live = (self.active == ActiveScreen::Primary).then(|| place(&self.cursor));
        let saved = self.saved[0].as_ref().map(place);

        // First the height.
        let mut rows = grid.into_rows();
        let written = rows
            .iter()
            .rposition(|row| row.occupied() > 0 || row.wrapped)
            .map_or(0, |last| last + 1);
        let anchor = live
            .or(saved)
            .map_or(0, |place| usize::try_from(place.row - top).unwrap_or(0));
        let anchor = anchor.min(old.rows - 1);
        let mut new_top = if size.rows < old.rows {
            let lost = (anchor + 1).saturating_sub(size.rows);
            rows.truncate(lost + size.rows);
            top + lost as u64
        } else {
            top - self.scrollback.len().min(size.rows - old.rows) as u64
        };
        rows.truncate(written.max(anchor + 1));
        let mut end = top + rows.len() as u64;

        // Then the width.
        let mut places = [live, saved];
        if size.cols != old.cols {
            let free = (new_top + size.rows as u64).saturating_sub(end);
            let mut breaker = Breaker::new(self, old.cols, size.cols, places);
            let moved_top = breaker.run(&mut rows, new_top);
            places = breaker.finish();
            end = self.scrollback.pushed() + rows.len() as u64;
            let high = size.rows as u64;
            new_top = if end + free > moved_top + high {
                moved_top.max(end.saturating_sub(high))
            } else {
                (end + free).saturating_sub(high)
            };
            if let Some(place) = places[0].or(places[1]) {
                new_top = new_top.min(place.row);
            }
        }

        // Rows above the new top go to the scrollback, and the other way round.
        let above = new_top.saturating_sub(self.scrollback.pushed());
        for row in rows.drain(..rows.len().min(usize::try_from(above).unwrap_or(usize::MAX))) {
            self.scrollback.push(&row, &self.styles, &self.graphemes);
        }
        let mut back = Vec::new();
        while self.scrollback.pushed() > new_top {
            let Some(row) = self
                .scrollback
                .pop_newest(&mut self.styles, &mut self.graphemes)
            else {
                break;
            };
            back.push(row);
        }
        back.reverse();
        back.append(&mut rows);
        back.truncate(size.rows);

        let top = self.scrollback.pushed();
        let put = |cursor: &mut Cursor, place: Place| {
            let row = usize::try_from(place.row.saturating_sub(top)).unwrap_or(usize::MAX);
            cursor.row = row.min(size.rows - 1);
            cursor.wrap_pending = place.col >= size.cols;
            cursor.col = place.col.min(size.cols - 1);
        };
        if let Some(place) = places[0] {
            put(&mut self.cursor, place);
        }
        if let (Some(cursor), Some(place)) = (&mut self.saved[0], places[1]) {
            put(cursor, place);
        }
        let (oldest, below) = (self.scrollback.oldest(), top + size.rows as u64);
        self.marks
            .retain(|mark| (oldest..below).contains(&mark.row));
        Grid::from_rows(size, back, self.seq)
    }
}

/// Cuts a row to a width. Half a wide character becomes a blank.
fn clip_row(row: &mut Row, cols: usize) {
    row.truncate(cols);
    let last = row.cell(cols - 1);
    if last.is_wide() {
        row.set(cols - 1, Cell::erased(last.style()));
    }
    row.shrink();
}

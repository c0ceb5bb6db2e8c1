//! Sweeps the tables of styles and graphemes: drops what no cell names.

use super::Screen;
use super::cursor::Cursor;
use crate::grid::Grid;
use crate::grid::cell::{Cell, Content};
use crate::grid::row::Row;

impl Screen {
    /// Drops styles and links that no cell and no cursor uses. The scrollback has its own.
    pub(crate) fn sweep_styles(&mut self) {
        let mut used = vec![self.cursor.style_id];
        let mut links = vec![self.cursor.style.link];
        for saved in self.saved.iter().flatten() {
            used.push(saved.style_id);
            links.push(saved.style.link);
        }
        for grid in self.grids() {
            for row in grid.rows() {
                used.extend(row.cells().iter().map(|cell| cell.style()));
            }
        }
        used.sort_unstable();
        used.dedup();
        let sweep = self.styles.sweep(&used, &links);
        for grid in self.grids_mut() {
            for row in grid.rows_mut() {
                row.map(|cell| cell.with_style(sweep.style(cell.style())));
            }
        }
        for cursor in self.cursors_mut() {
            cursor.style_id = sweep.style(cursor.style_id);
            cursor.style.link = sweep.link(cursor.style.link);
        }
    }

    /// The cursor, and those that DECSC saved.
    pub(crate) fn cursors_mut(&mut self) -> impl Iterator<Item = &mut Cursor> {
        std::iter::once(&mut self.cursor).chain(self.saved.iter_mut().flatten())
    }

    /// Drops graphemes that no cell holds.
    pub(crate) fn sweep_graphemes(&mut self) {
        let used = self
            .grids()
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
        for grid in self.grids_mut() {
            for row in grid.rows_mut().iter_mut().filter(|row| row.complex) {
                row.map(renumber);
            }
        }
    }
}

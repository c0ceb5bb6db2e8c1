//! Breaking lines anew.

use termd_proto::screen::LineSize;

use super::{Place, clip_row};
use crate::grid::cell::Cell;
use crate::grid::row::Row;
use crate::screen::Screen;

/// Breaks all lines of the primary screen anew, from the oldest row on.
pub(crate) struct Breaker<'a> {
    screen: &'a mut Screen,
    old_cols: usize,
    cols: usize,
    /// The places to move, in the order of their rows, each with what it belongs to.
    places: Vec<(Place, Whose)>,
    /// How many places are moved.
    done: usize,
    /// The rows of an unfinished line.
    line: Vec<Row>,
    /// The id of the next row.
    id: u64,
    /// The rows that go to the screen and not to the scrollback.
    visible: Option<Vec<Row>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Whose {
    Live,
    Saved,
    Top,
    Mark(usize),
}

impl<'a> Breaker<'a> {
    pub(crate) fn new(
        screen: &'a mut Screen,
        old_cols: usize,
        cols: usize,
        [live, saved]: [Option<Place>; 2],
    ) -> Self {
        let oldest = screen.scrollback.oldest();
        screen.marks.retain(|mark| mark.row >= oldest);
        let mut places: Vec<_> = screen
            .marks
            .since(oldest)
            .enumerate()
            .map(|(at, mark)| {
                let place = Place {
                    row: mark.row,
                    col: mark.col,
                };
                (place, Whose::Mark(at))
            })
            .chain(live.map(|place| (place, Whose::Live)))
            .chain(saved.map(|place| (place, Whose::Saved)))
            .collect();
        places.sort_by_key(|(place, _)| place.row);
        Self {
            screen,
            old_cols,
            cols,
            places,
            done: 0,
            line: Vec::new(),
            id: oldest,
            visible: None,
        }
    }

    /// Breaks the lines of the scrollback and the screen. `rows` gets the screen's new rows, with
    /// the scrollback's rows of a line that goes on there. Returns the new id of the row `top`.
    pub(crate) fn run(&mut self, rows: &mut Vec<Row>, top: u64) -> u64 {
        let at = self.places.partition_point(|(place, _)| place.row < top);
        let place = Place { row: top, col: 0 };
        self.places.insert(at, (place, Whose::Top));

        let emptied = self.screen.scrollback.emptied();
        let mut old = std::mem::replace(&mut self.screen.scrollback, emptied);
        while let Some(mut taken) = old.take_oldest(self.cols) {
            if taken.is_simple && self.line.is_empty() {
                let rows = taken.len() as u64;
                self.shift(rows, self.next_id(), 0);
                self.screen.scrollback.put(taken);
                self.id += rows;
                continue;
            }
            while let Some(row) = taken.next(&mut self.screen.styles, &mut self.screen.graphemes) {
                self.row(row);
            }
        }
        self.visible = Some(Vec::new());
        for row in rows.drain(..) {
            self.row(row);
        }
        self.flush();
        // What is below the last row keeps its distance from it.
        let end = self.next_id();
        self.shift(u64::MAX - self.id, end, 0);
        *rows = self.visible.take().unwrap_or_default();
        self.places
            .iter()
            .find(|(_, whose)| *whose == Whose::Top)
            .map_or(top, |(place, _)| place.row)
    }

    /// Stores the marks. Returns the moved cursors.
    pub(crate) fn finish(self) -> [Option<Place>; 2] {
        let of = |whose| {
            let mut places = self.places.iter();
            places.find(|(_, of)| *of == whose).map(|(place, _)| *place)
        };
        let cursors = [of(Whose::Live), of(Whose::Saved)];
        let mut moved = vec![None; self.screen.marks.len()];
        for (place, whose) in &self.places {
            if let Whose::Mark(at) = whose {
                moved[*at] = Some(*place);
            }
        }
        for (mark, place) in self.screen.marks.iter_mut().zip(moved) {
            if let Some(place) = place {
                (mark.row, mark.col) = (place.row, place.col);
            }
        }
        cursors
    }

    /// The id of the next row that comes out.
    fn next_id(&self) -> u64 {
        self.screen.scrollback.pushed() + self.visible.as_ref().map_or(0, Vec::len) as u64
    }

    /// Moves the places on the next `rows` rows: they keep their distance from the first of them,
    /// which is now `to`. Only at the end of `text` may a place be behind the last column.
    fn shift(&mut self, rows: u64, to: u64, text: usize) {
        let from = self.id;
        while let Some((place, _)) = self.places.get_mut(self.done)
            && place.row - from.min(place.row) < rows
        {
            place.row = to + (place.row - from.min(place.row));
            let behind = usize::from(place.col <= text);
            place.col = place.col.min(self.cols - 1 + behind);
            self.done += 1;
        }
    }

    fn put(&mut self, row: Row) {
        match &mut self.visible {
            Some(rows) => rows.push(row),
            None => {
                self.screen
                    .scrollback
                    .push(&row, &self.screen.styles, &self.screen.graphemes);
            }
        }
    }

    fn row(&mut self, mut row: Row) {
        if row.size != LineSize::Single {
            // A double-width line is not broken.
            self.flush();
            clip_row(&mut row, self.cols);
            self.shift(1, self.next_id(), 0);
            self.put(row);
            self.id += 1;
        } else if row.wrapped {
            self.line.push(row);
        } else if self.line.is_empty() && row.occupied() <= self.cols {
            row.trim();
            if self.cols < self.old_cols {
                row.shrink();
            }
            self.shift(1, self.next_id(), row.cells().len());
            self.put(row);
            self.id += 1;
        } else {
            self.line.push(row);
            self.flush();
        }
    }

    /// Breaks the line that was gathered.
    fn flush(&mut self) {
        if self.line.is_empty() {
            return;
        }
        let rows = std::mem::take(&mut self.line);
        let line = Line::join(&rows, self.old_cols);
        let first = self.next_id();
        let broken = line.break_at(self.cols);
        let end = self.id + rows.len() as u64;
        while let Some((place, _)) = self.places.get_mut(self.done)
            && place.row < end
        {
            let at = line.offset(usize::try_from(place.row - self.id).unwrap_or(0), place.col);
            let (row, col) = broken.find(at, self.cols);
            *place = Place {
                row: first + row as u64,
                col,
            };
            self.done += 1;
        }
        for row in broken.rows {
            self.put(row);
        }
        self.id = end;
    }
}

/// A line in one piece.
struct Line {
    cells: Vec<Cell>,
    /// Where each of its old rows began.
    starts: Vec<usize>,
    /// Where its text ends. Blanks with a background may follow.
    text: usize,
    complex: bool,
    /// It goes on, though no row follows.
    is_cut: bool,
}

/// A line cut into rows.
struct Broken {
    rows: Vec<Row>,
    starts: Vec<usize>,
    text: usize,
}

impl Line {
    fn join(rows: &[Row], cols: usize) -> Self {
        let mut cells = Vec::with_capacity(rows.len() * cols);
        let mut starts = Vec::with_capacity(rows.len());
        for (at, row) in rows.iter().enumerate() {
            starts.push(cells.len());
            cells.extend_from_slice(row.cells());
            if at + 1 < rows.len() {
                cells.resize(starts[at] + cols, Cell::BLANK);
                if cells.last().is_some_and(|cell| cell.is_filler()) {
                    cells.pop();
                }
            }
        }
        let text = cells
            .iter()
            .rposition(|cell| !cell.is_blank())
            .map_or(0, |last| last + 1);
        Self {
            text,
            starts,
            complex: rows.iter().any(|row| row.complex),
            is_cut: rows.last().is_some_and(|row| row.wrapped),
            cells,
        }
    }

    /// Where in the line a place is.
    fn offset(&self, row: usize, col: usize) -> usize {
        let start = self.starts.get(row).copied().unwrap_or(0);
        match self.starts.get(row + 1) {
            Some(next) => (start + col).min(*next),
            None => start + col,
        }
    }

    fn break_at(&self, cols: usize) -> Broken {
        let mut broken = Broken {
            rows: Vec::with_capacity(self.text / cols + 1),
            starts: Vec::new(),
            text: self.text,
        };
        let mut at = 0;
        loop {
            let mut end = (at + cols).min(self.text);
            let does_not_fit =
                end < self.text && self.cells[end].is_tail() && self.cells[end - 1].is_wide();
            let mut row = Row::default();
            row.complex = self.complex;
            row.reserve(end - at);
            if does_not_fit {
                end -= 1;
            }
            row.extend(self.cells[at..end].iter().copied());
            if does_not_fit {
                row.push(Cell::filler(self.cells[end].style()));
            }
            broken.starts.push(at);
            let is_last = end == self.text;
            if is_last {
                let room = cols - (end - at);
                let rest = &self.cells[end..];
                row.extend(rest[..rest.len().min(room)].iter().copied());
                row.trim();
            }
            row.wrapped = !is_last || self.is_cut;
            broken.rows.push(row);
            if is_last {
                return broken;
            }
            at = end;
        }
    }
}

impl Broken {
    /// The row and column of an offset in the line. An offset behind the text is in the last row,
    /// at most one column behind the last one.
    fn find(&self, offset: usize, cols: usize) -> (usize, usize) {
        let row = self.starts.partition_point(|start| *start <= offset);
        let row = row.saturating_sub(1);
        let col = offset - self.starts.get(row).copied().unwrap_or(0);
        let most = if offset <= self.text { cols } else { cols - 1 };
        (row, col.min(most))
    }
}

//! A part of what a terminal has printed, as the rows that it left above the screen. Pure.

use termd_proto::Offset;
use termd_proto::screen::{MAX_SCREEN_ROWS, Screen, ScreenRow, ScreenRows};
use termd_vt::Model;

use super::direction::Direction;

/// Most rows of one line that are looked at together.
const MAX_LINE_ROWS: i64 = 500;
/// Most rows of a line that is on the screen in part which are still below a seam: fewer than the reader keeps of
/// the block above.
const MAX_OPEN_ROWS: i64 = 50;

/// Rows that output from `start` to `end` has printed. The last block has the rows of the screen, too.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) start: Offset,
    pub(super) end: Offset,
    /// The number of its first row among all that are shown.
    pub(super) first: i64,
    rows: i64,
    /// The first row by the model's count: negative in its scrollback.
    top: i64,
    model: Model,
}

/// A place between two blocks, as a model that has come to it knows it. It stands between two lines: one that is on
/// the screen in part is below it, all of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seam {
    /// The id of the first row below it.
    id: u64,
    /// The id of the first row that is kept.
    oldest: u64,
    /// Whole lines above it. A resize breaks lines anew, and leaves their number.
    lines: usize,
    size: termd_vt::Size,
    /// Whether it stands within a line after all, since that is too long to be below it.
    cuts_line: bool,
}

impl Seam {
    pub(super) fn of(model: &Model) -> Self {
        let open = open_rows(model);
        let kept = rows(model, -scrollback_rows(model), -1);
        Self {
            id: (model.rows_printed()).saturating_sub(open.unwrap_or(0)),
            oldest: oldest(model),
            lines: kept.iter().filter(|row| !row.wrapped).count(),
            size: model.size(),
            cuts_line: open.is_none(),
        }
    }

    /// The first row below it, by the count of the model that has gone on from there. A screen that has become
    /// taller begins with rows from above it.
    fn row(&self, model: &Model, was_resized: bool) -> i64 {
        let kept = scrollback_rows(model);
        if !was_resized && self.size == model.size() {
            let below = model.rows_printed().saturating_sub(self.id);
            return -kept.min(i64::try_from(below).unwrap_or(i64::MAX));
        }
        if oldest(model) != self.oldest {
            // Erased (ED 3): what is there has been printed since.
            return -kept;
        }
        let behind = signed(model.size().rows);
        let (mut at, mut lines) = (-kept, 0);
        while lines < self.lines && at < behind {
            let to = (at + MAX_LINE_ROWS).min(behind - 1);
            for row in rows(model, at, to) {
                at = row.row + 1;
                lines += usize::from(!row.wrapped);
                if lines == self.lines {
                    break;
                }
            }
        }
        at
    }
}

/// A line, however many rows it takes: where each row begins in its text.
#[derive(Debug, Default)]
pub(super) struct Line {
    pub(super) text: String,
    /// The number of its first row.
    pub(super) first: i64,
    starts: Vec<usize>,
}

impl Line {
    /// The number of the row with this byte of the text.
    pub(super) fn row_at(&self, at: usize) -> i64 {
        let before = self.starts.iter().filter(|start| **start <= at).count();
        self.first + signed(before.saturating_sub(1))
    }
}

impl Block {
    /// The rows of a model that was fed from `start` to `end`, as a screen of this size breaks them. The last block
    /// of all has the screen, too.
    pub(super) fn new(
        mut model: Model,
        (start, end): (Offset, Offset),
        (above, was_resized): (Seam, bool),
        size: termd_vt::Size,
        is_last: bool,
    ) -> Self {
        let open = open_rows(&model);
        let cuts_line = above.cuts_line || open.is_none();
        let is_broken_anew = model.size() != size && (is_last || !cuts_line);
        let below = (is_broken_anew && !is_last).then(|| Seam::of(&model));
        if is_broken_anew {
            model.resize(size);
        }
        let top = above.row(&model, was_resized || is_broken_anew);
        let behind = match below {
            Some(below) => below.row(&model, is_broken_anew),
            None if is_last => signed(model.size().rows),
            None => -i64::try_from(open.unwrap_or(0)).unwrap_or(0),
        };
        Self {
            start,
            end,
            first: 0,
            rows: (behind - top).max(0),
            top,
            model,
        }
    }

    /// The number of the row behind its last one.
    pub(super) fn behind(&self) -> i64 {
        self.first + self.rows
    }

    /// Numbers its rows as those beside another block's.
    pub(super) fn number_beside(&mut self, beside: Option<&Self>, direction: Direction) {
        self.first = match direction {
            Direction::Up => beside.map_or(0, |below| below.first) - self.rows,
            Direction::Down => beside.map_or(0, Self::behind),
        };
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows == 0
    }

    pub(super) fn has(&self, row: i64) -> bool {
        (self.first..self.behind()).contains(&row)
    }

    /// A row's number by the model's count.
    pub(super) fn model_row(&self, row: i64) -> i64 {
        row - self.first + self.top
    }

    /// Its rows among these, as a screen.
    pub(super) fn screen(&self, from: i64, to: i64) -> Screen {
        self.model.screen(ScreenRows {
            since: None,
            from_row: Some(self.model_row(from.max(self.first))),
            to_row: Some(self.model_row(to.min(self.behind() - 1))),
        })
    }

    /// Its rows among these, numbered as they are shown.
    pub(super) fn rows(&self, from: i64, to: i64) -> Vec<ScreenRow> {
        let (from, to) = (from.max(self.first), to.min(self.behind() - 1));
        let mut all = rows(&self.model, self.model_row(from), self.model_row(to));
        for row in &mut all {
            row.row += self.first - self.top;
        }
        all
    }

    /// The lines that have a row among these.
    pub(super) fn lines(&self, from: i64, to: i64) -> Vec<Line> {
        let (from, to) = (from.max(self.first), to.min(self.behind() - 1));
        let above = self.rows(from - MAX_LINE_ROWS, from - 1);
        let begun = above.iter().rev().take_while(|row| row.wrapped).count();
        let from = from - signed(begun);
        let mut lines = Vec::new();
        let mut line = Line::default();
        for row in self.rows(from, to + MAX_LINE_ROWS) {
            if line.starts.is_empty() {
                if row.row > to {
                    break;
                }
                line.first = row.row;
            }
            line.starts.push(line.text.len());
            line.text
                .extend(row.runs.iter().map(|run| run.text.as_str()));
            if !row.wrapped {
                lines.push(std::mem::take(&mut line));
            }
        }
        if !line.starts.is_empty() {
            lines.push(line);
        }
        lines
    }

    /// How far through the output a row stands, about.
    pub(super) fn offset_of(&self, row: i64) -> Offset {
        let length = u128::from(self.end.since(self.start));
        let rows = u128::from(self.rows.max(1).unsigned_abs());
        let above = u128::from((row - self.first).max(0).unsigned_abs()).min(rows);
        self.start + u64::try_from(length * above / rows).unwrap_or(0)
    }
}

fn rows(model: &Model, from: i64, to: i64) -> Vec<ScreenRow> {
    let most = i64::try_from(MAX_SCREEN_ROWS).unwrap_or(i64::MAX);
    let mut all = Vec::new();
    let mut at = from;
    while at <= to {
        let last = to.min(at + most - 1);
        let options = ScreenRows {
            since: None,
            from_row: Some(at),
            to_row: Some(last),
        };
        all.extend(model.screen(options).lines);
        at = last + 1;
    }
    all
}

/// Rows above the screen of the line that goes on there; `None`: too many to be below a seam.
fn open_rows(model: &Model) -> Option<u64> {
    let near = rows(model, -MAX_OPEN_ROWS - 1, -1);
    let open = near.iter().rev().take_while(|row| row.wrapped).count();
    u64::try_from(open)
        .ok()
        .filter(|open| *open <= MAX_OPEN_ROWS.unsigned_abs())
}

/// The id of the first row in the model's scrollback.
fn oldest(model: &Model) -> u64 {
    let kept = u64::try_from(scrollback_rows(model)).unwrap_or(0);
    model.rows_printed().saturating_sub(kept)
}

fn scrollback_rows(model: &Model) -> i64 {
    let none = ScreenRows {
        since: None,
        from_row: Some(0),
        to_row: Some(-1),
    };
    i64::try_from(model.screen(none).scrollback_rows).unwrap_or(i64::MAX)
}

fn signed(value: usize) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use termd_vt::Scrollback;

    use super::*;

    fn model(cols: usize, rows: usize) -> Model {
        Model::new(
            termd_vt::Size { cols, rows },
            Scrollback::new(1_000, 1 << 20),
        )
    }

    fn texts(block: &Block) -> Vec<String> {
        let lines = block.lines(block.first, block.behind());
        lines.into_iter().map(|line| line.text).collect()
    }

    #[test]
    fn a_block_has_the_rows_that_its_output_printed() {
        for (is_last, cols, screen, expected) in [
            (false, 10, 2, &["three", "four"][..]),
            (true, 10, 2, &["three", "four", "five", "six"]),
            // A resize breaks lines anew: the block's are the same.
            (true, 3, 2, &["three", "four", "five", "six"]),
            // A taller screen has lines of the block before.
            (true, 10, 5, &["three", "four", "five", "six"]),
            (true, 3, 9, &["three", "four", "five", "six"]),
            (false, 10, 5, &[]),
        ] {
            let mut fed = model(10, 2);
            fed.feed(b"one\r\ntwo\r\nthree\r\nfour");
            let above = Seam::of(&fed);
            fed.feed(b"\r\nfive\r\nsix");
            let size = termd_vt::Size { cols, rows: screen };
            fed.resize(size);
            let range = (Offset(20), Offset(30));
            let block = Block::new(fed, range, (above, true), size, is_last);
            assert_eq!(texts(&block), expected, "{is_last} {cols}x{screen}");
        }
    }

    #[test]
    fn a_seam_stands_between_two_lines_in_each_size() {
        let whole = ["one", "two and three", "four", "five"];
        for cols in [3, 8, 40] {
            let size = termd_vt::Size { cols, rows: 2 };
            // "two and three" is on the screen in part.
            let mut fed = model(8, 2);
            let first = Seam::of(&fed);
            fed.feed(b"one\r\ntwo and three\r\nfour");
            let seam = Seam::of(&fed);
            let above = Block::new(fed, (Offset(0), Offset(20)), (first, false), size, false);
            let mut fed = model(8, 2);
            fed.feed(b"one\r\ntwo and three\r\nfour");
            fed.feed(b"\r\nfive");
            let below = Block::new(fed, (Offset(20), Offset(26)), (seam, false), size, true);
            let all = [texts(&above), texts(&below)].concat();
            assert_eq!(all, whole, "{cols}");
        }
    }

    #[test]
    fn an_erased_scrollback_leaves_the_screen() {
        let mut fed = model(10, 2);
        fed.feed(b"one\r\ntwo\r\nthree\r\nfour");
        let above = Seam::of(&fed);
        fed.feed(b"\x1b[H\x1b[2J\x1b[3Jfive\r\nsix\r\nseven");
        let size = termd_vt::Size { cols: 10, rows: 5 };
        let range = (Offset(20), Offset(50));
        let block = Block::new(fed, range, (above, false), size, true);
        assert_eq!(texts(&block)[..3], ["five", "six", "seven"]);
    }

    #[test]
    fn a_wrapped_line_is_one() {
        let mut fed = model(4, 1);
        let above = Seam::of(&fed);
        fed.feed(b"abcdefghij\r\nk");
        let size = fed.size();
        let block = Block::new(fed, (Offset(0), Offset(13)), (above, false), size, true);
        let lines = block.lines(1, 1);
        assert_eq!(lines.len(), 1);
        assert_eq!((lines[0].text.as_str(), lines[0].first), ("abcdefghij", 0));
        assert_eq!(lines[0].row_at(9), 2);
        assert_eq!(lines[0].row_at(4), 1);
    }
}

//! Printing many lines of plain text at once. A row that would scroll off the screen in the same
//! feed goes straight into the scrollback.
//!
//! **Invariant:** the model is the same whether or not this way is taken.
//! `many_lines_at_once_are_as_many_lines_one_by_one` and the tests that split the input hold it.

use super::line_run::Piece;
use super::margins::Margins;
use super::{ActiveScreen, Screen};
use crate::grid::cell::Cell;
use crate::modes::Modes;
use termd_proto::screen::Color;

impl Screen {
    /// Whether new lines would scroll the whole primary screen, one after the other, from its empty
    /// last row.
    #[inline]
    fn can_print_lines(&self) -> bool {
        self.cursor.col == 0
            && self.cursor.row + 1 == self.size.rows
            && self.fast_text
            && !self.cursor.wrap_pending
            && self.active == ActiveScreen::Primary
            && self.margins == Margins::whole(self.size)
            && self.cursor.style.background == Color::Default
            && self.grid.row(self.cursor.row).cells().is_empty()
            && self.grid.row_cols(self.cursor.row) == self.size.cols
    }

    /// Prints whole lines at the front of the bytes, if they fill more than the screen. Returns how
    /// many bytes it took, and how many it looked at; `None` where the screen is in another state.
    #[inline]
    pub(crate) fn print_lines(&mut self, bytes: &[u8], modes: &Modes) -> Option<(usize, usize)> {
        // With CR and LF a row takes at least two bytes.
        if bytes.len() <= self.size.rows * 2 || !self.can_print_lines() {
            return None;
        }
        let mut lines = std::mem::take(&mut self.line_run);
        let found = lines.find(bytes, self.size.cols, modes);
        let fills_screen = lines.pieces.len() > self.size.rows;
        if fills_screen {
            self.push_up(&lines.pieces, bytes);
            self.last_printed = None;
        }
        self.line_run = lines;
        Some((if fills_screen { found } else { 0 }, found))
    }

    /// All rows of the screen but the last scroll off, then the first pieces. The last pieces are
    /// the new screen.
    fn push_up(&mut self, pieces: &[Piece], bytes: &[u8]) {
        let last = self.size.rows - 1;
        for y in 0..last {
            self.scrollback
                .push(self.grid.row(y), &self.styles, &self.graphemes);
        }
        let style = self.cursor.style_id;
        let (leaving, staying) = pieces.split_at(pieces.len() - last);
        for piece in leaving {
            let text = &bytes[piece.start..piece.end];
            self.scrollback
                .push_text(text, style, piece.wrapped, &self.styles);
        }
        self.grid.mark_moved(0, last);
        for (y, piece) in staying.iter().enumerate() {
            let row = self.grid.row_mut(y);
            row.clear(self.size.cols, Cell::BLANK);
            row.write_ascii(0, &bytes[piece.start..piece.end], Cell::erased(style));
            row.wrapped = piece.wrapped;
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Model, Scrollback, Size};

    /// Lines of many lengths, some with a colour, a bell or a tab, and some without a proper end.
    fn lines(seed: u64) -> Vec<u8> {
        let mut state = seed | 1;
        let mut below = |end: u64| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state % end
        };
        let mut bytes = Vec::new();
        for number in 0..200 {
            match below(40) {
                0 => bytes.extend(b"\x1b[3"),
                1 => bytes.extend(b"\x1b[1;31m"),
                2 => bytes.extend(b"\x1b[m"),
                3 => bytes.extend(b"\t"),
                4 => bytes.extend(b"\x1b[44m"),
                5 => bytes.extend("é漢".as_bytes()),
                6 => bytes.extend(b"\x1b[2;4r\x1b[9H"),
                7 => bytes.extend(b"\x1b[r\x1b[9H"),
                8 => bytes.extend(b"\x1b[?1049h"),
                9 => bytes.extend(b"\x1b[?1049l"),
                _ => {}
            }
            let length = usize::try_from(below(30)).unwrap_or(0);
            bytes.extend(format!("{number} {}", "x".repeat(length)).bytes());
            bytes.extend(match below(20) {
                0 => &b"\n"[..],
                1 => b"\r",
                _ => b"\r\n",
            });
        }
        bytes
    }

    #[test]
    fn many_lines_at_once_are_as_many_lines_one_by_one() {
        for seed in 1..200 {
            let bytes = lines(seed * 7_919);
            let without_returns: Vec<u8> = bytes.iter().copied().filter(|b| *b != b'\r').collect();
            for (cols, rows, kept) in [(80, 4, 1_000), (7, 5, 30), (12, 1, 0), (2, 3, 50)] {
                let fresh = || Model::new(Size { cols, rows }, Scrollback::new(kept, 1 << 20));
                let with_new_lines = || fresh().with_new_lines();
                for (mut whole, mut split, bytes) in [
                    (fresh(), fresh(), &bytes),
                    (with_new_lines(), with_new_lines(), &bytes),
                    (with_new_lines(), with_new_lines(), &without_returns),
                ] {
                    whole.feed(bytes);
                    for piece in bytes.chunks(5) {
                        split.feed(piece);
                    }
                    assert_eq!(whole.snapshot(), split.snapshot(), "{seed}: {cols}x{rows}");
                }
            }
        }
    }
}

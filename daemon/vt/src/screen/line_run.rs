//! Many lines of plain text at once: what would be written into a row only to leave the screen
//! again goes into the scrollback as it is.
//!
//! **Invariant:** whether this way is taken makes no difference to the model but the time it takes;
//! `many_lines_at_once_are_as_many_lines_one_by_one` holds it, as do the properties of any split.

use termd_proto::screen::Color;

use crate::terminal::{Margins, Shown, Terminal};

/// A row of a line: where its text is in the bytes, and whether the line goes on in the next row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Piece {
    start: usize,
    end: usize,
    wrapped: bool,
}

/// Whole lines at the front of some bytes.
#[derive(Debug, Default, Clone)]
pub(crate) struct Lines {
    /// The rows that they take.
    pieces: Vec<Piece>,
}

/// Rows that are looked at in one go: what is remembered of them is bounded.
const MAX_PIECES: usize = 2_048;

impl Lines {
    /// Looks for whole lines of printable ASCII, each ended by CR LF; how many bytes they take.
    fn find(&mut self, bytes: &[u8], cols: usize) -> usize {
        self.pieces.clear();
        let mut at = 0;
        while self.pieces.len() < MAX_PIECES {
            let length = crate::parser::ascii_run(&bytes[at..]);
            let end = at + length;
            if bytes.get(end..end + 2) != Some(b"\r\n") {
                break;
            }
            let mut start = at;
            while end - start > cols {
                self.pieces.push(Piece {
                    start,
                    end: start + cols,
                    wrapped: true,
                });
                start += cols;
            }
            self.pieces.push(Piece {
                start,
                end,
                wrapped: false,
            });
            at = end + 2;
        }
        at
    }
}

impl Terminal {
    /// Whether lines that come now push up the whole primary screen, one after the other, from its
    /// empty last row.
    #[inline]
    pub(crate) fn is_at_the_end(&self) -> bool {
        self.cursor.col == 0
            && self.cursor.row + 1 == self.size.rows
            && self.plain_text
            && !self.cursor.wrap_pending
            && self.shown == Shown::Primary
            && self.margins == Margins::whole(self.size)
            && self.cursor.style.background == Color::Default
            && self.grid.row(self.cursor.row).cells().is_empty()
            && self.row_cols(self.cursor.row) == self.size.cols
    }

    /// Takes whole lines at the front of the bytes, if they fill more than the screen. Returns how
    /// many bytes were taken, and how many were looked at.
    pub(crate) fn take_lines(&mut self, bytes: &[u8]) -> (usize, usize) {
        let mut lines = std::mem::take(&mut self.lines);
        let found = lines.find(bytes, self.size.cols);
        let rows = self.size.rows;
        let is_worth_it = lines.pieces.len() > rows;
        if is_worth_it {
            self.push_up(&lines.pieces, bytes);
            self.last_printed = None;
        }
        self.lines = lines;
        (if is_worth_it { found } else { 0 }, found)
    }

    /// The screen's rows but the last leave, then the first pieces; the last ones are the screen.
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
        self.grid.mark_moved(0, last, self.seq);
        for (y, piece) in staying.iter().enumerate() {
            let row = self.grid.row_mut(y, self.seq);
            row.clear(self.size.cols, crate::grid::cell::Cell::BLANK);
            row.write_ascii(
                0,
                &bytes[piece.start..piece.end],
                crate::grid::cell::Cell::erased(style),
            );
            row.wrapped = piece.wrapped;
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Model, Scrollback, Size};

    /// Lines of all lengths, with a colour, a bell or a tab in some; now and then a line end that is
    /// none.
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
            for (cols, rows, kept) in [(80, 4, 1_000), (7, 5, 30), (12, 1, 0), (2, 3, 50)] {
                let fresh = || Model::new(Size { cols, rows }, Scrollback::new(kept, 1 << 20));
                let (mut whole, mut split) = (fresh(), fresh());
                whole.feed(&bytes);
                for piece in bytes.chunks(5) {
                    split.feed(piece);
                }
                assert_eq!(whole.snapshot(), split.snapshot(), "{seed}: {cols}x{rows}");
            }
        }
    }
}

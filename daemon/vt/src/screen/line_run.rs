//! Finding whole lines of plain text.

use crate::modes::Modes;

/// A row of a line: where its text is in the bytes, and whether the line goes on in the next row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Piece {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) wrapped: bool,
}

/// Whole lines at the front of some bytes.
#[derive(Debug, Default, Clone)]
pub(crate) struct LineRun {
    /// The rows that the lines take.
    pub(super) pieces: Vec<Piece>,
}

/// The most rows that are found at a time, which bounds the memory.
const MAX_PIECES: usize = 2_048;

impl LineRun {
    /// Finds whole lines of printable ASCII, each ended by CR LF, or by LF where LNM is set. Returns how
    /// many bytes they take.
    pub(super) fn find(&mut self, bytes: &[u8], cols: usize, modes: &Modes) -> usize {
        self.pieces.clear();
        let mut at = 0;
        while self.pieces.len() < MAX_PIECES {
            let length = crate::parser::ascii_run(&bytes[at..]);
            let end = at + length;
            let line_end = match bytes[end..] {
                [b'\r', b'\n', ..] => 2,
                [b'\n', ..] if modes.line_feed_new_line => 1,
                _ => break,
            };
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
            at = end + line_end;
        }
        at
    }
}

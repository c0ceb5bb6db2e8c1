//! Grapheme clusters (mode 2027): a character as a person sees it takes one place, two columns at
//! the most, however many code points it has.
//!
//! Without the mode each code point has its own width, as in xterm.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use crate::grid::cell::{Cell, Content};
use crate::grid::grapheme::MAX_GRAPHEME_BYTES;
use crate::screen::Screen;

/// VS15 asks for the text form, which is narrow.
const TEXT_SELECTOR: char = '\u{fe0e}';
/// VS16 asks for the picture, which is wide.
const EMOJI_SELECTOR: char = '\u{fe0f}';

impl Screen {
    /// Adds a character to the cluster before the cursor. Returns false where it begins another
    /// cluster.
    pub(crate) fn continue_cluster(&mut self, c: char) -> bool {
        let Some((row, at)) = self.cell_before_cursor() else {
            return false;
        };
        let cell = self.grid.row(row).cell(at);
        let mut text = match cell.content() {
            Content::Char(base) if may_join(base, c) => base.to_string(),
            Content::Grapheme(number) => self.graphemes.get(number).to_owned(),
            Content::Char(_) | Content::Blank | Content::Tail => return false,
        };
        text.push(c);
        if text.graphemes(true).count() != 1 {
            return false;
        }
        if text.len() > MAX_GRAPHEME_BYTES {
            return true;
        }
        if self.graphemes.is_crowded() {
            self.sweep_graphemes();
        }
        let cell = self.grid.row(row).cell(at);
        if let Some(number) = self.graphemes.number(&text) {
            let cells = self.grid.row_mut(row);
            cells.complex = true;
            cells.set(at, cell.with_grapheme(number));
            match (cell.is_wide(), cluster_width(&text)) {
                (false, 2) => self.widen(row, at),
                (true, 1) => self.narrow(row, at),
                _ => {}
            }
        }
        true
    }

    /// Where the last printed character is, if the cursor has not moved.
    fn cell_before_cursor(&self) -> Option<(usize, usize)> {
        let (row, col) = (self.cursor.row, self.cursor.col);
        let before = if self.cursor.wrap_pending {
            col
        } else {
            col.checked_sub(1)?
        };
        if self.grid.row(row).cell(before).is_tail() {
            return Some((row, before.checked_sub(1)?));
        }
        Some((row, before))
    }

    /// Gives a cluster its second column. At the right edge there is none, and the cluster stays
    /// narrow.
    fn widen(&mut self, row: usize, at: usize) {
        let last = if at <= self.margins.right {
            self.margins.right.min(self.grid.row_cols(row) - 1)
        } else {
            self.grid.row_cols(row) - 1
        };
        if at >= last {
            return;
        }
        self.grid.split_wide_at(row, at + 2);
        let cells = self.grid.row_mut(row);
        let cell = cells.cell(at);
        cells.set(at, cell.widened());
        cells.set(
            at + 1,
            Cell::tail(cell.style()).with_protection(cell.protection()),
        );
        self.cursor.wrap_pending = at + 1 == last;
        self.cursor.col = (at + 2).min(last);
    }

    /// Takes the second column from a cluster.
    fn narrow(&mut self, row: usize, at: usize) {
        let cells = self.grid.row_mut(row);
        let cell = cells.cell(at);
        cells.set(at, cell.narrowed());
        cells.set(at + 1, Cell::erased(cell.style()));
        self.cursor.wrap_pending = false;
        self.cursor.col = at + 1;
    }
}

fn cluster_width(text: &str) -> usize {
    if text.ends_with(TEXT_SELECTOR) {
        return 1;
    }
    text.width().clamp(1, 2)
}

/// Whether two characters may be one cluster (UAX #29). True for all that are, and for few others:
/// only these are segmented.
fn may_join(before: char, c: char) -> bool {
    match c {
        ..='\u{2ff}' => false,
        EMOJI_SELECTOR | TEXT_SELECTOR => true,
        // CJK and kana continue no cluster. What prepends itself to them is not CJK, and is asked
        // for below.
        '\u{3400}'..='\u{9fff}' => false,
        _ => {
            crate::grid::width::width(c) == 0
                || matches!(c,
                    // Flags, skin tones.
                    '\u{1f1e6}'..='\u{1f1ff}' | '\u{1f3fb}'..='\u{1f3ff}'
                    // Hangul.
                    | '\u{1100}'..='\u{11ff}' | '\u{a960}'..='\u{a97f}' | '\u{ac00}'..='\u{d7ff}'
                    // The ranges of spacing marks: Arabic to Myanmar, Khmer, and further up.
                    | '\u{600}'..='\u{10ff}' | '\u{1700}'..='\u{1cff}' | '\u{a800}'..='\u{abff}'
                    | '\u{11000}'..='\u{12000}' | '\u{16f00}'..='\u{16fff}')
                // A wide character after one that prepends itself.
                || matches!(before, '\u{600}'..='\u{8e2}' | '\u{11000}'..='\u{12000}')
        }
    }
}

#[cfg(test)]
mod tests;

//! Printing runs of text beyond ASCII. The bytes are checked, decoded, measured and written in one
//! pass, which takes half the time of a pass for each.
//!
//! **Invariant:** the model is the same whether or not this way is taken. It leaves what it does
//! not know to its caller.

use crate::grid::cell::Cell;
use crate::grid::style::StyleId;
use crate::grid::width::{HAN_FIRST, HAN_LAST, Widths};
use crate::modes::Modes;
use crate::parser::ascii_in_word;
use crate::screen::Screen;

/// How far ahead a character is looked for. A run of ASCII of this length is faster printed another
/// way.
const WORD: usize = 8;

/// What was written into a row.
struct Written {
    /// Bytes that were taken.
    taken: usize,
    /// The column after it.
    col: usize,
    last: Option<char>,
    /// A character that does not go into the row: it is combining, or there is no room.
    next: Option<char>,
    any_wide: bool,
}

impl Screen {
    /// Prints text at the front of the bytes. Stops at what is not a character, at a long run of
    /// ASCII, and where too few bytes are left to look at. Returns how many bytes it took; `None`
    /// where modes, charsets or margins ask for a look at each character.
    pub(crate) fn print_utf8(&mut self, bytes: &[u8], modes: &Modes) -> Option<usize> {
        if !self.fast_text || modes.grapheme_clusters {
            return None;
        }
        let widths = Widths::get();
        let mut taken = 0;
        while let Some(rest) = bytes.get(taken..) {
            if self.cursor.wrap_pending {
                match first_character(rest) {
                    Some((c, _)) if widths.of(c) > 0 => self.wrap(),
                    Some((c, length)) => {
                        self.print_char(c, modes);
                        taken += length;
                        continue;
                    }
                    None => break,
                }
            }
            let written = self.write_characters(rest, widths);
            taken += written.taken;
            match written.next {
                Some(c) => {
                    self.print_char(c, modes);
                    taken += c.len_utf8();
                }
                None => break,
            }
        }
        Some(taken)
    }

    /// Writes characters into the cursor's row until the row is full or something else comes.
    #[inline]
    fn write_characters(&mut self, bytes: &[u8], widths: Widths) -> Written {
        let (y, start) = (self.cursor.row, self.cursor.col);
        let cols = self.grid.row_cols(y);
        let style = self.cursor.style_id;
        let row = self.grid.row_mut(y);
        let held = row.cells().len();
        let splits = start > 0 && row.cell(start).is_tail();
        let written = write_into(row.cells_mut(0, cols), start, bytes, style, widths);
        let col = written.col;
        row.truncate(held.max(col));
        let Some(last) = written.last else {
            return written;
        };
        // The left half of a wide character that lost its right half.
        if splits {
            let style = row.cell(start - 1).style();
            row.set(start - 1, Cell::erased(style));
        }
        // The right half of a wide character that lost its left half.
        if row.cell(col).is_tail() {
            let style = row.cell(col).style();
            row.set(col, Cell::erased(style));
        }
        row.complex |= written.any_wide;
        self.last_printed = Some(last);
        self.cursor.col = col.min(cols - 1);
        self.cursor.wrap_pending = col == cols;
        written
    }
}

#[inline]
fn write_into(
    cells: &mut [Cell],
    start: usize,
    bytes: &[u8],
    style: StyleId,
    widths: Widths,
) -> Written {
    let mut written = Written {
        taken: 0,
        col: start,
        last: None,
        next: None,
        any_wide: false,
    };
    while let Some(word) = bytes.get(written.taken..).and_then(<[u8]>::first_chunk) {
        if let 0x20..0x7f = word[0] {
            let count = ascii_in_word(*word);
            if count == WORD {
                break;
            }
            if let Some(place) = cells.get_mut(written.col..written.col + count) {
                for (cell, byte) in place.iter_mut().zip(word) {
                    *cell = Cell::ascii(*byte, style);
                    written.last = Some(char::from(*byte));
                }
                written.col += count;
                written.taken += count;
                continue;
            }
        }
        if let (Some(c), Some([left, right, ..])) = (han(*word), cells.get_mut(written.col..)) {
            *left = Cell::wide(c, style);
            *right = Cell::tail(style);
            written.any_wide = true;
            written.col += 2;
            written.last = Some(c);
            written.taken += 3;
            continue;
        }
        let Some((c, length)) = decoded(*word) else {
            break;
        };
        match (widths.of(c), cells.get_mut(written.col..)) {
            (2, Some([left, right, ..])) => {
                *left = Cell::wide(c, style);
                *right = Cell::tail(style);
                written.any_wide = true;
                written.col += 2;
            }
            (1, Some([cell, ..])) => {
                *cell = Cell::narrow(c, style);
                written.col += 1;
            }
            _ => {
                written.next = Some(c);
                break;
            }
        }
        written.last = Some(c);
        written.taken += length;
    }
    written
}

#[inline]
fn first_character(bytes: &[u8]) -> Option<(char, usize)> {
    bytes.first_chunk().copied().and_then(decoded)
}

/// The printable character that begins these bytes, and its length (RFC 3629). `None` for a control
/// and for what is not UTF-8.
///
/// One comparison tests the leading bits of all its bytes; the first byte is the lowest.
#[inline]
fn decoded([first, second, third, fourth, ..]: [u8; WORD]) -> Option<(char, usize)> {
    let word = u32::from_le_bytes([first, second, third, fourth]);
    let tail = |at: u32| word >> (8 * at) & 0x3f;
    let (code, length, least) = if word & LEADING_OF_THREE == THREE_BYTES {
        ((word & 0x0f) << 12 | tail(1) << 6 | tail(2), 3, 0x800)
    } else if word & 0xc0c0_c0f8 == 0x8080_80f0 {
        let high = (word & 0x07) << 18 | tail(1) << 12;
        (high | tail(2) << 6 | tail(3), 4, 0x1_0000)
    } else if word & 0xc0e0 == 0x80c0 {
        // Below 0xa0 are the C1 controls.
        ((word & 0x1f) << 6 | tail(1), 2, 0xa0)
    } else if let 0x20..0x7f = first {
        (u32::from(first), 1, 0x20)
    } else {
        return None;
    };
    if code < least {
        return None;
    }
    // Surrogates and numbers beyond Unicode are no characters.
    Some((char::from_u32(code)?, length))
}

/// The same for Han alone, which is frequent and has a known width and length.
#[inline]
fn han([first, second, third, ..]: [u8; WORD]) -> Option<char> {
    let word = u32::from_le_bytes([first, second, third, 0]);
    let code = (word & 0x0f) << 12 | (word >> 8 & 0x3f) << 6 | (word >> 16 & 0x3f);
    let is_one = word & LEADING_OF_THREE == THREE_BYTES
        && (u32::from(HAN_FIRST)..=u32::from(HAN_LAST)).contains(&code);
    if is_one { char::from_u32(code) } else { None }
}

/// The bits that tell what kind of bytes the three of a character are.
const LEADING_OF_THREE: u32 = 0x00c0_c0f0;
/// These bits of a character of three bytes.
const THREE_BYTES: u32 = 0x0080_80e0;

#[cfg(test)]
mod tests {
    use super::{WORD, decoded, han};

    /// The character that `std` finds at the front.
    fn expected(word: [u8; WORD]) -> Option<(char, usize)> {
        let valid = word.utf8_chunks().next()?.valid();
        let c = valid.chars().next().filter(|c| !c.is_control())?;
        Some((c, c.len_utf8()))
    }

    #[test]
    fn characters_are_those_of_the_standard_library() {
        for c in '\0'..=char::MAX {
            let mut word = [b'x'; WORD];
            c.encode_utf8(&mut word);
            assert_eq!(decoded(word), expected(word), "{c:?}");
            let is_han = ('\u{4e00}'..='\u{9fff}').contains(&c);
            assert_eq!(han(word), is_han.then_some(c), "{c:?}");
        }
    }

    #[test]
    fn invalid_utf_8_is_no_character() {
        // The bytes at which a rule of RFC 3629 begins or ends.
        let edges = [
            0x00, 0x1f, 0x20, 0x7e, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2,
            0xdf, 0xe0, 0xe4, 0xed, 0xef, 0xf0, 0xf4, 0xf5, 0xf8, 0xff,
        ];
        for first in edges {
            for second in edges {
                for third in edges {
                    for fourth in edges {
                        let word = [first, second, third, fourth, b'x', b'x', b'x', b'x'];
                        assert_eq!(decoded(word), expected(word), "{word:x?}");
                    }
                }
            }
        }
    }
}

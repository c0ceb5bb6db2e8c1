//! The text of a packed row.
//!
//! Most rows are ASCII: a byte a cell, 0 for a blank. Of the others each character stands in UTF-8,
//! a wide one (by [`width`]) for its tail too; what is otherwise is escaped by a control character,
//! which no cell holds.

use termd_proto::screen::LineSize;

use crate::term::cell::{Cell, Content};
use crate::term::grapheme::{Graphemes, MAX_GRAPHEME_BYTES};
use crate::term::style::StyleId;
use crate::term::width::width;

/// A length and a grapheme, one column wide.
const GRAPHEME: u8 = 1;
/// A length and a grapheme two columns wide, its tail with it.
const WIDE_GRAPHEME: u8 = 2;
/// The cell's bits.
const CELL: u8 = 3;
/// The cell's bits, a length and its grapheme.
const GRAPHEME_CELL: u8 = 4;

/// What an escaped cell takes at the most.
pub(super) const MAX_ESCAPE_BYTES: usize = 8 + MAX_GRAPHEME_BYTES;

/// How a row can be packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// ASCII in one style.
    Plain,
    /// ASCII, or nothing.
    Bytes,
    /// All else.
    Escaped,
}

/// How these cells can be packed.
#[inline]
pub(super) fn shape(cells: &[Cell]) -> Shape {
    const NOT_ASCII: u64 = 0xffff_ff80;
    let Some(first) = cells.first() else {
        return Shape::Bytes;
    };
    let first = first.bits();
    let differs = cells
        .iter()
        .fold(0, |differs, cell| differs | (cell.bits() ^ first));
    if (differs | first) & NOT_ASCII != 0 {
        Shape::Escaped
    } else if differs >> 32 == 0 {
        Shape::Plain
    } else {
        Shape::Bytes
    }
}

/// A byte a cell.
#[inline]
pub(super) fn push_bytes(bytes: &mut Vec<u8>, cells: &[Cell]) {
    #[allow(clippy::cast_possible_truncation)] // They are ASCII.
    bytes.extend(cells.iter().map(|cell| cell.bits() as u8));
}

/// UTF-8 with escapes.
pub(super) fn push_escaped(bytes: &mut Vec<u8>, cells: &[Cell], graphemes: &Graphemes) {
    let tail = Cell::tail(StyleId(0)).low();
    let mut characters = Characters::default();
    let mut at = 0;
    while let Some(cell) = cells.get(at) {
        at += 1;
        let low = cell.low();
        let has_tail = cells.get(at).is_some_and(|next| next.low() == tail);
        match cell.content() {
            Content::Blank if low == 0 => characters.push(bytes, '\0'),
            Content::Char(c) if low == u32::from(c) && c >= ' ' && width(c) != 2 => {
                characters.push(bytes, c);
            }
            Content::Char(c) if has_tail && low == wide_low(c) && width(c) == 2 => {
                characters.push(bytes, c);
                at += 1;
            }
            Content::Grapheme(number) => {
                characters.flush(bytes);
                let bare = cell.with_grapheme(0).low();
                if bare == grapheme_low(Columns::One) {
                    bytes.push(GRAPHEME);
                } else if bare == grapheme_low(Columns::Two) && has_tail {
                    bytes.push(WIDE_GRAPHEME);
                    at += 1;
                } else {
                    bytes.push(GRAPHEME_CELL);
                    push_varint(bytes, bare);
                }
                let text = graphemes.get(number);
                bytes.push(u8::try_from(text.len()).unwrap_or(0));
                bytes.extend_from_slice(text.as_bytes());
            }
            _ => {
                characters.flush(bytes);
                bytes.push(CELL);
                push_varint(bytes, low);
            }
        }
    }
    characters.flush(bytes);
}

#[inline]
fn wide_low(c: char) -> u32 {
    Cell::wide(c, StyleId(0)).low()
}

/// Characters on their way into the bytes: many at a time, as each by itself would be a call to
/// memcpy.
struct Characters {
    bytes: [u8; Self::SIZE],
    len: usize,
}

impl Default for Characters {
    fn default() -> Self {
        Self {
            bytes: [0; Self::SIZE],
            len: 0,
        }
    }
}

impl Characters {
    const SIZE: usize = 256;

    #[inline]
    fn push(&mut self, bytes: &mut Vec<u8>, c: char) {
        if self.len + 4 > Self::SIZE {
            self.flush(bytes);
        }
        // Four bytes, however many count: one store.
        let mut utf8 = [0; 4];
        let length = c.encode_utf8(&mut utf8).len();
        if let Some(place) = self.bytes.get_mut(self.len..self.len + 4) {
            place.copy_from_slice(&utf8);
        }
        self.len += length;
    }

    #[inline]
    fn flush(&mut self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.bytes[..self.len]);
        self.len = 0;
    }
}

#[derive(Clone, Copy)]
enum Columns {
    One,
    Two,
}

fn grapheme_low(columns: Columns) -> u32 {
    let cell = Cell::narrow('\0', StyleId(0)).with_grapheme(0);
    match columns {
        Columns::One => cell.low(),
        Columns::Two => cell.widened().low(),
    }
}

/// One cell of a packed row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unpacked<'a> {
    /// Its bits, the style left out.
    Cell(u32),
    /// The same of a cell with a grapheme, and that.
    Grapheme(u32, &'a str),
}

/// Unpacks UTF-8 with escapes, a cell at a time. What cannot be read ends it: the bytes may come
/// from a file.
pub(super) fn for_each_escaped<'a>(bytes: &'a [u8], mut each: impl FnMut(Unpacked<'a>)) {
    let Ok(mut text) = std::str::from_utf8(bytes) else {
        return;
    };
    let tail = Unpacked::Cell(Cell::tail(StyleId(0)).low());
    let mut characters = text.chars();
    while let Some(c) = characters.next() {
        text = characters.as_str();
        if c >= ' ' {
            if width(c) == 2 {
                each(Unpacked::Cell(Cell::wide(c, StyleId(0)).low()));
                each(tail);
            } else {
                each(Unpacked::Cell(u32::from(c)));
            }
            continue;
        }
        let mut rest = text.as_bytes();
        let escape = u8::try_from(u32::from(c)).unwrap_or(0);
        let bits = match escape {
            CELL | GRAPHEME_CELL => match take_varint(&mut rest) {
                Some(bits) => bits,
                None => return,
            },
            GRAPHEME => grapheme_low(Columns::One),
            WIDE_GRAPHEME => grapheme_low(Columns::Two),
            _ => 0,
        };
        match escape {
            0 | CELL => each(Unpacked::Cell(bits)),
            GRAPHEME | WIDE_GRAPHEME | GRAPHEME_CELL => {
                let Some((length, after)) = rest.split_first() else {
                    return;
                };
                let length = usize::from(*length);
                let Some(Ok(grapheme)) = after.get(..length).map(std::str::from_utf8) else {
                    return;
                };
                each(Unpacked::Grapheme(bits, grapheme));
                if escape == WIDE_GRAPHEME {
                    each(tail);
                }
                rest = &after[length..];
            }
            _ => return,
        }
        let taken = text.len() - rest.len();
        characters = text.get(taken..).unwrap_or_default().chars();
    }
}

/// Seven bits a byte, the lowest first; all bytes are ASCII, so that a text with them is UTF-8:
/// values are ended by a byte of 0x40 and above.
pub(super) fn push_varint(bytes: &mut Vec<u8>, mut value: u32) {
    while value >= 1 << 6 {
        bytes.push((value & 0x3f) as u8);
        value >>= 6;
    }
    bytes.push((value & 0x3f) as u8 | 0x40);
}

/// Takes what [`push_varint`] put.
pub(super) fn take_varint(bytes: &mut &[u8]) -> Option<u32> {
    let mut value = 0;
    for (at, byte) in bytes.iter().take(6).enumerate() {
        value |= u32::from(byte & 0x3f) << (6 * at);
        if byte & 0x40 != 0 {
            *bytes = &bytes[at + 1..];
            return Some(value);
        }
    }
    None
}

pub(super) fn line_size_byte(size: LineSize) -> u8 {
    match size {
        LineSize::Single => 0,
        LineSize::DoubleWidth => 1,
        LineSize::DoubleHeightTop => 2,
        LineSize::DoubleHeightBottom => 3,
    }
}

pub(super) fn line_size(byte: u8) -> LineSize {
    match byte {
        1 => LineSize::DoubleWidth,
        2 => LineSize::DoubleHeightTop,
        3 => LineSize::DoubleHeightBottom,
        _ => LineSize::Single,
    }
}

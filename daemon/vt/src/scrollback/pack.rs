//! The text of a packed row.
//!
//! Most rows are ASCII: a byte a cell, 0 for a blank. In others each character is UTF-8, and a wide
//! one (by [`width`]) stands for its tail too. Anything else is escaped by a control character,
//! which no cell holds.

use termd_proto::screen::LineSize;

use crate::grid::cell::{Cell, Content};
use crate::grid::grapheme::{Graphemes, MAX_GRAPHEME_BYTES};
use crate::grid::style::StyleId;
use crate::grid::width::{HAN_FIRST, HAN_LAST, Widths, width};

/// A length and a grapheme of one column.
const GRAPHEME: u8 = 1;
/// A length and a grapheme of two columns, its tail included.
const WIDE_GRAPHEME: u8 = 2;
/// A cell's bits.
const CELL: u8 = 3;
/// A cell's bits, a length and its grapheme.
const GRAPHEME_CELL: u8 = 4;

/// The most bytes of an escaped cell.
pub(crate) const MAX_ESCAPE_BYTES: usize = 8 + MAX_GRAPHEME_BYTES;

/// How a row can be packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) text: Text,
    pub(crate) styles: RowStyles,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Text {
    /// ASCII, or nothing.
    Bytes,
    /// Anything else.
    Escaped,
}

/// How many styles a row has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RowStyles {
    /// All cells have this one.
    One(StyleId),
    Many,
}

/// How these cells can be packed.
#[inline]
pub(crate) fn shape(cells: &[Cell]) -> Shape {
    const NOT_ASCII: u64 = 0xffff_ff80;
    let first = cells.first().copied().unwrap_or(Cell::BLANK);
    let differs = cells
        .iter()
        .fold(0, |differs, cell| differs | (cell.bits() ^ first.bits()));
    Shape {
        text: if (differs | first.bits()) & NOT_ASCII == 0 {
            Text::Bytes
        } else {
            Text::Escaped
        },
        styles: if differs >> 32 == 0 {
            RowStyles::One(first.style())
        } else {
            RowStyles::Many
        },
    }
}

/// How many cells at the front have the style of the first.
#[inline]
pub(crate) fn run_length(cells: &[Cell]) -> usize {
    // Eight at a time without a branch for each.
    const BLOCK: usize = 8;
    let Some(first) = cells.first() else {
        return 0;
    };
    let differs = |cell: &Cell| (cell.bits() ^ first.bits()) >> 32;
    let mut at = 0;
    for block in cells.chunks_exact(BLOCK) {
        if block.iter().fold(0, |any, cell| any | differs(cell)) != 0 {
            break;
        }
        at += BLOCK;
    }
    at + cells[at..]
        .iter()
        .position(|cell| differs(cell) != 0)
        .unwrap_or(cells.len() - at)
}

/// Packs a byte a cell.
#[inline]
pub(crate) fn push_bytes(bytes: &mut Vec<u8>, cells: &[Cell]) {
    #[allow(clippy::cast_possible_truncation)] // They are ASCII.
    bytes.extend(cells.iter().map(|cell| cell.bits() as u8));
}

/// Packs UTF-8 with escapes.
pub(crate) fn push_escaped(bytes: &mut Vec<u8>, cells: &[Cell], graphemes: &Graphemes) {
    let tail = Cell::tail(StyleId(0)).low();
    let wide = Cell::wide('\0', StyleId(0)).low();
    let widths = Widths::get();
    let mut characters = Characters::default();
    let mut rest = cells;
    loop {
        let taken = characters.push_usual(rest);
        let Some([cell, after @ ..]) = rest.get(taken..) else {
            break;
        };
        rest = after;
        let low = cell.low();
        let is_wide = low & wide != 0;
        let has_tail = after.first().is_some_and(|next| next.low() == tail);
        // The bits of anything but a wide character are beyond the code points.
        if let Some(c) = char::from_u32(low & !wide)
            && (c >= ' ' || low == 0)
            && (widths.of(c) == 2) == is_wide
            && (has_tail || !is_wide)
        {
            characters.push(bytes, c);
            rest = after.get(usize::from(is_wide)..).unwrap_or_default();
        } else if let Content::Grapheme(number) = cell.content() {
            let text = graphemes.get(number).as_bytes();
            let length = u8::try_from(text.len()).unwrap_or(0);
            let bare = cell.with_grapheme(0).low();
            if bare == grapheme_low(Columns::One) {
                characters.extend(bytes, &[GRAPHEME, length]);
            } else if bare == grapheme_low(Columns::Two) && has_tail {
                characters.extend(bytes, &[WIDE_GRAPHEME, length]);
                rest = after.get(1..).unwrap_or_default();
            } else {
                characters.flush(bytes);
                bytes.push(GRAPHEME_CELL);
                push_varint(bytes, bare);
                bytes.push(length);
            }
            characters.extend(bytes, text);
        } else {
            characters.flush(bytes);
            bytes.push(CELL);
            push_varint(bytes, low);
        }
    }
    characters.flush(bytes);
}

/// Collects bytes and appends many at a time: a call to memcpy for each character would be slow.
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

    /// Takes ASCII and Han at the front, which most rows consist of, without testing for anything
    /// else. Returns how many cells.
    #[inline]
    fn push_usual(&mut self, cells: &[Cell]) -> usize {
        let tail = Cell::tail(StyleId(0)).low();
        let (first_han, last_han) = (wide_low(HAN_FIRST), wide_low(HAN_LAST));
        let mut at = 0;
        while let Some(cell) = cells.get(at)
            && let Some(place) = self.bytes.get_mut(self.len..self.len + 4)
        {
            let low = cell.low();
            if let 0x20..0x7f = low {
                place[0] = u8::try_from(low).unwrap_or_default();
                self.len += 1;
                at += 1;
            } else if (first_han..=last_han).contains(&low)
                && cells.get(at + 1).is_some_and(|next| next.low() == tail)
            {
                place.copy_from_slice(&utf8_of_three(low & 0xffff).to_le_bytes());
                self.len += 3;
                at += 2;
            } else {
                break;
            }
        }
        at
    }

    #[inline]
    fn push(&mut self, bytes: &mut Vec<u8>, c: char) {
        if self.len + 4 > Self::SIZE {
            self.flush(bytes);
        }
        let (utf8, length) = utf8(c);
        // One store of four bytes, however many of them count.
        if let Some(place) = self.bytes.get_mut(self.len..self.len + 4) {
            place.copy_from_slice(&utf8.to_le_bytes());
        }
        self.len += length;
    }

    /// Adds bytes, at most a grapheme's.
    #[inline]
    fn extend(&mut self, bytes: &mut Vec<u8>, more: &[u8]) {
        if self.len + more.len() > Self::SIZE {
            self.flush(bytes);
        }
        if let Some(place) = self.bytes.get_mut(self.len..self.len + more.len()) {
            place.copy_from_slice(more);
            self.len += more.len();
        }
    }

    #[inline]
    fn flush(&mut self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(self.bytes.get(..self.len).unwrap_or_default());
        self.len = 0;
    }
}

/// A character's UTF-8 (RFC 3629) in one word, the first byte the lowest, and its length.
/// `char::encode_utf8` would store each byte.
#[inline]
fn utf8(c: char) -> (u32, usize) {
    let code = u32::from(c);
    let tail = |place: u32| 0x80 | code >> (6 * place) & 0x3f;
    match code {
        0..0x80 => (code, 1),
        0x80..0x800 => (0xc0 | code >> 6 | tail(0) << 8, 2),
        0x800..0x1_0000 => (utf8_of_three(code), 3),
        _ => (
            0xf0 | code >> 18 | tail(2) << 8 | tail(1) << 16 | tail(0) << 24,
            4,
        ),
    }
}

/// The same for a code point of three bytes.
#[inline]
fn utf8_of_three(code: u32) -> u32 {
    0x0080_80e0 | code >> 12 | (code >> 6 & 0x3f) << 8 | (code & 0x3f) << 16
}

/// A wide character's bits without the style.
#[inline]
fn wide_low(c: char) -> u32 {
    Cell::wide(c, StyleId(0)).low()
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unpacked<'a> {
    /// Its bits without the style.
    Cell(u32),
    /// A cell with a grapheme: its bits and the text.
    Grapheme(u32, &'a str),
}

/// Unpacks UTF-8 with escapes, a cell at a time. It ends at what it cannot read, as the bytes may
/// come from a file.
pub(crate) fn for_each_escaped<'a>(bytes: &'a [u8], mut each: impl FnMut(Unpacked<'a>)) {
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

/// Writes seven bits a byte, the lowest first. All bytes are ASCII, so a text with them is UTF-8; a
/// byte from 0x40 on ends the value.
pub(crate) fn push_varint(bytes: &mut Vec<u8>, mut value: u32) {
    while value >= 1 << 6 {
        bytes.push((value & 0x3f) as u8);
        value >>= 6;
    }
    bytes.push((value & 0x3f) as u8 | 0x40);
}

pub(crate) fn take_varint(bytes: &mut &[u8]) -> Option<u32> {
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

pub(crate) fn line_size_byte(size: LineSize) -> u8 {
    match size {
        LineSize::Single => 0,
        LineSize::DoubleWidth => 1,
        LineSize::DoubleHeightTop => 2,
        LineSize::DoubleHeightBottom => 3,
    }
}

pub(crate) fn line_size(byte: u8) -> LineSize {
    match byte {
        1 => LineSize::DoubleWidth,
        2 => LineSize::DoubleHeightTop,
        3 => LineSize::DoubleHeightBottom,
        _ => LineSize::Single,
    }
}

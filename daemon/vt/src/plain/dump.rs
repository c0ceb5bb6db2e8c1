//! The state of a resolver as bytes, so that text in the middle of a long output can be made again
//! exactly, without the output before it.
//!
//! Text that waits is not part of it, nor are styles: the text that is searched has none.

use std::collections::VecDeque;

use super::emitter::Emitter;
use super::region::{Autowrap, Cursor, MAX_LIVE_ROWS, Margins, Region};
use super::row::Row;
use super::sequence::Sequences;
use super::{Charset, PlainSize, PlainText, Screen, Shift};
use crate::codec::{Reader, Writer};

/// The layout of the bytes. Another one is as no dump.
const VERSION: u8 = 1;
/// The fewest bytes of a row: its numbers, and the lengths of its cells and clusters.
const MIN_ROW_BYTES: usize = 24;

impl PlainText {
    /// The state as bytes; `None` within a sequence or a character.
    pub fn dump(&self) -> Option<Vec<u8>> {
        if !self.sequences.is_ground() || !self.part.is_empty() {
            return None;
        }
        let mut out = Writer::default();
        out.u8(VERSION);
        out.u64(self.fed);
        out.u8(u8::from(self.screen == Screen::Alternate));
        out.u8(u8::from(self.g0 == Charset::Graphics));
        out.u8(u8::from(self.g1 == Charset::Graphics));
        out.u8(u8::from(self.shift == Shift::G1));
        out.u8(u8::from(self.just_homed));
        out.u32(self.last_printed.map_or(0, u32::from));
        self.region.dump(&mut out);
        Some(out.finish())
    }

    /// The resolver that [`dump`](Self::dump) was called on; `None` where the bytes are something else.
    pub fn restore(bytes: &[u8]) -> Option<Self> {
        let mut from = Reader::new(bytes);
        if from.u8()? != VERSION {
            return None;
        }
        let fed = from.u64()?;
        let is_alternate = from.flag()?;
        let charset = |is_graphics| {
            if is_graphics {
                Charset::Graphics
            } else {
                Charset::Ascii
            }
        };
        let (g0, g1) = (charset(from.flag()?), charset(from.flag()?));
        let shift = if from.flag()? { Shift::G1 } else { Shift::G0 };
        let just_homed = from.flag()?;
        let last_printed = match from.u32()? {
            0 => None,
            point => Some(char::from_u32(point)?),
        };
        let region = Region::restore(&mut from, fed)?;
        from.is_empty().then_some(Self {
            region,
            sequences: Sequences::default(),
            fed,
            sequence_start: fed,
            part: Vec::new(),
            part_start: fed,
            screen: if is_alternate {
                Screen::Alternate
            } else {
                Screen::Primary
            },
            g0,
            g1,
            shift,
            last_printed,
            just_homed,
        })
    }
}

impl Region {
    fn dump(&self, out: &mut Writer) {
        let size = self.size();
        out.u16(size.cols);
        out.u16(size.rows);
        for cursor in [self.cursor, self.saved()] {
            out.count(cursor.row);
            out.count(cursor.column);
        }
        out.u8(u8::from(self.margins.is_some()));
        if let Some(margins) = self.margins {
            out.count(margins.top);
            out.count(margins.bottom);
        }
        out.u8(u8::from(self.autowrap == Autowrap::Off));
        out.u64(self.next_id);
        out.count(self.rows.len());
        for row in &self.rows {
            row.dump(out);
        }
        self.emitter.dump(out);
    }

    fn restore(from: &mut Reader<'_>, offset: u64) -> Option<Self> {
        let size = PlainSize {
            cols: from.u16()?,
            rows: from.u16()?,
        };
        let mut region = Self::new(size, offset);
        let (columns, height) = (region.columns, region.height);
        let mut cursor = || {
            let (row, column) = (from.u32()? as usize, from.u32()? as usize);
            (row < height && column <= columns).then_some(Cursor { row, column })
        };
        let (place, saved) = (cursor()?, cursor()?);
        if from.flag()? {
            let (top, bottom) = (from.u32()? as usize, from.u32()? as usize);
            (top <= bottom && bottom < height).then_some(())?;
            region.margins = Some(Margins { top, bottom });
        }
        if from.flag()? {
            region.autowrap = Autowrap::Off;
        }
        region.next_id = from.u64()?;
        let rows = from.count(MIN_ROW_BYTES)?;
        (1..=height.min(MAX_LIVE_ROWS))
            .contains(&rows)
            .then_some(())?;
        let rows: Option<VecDeque<Row>> = (0..rows).map(|_| Row::restore(from, columns)).collect();
        region.rows = rows?;
        (place.row < region.rows.len()).then_some(())?;
        region.cursor = place;
        region.set_saved(saved);
        region.emitter = Emitter::restore(from)?;
        Some(region)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plain::Styles;

    const SIZE: PlainSize = PlainSize { cols: 20, rows: 5 };

    fn outputs() -> Vec<Vec<u8>> {
        let bar = "\rprogress 3%\rprogress 40%\rat 5%".repeat(9);
        let up = "one\ntwo\nthree\n\x1b[2A\x1b[2Kother\n\n\nfour\n".repeat(9);
        let alternate = "before\n\x1b[?1049hvim\x1b[5;5Hx\x1b[?1049lafter\n".repeat(5);
        [
            "a line\nand one that is longer than the screen is wide\n\ttab\n".repeat(12),
            bar + "\ndone\n",
            up,
            alternate,
            "\x1b[2;4rscrolls\n\n\n\n\n\x1b7save\x1b8d \x1b(0lqqk\x1b(B e\u{301}\u{302} \u{4e2d}\u{6587}\n".repeat(4),
        ]
        .into_iter()
        .map(String::into_bytes)
        .collect()
    }

    #[test]
    fn a_restored_resolver_goes_on_alike_wherever_it_was_dumped() {
        for output in outputs() {
            for cut in 0..output.len() {
                let (head, tail) = output.split_at(cut);
                let mut plain = PlainText::new(SIZE).with_every_anchor();
                plain.advance(head);
                plain.take();
                let Some(dump) = plain.dump() else { continue };
                let mut again = PlainText::restore(&dump).unwrap().with_every_anchor();
                assert_eq!(again.styles(), Styles::Dropped);
                assert_eq!(again.dump().as_deref(), Some(dump.as_slice()));
                plain.advance(tail);
                again.advance(tail);
                assert_eq!(again.take(), plain.take(), "{cut}");
                assert_eq!(again.pending_output(), plain.pending_output(), "{cut}");
            }
        }
    }

    #[test]
    fn a_damaged_dump_gives_a_resolver_or_none() {
        for output in outputs() {
            let mut plain = PlainText::new(SIZE);
            plain.advance(&output);
            plain.take();
            let dump = plain.dump().unwrap();
            for at in 0..dump.len() {
                assert!(PlainText::restore(&dump[..at]).is_none(), "{at}");
                for value in [0, 1, 0x7f, 0xff] {
                    let mut damaged = dump.clone();
                    damaged[at] = value;
                    if let Some(mut plain) = PlainText::restore(&damaged) {
                        plain.advance(&output);
                        plain.pending();
                    }
                }
            }
        }
    }
}

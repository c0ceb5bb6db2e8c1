//! DECRQCRA: a checksum of what a rectangle shows, as xterm's `xtermCheckRect`.

use super::rectangle::Rectangle;
use crate::grid::cell::{Cell, Content, Protection};
use crate::grid::style::Attributes;
use crate::parser::Params;
use crate::terminal::Terminal;
use crate::terminal::extras::ChecksumFlags;
use termd_proto::screen::Underline;

impl Terminal {
    /// DECRQCRA.
    pub(crate) fn report_checksum(&mut self, params: &Params) {
        if self.level() < 4 {
            return;
        }
        let id = params.get(0);
        let sum = self
            .rectangle(params, 2)
            .map_or(0, |area| self.checksum(area));
        self.answer_dcs(format_args!("{id}!~{sum:04X}"));
    }

    fn checksum(&self, area: Rectangle) -> u16 {
        let flags = self.extras.checksum;
        let count_blanks = flags.has(ChecksumFlags::BLANKS);
        let count_unwritten = count_blanks || flags.has(ChecksumFlags::UNWRITTEN);
        let mut total = 0_u32;
        let mut first = true;
        for y in area.top..area.bottom {
            let row = self.grid.row(y);
            for x in area.left..area.right {
                let cell = row.cell(x);
                let Some(value) = self.checksum_of(cell, count_unwritten) else {
                    continue;
                };
                // As on a VT520, a blank counts at the beginning alone.
                let plain_blank = value == u32::from(b' ');
                if first || count_blanks || !plain_blank {
                    total = total.wrapping_add(value);
                }
                first = count_blanks;
            }
            first = false;
        }
        let total = if flags.has(ChecksumFlags::POSITIVE) {
            total
        } else {
            total.wrapping_neg()
        };
        u16::try_from(total & 0xffff).unwrap_or(0)
    }

    fn checksum_of(&self, cell: Cell, count_unwritten: bool) -> Option<u32> {
        let flags = self.extras.checksum;
        let whole = flags.has(ChecksumFlags::WHOLE);
        let mut value = match cell.content() {
            Content::Blank if count_unwritten => u32::from(b' '),
            Content::Tail | Content::Blank => return None,
            Content::Char(c) => u32::from(c),
            Content::Grapheme(number) => {
                let mut parts = self.graphemes.get(number).chars().map(u32::from);
                let base = parts.next().unwrap_or(0);
                if whole {
                    base
                } else {
                    base + parts.sum::<u32>()
                }
            }
        };
        if !whole {
            value &= 0xff;
        }
        if !flags.has(ChecksumFlags::NO_ATTRIBUTES) {
            let style = self.styles.get(cell.style());
            let has = |attributes| style.attributes.contains(attributes);
            let worth = [
                (cell.protection() != Protection::None, 0x04),
                (has(Attributes::INVISIBLE), 0x08),
                (style.underline != Underline::None, 0x10),
                (has(Attributes::INVERSE), 0x20),
                (has(Attributes::BLINK), 0x40),
                (has(Attributes::BOLD), 0x80),
            ];
            value += worth
                .iter()
                .filter(|(on, _)| *on)
                .map(|(_, worth)| worth)
                .sum::<u32>();
        }
        Some(value)
    }
}

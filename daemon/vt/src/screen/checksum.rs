//! DECRQCRA: a checksum of what a rectangle shows, as xterm's `xtermCheckRect`.

use super::rectangle::Rectangle;
use crate::grid::cell::{Cell, Content, Protection};
use crate::grid::style::Attributes;
use crate::screen::Screen;
use serde::{Deserialize, Serialize};
use termd_proto::screen::Underline;

impl Screen {
    /// The checksum of a rectangle, by these flags.
    pub(crate) fn checksum(&self, area: Rectangle, flags: ChecksumFlags) -> u16 {
        let count_blanks = flags.has(ChecksumFlags::BLANKS);
        let count_unwritten = count_blanks || flags.has(ChecksumFlags::UNWRITTEN);
        let mut total = 0_u32;
        let mut first = true;
        for y in area.top..area.bottom {
            let row = self.grid.row(y);
            for x in area.left..area.right {
                let cell = row.cell(x);
                let Some(value) = self.checksum_of(cell, count_unwritten, flags) else {
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

    fn checksum_of(&self, cell: Cell, count_unwritten: bool, flags: ChecksumFlags) -> Option<u32> {
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

/// XTCHECKSUM: how DECRQCRA computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ChecksumFlags(pub u16);

impl ChecksumFlags {
    /// The sum is not negated.
    pub(crate) const POSITIVE: u16 = 1;
    /// Attributes do not count.
    pub(crate) const NO_ATTRIBUTES: u16 = 1 << 1;
    /// Blanks count.
    pub(crate) const BLANKS: u16 = 1 << 2;
    /// Cells that nothing was written to count as blanks.
    pub(crate) const UNWRITTEN: u16 = 1 << 3;
    /// Code points count whole, and not their low 8 bits.
    pub(crate) const WHOLE: u16 = 1 << 4;

    pub(crate) fn has(self, flag: u16) -> bool {
        self.0 & flag != 0
    }
}

impl Default for ChecksumFlags {
    /// The plain sum of the characters, blanks as spaces: xterm's at patch 334 (resource
    /// `checksumExtension: 23`), and that of the other emulators that have the function. xterm
    /// itself starts with 0, as a VT520; a program gets that with `CSI 0 # y`.
    fn default() -> Self {
        Self(Self::POSITIVE | Self::NO_ATTRIBUTES | Self::BLANKS | Self::WHOLE)
    }
}

//! Character sets: SCS, LS0 to LS3R, SS2, SS3, DOCS, S7C1T, S8C1T.

use crate::charset::{Charset, Repertoire, SetSize};
use crate::terminal::Terminal;

/// How replies write C1 controls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum C1 {
    /// S7C1T: ESC and a byte.
    SevenBit,
    /// S8C1T: one byte.
    EightBit,
}

/// DOCS: how text is coded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Coding {
    /// `ESC % G`
    Utf8,
    /// `ESC % @`: each byte is a character of G0 to G3.
    Iso2022,
}

impl Terminal {
    /// SCS: designates a set as one of G0 to G3.
    pub(crate) fn designate(&mut self, which: u8, intermediates: &[u8], byte: u8) {
        let (slot, size) = match which {
            b'('..=b'+' => (which - b'(', SetSize::NinetyFour),
            // G0 cannot hold a set of 96.
            _ => (which - b',', SetSize::NinetySix),
        };
        let set = Charset::named(size, intermediates, byte, self.repertoire());
        if let Some(slot) = self
            .screen
            .cursor
            .charsets
            .designated
            .get_mut(usize::from(slot))
        {
            *slot = set;
        }
        self.update_fast_text();
    }

    /// Which sets can be designated now.
    pub(crate) fn repertoire(&self) -> Repertoire {
        Repertoire {
            level: self.modes.level,
            national: self.modes.national,
        }
    }

    /// LS0 (SI), LS1 (SO), LS2, LS3.
    pub(crate) fn shift_left(&mut self, set: u8) {
        self.screen.cursor.charsets.gl = set;
        self.update_fast_text();
    }

    /// LS1R, LS2R, LS3R.
    pub(crate) fn shift_right(&mut self, set: u8) {
        self.screen.cursor.charsets.gr = set;
    }

    /// SS2, SS3, which a VT100 does not have.
    pub(crate) fn single_shift(&mut self, set: u8) {
        if self.modes.level == 1 {
            return;
        }
        self.screen.cursor.charsets.single_shift = Some(set);
        self.update_fast_text();
    }

    /// DOCS: `ESC % G` and `ESC % @`.
    pub(crate) fn set_coding(&mut self, coding: Coding) {
        self.modes.utf8 = coding == Coding::Utf8;
        self.update_fast_text();
    }

    /// S7C1T, S8C1T, which a VT100 does not have.
    pub(crate) fn set_reply_c1(&mut self, c1: C1) {
        if self.modes.level > 1 {
            self.modes.eight_bit_replies = c1 == C1::EightBit;
        }
    }
}

//! Designating and shifting character sets: SCS, LS0 to LS3R, SS2, SS3, DOCS, S7C1T, S8C1T.

use crate::term::charset::Charset;
use crate::term::core::Core;

/// How answers write C1 controls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum C1 {
    /// S7C1T: ESC and a byte.
    SevenBit,
    /// S8C1T: one byte.
    EightBit,
}

/// How text is coded (DOCS).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Coding {
    /// `ESC % G`
    Utf8,
    /// `ESC % @`: bytes, by G0 to G3.
    Iso2022,
}

impl Core {
    /// SCS: puts a set into G0 to G3.
    pub(super) fn designate(&mut self, which: u8, intermediates: &[u8], byte: u8) {
        let (slot, set) = match which {
            b'(' | b')' | b'*' | b'+' => (
                which - b'(',
                Charset::named(intermediates, byte, self.modes.national),
            ),
            // The sets of 96 characters: what they have in the low half is ASCII.
            _ => (which - b',', Charset::Ascii),
        };
        if let Some(slot) = self.cursor.charsets.designated.get_mut(usize::from(slot)) {
            *slot = set;
        }
        self.choose_way_of_text();
    }

    /// LS0 (SI), LS1 (SO), LS2, LS3.
    pub(super) fn shift_left(&mut self, set: u8) {
        self.cursor.charsets.gl = set;
        self.choose_way_of_text();
    }

    /// LS1R, LS2R, LS3R.
    pub(super) fn shift_right(&mut self, set: u8) {
        self.cursor.charsets.gr = set;
    }

    /// SS2, SS3.
    pub(super) fn single_shift(&mut self, set: u8) {
        self.cursor.charsets.single_shift = Some(set);
        self.choose_way_of_text();
    }

    /// DOCS: `ESC % G` and `ESC % @`.
    pub(super) fn set_coding(&mut self, coding: Coding) {
        self.modes.utf8 = coding == Coding::Utf8;
        self.choose_way_of_text();
    }

    /// S7C1T, S8C1T; a VT100 has not got them.
    pub(super) fn answer_with(&mut self, c1: C1) {
        if self.modes.level > 1 {
            self.modes.eight_bit_replies = c1 == C1::EightBit;
        }
    }
}

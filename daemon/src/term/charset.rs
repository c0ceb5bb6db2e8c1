//! Character sets: G0 to G3, the shifts, and what DEC special graphics draws.

use serde::{Deserialize, Serialize};

/// A designated set (SCS).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Charset {
    /// B: US ASCII, and UTF-8 above it.
    #[default]
    Ascii,
    /// 0: DEC special graphics.
    DecSpecialGraphics,
    /// A: ASCII with a pound sign at `#`.
    British,
}

impl Charset {
    /// The character that a byte of 0x20 to 0x7e stands for.
    #[inline]
    pub fn map(self, byte: u8) -> char {
        match self {
            Self::DecSpecialGraphics if (0x5f..=0x7e).contains(&byte) => {
                SPECIAL_GRAPHICS[usize::from(byte - 0x5f)]
            }
            Self::British if byte == b'#' => '£',
            _ => char::from(byte),
        }
    }
}

/// DEC special graphics, 0x5f to 0x7e.
const SPECIAL_GRAPHICS: [char; 32] = [
    ' ', '◆', '▒', '␉', '␌', '␍', '␊', '°', '±', '␤', '␋', '┘', '┐', '┌', '└', '┼', '⎺', '⎻', '─',
    '⎼', '⎽', '├', '┤', '┴', '┬', '│', '≤', '≥', 'π', '≠', '£', '·',
];

/// The four sets and the shifts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Charsets {
    /// G0 to G3.
    pub designated: [Charset; 4],
    /// Which is in GL (SI, SO, LS2, LS3).
    pub gl: u8,
    /// Which is in GR (LS1R, LS2R, LS3R), used where UTF-8 is off.
    pub gr: u8,
    /// For the next character alone (SS2, SS3).
    pub single_shift: Option<u8>,
}

impl Charsets {
    /// The set in GL.
    #[inline]
    pub fn left(&self) -> Charset {
        self.designated[usize::from(self.gl & 3)]
    }

    /// Whether a byte of 0x20 to 0x7e is what it says.
    #[inline]
    pub fn is_ascii(&self) -> bool {
        self.left() == Charset::Ascii && self.single_shift.is_none()
    }

    /// The set for the next character, the single shift taken.
    pub fn take(&mut self) -> Charset {
        match self.single_shift.take() {
            Some(shift) => self.designated[usize::from(shift & 3)],
            None => self.left(),
        }
    }
}

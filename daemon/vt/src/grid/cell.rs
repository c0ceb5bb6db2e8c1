//! A character cell in 8 bytes.
//!
//! The low half is the content: a code point or the number of a grapheme, and flags. The high half
//! is the [`StyleId`]. A cell knows neither its position nor its colours.

use serde::{Deserialize, Serialize};

use crate::grid::style::StyleId;

/// A character cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(transparent)]
pub(crate) struct Cell(u64);

/// Code points and grapheme indices take 21 bits.
const CODE_MASK: u64 = 0x1f_ffff;
const GRAPHEME: u64 = 1 << 21;
const WIDE: u64 = 1 << 22;
const TAIL: u64 = 1 << 23;
const PROTECTED: u64 = 1 << 24;
const GUARDED: u64 = 1 << 25;
const FILLER: u64 = 1 << 26;
const STYLE_SHIFT: u32 = 32;

/// The most graphemes that the table holds: what a number of 21 bits reaches.
pub(crate) const MAX_GRAPHEMES: usize = 1 << 21;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Content {
    /// Nothing was written here, or it was erased.
    Blank,
    /// One code point.
    Char(char),
    /// A base character with marks, by its number in the table of graphemes.
    Grapheme(u32),
    /// The right half of the wide character in the cell before.
    Tail,
}

impl Cell {
    /// A blank in the default style.
    pub(crate) const BLANK: Self = Self(0);

    /// An erased cell. The style must be one that has a background alone.
    pub(crate) fn erased(style: StyleId) -> Self {
        Self(u64::from(style.0) << STYLE_SHIFT)
    }

    /// A cell of a byte that must be printable ASCII.
    #[inline]
    pub(crate) fn ascii(byte: u8, style: StyleId) -> Self {
        Self(u64::from(byte) | u64::from(style.0) << STYLE_SHIFT)
    }

    /// A character one column wide.
    #[inline]
    pub(crate) fn narrow(c: char, style: StyleId) -> Self {
        Self(u64::from(u32::from(c)) | u64::from(style.0) << STYLE_SHIFT)
    }

    /// The left half of a character two columns wide.
    #[inline]
    pub(crate) fn wide(c: char, style: StyleId) -> Self {
        Self(u64::from(u32::from(c)) | WIDE | u64::from(style.0) << STYLE_SHIFT)
    }

    /// The right half of one.
    #[inline]
    pub(crate) fn tail(style: StyleId) -> Self {
        Self(TAIL | u64::from(style.0) << STYLE_SHIFT)
    }

    /// A last column that was left free because a wide character did not fit.
    pub(crate) fn filler(style: StyleId) -> Self {
        Self(FILLER | u64::from(style.0) << STYLE_SHIFT)
    }

    /// The same cell with a grapheme in place of its character.
    #[must_use]
    pub(crate) fn with_grapheme(self, index: u32) -> Self {
        Self(self.0 & !CODE_MASK | u64::from(index) & CODE_MASK | GRAPHEME)
    }

    /// The same cell two columns wide, as a variation selector may ask.
    #[must_use]
    pub(crate) fn widened(self) -> Self {
        Self(self.0 | WIDE)
    }

    #[must_use]
    pub(crate) fn narrowed(self) -> Self {
        Self(self.0 & !WIDE)
    }

    #[must_use]
    pub(crate) fn with_style(self, style: StyleId) -> Self {
        Self(self.0 & 0xffff_ffff | u64::from(style.0) << STYLE_SHIFT)
    }

    #[must_use]
    pub(crate) fn with_protection(self, protection: Protection) -> Self {
        let bits = match protection {
            Protection::None => 0,
            Protection::Selective => PROTECTED,
            Protection::Guarded => GUARDED,
        };
        Self(self.0 & !(PROTECTED | GUARDED) | bits)
    }

    /// All bits but the style, for packing.
    #[inline]
    pub(crate) fn low(self) -> u32 {
        (self.0 & 0xffff_ffff) as u32
    }

    /// All bits, to compare many cells at a time.
    #[inline]
    pub(crate) fn bits(self) -> u64 {
        self.0
    }

    /// A cell of what [`low`](Self::low) returned. Bits without a meaning are cleared.
    #[inline]
    pub(crate) fn from_low(low: u32, style: StyleId) -> Self {
        let known = CODE_MASK | GRAPHEME | WIDE | TAIL | PROTECTED | GUARDED | FILLER;
        Self(u64::from(low) & known | u64::from(style.0) << STYLE_SHIFT)
    }

    pub(crate) fn content(self) -> Content {
        if self.0 & TAIL != 0 {
            return Content::Tail;
        }
        let code = u32::try_from(self.0 & CODE_MASK).unwrap_or(0);
        if self.0 & GRAPHEME != 0 {
            return Content::Grapheme(code);
        }
        match char::from_u32(code) {
            None | Some('\0') => Content::Blank,
            Some(c) => Content::Char(c),
        }
    }

    /// The bits that tell two contents apart.
    #[inline]
    pub(crate) fn content_bits(self) -> u32 {
        u32::try_from(self.0 & (CODE_MASK | GRAPHEME)).unwrap_or(0)
    }

    #[inline]
    pub(crate) fn style(self) -> StyleId {
        StyleId((self.0 >> STYLE_SHIFT) as u32)
    }

    /// Whether it is the left half of a wide character.
    #[inline]
    pub(crate) fn is_wide(self) -> bool {
        self.0 & WIDE != 0
    }

    /// Whether it is the right half of a wide character.
    #[inline]
    pub(crate) fn is_tail(self) -> bool {
        self.0 & TAIL != 0
    }

    /// Whether it was left free because a wide character did not fit.
    #[inline]
    pub(crate) fn is_filler(self) -> bool {
        self.0 & FILLER != 0
    }

    /// Whether it holds no character. It may have a background.
    #[inline]
    pub(crate) fn is_blank(self) -> bool {
        self.0 & (CODE_MASK | TAIL | GRAPHEME) == 0
    }

    pub(crate) fn protection(self) -> Protection {
        match self.0 & (PROTECTED | GUARDED) {
            0 => Protection::None,
            GUARDED => Protection::Guarded,
            _ => Protection::Selective,
        }
    }
}

/// Which erasing functions spare a character.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Protection {
    /// None of them.
    #[default]
    None,
    /// DECSCA 1: DECSED, DECSEL and DECSERA spare it.
    Selective,
    /// SPA to EPA (ISO 6429): ED, EL and ECH spare it as well.
    Guarded,
}

//! Character sets: G0 to G3, the shifts, and what each set draws.
//!
//! Sources: DEC's VT220 and VT330 manuals (national replacement sets, technical set), and xterm's
//! choice of code points for them.

use serde::{Deserialize, Serialize};

/// A designated set (SCS).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Charset {
    /// B: US ASCII, and UTF-8 above it. The 96-character sets too: in GL their low half is ASCII,
    /// in GR their high half is Latin-1.
    #[default]
    Ascii,
    /// 0: DEC special graphics.
    DecSpecialGraphics,
    /// `>`: DEC technical.
    DecTechnical,
    /// `%5`, `<`: DEC supplemental graphics.
    DecSupplemental,
    /// A: ASCII with a pound sign at `#`.
    British,
    /// 4.
    Dutch,
    /// C, 5.
    Finnish,
    /// R, f.
    French,
    /// Q, 9.
    FrenchCanadian,
    /// K.
    German,
    /// Y.
    Italian,
    /// `` ` ``, E, 6.
    NorwegianDanish,
    /// `%6`.
    Portuguese,
    /// Z.
    Spanish,
    /// H, 7.
    Swedish,
    /// =
    Swiss,
}

impl Charset {
    /// The set of 94 characters that SCS's final bytes name; ASCII for one that is not known, as in
    /// xterm. The national sets are there only where DECNRCM is set, but for the British one, which
    /// a VT100 has too.
    pub(super) fn named(intermediates: &[u8], byte: u8, national: bool) -> Self {
        let set = match (intermediates, byte) {
            ([], b'A') => return Self::British,
            ([], b'0' | b'2') => return Self::DecSpecialGraphics,
            ([], b'>') => return Self::DecTechnical,
            ([b'%'], b'5') | ([], b'<') => return Self::DecSupplemental,
            ([], b'4') => Self::Dutch,
            ([], b'C' | b'5') => Self::Finnish,
            ([], b'R' | b'f') => Self::French,
            ([], b'Q' | b'9') => Self::FrenchCanadian,
            ([], b'K') => Self::German,
            ([], b'Y') => Self::Italian,
            ([], b'`' | b'E' | b'6') => Self::NorwegianDanish,
            ([b'%'], b'6') => Self::Portuguese,
            ([], b'Z') => Self::Spanish,
            ([], b'H' | b'7') => Self::Swedish,
            ([], b'=') => Self::Swiss,
            _ => Self::Ascii,
        };
        if national { set } else { Self::Ascii }
    }

    /// The final bytes of the SCS that designates it.
    pub(super) fn designator(self) -> &'static str {
        match self {
            Self::Ascii => "B",
            Self::DecSpecialGraphics => "0",
            Self::DecTechnical => ">",
            Self::DecSupplemental => "%5",
            Self::British => "A",
            Self::Dutch => "4",
            Self::Finnish => "C",
            Self::French => "R",
            Self::FrenchCanadian => "Q",
            Self::German => "K",
            Self::Italian => "Y",
            Self::NorwegianDanish => "E",
            Self::Portuguese => "%6",
            Self::Spanish => "Z",
            Self::Swedish => "H",
            Self::Swiss => "=",
        }
    }

    /// The character that a byte of 0x20 to 0x7e stands for.
    #[inline]
    pub(super) fn map(self, byte: u8) -> char {
        match self {
            Self::DecSpecialGraphics => pick(&SPECIAL_GRAPHICS, 0x5f, byte),
            Self::DecTechnical => pick(&TECHNICAL, 0x21, byte),
            Self::DecSupplemental => supplemental(byte),
            Self::British if byte == b'#' => '£',
            Self::Ascii | Self::British => char::from(byte),
            _ => self.national(byte),
        }
    }

    fn national(self, byte: u8) -> char {
        let Some(at) = REPLACED.iter().position(|replaced| *replaced == byte) else {
            return char::from(byte);
        };
        let replacements = match self {
            Self::Dutch => "£¾ĳ½|^_`¨ƒ¼´",
            Self::Finnish => "#@ÄÖÅÜ_éäöåü",
            Self::French => "£à°ç§^_`éùè¨",
            Self::FrenchCanadian => "#àâçêî_ôéùèû",
            Self::German => "#§ÄÖÜ^_`äöüß",
            Self::Italian => "£§°çé^_ùàòèì",
            Self::NorwegianDanish => "#ÄÆØÅÜ_äæøåü",
            Self::Portuguese => "#@ÃÇÕ^_`ãçõ~",
            Self::Spanish => "£§¡Ñ¿^_`°ñç~",
            Self::Swedish => "#ÉÄÖÅÜ_éäöåü",
            Self::Swiss => "ùàéçêîèôäöüû",
            _ => "",
        };
        replacements.chars().nth(at).unwrap_or(char::from(byte))
    }
}

/// The characters that national sets have others for.
const REPLACED: [u8; 12] = *b"#@[\\]^_`{|}~";

fn pick(table: &[char], first: u8, byte: u8) -> char {
    byte.checked_sub(first)
        .and_then(|at| table.get(usize::from(at)))
        .copied()
        .unwrap_or(char::from(byte))
}

/// DEC special graphics, 0x5f to 0x7e.
const SPECIAL_GRAPHICS: [char; 32] = [
    ' ', '◆', '▒', '␉', '␌', '␍', '␊', '°', '±', '␤', '␋', '┘', '┐', '┌', '└', '┼', '⎺', '⎻', '─',
    '⎼', '⎽', '├', '┤', '┴', '┬', '│', '≤', '≥', 'π', '≠', '£', '·',
];

/// DEC technical, 0x21 to 0x7e; places that DEC left free, and the pieces of a big sigma, which
/// Unicode has not, are U+FFFD.
const TECHNICAL: [char; 94] = [
    '⎷', '┌', '─', '⌠', '⌡', '│', '⎡', '⎣', '⎤', '⎦', '⎧', '⎩', '⎫', '⎭', '⎨', '⎬', '\u{fffd}',
    '\u{fffd}', '\u{fffd}', '\u{fffd}', '\u{fffd}', '\u{fffd}', '\u{fffd}', '\u{fffd}', '\u{fffd}',
    '\u{fffd}', '\u{fffd}', '≤', '≠', '≥', '∫', '∴', '∝', '∞', '÷', 'Δ', '∇', 'Φ', 'Γ', '∼', '≃',
    'Θ', '×', 'Λ', '⇔', '⇒', '≡', 'Π', 'Ψ', '\u{fffd}', 'Σ', '\u{fffd}', '\u{fffd}', '√', 'Ω', 'Ξ',
    'Υ', '⊂', '⊃', '∩', '∪', '∧', '∨', '¬', 'α', 'β', 'χ', 'δ', 'ε', 'φ', 'γ', 'η', 'ι', 'θ', 'κ',
    'λ', '\u{fffd}', 'ν', '∂', 'π', 'ψ', 'ρ', 'σ', 'τ', '\u{fffd}', 'ƒ', 'ω', 'ξ', 'υ', 'ζ', '←',
    '↑', '→', '↓',
];

/// DEC supplemental graphics: Latin-1 with a few others, and free places.
fn supplemental(byte: u8) -> char {
    match byte {
        0x24 | 0x26 | 0x2c..=0x2f | 0x34 | 0x38 | 0x3e | 0x50 | 0x5e | 0x70 | 0x7e => '\u{fffd}',
        0x28 => '¤',
        0x57 => 'Œ',
        0x5d => 'Ÿ',
        0x77 => 'œ',
        0x7d => 'ÿ',
        0x21..=0x7e => char::from(byte | 0x80),
        _ => char::from(byte),
    }
}

/// The four sets and the shifts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Charsets {
    /// G0 to G3.
    pub designated: [Charset; 4],
    /// Which is in GL (SI, SO, LS2, LS3).
    pub gl: u8,
    /// Which is in GR (LS1R, LS2R, LS3R), used where UTF-8 is off.
    pub gr: u8,
    /// For the next character alone (SS2, SS3).
    pub single_shift: Option<u8>,
}

impl Default for Charsets {
    fn default() -> Self {
        Self {
            designated: [Charset::Ascii; 4],
            gl: 0,
            gr: 2,
            single_shift: None,
        }
    }
}

impl Charsets {
    /// The set in GL.
    #[inline]
    pub(super) fn left(self) -> Charset {
        self.designated[usize::from(self.gl & 3)]
    }

    /// Whether a byte of 0x20 to 0x7e is what it says.
    #[inline]
    pub(super) fn is_ascii(self) -> bool {
        self.left() == Charset::Ascii && self.single_shift.is_none()
    }

    /// The set for the next character, the single shift taken.
    pub(super) fn take(&mut self) -> Charset {
        match self.single_shift.take() {
            Some(shift) => self.designated[usize::from(shift & 3)],
            None => self.left(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_draw_what_the_manuals_show() {
        for (set, text, expected) in [
            (Charset::Ascii, "#[]~", "#[]~"),
            (Charset::British, "#[]~", "£[]~"),
            (Charset::DecSpecialGraphics, "lqkxA~", "┌─┐│A·"),
            (Charset::DecTechnical, "!a|}~", "⎷α↑→↓"),
            (Charset::DecSupplemental, "!A(W", "¡Á¤Œ"),
            (Charset::German, "@[{~A", "§Ää\u{df}A"),
            (Charset::Swiss, "#_~", "ùèû"),
            (Charset::French, "#@|", "£àù"),
            (Charset::Dutch, "[\\", "ĳ½"),
        ] {
            let drawn: String = text.bytes().map(|byte| set.map(byte)).collect();
            assert_eq!(drawn, expected, "{set:?}");
        }
    }

    #[test]
    fn national_sets_need_their_mode() {
        assert_eq!(Charset::named(&[], b'K', false), Charset::Ascii);
        assert_eq!(Charset::named(&[], b'K', true), Charset::German);
        assert_eq!(Charset::named(b"%", b'5', false), Charset::DecSupplemental);
        assert_eq!(Charset::named(b"&", b'5', true), Charset::Ascii);
    }
}

//! Character sets: G0 to G3, the shifts, and what each set draws.
//!
//! Sources: DEC's VT220 and VT330 manuals (national replacement sets, technical set), and xterm's
//! choice of code points for them.

use serde::{Deserialize, Serialize};

mod tables;

/// A set that SCS designates.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Charset {
    /// B: US ASCII, and above it UTF-8 or, with UTF-8 off, Latin-1. Also Latin-1's own set of 96
    /// (`ESC - A`), whose codes xterm leaves as they are.
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
    /// `">`
    Greek,
    /// `%=`
    Hebrew,
    /// `&5`
    Russian,
    /// `%3`
    SerboCroatian,
    /// `%2`
    Turkish,
    /// `&4`: DEC Cyrillic.
    DecCyrillic,
    /// `"?`: DEC Greek supplemental.
    DecGreek,
    /// `"4`: DEC Hebrew supplemental.
    DecHebrew,
    /// `%0`: DEC Turkish supplemental.
    DecTurkish,
    /// F of 96: ISO 8859-7.
    IsoGreek,
    /// H of 96: ISO 8859-8.
    IsoHebrew,
    /// B of 96: ISO 8859-2.
    IsoLatin2,
    /// M of 96: ISO 8859-9.
    IsoLatin5,
    /// L of 96: ISO 8859-5.
    IsoCyrillic,
    /// The graphics of VT52 mode, which differ from DEC's special graphics (DEC STD 070).
    Vt52Graphics,
}

/// How many characters a set has. It tells apart sets with the same final bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SetSize {
    /// `ESC (` to `ESC +`: 0x20 and 0x7f are space and DEL.
    NinetyFour,
    /// `ESC -` to `ESC /`: 0x20 and 0x7f are characters too.
    NinetySix,
}

/// What decides which sets are available.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Repertoire {
    /// DECSCL's operating level: a VT220 has the first national sets, a VT520 the last.
    pub level: u8,
    /// DECNRCM: without it there are no national sets.
    pub national: bool,
}

impl Charset {
    /// The set that SCS's final bytes name. As in xterm an unavailable set is ASCII.
    pub(crate) fn named(
        size: SetSize,
        intermediates: &[u8],
        byte: u8,
        repertoire: Repertoire,
    ) -> Self {
        let found = match size {
            SetSize::NinetyFour => Self::of_94(intermediates, byte, repertoire),
            SetSize::NinetySix => Self::of_96(intermediates, byte),
        };
        found
            .filter(|(_, first_level)| repertoire.level >= *first_level)
            .map_or(Self::Ascii, |(set, _)| set)
    }

    /// A set of 94 characters, and the level that introduced it.
    fn of_94(intermediates: &[u8], byte: u8, repertoire: Repertoire) -> Option<(Self, u8)> {
        let set = match (intermediates, byte) {
            ([], b'0') => return Some((Self::DecSpecialGraphics, 1)),
            // A VT100's pound sign. Later terminals have a national set in its place.
            ([], b'A') if repertoire.level == 1 => return Some((Self::British, 1)),
            ([], b'<') => return Some((Self::DecSupplemental, 2)),
            ([], b'>') => return Some((Self::DecTechnical, 3)),
            ([b'%'], b'5') => return Some((Self::DecSupplemental, 3)),
            ([b'&'], b'4') => return Some((Self::DecCyrillic, 5)),
            ([b'"'], b'?') => return Some((Self::DecGreek, 5)),
            ([b'"'], b'4') => return Some((Self::DecHebrew, 5)),
            ([b'%'], b'0') => return Some((Self::DecTurkish, 5)),
            ([], b'A') => (Self::British, 1),
            ([], b'4') => (Self::Dutch, 2),
            ([], b'C' | b'5') => (Self::Finnish, 2),
            ([], b'R' | b'f') => (Self::French, 2),
            ([], b'Q') => (Self::FrenchCanadian, 2),
            ([], b'9') => (Self::FrenchCanadian, 3),
            ([], b'K') => (Self::German, 2),
            ([], b'Y') => (Self::Italian, 2),
            ([], b'E' | b'6') => (Self::NorwegianDanish, 2),
            ([], b'`') => (Self::NorwegianDanish, 3),
            ([b'%'], b'6') => (Self::Portuguese, 3),
            ([], b'Z') => (Self::Spanish, 2),
            ([], b'H' | b'7') => (Self::Swedish, 2),
            ([], b'=') => (Self::Swiss, 2),
            ([b'"'], b'>') => (Self::Greek, 5),
            ([b'%'], b'=') => (Self::Hebrew, 5),
            ([b'&'], b'5') => (Self::Russian, 5),
            ([b'%'], b'3') => (Self::SerboCroatian, 5),
            ([b'%'], b'2') => (Self::Turkish, 5),
            _ => return None,
        };
        repertoire.national.then_some(set)
    }

    /// A set of 96 characters. Latin-1 is not among them: see [`Charset::Ascii`].
    fn of_96(intermediates: &[u8], byte: u8) -> Option<(Self, u8)> {
        let set = match (intermediates, byte) {
            ([], b'F') => Self::IsoGreek,
            ([], b'H') => Self::IsoHebrew,
            ([], b'B') => Self::IsoLatin2,
            ([], b'M') => Self::IsoLatin5,
            ([], b'L') => Self::IsoCyrillic,
            _ => return None,
        };
        Some((set, 5))
    }

    pub(crate) fn size(self) -> SetSize {
        match self {
            Self::IsoGreek
            | Self::IsoHebrew
            | Self::IsoLatin2
            | Self::IsoLatin5
            | Self::IsoCyrillic => SetSize::NinetySix,
            _ => SetSize::NinetyFour,
        }
    }

    /// The final bytes of the SCS that designates it among the sets of its size.
    pub(crate) fn designator(self) -> &'static str {
        match self {
            Self::Ascii | Self::IsoLatin2 => "B",
            Self::DecSpecialGraphics | Self::Vt52Graphics => "0",
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
            Self::Swedish | Self::IsoHebrew => "H",
            Self::Swiss => "=",
            Self::Greek => "\">",
            Self::Hebrew => "%=",
            Self::Russian => "&5",
            Self::SerboCroatian => "%3",
            Self::Turkish => "%2",
            Self::DecCyrillic => "&4",
            Self::DecGreek => "\"?",
            Self::DecHebrew => "\"4",
            Self::DecTurkish => "%0",
            Self::IsoGreek => "F",
            Self::IsoLatin5 => "M",
            Self::IsoCyrillic => "L",
        }
    }

    /// The character for a byte of 0x20 to 0x7f in GL.
    #[inline]
    pub(crate) fn map(self, byte: u8) -> char {
        if self == Self::Ascii {
            return char::from(byte);
        }
        let replaced = match self {
            Self::British => (byte == b'#').then_some('£'),
            // Boxes are drawn with it, so it must be quick.
            Self::DecSpecialGraphics => byte
                .checked_sub(tables::SPECIAL_GRAPHICS_FIRST)
                .and_then(|at| tables::SPECIAL_GRAPHICS.get(usize::from(at)).copied()),
            _ => tables::table(self).iter().find_map(|(first, characters)| {
                let at = byte.checked_sub(*first)?;
                characters.chars().nth(usize::from(at))
            }),
        };
        replaced.unwrap_or(char::from(byte))
    }

    /// The character for a byte of 0xa0 to 0xff in GR. Where the set has none, it is Latin-1's.
    pub(crate) fn map_right(self, byte: u8) -> char {
        match self.map(byte & 0x7f) {
            same if same.is_ascii() => char::from(byte),
            mapped => mapped,
        }
    }
}

/// The four designated sets, and the shifts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Charsets {
    /// G0 to G3.
    pub designated: [Charset; 4],
    /// The set in GL (SI, SO, LS2, LS3).
    pub gl: u8,
    /// The set in GR (LS1R, LS2R, LS3R), which is used where UTF-8 is off.
    pub gr: u8,
    /// The set for the next character only (SS2, SS3).
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
    #[inline]
    pub(crate) fn left(self) -> Charset {
        self.designated[usize::from(self.gl & 3)]
    }

    /// Whether the next byte of 0x20 to 0x7e stands for itself.
    #[inline]
    pub(crate) fn is_ascii(self) -> bool {
        self.left() == Charset::Ascii && self.single_shift.is_none()
    }

    /// The set for the next character; a single shift ends with it.
    pub(crate) fn take(&mut self) -> Charset {
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
    fn charsets_draw_what_the_manuals_show() {
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
            (Charset::Vt52Graphics, "aft}~A", "▮°₀₉¶A"),
            (Charset::Russian, "`a~@", "ЮАЧ@"),
            (Charset::Turkish, "&[", "ğŞ"),
            (Charset::DecTechnical, "18R", "\u{eeee}\u{2426}\u{2426}"),
        ] {
            let drawn: String = text.bytes().map(|byte| set.map(byte)).collect();
            assert_eq!(drawn, expected, "{set:?}");
        }
    }

    #[test]
    fn charsets_depend_on_level_and_mode() {
        use SetSize::{NinetyFour, NinetySix};
        let named = |size, name: &str, level, national| {
            let (last, intermediates) = name.as_bytes().split_last().unwrap();
            Charset::named(size, intermediates, *last, Repertoire { level, national })
        };
        for (size, name, level, national, expected) in [
            (NinetyFour, "K", 4, false, Charset::Ascii),
            (NinetyFour, "K", 4, true, Charset::German),
            (NinetyFour, "K", 1, true, Charset::Ascii),
            (NinetyFour, "A", 4, false, Charset::Ascii),
            (NinetyFour, "A", 4, true, Charset::British),
            (NinetyFour, "A", 1, false, Charset::British),
            (NinetyFour, "%5", 4, false, Charset::DecSupplemental),
            (NinetyFour, "%5", 2, false, Charset::Ascii),
            (NinetyFour, "&5", 4, true, Charset::Ascii),
            (NinetyFour, "&5", 5, true, Charset::Russian),
            (NinetyFour, "&5", 5, false, Charset::Ascii),
            (NinetyFour, "&4", 5, false, Charset::DecCyrillic),
            (NinetyFour, "F", 5, true, Charset::Ascii),
            (NinetySix, "F", 5, false, Charset::IsoGreek),
            (NinetySix, "F", 4, false, Charset::Ascii),
            (NinetySix, "A", 5, false, Charset::Ascii),
        ] {
            let seen = named(size, name, level, national);
            assert_eq!(seen, expected, "{name} of {size:?} at {level}, {national}");
        }
    }

    #[test]
    fn gr_is_latin_1_where_a_charset_has_no_character() {
        for (set, byte, expected) in [
            (Charset::Ascii, 0xe9, 'é'),
            (Charset::DecSpecialGraphics, 0xf1, '─'),
            (Charset::DecSpecialGraphics, 0xc1, 'Á'),
            (Charset::IsoGreek, 0xe1, 'α'),
            (Charset::IsoHebrew, 0xe0, 'א'),
            (Charset::IsoLatin2, 0xa1, 'Ą'),
            (Charset::IsoLatin5, 0xfd, 'ı'),
            (Charset::IsoCyrillic, 0xb0, 'А'),
            (Charset::IsoGreek, 0xff, '\u{2426}'),
            (Charset::DecCyrillic, 0xc1, 'а'),
            (Charset::DecTurkish, 0xde, 'Ş'),
        ] {
            assert_eq!(set.map_right(byte), expected, "{set:?} {byte:#x}");
        }
    }
}

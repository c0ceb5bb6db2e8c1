//! The colours that a program has set (OSC 4, 5, 10 to 19), and the default ones.
//!
//! Only changed colours are stored. A colour has 8 bits a channel, as on the display that xterm
//! asks.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use termd_proto::palette::xterm_256;

mod spaces;

/// Red, green, blue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Rgb(pub u8, pub u8, pub u8);

/// As xterm reports it: each of the 8 bits written twice.
impl fmt::Display for Rgb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(r, g, b) = self;
        write!(f, "rgb:{r:02x}{r:02x}/{g:02x}{g:02x}/{b:02x}{b:02x}")
    }
}

/// How many colours SGR can name.
pub(crate) const INDEXED: u16 = 256;
/// Special colours, numbered after them (OSC 5): bold, underline, blink, inverse, italic.
const SPECIAL: u16 = 5;
/// The slot of OSC 10.
const DYNAMIC_BASE: u16 = INDEXED + SPECIAL;
/// OSC 10.
pub(crate) const TEXT_FOREGROUND: u16 = 10;
/// OSC 11.
const TEXT_BACKGROUND: u16 = 11;
/// OSC 19, the last of the dynamic colours.
pub(crate) const LAST_DYNAMIC: u16 = 19;
/// How many palettes can be pushed (XTPUSHCOLORS), as in xterm.
const MAX_SAVED: usize = 10;

const DEFAULT_FOREGROUND: Rgb = Rgb(0xe5, 0xe5, 0xe5);
const DEFAULT_BACKGROUND: Rgb = Rgb(0, 0, 0);
/// A colour that can be set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Slot(u16);

impl Slot {
    /// By OSC 4's number: the 256, then the special ones.
    pub(crate) fn indexed(number: u16) -> Option<Self> {
        (number < DYNAMIC_BASE).then_some(Self(number))
    }

    /// By OSC 5's number: the special ones from 0.
    pub(crate) fn special(number: u16) -> Option<Self> {
        Self::indexed(number.checked_add(INDEXED)?)
    }

    /// By the function, OSC 10 to 19.
    pub(crate) fn dynamic(function: u16) -> Option<Self> {
        (TEXT_FOREGROUND..=LAST_DYNAMIC)
            .contains(&function)
            .then(|| Self(DYNAMIC_BASE + function - TEXT_FOREGROUND))
    }

    fn default_color(self) -> Rgb {
        let Some(dynamic) = self.0.checked_sub(DYNAMIC_BASE) else {
            return match u8::try_from(self.0) {
                Ok(index) => indexed_default(index),
                Err(_) => DEFAULT_FOREGROUND,
            };
        };
        // Text, pointer, Tektronix and highlight each have a background.
        match dynamic + TEXT_FOREGROUND {
            TEXT_BACKGROUND | 14 | 16 | 17 => DEFAULT_BACKGROUND,
            _ => DEFAULT_FOREGROUND,
        }
    }
}

fn indexed_default(index: u8) -> Rgb {
    let color = xterm_256(index);
    Rgb(color.0, color.1, color.2)
}

/// The colours that were changed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Palette {
    own: BTreeMap<Slot, Rgb>,
}

impl Palette {
    pub(crate) fn get(&self, slot: Slot) -> Rgb {
        self.own
            .get(&slot)
            .copied()
            .unwrap_or_else(|| slot.default_color())
    }

    pub(crate) fn set(&mut self, slot: Slot, color: Rgb) {
        self.own.insert(slot, color);
    }

    pub(crate) fn reset(&mut self, slot: Slot) {
        self.own.remove(&slot);
    }

    /// OSC 104: resets all colours of OSC 4.
    pub(crate) fn reset_indexed(&mut self) {
        self.own.retain(|slot, _| slot.0 >= DYNAMIC_BASE);
    }

    /// OSC 105: resets all colours of OSC 5.
    pub(crate) fn reset_special(&mut self) {
        self.own
            .retain(|slot, _| !(INDEXED..DYNAMIC_BASE).contains(&slot.0));
    }

    /// Whether the background is dark, for mode 2031.
    pub(crate) fn is_dark(&self) -> bool {
        let Rgb(red, green, blue) =
            self.get(Slot(DYNAMIC_BASE + TEXT_BACKGROUND - TEXT_FOREGROUND));
        // Rec. 601, which programs that ask for the background use.
        u32::from(red) * 299 + u32::from(green) * 587 + u32::from(blue) * 114 < 128_000
    }
}

/// XTPUSHCOLORS' stack as in xterm: numbered places, one of which is the top.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SavedPalettes {
    places: Vec<Option<Palette>>,
    used: usize,
    last: usize,
}

impl SavedPalettes {
    /// Pushes a palette on top, or puts it into the numbered place above 0.
    pub(crate) fn push(&mut self, place: usize, palette: &Palette) {
        let at = place.checked_sub(1).unwrap_or(self.used);
        if at >= MAX_SAVED {
            return;
        }
        if at >= self.places.len() {
            self.places.resize(at + 1, None);
        }
        self.places[at] = Some(palette.clone());
        self.used = at + 1;
        self.last = self.last.max(self.used);
    }

    /// Pops the top palette, or the one in the numbered place, which becomes the top.
    pub(crate) fn pop(&mut self, place: usize) -> Option<Palette> {
        let at = place.checked_sub(1).or(self.used.checked_sub(1))?;
        let palette = self.places.get(at)?.clone()?;
        self.used = at;
        Some(palette)
    }

    /// XTREPORTCOLORS: the number of the top place, and how many places were ever used.
    pub(crate) fn report(&self) -> (usize, usize) {
        (self.used, self.last)
    }
}

/// The palette in force, and those that were pushed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Colors {
    pub(crate) palette: Palette,
    pub(crate) saved: SavedPalettes,
}

/// The two tables of colours that OSC numbers: OSC 4 has the special colours after the 256, OSC 5
/// from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Table {
    /// OSC 4, 104.
    Indexed,
    /// OSC 5, 105.
    Special,
}

impl Table {
    fn slot(self, number: u16) -> Option<Slot> {
        match self {
            Self::Indexed => Slot::indexed(number),
            Self::Special => Slot::special(number),
        }
    }

    fn function(self) -> u16 {
        match self {
            Self::Indexed => 4,
            Self::Special => 5,
        }
    }
}

impl Colors {
    /// OSC 4, 5: `number;colour` or `number;?`, any number of times. As in xterm the first wrong
    /// one ends it. Returns a reply for each question.
    pub(crate) fn change(&mut self, table: Table, text: &str) -> Vec<String> {
        let mut answers = Vec::new();
        let mut parts = text.split(';');
        while let (Some(number), Some(color)) = (parts.next(), parts.next()) {
            let Some(slot) = number.parse().ok().and_then(|number| table.slot(number)) else {
                break;
            };
            if color == "?" {
                let color = self.palette.get(slot);
                answers.push(format!("{};{number};{color}", table.function()));
            } else if let Some(color) = parse_color(color) {
                self.palette.set(slot, color);
            } else {
                break;
            }
        }
        answers
    }

    /// OSC 104, 105: all colours of the table, or those that are named.
    pub(crate) fn reset(&mut self, table: Table, text: &str) {
        if text.is_empty() {
            match table {
                Table::Indexed => self.palette.reset_indexed(),
                Table::Special => self.palette.reset_special(),
            }
            return;
        }
        for number in text.split(';') {
            let Ok(number) = number.parse::<u16>() else {
                return;
            };
            if let Some(slot) = table.slot(number) {
                self.palette.reset(slot);
            }
        }
    }

    /// OSC 10 to 19: a colour or `?` for this function and for those after it. Returns a reply for
    /// each question.
    pub(crate) fn change_dynamic(&mut self, first: u16, text: &str) -> Vec<String> {
        let mut answers = Vec::new();
        for (function, color) in (first..=LAST_DYNAMIC).zip(text.split(';')) {
            let Some(slot) = Slot::dynamic(function) else {
                break;
            };
            if color == "?" {
                answers.push(format!("{function};{}", self.palette.get(slot)));
            } else if let Some(color) = parse_color(color) {
                self.palette.set(slot, color);
            }
        }
        answers
    }

    /// OSC 110 to 119, by the number of the function that set the colour.
    pub(crate) fn reset_dynamic(&mut self, function: u16) {
        if let Some(slot) = Slot::dynamic(function) {
            self.palette.reset(slot);
        }
    }

    /// XTPUSHCOLORS.
    pub(crate) fn push(&mut self, place: usize) {
        self.saved.push(place, &self.palette);
    }

    /// XTPOPCOLORS.
    pub(crate) fn pop(&mut self, place: usize) {
        if let Some(palette) = self.saved.pop(place) {
            self.palette = palette;
        }
    }
}

/// Parses a colour in a form of `XParseColor`: `rgb:R/G/B`, `#RGB` with one to four digits a
/// channel, a name, or a form of `spaces`.
pub(crate) fn parse_color(text: &str) -> Option<Rgb> {
    if let Some(digits) = text.strip_prefix('#') {
        return parse_sharp(digits);
    }
    let lower = text.to_ascii_lowercase();
    if let Some(channels) = lower.strip_prefix("rgb:") {
        let mut channels = channels.split('/').map(scaled);
        let mut next = || channels.next().flatten();
        let color = Rgb(next()?, next()?, next()?);
        return channels.next().is_none().then_some(color);
    }
    if lower.contains(':') {
        return spaces::parse(&lower);
    }
    let name = lower.replace(' ', "");
    NAMES
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, color)| *color)
}

/// `#`: the digits are the highest ones of 16 bits.
fn parse_sharp(digits: &str) -> Option<Rgb> {
    if !matches!(digits.len(), 3 | 6 | 9 | 12) || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    let length = digits.len() / 3;
    let channel = |at: usize| {
        let digits = digits.get(at * length..(at + 1) * length)?;
        let value = u16::from_str_radix(digits, 16).ok()?;
        u8::try_from(value << (16 - 4 * length) >> 8).ok()
    };
    Some(Rgb(channel(0)?, channel(1)?, channel(2)?))
}

/// `rgb:`: the digits are a fraction of the greatest number with as many digits.
fn scaled(digits: &str) -> Option<u8> {
    if !(1..=4).contains(&digits.len()) || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    let value = u32::from_str_radix(digits, 16).ok()?;
    let most = (1_u32 << (4 * digits.len())) - 1;
    u8::try_from((value * 0xffff / most) >> 8).ok()
}

/// The names of X11's `rgb.txt` that programs use for terminals' colours.
const NAMES: [(&str, Rgb); 32] = [
    ("black", Rgb(0, 0, 0)),
    ("white", Rgb(255, 255, 255)),
    ("red", Rgb(255, 0, 0)),
    ("green", Rgb(0, 255, 0)),
    ("blue", Rgb(0, 0, 255)),
    ("yellow", Rgb(255, 255, 0)),
    ("magenta", Rgb(255, 0, 255)),
    ("cyan", Rgb(0, 255, 255)),
    ("gray", Rgb(190, 190, 190)),
    ("grey", Rgb(190, 190, 190)),
    ("darkgray", Rgb(169, 169, 169)),
    ("darkgrey", Rgb(169, 169, 169)),
    ("lightgray", Rgb(211, 211, 211)),
    ("lightgrey", Rgb(211, 211, 211)),
    ("dimgray", Rgb(105, 105, 105)),
    ("dimgrey", Rgb(105, 105, 105)),
    ("gray90", Rgb(229, 229, 229)),
    ("gray50", Rgb(127, 127, 127)),
    ("darkred", Rgb(139, 0, 0)),
    ("darkgreen", Rgb(0, 100, 0)),
    ("darkblue", Rgb(0, 0, 139)),
    ("navy", Rgb(0, 0, 128)),
    ("orange", Rgb(255, 165, 0)),
    ("purple", Rgb(160, 32, 240)),
    ("violet", Rgb(238, 130, 238)),
    ("pink", Rgb(255, 192, 203)),
    ("brown", Rgb(165, 42, 42)),
    ("gold", Rgb(255, 215, 0)),
    ("maroon", Rgb(176, 48, 96)),
    ("turquoise", Rgb(64, 224, 208)),
    ("lightblue", Rgb(173, 216, 230)),
    ("lightgreen", Rgb(144, 238, 144)),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_as_programs_write_them() {
        let table: &[(&str, Option<Rgb>)] = &[
            ("rgb:f0f0/8080/0000", Some(Rgb(0xf0, 0x80, 0))),
            ("rgb:f/8/0", Some(Rgb(0xff, 0x88, 0))),
            ("RGB:ff/80/00", Some(Rgb(0xff, 0x80, 0))),
            ("rgb:fff/800/000", Some(Rgb(0xff, 0x80, 0))),
            ("#f80", Some(Rgb(0xf0, 0x80, 0))),
            ("#ff8000", Some(Rgb(0xff, 0x80, 0))),
            ("#f00800000", Some(Rgb(0xf0, 0x80, 0))),
            ("#f00080000000", Some(Rgb(0xf0, 0x80, 0))),
            ("Light Gray", Some(Rgb(211, 211, 211))),
            ("rgb:ff/80", None),
            ("rgb:ff/80/00/00", None),
            ("rgb:fffff/0/0", None),
            ("rgb:+f/0/0", None),
            ("#ff80", None),
            ("#+f0", None),
            ("#ä1", None),
            ("nosuch", None),
            ("", None),
        ];
        for (text, want) in table {
            assert_eq!(parse_color(text), *want, "{text}");
        }
    }

    #[test]
    fn the_256() {
        let table = [
            (1, Rgb(0xcd, 0, 0)),
            (16, Rgb(0, 0, 0)),
            (67, Rgb(95, 135, 175)),
            (231, Rgb(255, 255, 255)),
            (232, Rgb(8, 8, 8)),
            (255, Rgb(238, 238, 238)),
        ];
        for (index, want) in table {
            assert_eq!(indexed_default(index), want, "{index}");
        }
    }

    #[test]
    fn saved_palettes_are_bounded_and_numbered() {
        let mut saved = SavedPalettes::default();
        let mut palette = Palette::default();
        let slot = Slot(1);
        assert_eq!(saved.pop(0), None);
        for n in 0..100 {
            palette.set(slot, Rgb(n, 0, 0));
            saved.push(0, &palette);
        }
        assert_eq!(saved.report(), (MAX_SAVED, MAX_SAVED));
        assert_eq!(saved.pop(0).map(|p| p.get(slot)), Some(Rgb(9, 0, 0)));
        assert_eq!(saved.pop(3).map(|p| p.get(slot)), Some(Rgb(2, 0, 0)));
        assert_eq!(saved.report(), (2, MAX_SAVED));
        assert_eq!(saved.pop(99), None);
    }
}

//! Styles: what characters look like. Cells hold the number of a style in a table.
//!
//! The table is swept when it grows. The owner of the cells says which numbers are in use. Number 0
//! is always the default style.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

use termd_proto::screen::{Color, Underline};

/// The number of a style in [`Styles`].
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
pub(crate) struct StyleId(pub u32);

/// The number of a hyperlink in [`Styles`] (OSC 8); 0 for none.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
pub(crate) struct LinkId(pub u32);

/// The attributes of SGR that are on or off.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Attributes(u16);

impl Attributes {
    /// SGR 1.
    pub(crate) const BOLD: Self = Self(1);
    /// SGR 2.
    pub(crate) const FAINT: Self = Self(1 << 1);
    /// SGR 3.
    pub(crate) const ITALIC: Self = Self(1 << 2);
    /// SGR 5.
    pub(crate) const BLINK: Self = Self(1 << 3);
    /// SGR 6; shown as blink.
    pub(crate) const RAPID_BLINK: Self = Self(1 << 4);
    /// SGR 7.
    pub(crate) const INVERSE: Self = Self(1 << 5);
    /// SGR 8.
    pub(crate) const INVISIBLE: Self = Self(1 << 6);
    /// SGR 9.
    pub(crate) const CROSSED_OUT: Self = Self(1 << 7);
    /// SGR 53.
    pub(crate) const OVERLINE: Self = Self(1 << 8);

    pub(crate) fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    pub(crate) fn insert(&mut self, other: Self) {
        self.0 |= other.0;
    }

    pub(crate) fn remove(&mut self, other: Self) {
        self.0 &= !other.0;
    }

    pub(crate) fn set(&mut self, other: Self, on: bool) {
        if on {
            self.insert(other);
        } else {
            self.remove(other);
        }
    }

    /// DECRARA: reverses these.
    pub(crate) fn toggle(&mut self, other: Self) {
        self.0 ^= other.0;
    }

    pub(crate) fn bits(self) -> u16 {
        self.0
    }

    pub(crate) fn from_bits(bits: u16) -> Self {
        Self(bits)
    }
}

/// What a character looks like.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Style {
    /// SGR 30 to 39, 90 to 97.
    pub foreground: Color,
    /// SGR 40 to 49, 100 to 107.
    pub background: Color,
    /// SGR 58, 59.
    pub underline_color: Color,
    /// SGR 4, 21, 24.
    pub underline: Underline,
    pub attributes: Attributes,
    /// OSC 8.
    pub link: LinkId,
}

impl Style {
    /// What an erased cell keeps: the background (bce).
    #[must_use]
    pub(crate) fn erased(self) -> Self {
        Self {
            background: self.background,
            ..Self::default()
        }
    }

    /// All of it but the link in two words, which are quick to compare and hash.
    #[inline]
    fn words(self) -> (u64, u64) {
        let bits = |color: Color| match color {
            Color::Default => 0,
            Color::Indexed(index) => 1 << 24 | u64::from(index),
            Color::Rgb(red, green, blue) => {
                2 << 24 | u64::from(red) << 16 | u64::from(green) << 8 | u64::from(blue)
            }
        };
        let attributes = u64::from(self.attributes.bits()) << 8 | self.underline as u64;
        (
            bits(self.foreground) << 32 | bits(self.background),
            bits(self.underline_color) << 32 | attributes,
        )
    }
}

impl Hash for Style {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let (first, second) = self.words();
        state.write_u64(first);
        state.write_u64(second ^ u64::from(self.link.0).rotate_left(32));
    }
}

/// A hash of a few words, as pictures in true colour have a new style for each cell. Collisions do
/// no harm: [`Styles::sweep`] bounds the table.
#[derive(Debug, Clone, Copy, Default)]
struct StyleHasher(u64);

/// 2^64 divided by the golden ratio, as in Fibonacci hashing.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

impl StyleHasher {
    #[inline]
    fn add(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(23) ^ word).wrapping_mul(GOLDEN);
    }
}

impl Hasher for StyleHasher {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.add(u64::from(*byte));
        }
    }

    #[inline]
    fn write_u64(&mut self, value: u64) {
        self.add(value);
    }

    #[inline]
    fn finish(&self) -> u64 {
        // The hash table takes the place from the low bits, and compares the high ones first.
        self.0 ^ self.0 >> 32
    }
}

/// A hyperlink.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Link {
    /// `id=`, which joins the parts of one link.
    pub id: Option<Box<str>>,
    /// The target.
    pub uri: Box<str>,
}

impl Link {
    pub(crate) fn text_bytes(&self) -> usize {
        self.uri.len() + self.id.as_ref().map_or(0, |id| id.len())
    }
}

/// The styles and links in use.
#[derive(Debug, Clone)]
pub(crate) struct Styles {
    styles: Vec<Style>,
    numbers: HashMap<Style, StyleId, BuildHasherDefault<StyleHasher>>,
    links: Vec<Link>,
    link_numbers: HashMap<Link, LinkId>,
    sweep_at: usize,
    sweep_links_at: usize,
    /// Recently used styles. Coloured output alternates between a few, and a hash for each costs
    /// more than the text between them. Empty, or of a power of two that grows with the styles.
    recent: Vec<Recent>,
    /// Changes with each sweep.
    generation: u64,
}

/// A style by its [`words`](Style::words) and link, and its number.
#[derive(Debug, Clone, Copy, Default)]
struct Recent {
    words: (u64, u64),
    link: LinkId,
    id: StyleId,
}

/// The first length of `recent`: 1.5 KiB once colours are used.
const FIRST_RECENT: usize = 64;
/// The greatest length of `recent`: 48 KiB. Pictures have more styles than any table.
const MOST_RECENT: usize = 2_048;

/// Styles before the first sweep: more than a themed editor uses.
const FIRST_SWEEP: usize = 1024;

impl Default for Styles {
    fn default() -> Self {
        Self {
            styles: vec![Style::default()],
            numbers: HashMap::default(),
            links: Vec::new(),
            link_numbers: HashMap::new(),
            sweep_at: FIRST_SWEEP,
            sweep_links_at: FIRST_SWEEP,
            recent: Vec::new(),
            generation: NEXT_GENERATION.fetch_add(1, Ordering::Relaxed),
        }
    }
}

/// Tables that were made or swept at different times have different generations.
static NEXT_GENERATION: AtomicU64 = AtomicU64::new(1);

impl Styles {
    /// About how many bytes it takes in memory.
    pub(crate) fn memory(&self) -> usize {
        let texts: usize = self.links.iter().map(Link::text_bytes).sum();
        self.styles.capacity() * size_of::<Style>()
            + self.numbers.capacity() * size_of::<(Style, StyleId)>()
            + self.recent.capacity() * size_of::<Recent>()
            + self.links.capacity() * size_of::<Link>()
            + self.link_numbers.capacity() * size_of::<(Link, LinkId)>()
            + 2 * texts
    }

    /// As long as this is the same, the numbers mean the same styles.
    #[inline]
    pub(crate) fn generation(&self) -> u64 {
        self.generation
    }

    /// All links; the first has number 1.
    pub(crate) fn links(&self) -> &[Link] {
        &self.links
    }

    #[inline]
    pub(crate) fn get(&self, id: StyleId) -> Style {
        self.styles.get(id.0 as usize).copied().unwrap_or_default()
    }

    /// The number of a style, which is new if the style was not in use.
    #[inline]
    pub(crate) fn number(&mut self, style: Style) -> StyleId {
        let words = style.words();
        if words == (0, 0) && style.link == LinkId(0) {
            return StyleId(0);
        }
        let place = self.recent_place(words);
        match self.recent.get(place) {
            Some(recent) if recent.words == words && recent.link == style.link => recent.id,
            _ => self.number_cold(style),
        }
    }

    /// The place of a style in `recent`, by the highest bits, which depend on all others.
    #[inline]
    fn recent_place(&self, words: (u64, u64)) -> usize {
        let mixed = (words.0.rotate_left(32) ^ words.1.rotate_left(29)).wrapping_mul(GOLDEN);
        let place = mixed >> (u64::BITS - self.recent.len().trailing_zeros());
        usize::try_from(place).unwrap_or(usize::MAX)
    }

    #[cold]
    fn number_cold(&mut self, style: Style) -> StyleId {
        let id = self.find_or_add(style);
        let places = (self.styles.len() * 2)
            .next_power_of_two()
            .clamp(FIRST_RECENT, MOST_RECENT);
        if self.recent.len() < places {
            self.recent = vec![Recent::default(); places];
        }
        let (words, link) = (style.words(), style.link);
        let place = self.recent_place(words);
        if let Some(recent) = self.recent.get_mut(place) {
            *recent = Recent { words, link, id };
        }
        id
    }

    fn find_or_add(&mut self, style: Style) -> StyleId {
        match self.numbers.entry(style) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(free) => {
                let id = StyleId(u32::try_from(self.styles.len()).unwrap_or(u32::MAX));
                self.styles.push(style);
                *free.insert(id)
            }
        }
    }

    pub(crate) fn link(&self, id: LinkId) -> Option<&Link> {
        self.links.get((id.0 as usize).checked_sub(1)?)
    }

    /// The number of a link, which is new if the link was not in use.
    pub(crate) fn link_number(&mut self, link: Link) -> LinkId {
        if let Some(id) = self.link_numbers.get(&link) {
            return *id;
        }
        self.links.push(link.clone());
        let id = LinkId(u32::try_from(self.links.len()).unwrap_or(u32::MAX));
        self.link_numbers.insert(link, id);
        id
    }

    #[inline]
    pub(crate) fn is_crowded(&self) -> bool {
        self.styles.len() >= self.sweep_at || self.links.len() >= self.sweep_links_at
    }

    /// Drops the styles and links that are not in use and numbers the others anew. The caller
    /// renumbers its cells and cursors by the result. An unused number becomes 0.
    pub(crate) fn sweep(&mut self, used: &[StyleId], used_links: &[LinkId]) -> Sweep {
        let old = std::mem::take(self);
        // Pictures need as many again.
        self.numbers.reserve(used.len());
        let mut sweep = Sweep {
            styles: vec![StyleId(0); old.styles.len()],
            links: vec![LinkId(0); old.links.len() + 1],
        };
        let mut keep_link = |this: &mut Self, id: LinkId| {
            let slot = sweep.links.get(id.0 as usize).copied();
            match (slot, old.link(id)) {
                (Some(LinkId(0)), Some(link)) => {
                    let new = this.link_number(link.clone());
                    sweep.links[id.0 as usize] = new;
                    new
                }
                (Some(new), _) => new,
                (None, _) => LinkId(0),
            }
        };
        for id in used_links {
            keep_link(self, *id);
        }
        for id in used {
            let Some(slot) = sweep.styles.get(id.0 as usize).copied() else {
                continue;
            };
            if id.0 == 0 || slot.0 != 0 {
                continue;
            }
            let mut style = old.get(*id);
            style.link = keep_link(self, style.link);
            sweep.styles[id.0 as usize] = self.number(style);
        }
        // Four times what is in use, so that three times as many new styles pay for a sweep.
        self.sweep_at = (self.styles.len() * 4).max(FIRST_SWEEP);
        self.sweep_links_at = (self.links.len() * 2).max(FIRST_SWEEP);
        sweep
    }
}

/// The new numbers after a sweep.
#[derive(Debug)]
pub(crate) struct Sweep {
    styles: Vec<StyleId>,
    links: Vec<LinkId>,
}

impl Sweep {
    pub(crate) fn style(&self, old: StyleId) -> StyleId {
        self.styles.get(old.0 as usize).copied().unwrap_or_default()
    }

    pub(crate) fn link(&self, old: LinkId) -> LinkId {
        self.links.get(old.0 as usize).copied().unwrap_or_default()
    }
}

//! Characters that do not fit a cell: a base with combining marks, selectors or joiners.
//!
//! Both the length of each and their number are bounded.

use std::collections::HashMap;

use crate::grid::cell::MAX_GRAPHEMES;

/// Longest grapheme kept, in bytes of UTF-8. The longest emoji sequence takes 35. Further marks are
/// dropped, so a million of them on one cell cost nothing.
pub(crate) const MAX_GRAPHEME_BYTES: usize = 64;
/// Graphemes before the first sweep.
const FIRST_SWEEP: usize = 1024;

/// The graphemes in use.
#[derive(Debug, Clone)]
pub(crate) struct Graphemes {
    texts: Vec<Box<str>>,
    numbers: HashMap<Box<str>, u32>,
    sweep_at: usize,
    /// Results of recent joins; empty until there is one.
    joined: Vec<Joined>,
}

/// A mark put on a cell's content, and the number of the result.
#[derive(Debug, Clone, Copy, Default)]
struct Joined {
    content: u32,
    mark: char,
    number: u32,
}

/// How many joins are remembered, a power of two. Emoji come again and again.
const REMEMBERED: usize = 256;

impl Default for Graphemes {
    fn default() -> Self {
        Self {
            texts: Vec::new(),
            numbers: HashMap::new(),
            sweep_at: FIRST_SWEEP,
            joined: Vec::new(),
        }
    }
}

fn place(content: u32, mark: char) -> usize {
    let mixed = content.wrapping_mul(0x9e37_79b1) ^ u32::from(mark).wrapping_mul(0x85eb_ca6b);
    (mixed >> 16) as usize % REMEMBERED
}

impl Graphemes {
    pub(crate) fn get(&self, number: u32) -> &str {
        self.texts
            .get(number as usize)
            .map_or("\u{fffd}", |text| text)
    }

    /// The number of a text; `None` where the table is full or the text too long.
    pub(crate) fn number(&mut self, text: &str) -> Option<u32> {
        if let Some(number) = self.numbers.get(text) {
            return Some(*number);
        }
        if text.len() > MAX_GRAPHEME_BYTES || self.texts.len() >= MAX_GRAPHEMES {
            return None;
        }
        let number = u32::try_from(self.texts.len()).ok()?;
        self.texts.push(text.into());
        self.numbers.insert(text.into(), number);
        Some(number)
    }

    /// The number of `mark` on `content` (a cell's bits), if they were joined recently.
    #[inline]
    pub(crate) fn joined(&self, content: u32, mark: char) -> Option<u32> {
        let joined = self.joined.get(place(content, mark))?;
        (joined.content == content && joined.mark == mark).then_some(joined.number)
    }

    pub(crate) fn remember_joined(&mut self, content: u32, mark: char, number: u32) {
        if self.joined.is_empty() {
            self.joined = vec![Joined::default(); REMEMBERED];
        }
        self.joined[place(content, mark)] = Joined {
            content,
            mark,
            number,
        };
    }

    #[inline]
    pub(crate) fn is_crowded(&self) -> bool {
        self.texts.len() >= self.sweep_at
    }

    /// About how many bytes it takes in memory.
    pub(crate) fn memory(&self) -> usize {
        let texts: usize = self.texts.iter().map(|text| text.len()).sum();
        self.texts.capacity() * size_of::<Box<str>>()
            + self.numbers.capacity() * size_of::<(Box<str>, u32)>()
            + 2 * texts
    }

    /// Drops what is not in `used`. Returns the new number of each old one.
    pub(crate) fn sweep(&mut self, used: impl Iterator<Item = u32>) -> Vec<u32> {
        let old = std::mem::take(self);
        let mut renumbered = vec![0; old.texts.len()];
        for number in used {
            if let Some(text) = old.texts.get(number as usize)
                && let Some(new) = self.number(text)
            {
                renumbered[number as usize] = new;
            }
        }
        self.sweep_at = (self.texts.len() * 2).max(FIRST_SWEEP);
        renumbered
    }
}

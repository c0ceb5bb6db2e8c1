//! Characters that do not fit a cell: a base with combining marks, selectors or joiners on it.
//!
//! Bounded twice: each one's length, and the table, which is swept as the styles are.

use std::collections::HashMap;

use super::cell::MAX_GRAPHEMES;

/// Longest grapheme kept, in bytes of UTF-8: the longest emoji sequence takes 35. What comes on
/// top is dropped, so that a million combining marks on one cell cost nothing.
pub const MAX_GRAPHEME_BYTES: usize = 64;
/// Graphemes kept before the first sweep.
const FIRST_SWEEP: usize = 1024;

/// The graphemes in use.
#[derive(Debug, Clone)]
pub struct Graphemes {
    texts: Vec<Box<str>>,
    numbers: HashMap<Box<str>, u32>,
    sweep_at: usize,
}

impl Default for Graphemes {
    fn default() -> Self {
        Self {
            texts: Vec::new(),
            numbers: HashMap::new(),
            sweep_at: FIRST_SWEEP,
        }
    }
}

impl Graphemes {
    /// The text with this number.
    pub fn get(&self, number: u32) -> &str {
        self.texts
            .get(number as usize)
            .map_or("\u{fffd}", |text| text)
    }

    /// The number of a text; `None` where the table is full or the text too long.
    pub fn number(&mut self, text: &str) -> Option<u32> {
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

    /// Whether it is time to sweep.
    #[inline]
    pub fn is_crowded(&self) -> bool {
        self.texts.len() >= self.sweep_at
    }

    /// Bytes that it takes, about.
    pub fn memory(&self) -> usize {
        let texts: usize = self.texts.iter().map(|text| text.len()).sum();
        self.texts.capacity() * size_of::<Box<str>>()
            + self.numbers.capacity() * size_of::<(Box<str>, u32)>()
            + 2 * texts
    }

    /// Forgets what is not in `used`; the answer maps an old number to the new one.
    pub fn sweep(&mut self, used: impl Iterator<Item = u32>) -> Vec<u32> {
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

//! Secrets that were printed near a piece of output, by their texts.
//!
//! A piece begins or ends anywhere: within a secret, within an escape sequence in one, or while the cursor is
//! elsewhere. What is near it shows the secret whole, and a part of it in the piece is hidden wherever it stands.

use std::collections::HashSet;
use std::fmt;
use std::ops::Range;

use super::{KnownSecrets, PrintedText, classes, with_control_strings};
use crate::secrets::redact::Redactor;

/// The shortest part that is hidden, in bytes. A shorter one is a part of other words.
const MIN_PART_BYTES: usize = 8;
/// A piece up to this length may be all that was asked for, to see a secret in parts.
const SHORT_PIECE_BYTES: usize = 64;
/// The shortest word of a short piece that is hidden, in bytes: the fewest that a read can be bounded to.
const MIN_WORD_BYTES: usize = 4;

/// The texts of secrets near a piece of output.
#[derive(Clone, Default)]
pub struct NearbySecrets {
    texts: Vec<String>,
    /// All parts of the shortest length.
    parts: HashSet<[u8; MIN_PART_BYTES]>,
}

impl Redactor {
    /// The secrets in what was printed around a piece of output.
    pub fn nearby(&self, known: &KnownSecrets, around: &[&str]) -> NearbySecrets {
        let mut nearby = NearbySecrets::default();
        for text in around {
            for (_, text) in with_control_strings(text) {
                for printed in PrintedText::readings(text) {
                    for (secret, _) in self.secrets_in(known, printed.text()) {
                        nearby.add(printed.text().get(secret).unwrap_or_default());
                    }
                }
            }
        }
        nearby
    }
}

impl fmt::Debug for NearbySecrets {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} secrets", self.texts.len())
    }
}

impl NearbySecrets {
    fn add(&mut self, secret: &str) {
        if self.texts.iter().any(|known| known == secret) {
            return;
        }
        let windows = secret.as_bytes().windows(MIN_PART_BYTES);
        self.parts
            .extend(windows.filter_map(|part| <[u8; MIN_PART_BYTES]>::try_from(part).ok()));
        self.texts.push(secret.to_owned());
    }

    /// Where parts of the secrets stand in a text without escape sequences.
    pub(super) fn find(&self, text: &str) -> Vec<Range<usize>> {
        if self.texts.is_empty() {
            return Vec::new();
        }
        let mut found = self.long_parts(text);
        if text.len() <= SHORT_PIECE_BYTES {
            found.extend(self.words(text));
        }
        found
    }

    fn long_parts(&self, text: &str) -> Vec<Range<usize>> {
        let mut runs: Vec<Range<usize>> = Vec::new();
        for (at, part) in text.as_bytes().windows(MIN_PART_BYTES).enumerate() {
            if !self.parts.contains(part) {
                continue;
            }
            let end = at + MIN_PART_BYTES;
            match runs.last_mut() {
                // Only one that shares all but its last byte goes on.
                Some(run) if run.end + 1 == end => run.end = end,
                _ => runs.push(at..end),
            }
        }
        let whole = |run: Range<usize>| {
            text.floor_char_boundary(run.start)..text.ceil_char_boundary(run.end)
        };
        let mut runs: Vec<_> = runs.into_iter().map(whole).collect();
        // A word may stand in a secret and elsewhere.
        runs.retain(|run| text.get(run.clone()).is_some_and(|part| classes(part) > 1));
        runs
    }

    /// Words that are a part of a secret by themselves.
    fn words(&self, text: &str) -> Vec<Range<usize>> {
        let mut at = 0;
        let is_between = |c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '-');
        let words = text.split_inclusive(is_between).map(|word| {
            let start = at;
            at += word.len();
            start..start + word.trim_end_matches(is_between).len()
        });
        let is_part = |word: &Range<usize>| {
            let word = text.get(word.clone()).unwrap_or_default();
            word.len() >= MIN_WORD_BYTES && self.texts.iter().any(|secret| secret.contains(word))
        };
        words.filter(is_part).collect()
    }
}

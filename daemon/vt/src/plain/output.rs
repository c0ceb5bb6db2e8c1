//! What a reader was given, and where in the raw output it came from.

use std::hash::{DefaultHasher, Hash, Hasher};

/// Bytes of text between two [`Anchor`]s at the least: they must cost less than the text.
const ANCHOR_STEP_BYTES: usize = 256;

/// The text that was given of a row, as much as is needed to know it again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Given {
    length: usize,
    hash: u64,
}

impl Given {
    pub(super) fn of(text: &str) -> Self {
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        Self {
            length: text.len(),
            hash: hasher.finish(),
        }
    }

    /// What follows the given text, where this text begins with it.
    pub(super) fn rest_of<'a>(&self, text: &'a str) -> Option<&'a str> {
        let (head, rest) = text.split_at_checked(self.length)?;
        (Self::of(head) == *self).then_some(rest)
    }
}

/// A place in the text whose raw offset is known: the start of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Anchor {
    /// Bytes into the text.
    pub text: usize,
    /// The raw offset that the row there began at.
    pub raw: u64,
}

/// Text on its way out, and where it came from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Output {
    /// The text.
    pub text: String,
    /// Ascending in both members, one a row at the most, and none nearer than 256 bytes of text to
    /// the one before: between two of them text and raw output are taken to go on byte by byte.
    pub anchors: Vec<Anchor>,
    density: Density,
}

/// How near anchors may be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Density {
    #[default]
    Sparse,
    EveryRow,
}

impl Output {
    pub(super) fn anchor(&mut self, raw: u64) {
        let text = self.text.len();
        let is_far = self
            .anchors
            .last()
            .is_none_or(|last| text - last.text >= ANCHOR_STEP_BYTES);
        if is_far || self.density == Density::EveryRow {
            self.anchors.push(Anchor { text, raw });
        }
    }

    pub(super) fn every_anchor(&mut self) {
        self.density = Density::EveryRow;
    }

    /// All of it; leaves nothing.
    pub(super) fn take(&mut self) -> Self {
        let empty = self.like();
        std::mem::replace(self, empty)
    }

    /// An empty one of the same kind.
    pub(super) fn like(&self) -> Self {
        Self {
            density: self.density,
            ..Self::default()
        }
    }

    pub(super) fn clear(&mut self) {
        self.text.clear();
        self.anchors.clear();
    }
}

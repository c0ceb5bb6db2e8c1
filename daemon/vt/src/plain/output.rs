//! The text that was emitted, and where in the raw output it came from.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::codec::{Reader, Writer};

/// The least bytes of text between two [`Anchor`]s, as they must cost less than the text.
const ANCHOR_STEP_BYTES: usize = 256;

/// What is needed to recognise the text that was emitted of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Emitted {
    length: usize,
    hash: u64,
}

impl Emitted {
    pub(super) fn of(text: &str) -> Self {
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        Self {
            length: text.len(),
            hash: hasher.finish(),
        }
    }

    pub(super) fn dump(&self, out: &mut Writer) {
        out.count(self.length);
        out.u64(self.hash);
    }

    pub(super) fn restore(from: &mut Reader<'_>) -> Option<Self> {
        let length = from.u32()? as usize;
        let hash = from.u64()?;
        Some(Self { length, hash })
    }

    /// The rest of a text that begins with the emitted text.
    pub(super) fn rest_of<'a>(&self, text: &'a str) -> Option<&'a str> {
        let (head, rest) = text.split_at_checked(self.length)?;
        (Self::of(head) == *self).then_some(rest)
    }
}

/// A position in the text whose raw offset is known: the start of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Anchor {
    /// Position in the text, in bytes.
    pub text: usize,
    /// The raw offset at which the row begins.
    pub raw: u64,
}

/// Text, and where in the raw output it came from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Output {
    /// The text, in lines ended by LF.
    pub text: String,
    /// Ascending, at most one a row, and at least 256 bytes of text apart unless each row has one.
    /// Between two anchors text and raw output are taken to advance byte by byte.
    pub anchors: Vec<Anchor>,
    density: Density,
}

/// How near to each other anchors may be.
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

    pub(super) fn take(&mut self) -> Self {
        let empty = self.like();
        std::mem::replace(self, empty)
    }

    /// An empty output of the same density.
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

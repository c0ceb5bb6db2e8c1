//! What the index of the search is made of: parts of terminals' plain text, their order, and what they can be
//! asked for.

use termd_proto::Offset;

/// A document's key is its terminal's number and, in the lower bits, its own: keys are in the order of the
/// answers. The bits are for 16 million documents, a tebibyte of one terminal's text.
pub(super) const DOCUMENT_BITS: u32 = 24;

/// How far a terminal's output is indexed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndexProgress {
    /// How many documents it has.
    pub documents: i64,
    /// Where the output begins that is not indexed.
    pub next: Offset,
    /// Whether nothing follows.
    pub is_done: bool,
}

impl IndexProgress {
    /// Whether one of the terminal's documents was indexed by then. Its offsets do not say so: the last one
    /// may be of no output, and begin where the index ends.
    pub fn has(&self, document: &IndexedDocument) -> bool {
        document.number() < self.documents
    }
}

/// A part of a terminal's plain text that is to be indexed.
#[derive(Debug)]
pub struct NewDocument {
    /// Where the output begins and ends that the text is of.
    pub range: (Offset, Offset),
    /// Whether the text was ended there, with what was unfinished.
    pub is_ended: bool,
    /// The state of the resolver at the range's start.
    pub state: Vec<u8>,
    /// The text with its case folded; empty: no document is written.
    pub text: String,
    /// The parts of its numbers, as words.
    pub numbers: String,
}

/// What a text must have in it, as FTS5 queries. `None`: nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexQuestion {
    /// Of trigrams.
    pub trigrams: Option<String>,
    /// Of parts of numbers.
    pub numbers: Option<String>,
}

/// A part of a terminal's text in which a match may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexedDocument {
    /// The terminal's number.
    pub terminal: i64,
    /// Where the output begins that the text is of.
    pub start: Offset,
    /// Where it ends.
    pub end: Offset,
    /// Whether the text was ended there, with what was unfinished.
    pub is_ended: bool,
    /// The state of the resolver at its start.
    pub state: Vec<u8>,
    pub(super) key: i64,
}

impl IndexedDocument {
    fn number(&self) -> i64 {
        self.key & ((1 << DOCUMENT_BITS) - 1)
    }

    /// A place before this document and behind all older ones.
    pub fn before(&self) -> IndexPlace {
        IndexPlace(self.key - 1)
    }
}

/// A place in the order of documents: the last one that may be given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndexPlace(pub(super) i64);

impl IndexPlace {
    /// At the newest document of a terminal.
    pub fn newest_of(terminal: i64) -> Self {
        Self(key(terminal, (1 << DOCUMENT_BITS) - 1))
    }
}

/// The key of a terminal's document.
pub(super) fn key(terminal: i64, document: i64) -> i64 {
    terminal
        .saturating_mul(1 << DOCUMENT_BITS)
        .saturating_add(document)
}

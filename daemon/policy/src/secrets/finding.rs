//! What a look at a text has found: where secrets stand, and what is never hidden.

use std::ops::Range;

/// A place of a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    /// The whole value, with its quotes.
    pub(super) value: Range<usize>,
    pub(super) kind: PlaceKind,
}

/// What kind of place a secret stands in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PlaceKind {
    /// An option's, a field's, a header's or an address's value, or a token.
    Value,
    /// The value of a variable with this name, which the text may use later.
    Variable(Range<usize>),
    /// What a person's own pattern has found.
    Match,
}

/// What a look at a text has found.
#[derive(Debug, Default)]
pub(super) struct Finding {
    pub(super) places: Vec<Place>,
    /// Command words: a shell runs what they name.
    pub(super) commands: Vec<Range<usize>>,
    /// Whether the text computes what it runs.
    pub(super) is_computed: bool,
}

impl Finding {
    /// Adds a value.
    pub(super) fn add(&mut self, value: Range<usize>) {
        self.places.push(Place {
            value,
            kind: PlaceKind::Value,
        });
    }

    /// Adds what a look at a part of the text has found, which begins at `base`.
    pub(super) fn add_value_at(&mut self, base: usize, value: &Range<usize>) {
        self.add(base + value.start..base + value.end);
    }
}

//! What keys mean at the moment.

use termd_proto::search::SearchHit;

use super::prompt::{Confirmed, Prompt};

/// What keys mean at the moment.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Mode {
    Browse,
    Prompt(Prompt),
    Confirm(Confirmed),
    /// The question alone, from this line on.
    Question(u16),
    /// The keys, from this line on.
    Help(u16),
    Hits(Hits),
}

/// What a search has found.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Hits {
    pub(super) pattern: String,
    /// `None`: it is still searched.
    pub(super) found: Option<Vec<SearchHit>>,
    pub(super) is_cut: bool,
    pub(super) at: usize,
}

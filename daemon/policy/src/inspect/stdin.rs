//! What a command reads.

use crate::shell::word::UNKNOWN;

/// What a command reads from its standard input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stdin {
    /// The terminal, or a file whose name is not known.
    Given,
    /// This file.
    File(String),
    /// This text. Each part that is not known stands as [`UNKNOWN`].
    Literal(String),
    /// Bytes from a network, or out of an encoding that hides them.
    Fetched,
    /// The output of another command.
    Computed,
}

impl Stdin {
    /// A text that a command prints, by its known parts.
    pub(super) fn of_text(text: String, fetches: bool) -> Self {
        let is_unknown = text.contains(UNKNOWN);
        match (is_unknown, fetches) {
            (true, true) => Self::Fetched,
            (true, false) if text.chars().all(|c| c == UNKNOWN || c.is_whitespace()) => {
                Self::Computed
            }
            _ => Self::Literal(text),
        }
    }

    /// The text, if there is one.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Literal(text) => Some(text),
            Self::Given | Self::File(_) | Self::Fetched | Self::Computed => None,
        }
    }
}

//! What a command reads.

use crate::shell::word::UNKNOWN;

/// A part of a command's standard input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    Text(String),
    File(String),
}

/// What a command reads from its standard input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stdin {
    /// The terminal, or a file whose name is not known.
    Given,
    /// This file.
    File(String),
    /// Files and texts, one behind the other: `cat a - b`.
    Joined(Vec<Piece>),
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

    /// The files that are read.
    pub(super) fn files(&self) -> Vec<&str> {
        match self {
            Self::File(path) => vec![path],
            Self::Joined(pieces) => {
                let files = pieces.iter().filter_map(|piece| match piece {
                    Piece::File(path) => Some(path.as_str()),
                    Piece::Text(_) => None,
                });
                files.collect()
            }
            _ => Vec::new(),
        }
    }

    /// The text, if there is one.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Literal(text) => Some(text),
            Self::Given | Self::File(_) | Self::Joined(_) | Self::Fetched | Self::Computed => None,
        }
    }
}

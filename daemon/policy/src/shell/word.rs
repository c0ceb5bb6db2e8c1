//! A word of a command.

use termd_proto::policy::Span;

/// Stands for a part of a word that only the running shell can know: U+FFFC, the object
/// replacement character.
pub(crate) const UNKNOWN: char = '\u{fffc}';

/// One word of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Word {
    /// What the command gets. Each part that is not known stands as [`UNKNOWN`].
    pub(crate) text: String,
    /// As it was written.
    pub(crate) raw: String,
    pub(crate) span: Span,
}

impl Word {
    /// A word without quotes or expansions, such as one of an argv.
    pub(crate) fn literal(text: &str, span: Span) -> Self {
        Self {
            text: text.to_owned(),
            raw: text.to_owned(),
            span,
        }
    }

    /// Whether all of it is known.
    pub(crate) fn is_known(&self) -> bool {
        !self.text.contains(UNKNOWN)
    }
}

/// The texts of words, joined by one space.
pub(crate) fn joined(words: &[Word]) -> String {
    let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    texts.join(" ")
}

/// Whether a word is `NAME=value` (POSIX 2.9.1).
pub(crate) fn is_assignment(text: &str) -> bool {
    text.split_once('=').is_some_and(|(name, _)| {
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

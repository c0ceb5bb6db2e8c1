//! A word of a command.

use termd_proto::policy::Span;

/// Stands for a part of a word that only the running shell can know: U+FFFC, the object
/// replacement character.
pub(crate) const UNKNOWN: char = '\u{fffc}';

/// One word of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Word {
    /// What the command gets. Each part that is not known stands as [`UNKNOWN`]; a pattern of file
    /// names stands as it was written.
    pub(crate) text: String,
    /// As it was written.
    pub(crate) raw: String,
    pub(crate) span: Span,
    /// The text with each pattern of file names as [`UNKNOWN`], where it holds one.
    pub(crate) matched: Option<String>,
    /// Whether the shell may make several words of it, or none: it holds an unknown part outside
    /// quotes.
    pub(crate) splits: bool,
}

impl Word {
    /// A word without quotes or expansions, such as one of an argv.
    pub(crate) fn literal(text: &str, span: Span) -> Self {
        Self {
            text: text.to_owned(),
            raw: text.to_owned(),
            span,
            matched: None,
            splits: false,
        }
    }

    /// A word of which nothing is known, not even that it is one.
    pub(crate) fn unknown(span: Span) -> Self {
        let text = UNKNOWN.to_string();
        Self {
            splits: true,
            ..Self::literal(&text, span)
        }
    }

    /// Whether all of it is known.
    pub(crate) fn is_known(&self) -> bool {
        !self.text.contains(UNKNOWN)
    }

    /// What the command may get: patterns of file names stand as [`UNKNOWN`] too.
    pub(crate) fn possible(&self) -> &str {
        self.matched.as_deref().unwrap_or(&self.text)
    }

    /// Whether the word is one text, in which no pattern of file names stands. A home is none.
    pub(crate) fn is_one_text(&self) -> bool {
        let is_pattern = || self.matched.is_some() && self.path() != self.text;
        !self.splits && !is_pattern()
    }

    /// The path that the command may get: a home as `~`, and patterns of file names as [`UNKNOWN`].
    pub(crate) fn path(&self) -> String {
        let home = self.text.find('/').unwrap_or(self.text.len());
        let home = self.text.get(..home).filter(|home| home.starts_with('~'));
        match (home, self.possible().strip_prefix(UNKNOWN)) {
            (Some(home), Some(rest)) => format!("{home}{rest}"),
            _ => self.possible().to_owned(),
        }
    }

    /// Whether the word may become an option, several words, or none.
    pub(crate) fn may_shift(&self) -> bool {
        let text = self.possible();
        self.splits
            || text.starts_with(UNKNOWN)
            || (text.starts_with('-') && text.contains(UNKNOWN))
    }
}

/// The texts of words, joined by one space.
pub(crate) fn joined(words: &[Word]) -> String {
    let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    texts.join(" ")
}

/// Whether a word is `NAME=value` (POSIX 2.9.1).
pub(crate) fn is_assignment(text: &str) -> bool {
    text.split_once('=').is_some_and(|(name, _)| is_name(name))
}

/// Whether a text is a variable's name (POSIX 3.216).
pub(crate) fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

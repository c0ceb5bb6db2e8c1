//! The words that the parts of a written word become.

use crate::shell::word::UNKNOWN;

/// Where an expansion stands. The value of a bare one is split and matched with file names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quoting {
    Bare,
    Double,
}

/// The texts of one word.
#[derive(Debug, Default)]
pub(super) struct WordText {
    pub(super) text: String,
    /// The text with each pattern as unknown.
    pub(super) matched: String,
    pub(super) has_pattern: bool,
    pub(super) splits: bool,
}

/// Puts words together of texts, patterns and values, and splits values into words.
///
/// **Invariant:** what is not known stands as [`UNKNOWN`].
#[derive(Debug, Default)]
pub(super) struct WordBuilder {
    words: Vec<WordText>,
    current: WordText,
    /// Whether there is a current word. It may be empty, as `''` is.
    has_current: bool,
    /// Whether the words are the value of an assignment, which is neither split nor matched.
    is_value: bool,
}

impl WordBuilder {
    /// Builds the value of an assignment.
    pub(super) fn of_value() -> Self {
        Self {
            is_value: true,
            ..Self::default()
        }
    }

    pub(super) fn is_value(&self) -> bool {
        self.is_value
    }

    /// The words, of which the current one is the last.
    pub(super) fn finish(mut self) -> Vec<WordText> {
        self.end_word();
        self.words
    }

    /// The text of the current word.
    pub(super) fn into_text(self) -> String {
        self.current.text
    }

    /// Begins a word that may stay empty.
    pub(super) fn begin_word(&mut self) {
        self.has_current = true;
    }

    pub(super) fn end_word(&mut self) {
        if std::mem::take(&mut self.has_current) {
            self.words.push(std::mem::take(&mut self.current));
        }
    }

    pub(super) fn push(&mut self, c: char) {
        self.has_current = true;
        self.current.text.push(c);
        self.current.matched.push(c);
    }

    pub(super) fn push_str(&mut self, text: &str) {
        self.has_current = true;
        self.current.text.push_str(text);
        self.current.matched.push_str(text);
    }

    /// Adds a part of a pattern of file names.
    pub(super) fn push_pattern(&mut self, pattern: &str) {
        self.has_current = true;
        self.current.text.push_str(pattern);
        self.current.matched.push(UNKNOWN);
        self.current.has_pattern = true;
    }

    /// Adds a part that is not known. Outside quotes it may be several words.
    pub(super) fn push_unknown(&mut self, quoting: Quoting) {
        self.push(UNKNOWN);
        self.current.splits |= quoting == Quoting::Bare && !self.is_value;
    }

    /// Adds the value of an expansion. It is split at the separators; `None`: they are not known.
    pub(super) fn push_value(&mut self, value: &str, separators: Option<&str>, quoting: Quoting) {
        if quoting == Quoting::Double || self.is_value {
            self.push_str(value);
            return;
        }
        let Some(separators) = separators else {
            self.push_unknown(quoting);
            return;
        };
        let closes = value.contains(']');
        for c in value.chars() {
            match c {
                c if separators.contains(c) => self.end_word(),
                UNKNOWN => self.push_unknown(quoting),
                '*' | '?' => self.push_pattern(c.encode_utf8(&mut [0; 4])),
                '[' if closes => {
                    self.push_pattern("[");
                    self.current.splits = true;
                }
                c => self.push(c),
            }
        }
    }
}

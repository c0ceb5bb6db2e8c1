//! A command that gets words which its starter reads, as xargs(1) and parallel(1) give them.

use termd_proto::policy::Span;

use crate::shell::word::{UNKNOWN, Word};

/// Words that a program reads of which each may be the first of a command.
const MAX_BATCHES: usize = 32;

/// How many commands get the words that a program reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Batches {
    One,
    /// Any word may be the first of a command.
    Some,
    /// How the text becomes words is not known either.
    Any,
}

/// A command that also gets words which the program reads: at its end, or in place of a placeholder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BatchCommand {
    pub(crate) words: Vec<Word>,
    pub(crate) placeholder: Option<String>,
    pub(crate) batches: Batches,
}

impl BatchCommand {
    /// The commands that become of it. `text` is what the program reads; `None`: it is not known.
    pub(crate) fn commands(self, text: Option<&str>, span: Span) -> Vec<Vec<Word>> {
        let unknown = UNKNOWN.to_string();
        let text = text.unwrap_or(&unknown);
        match self.placeholder.as_deref() {
            None | Some("") => self.with_words_of(text, span),
            Some(placeholder) => {
                let lines: Vec<&str> = text.lines().collect();
                let replacement = match lines.as_slice() {
                    [only] => only.trim(),
                    _ => &unknown,
                };
                let replaced = self.words.iter().map(|word| Word {
                    text: word.text.replace(placeholder, replacement),
                    ..word.clone()
                });
                vec![replaced.collect()]
            }
        }
    }

    fn with_words_of(&self, text: &str, span: Span) -> Vec<Vec<Word>> {
        let parts = text.split(|c: char| c.is_whitespace() || c == '\0');
        let parts = parts.filter(|text| !text.is_empty());
        let read: Vec<Word> = parts.map(|text| Word::literal(text, span)).collect();
        let is_unclear = text.contains(['\'', '"', '\\', UNKNOWN]);
        let with = |read: &[Word]| [self.words.as_slice(), read].concat();
        if is_unclear || self.batches == Batches::Any || read.len() > MAX_BATCHES {
            vec![with(&[Word::unknown(span)])]
        } else if self.batches == Batches::Some && read.len() > 1 {
            (0..read.len())
                .filter_map(|first| read.get(first..))
                .map(with)
                .collect()
        } else {
            vec![with(&read)]
        }
    }
}

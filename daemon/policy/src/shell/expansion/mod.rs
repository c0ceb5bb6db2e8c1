//! What a written word becomes: quotes removed, escapes read, braces expanded, variables and the output of
//! commands put in where the text tells them (POSIX 2.2 and 2.6; bash(1), EXPANSION).
//!
//! **Promise:** a part that cannot be known stands as [`UNKNOWN`](super::word::UNKNOWN) in the result. It is
//! never left out, and nothing is put in its place.

mod braces;
pub(crate) mod choices;
mod content;
mod expander;
pub(crate) mod format;
mod parameter;
pub(crate) mod printed;
pub(crate) mod source;
mod word_builder;

use termd_proto::policy::Span;

use crate::shell::state::ShellState;
use crate::shell::word::Word;
use crate::work;
use braces::expand_braces;
use choices::Choices;
use expander::Expander;
use word_builder::WordBuilder;

/// Substitutions in substitutions that are evaluated.
pub(super) const MAX_EVALUATION_DEPTH: usize = 6;

/// What it takes to expand a word, beside its bytes.
const UNITS_OF_WORD: usize = 192;

/// Where a word is evaluated.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scope<'a> {
    pub(crate) state: &'a ShellState,
    /// How many substitutions the word stands in.
    pub(crate) depth: usize,
}

impl<'a> Scope<'a> {
    /// The outermost scope of a shell.
    pub(crate) fn of(state: &'a ShellState) -> Self {
        Self { state, depth: 0 }
    }
}

/// The words that one written word becomes, for one choice of the values that are possible.
pub(crate) fn expand(raw: &str, span: Span, scope: Scope<'_>, choices: &mut Choices) -> Vec<Word> {
    let mut written = Vec::new();
    expand_braces(raw, 0, &mut written);
    let mut words = Vec::new();
    for one in written {
        if !work::spend(UNITS_OF_WORD + one.len()) {
            words.push(Word::unknown(span));
            break;
        }
        let mut expander = Expander::new(&one, WordBuilder::default(), scope, choices);
        expander.read();
        words.extend(expander.words.finish().into_iter().map(|word| Word {
            matched: word.has_pattern.then_some(word.matched),
            text: word.text,
            splits: word.splits,
            raw: raw.to_owned(),
            span,
        }));
    }
    words
}

/// The text that a here-document or an assignment becomes: nothing is split, and no name is matched.
pub(crate) fn expand_text(raw: &str, scope: Scope<'_>, choices: &mut Choices) -> String {
    let mut expander = Expander::new(raw, WordBuilder::default(), scope, choices);
    expander.here_document();
    expander.words.into_text()
}

/// The value that an assignment gives: its word without splitting and matching.
pub(crate) fn expand_value(raw: &str, scope: Scope<'_>, choices: &mut Choices) -> String {
    let mut expander = Expander::new(raw, WordBuilder::of_value(), scope, choices);
    expander.read();
    let words = expander.words.finish().into_iter();
    let texts: Vec<String> = words.map(|word| word.text).collect();
    texts.join(" ")
}

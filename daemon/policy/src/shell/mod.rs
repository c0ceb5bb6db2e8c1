//! The text of a shell: its syntax and its words.
//!
//! A text is read by tree-sitter's grammar of bash. What the grammar does not take is read by
//! [`lexer`], the one fallback. A word of either is expanded by [`expansion`], against what the text
//! has set so far ([`state`]). Why both stand:
//! `docs/decisions/0062-readers-of-shell-text.md`.
//!
//! Nothing here knows programs, or what is dangerous.

pub(crate) mod backticks;
mod braces;
mod char_reader;
pub(crate) mod choices;
pub(crate) mod confusables;
pub(crate) mod continuation;
pub(crate) mod dialect;
pub(crate) mod expansion;
pub(crate) mod fallback;
pub(crate) mod format;
pub(crate) mod grammar;
pub(crate) mod grammar_faults;
pub(crate) mod history;
mod lexer;
mod parameter;
pub(crate) mod place;
pub(crate) mod printed;
pub(crate) mod quote;
pub(crate) mod reserved_words;
pub(crate) mod source;
pub(crate) mod state;
pub(crate) mod state_union;
pub(crate) mod unread_substitutions;
pub(crate) mod word;
mod word_builder;

//! The parts of shell text: tree-sitter's grammar of bash, what it misreads, and the reader of what it does
//! not take at all ([`fallback`]).
//!
//! **Promise:** a text is read whole or named as unread. No part of it is left out. What words become is not
//! known here.

pub(crate) mod continuation;
pub(crate) mod fallback;
pub(crate) mod grammar;
pub(crate) mod grammar_faults;
mod lexer;
pub(crate) mod reserved_words;
pub(crate) mod unread_substitutions;

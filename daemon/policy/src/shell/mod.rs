//! Shell text.

pub(crate) mod braces;
pub(crate) mod confusables;
pub(crate) mod grammar;
pub(crate) mod lexer;
pub(crate) mod quote;
pub(crate) mod word;

//! The characters of shell text: quotes, backslashes and backticks, characters that look like others, and
//! what other shells write otherwise than bash.
//!
//! Everything here is a text in and a text out. Words, commands and values are not known.

pub(crate) mod backticks;
pub(crate) mod char_reader;
pub(crate) mod confusables;
pub(crate) mod dialect;
pub(crate) mod history;
pub(crate) mod quote;

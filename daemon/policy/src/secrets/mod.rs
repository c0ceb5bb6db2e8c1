//! Secrets in texts, and their redaction.

mod assignments;
mod command_reader;
mod evaluation;
mod finding;
mod lazy_regex;
mod line_reader;
mod mark;
pub mod output;
mod printed_text;
mod programs;
pub mod redact;
pub(crate) mod secret_names;
mod settings;
pub(crate) mod shapes;
pub mod tokens;
mod value;
mod variable_uses;
mod words;

//! The text of a shell: its syntax and its words.
//!
//! A text is read by tree-sitter's grammar of bash, and by a lexer where the grammar does not take it
//! ([`syntax`]). A word of either is expanded ([`expansion`]) against what the text has set so far ([`state`]).
//! Why both readers stand: `docs/decisions/0062-readers-of-shell-text.md`.
//!
//! Nothing here knows programs, or what is dangerous.

pub(crate) mod expansion;
pub(crate) mod state;
pub(crate) mod syntax;
pub(crate) mod text;
pub(crate) mod word;

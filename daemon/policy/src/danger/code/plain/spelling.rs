//! Writes code in the one spelling.

use crate::shell::word::UNKNOWN;

/// Code that is written anew.
#[derive(Debug, Default)]
pub(super) struct Spelling {
    code: String,
    /// The code that stands within texts.
    within: String,
}

impl Spelling {
    /// Adds code as it is written.
    pub(super) fn code(&mut self, code: &str) {
        self.code.push_str(code);
    }

    /// Adds code that is no part of the word before it: `system$x`.
    pub(super) fn code_apart(&mut self, code: &str) {
        if self.code.ends_with(char::is_alphanumeric) {
            self.code.push(' ');
        }
        self.code.push_str(code);
    }

    /// Adds a text.
    pub(super) fn text(&mut self, text: &str) {
        self.quoted(text, '\'');
    }

    /// Adds a text that a shell runs.
    pub(super) fn command(&mut self, text: &str) {
        self.quoted(text, '`');
    }

    /// Adds a pattern. What is in it is no code.
    pub(super) fn pattern(&mut self) {
        self.code.push_str("/./");
    }

    /// Adds code that stands within a text.
    pub(super) fn within(&mut self, code: &str) {
        self.within.push('\n');
        self.within.push_str(code);
    }

    pub(super) fn finish(mut self) -> String {
        self.code.push_str(&self.within);
        self.code
    }

    fn quoted(&mut self, text: &str, quote: char) {
        // Two quotes together would begin a text of three.
        if self.code.ends_with(quote) {
            self.code.push(' ');
        }
        self.code.push(quote);
        for c in text.chars() {
            match c {
                '\n' => self.code.push_str("\\n"),
                '\\' => self.code.push_str("\\\\"),
                c if c == quote => {
                    self.code.push('\\');
                    self.code.push(c);
                }
                c => self.code.push(c),
            }
        }
        self.code.push(quote);
    }
}

/// A value that is put into a text: by its name where it has one, so that constants can be put in.
pub(super) fn put_in(name: Option<&str>) -> String {
    match name {
        Some(name) => format!("#{{{name}}}"),
        None => UNKNOWN.to_string(),
    }
}

//! Strings of TOML.

use crate::unseen::is_unseen;

use std::fmt::Write as _;

/// A basic string of TOML in which nothing is hidden. Control characters, characters that cannot be
/// seen and those that change the direction of text are escaped.
pub fn quoted_toml(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            c if c.is_control() || is_unseen(c) => {
                // Writing to a string cannot fail.
                let _ = write!(quoted, "\\U{:08X}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

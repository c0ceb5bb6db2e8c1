//! JSON that a tty can show: what would control or mislead a terminal is written as `\\u` escapes.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::Serializer;
use serde_json::Value;
use serde_json::ser::Formatter;
use termd_client::escape::misleads;

/// One value as compact JSON. A reader of JSON finds the same text as without the escapes.
pub(crate) fn to_vec<T: Serialize + ?Sized>(value: &T) -> serde_json::Result<Vec<u8>> {
    let mut json = Vec::new();
    value.serialize(&mut Serializer::with_formatter(&mut json, Escapes))?;
    Ok(json)
}

/// The same as text, of a value that is JSON already.
pub(crate) fn to_string(value: &Value) -> String {
    let json = to_vec(value).unwrap_or_default();
    String::from_utf8(json).unwrap_or_default()
}

/// Escapes C1 controls, DEL, and characters that reorder or hide text. `serde_json` itself escapes C0.
struct Escapes;

impl Formatter for Escapes {
    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let mut rest = fragment;
        while let Some(at) = rest.find(|c: char| c.is_control() || misleads(c)) {
            let (plain, from) = rest.split_at(at);
            writer.write_all(plain.as_bytes())?;
            let mut characters = from.chars();
            let mut units = [0; 2];
            for unit in characters
                .next()
                .unwrap_or_default()
                .encode_utf16(&mut units)
            {
                write!(writer, "\\u{unit:04x}")?;
            }
            rest = characters.as_str();
        }
        writer.write_all(rest.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_tty_would_obey_is_escaped_and_reads_the_same() {
        let texts = [
            "plain é \u{1f600}",
            "\u{9b}31m",
            "\u{7f}\u{1b}[31m",
            "a\u{202e}b\u{2066}c\u{200b}",
            "\u{e0049}\u{e007f}",
            "\"\\\n",
        ];
        let json = to_vec(&texts).unwrap();
        let json = String::from_utf8(json).unwrap();
        assert!(
            !json.chars().any(|c| c.is_control() || misleads(c)),
            "{json}"
        );
        assert!(json.contains("plain é \u{1f600}"), "{json}");
        assert!(
            json.contains("\\u009b31m") && json.contains("\\udb40\\udc49"),
            "{json}"
        );
        assert_eq!(serde_json::from_str::<Vec<String>>(&json).unwrap(), texts);
    }
}

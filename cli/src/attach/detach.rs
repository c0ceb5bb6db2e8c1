//! Finds the detach key in a person's input.
//!
//! Pure. A control key is one byte, unless the program in the terminal has switched on a newer
//! keyboard protocol. Then it is `CSI code ; modifiers u` (kitty) or `CSI 27 ; modifiers ; code ~`
//! (xterm's modifyOtherKeys).

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use super::key_report::{KeyReport, key_report};
use crate::arg_types::{ArgError, ControlKey};

/// Unfinished sequences of this length wait for their end. Shorter ones, a lone escape key or `ESC [`,
/// pass at once.
const HELD_PREFIX_BYTES: usize = 3;
/// The longest key report.
const MAX_REPORT_BYTES: usize = 24;

/// The key that detaches, if one does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DetachKey(Option<ControlKey>);

/// Why a word is no detach key.
#[derive(Debug, Error)]
pub(crate) enum DetachKeyError {
    #[error("{0} alone would never reach the program: write ctrl-{0}")]
    Bare(char),
    #[error("{0}; or none")]
    Key(#[from] ArgError),
}

impl DetachKey {
    /// What a person is told of it.
    pub(crate) fn hint(self) -> String {
        match self.0 {
            Some(key) => format!("{key} detaches"),
            None => "no key detaches".to_owned(),
        }
    }

    pub(crate) fn is_none(self) -> bool {
        self.0.is_none()
    }

    /// Whether this byte of a tty is the key.
    pub(crate) fn is_byte(self, byte: u8) -> bool {
        self.0.is_some_and(|key| key.byte() == byte)
    }

    /// Whether the key is this character with control.
    pub(crate) fn is_character(self, code: u32) -> bool {
        self.0.is_some_and(|key| u32::from(key.character()) == code)
    }

    /// The byte that a program gets for it.
    pub(crate) fn byte(self) -> Option<u8> {
        self.0.map(ControlKey::byte)
    }

    /// The same of a command that goes on when its person leaves.
    pub(crate) fn leaving_hint(self) -> Option<String> {
        self.0.map(|key| format!("{key} leaves it running"))
    }
}

impl FromStr for DetachKey {
    type Err = DetachKeyError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut characters = text.chars();
        match (characters.next(), characters.next()) {
            _ if text == "none" => Ok(Self(None)),
            (Some(letter), None) if letter.is_ascii_alphabetic() => {
                Err(DetachKeyError::Bare(letter.to_ascii_lowercase()))
            }
            _ => Ok(Self(Some(text.parse()?))),
        }
    }
}

impl fmt::Display for DetachKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(key) => key.fmt(f),
            None => f.write_str("none"),
        }
    }
}

/// A chunk of input.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Typed {
    /// The program's input, up to the key.
    pub(crate) forward: Vec<u8>,
    /// The input after the key; `None`: it was not pressed.
    pub(crate) after_key: Option<Vec<u8>>,
}

impl Typed {
    /// Whether the key was pressed.
    pub(crate) fn has_key(&self) -> bool {
        self.after_key.is_some()
    }
}

/// Searches for one key, chunk by chunk.
#[derive(Debug)]
pub(crate) struct DetachMatcher {
    key: DetachKey,
    held: Vec<u8>,
}

impl DetachMatcher {
    pub(crate) fn new(key: DetachKey) -> Self {
        Self {
            key,
            held: Vec::new(),
        }
    }

    /// Reads a chunk of input.
    pub(crate) fn feed(&mut self, chunk: &[u8]) -> Typed {
        let DetachKey(Some(key)) = self.key else {
            return Typed {
                forward: chunk.to_vec(),
                after_key: None,
            };
        };
        let mut typed = std::mem::take(&mut self.held);
        typed.extend(chunk);
        let mut forward = Vec::with_capacity(typed.len());
        let mut rest = typed.as_slice();
        while let Some((&byte, after)) = rest.split_first() {
            if byte == key.byte() && byte != 0x1b {
                return Typed {
                    forward,
                    after_key: Some(after.to_vec()),
                };
            }
            match csi_length(rest) {
                Length::Whole(length) => {
                    let (report, others) = rest.split_at(length);
                    if is_key(report, key) {
                        return Typed {
                            forward,
                            after_key: Some(others.to_vec()),
                        };
                    }
                    forward.extend(report);
                    rest = others;
                }
                Length::Begun if rest.len() >= HELD_PREFIX_BYTES => {
                    self.held = rest.to_vec();
                    break;
                }
                Length::Begun | Length::Other => {
                    forward.push(byte);
                    rest = after;
                }
            }
        }
        Typed {
            forward,
            after_key: None,
        }
    }
}

/// Whether a report is of this key, pressed or repeated.
fn is_key(report: &[u8], key: ControlKey) -> bool {
    let code = u32::from(key.character());
    let pressed = KeyReport::Press {
        code,
        is_control: true,
    };
    key_report(report) == Some((pressed, report.len()))
}

enum Length {
    /// A control sequence of this many bytes.
    Whole(usize),
    /// The beginning of a control sequence.
    Begun,
    /// Something else, or too long for a key.
    Other,
}

fn csi_length(bytes: &[u8]) -> Length {
    let Some(body) = bytes.strip_prefix(b"\x1b[") else {
        return Length::Other;
    };
    // Only digits and separators make a key report; any other sequence passes at once.
    match body.iter().position(|byte| !matches!(byte, b'0'..=b';')) {
        Some(end) => Length::Whole(end + 3),
        None if bytes.len() < MAX_REPORT_BYTES => Length::Begun,
        None => Length::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn feed(chunks: &[&[u8]]) -> (String, bool) {
        let mut matcher = DetachMatcher::new("ctrl-]".parse().unwrap());
        let mut forwarded = Vec::new();
        for chunk in chunks {
            let typed = matcher.feed(chunk);
            let has_key = typed.has_key();
            forwarded.extend(typed.forward);
            if has_key {
                return (forwarded.escape_ascii().to_string(), true);
            }
        }
        (forwarded.escape_ascii().to_string(), false)
    }

    #[test]
    fn the_key_is_found_in_every_form() {
        let table: [(&[&[u8]], &str); 9] = [
            (&[b"\x1d"], ""),
            (&[b"ls\r\x1dmore"], "ls\\r"),
            (&[b"a\x1b[93;5u"], "a"),
            (&[b"\x1b[93;5:1u"], ""),
            (&[b"\x1b[93;69u"], ""),
            (&[b"\x1b[93;133u"], ""),
            (&[b"\x1b[27;5;93~"], ""),
            (&[b"\x1b[9", b"3;5u"], ""),
            (&[b"x\x1b[9", b"3;", b"5u"], "x"),
        ];
        for (chunks, forwarded) in table {
            assert_eq!(feed(chunks), (forwarded.to_owned(), true), "{chunks:?}");
        }
    }

    #[test]
    fn a_key_or_none_and_no_bare_letter() {
        let table = [
            ("ctrl-]", Some("ctrl-] detaches")),
            ("^A", Some("ctrl-a detaches")),
            ("]", Some("ctrl-] detaches")),
            ("none", Some("no key detaches")),
            ("a", None),
            ("f12", None),
            ("", None),
        ];
        for (text, hint) in table {
            let key = text.parse::<DetachKey>().ok();
            assert_eq!(key.map(DetachKey::hint).as_deref(), hint, "{text:?}");
        }
        let said = "a".parse::<DetachKey>().unwrap_err().to_string();
        assert!(said.contains("write ctrl-a"), "{said}");
        let mut matcher = DetachMatcher::new("none".parse().unwrap());
        assert!(!matcher.feed(b"\x1d\x1b[93;5u").has_key());
    }

    #[test]
    fn everything_else_goes_through() {
        let table: [&[&[u8]]; 12] = [
            &[b"]"],
            &[b"\x1b"],
            &[b"\x1b", b"["],
            &[b"\x1b[A\x1bOB"],
            &[b"\x1b[93;1u"],
            &[b"\x1b[93;6u"],
            &[b"\x1b[93;5:3u"],
            &[b"\x1b[100;5u"],
            &[b"\x1b[2", b"~"],
            &[b"\x1b[200~pasted\x1b[201~"],
            &[b"\x1b[<0;10;10M"],
            &["é漢".as_bytes(), &[0xff, 0x00]],
        ];
        for chunks in table {
            let all: Vec<u8> = chunks.concat();
            assert_eq!(
                feed(chunks),
                (all.escape_ascii().to_string(), false),
                "{chunks:?}"
            );
        }
    }
}

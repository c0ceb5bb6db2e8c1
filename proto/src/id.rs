//! Names for things: terminal ids, labels, references to either, and transcript offsets.

use std::fmt;
use std::ops::Add;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// What every terminal id begins with.
const ID_PREFIX: &str = "term_";
/// Base32 characters after the prefix: 60 bits, so that ids neither collide nor are guessed.
const ID_RANDOM_CHARS: usize = 12;
/// RFC 4648 base32 in lower case: no `0`/`o` or `1`/`l` to mistake for one another.
const BASE32: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";

/// A terminal's one id: `term_` and 12 base32 characters. ACP's `terminalId`.
///
/// It ends up in file names, environment variables and shell lines, so nothing else is accepted.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TerminalId(String);

/// The text is not `term_` and 12 characters of `a-z2-7`.
#[derive(Debug, Clone, Error, PartialEq, Eq)]
#[error("a terminal id is `term_` and 12 characters of a-z and 2-7")]
pub struct InvalidTerminalId;

impl TerminalId {
    /// Makes an id of the lowest 60 of these random bits.
    pub fn from_random(bits: u64) -> Self {
        let mut id = String::with_capacity(ID_PREFIX.len() + ID_RANDOM_CHARS);
        id.push_str(ID_PREFIX);
        for position in 0..ID_RANDOM_CHARS {
            let index = (bits >> (5 * position)) & 31;
            id.push(char::from(BASE32[index as usize]));
        }
        Self(id)
    }

    /// The id as it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What stands behind `term_`: a person may leave that out.
    pub fn random_part(&self) -> &str {
        self.0.strip_prefix(ID_PREFIX).unwrap_or_default()
    }
}

impl FromStr for TerminalId {
    type Err = InvalidTerminalId;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let random = text.strip_prefix(ID_PREFIX).ok_or(InvalidTerminalId)?;
        if random.len() == ID_RANDOM_CHARS && random.bytes().all(|byte| BASE32.contains(&byte)) {
            Ok(Self(text.to_owned()))
        } else {
            Err(InvalidTerminalId)
        }
    }
}

impl TryFrom<String> for TerminalId {
    type Error = InvalidTerminalId;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<TerminalId> for String {
    fn from(id: TerminalId) -> Self {
        id.0
    }
}

impl fmt::Display for TerminalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for TerminalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// How a person or a script names a terminal: its id, a unique prefix of it (with or without
/// `term_`), or its label. The daemon resolves it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TerminalRef(pub String);

impl From<&TerminalId> for TerminalRef {
    fn from(id: &TerminalId) -> Self {
        Self(id.0.clone())
    }
}

impl fmt::Display for TerminalRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A name that a person gave a terminal; unique among the terminals that are not closed.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Label(String);

/// The longest label, in bytes: it stands in every table and every log line.
pub const MAX_LABEL_BYTES: usize = 64;

/// Why a text cannot be a label.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum InvalidLabel {
    /// Nothing in it.
    #[error("a label may not be empty")]
    Empty,
    /// Longer than [`MAX_LABEL_BYTES`].
    #[error("a label may be {MAX_LABEL_BYTES} bytes long at the most")]
    TooLong,
    /// A control character or a `/`: labels are printed on ttys and may become file names.
    #[error("a label may not hold control characters or `/`")]
    BadCharacter,
    /// It would be taken for an id.
    #[error("a label may not begin with `term_`")]
    LooksLikeAnId,
}

impl Label {
    /// The label as it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Label {
    type Err = InvalidLabel;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.is_empty() {
            Err(InvalidLabel::Empty)
        } else if text.len() > MAX_LABEL_BYTES {
            Err(InvalidLabel::TooLong)
        } else if text.chars().any(|c| c.is_control() || c == '/') {
            Err(InvalidLabel::BadCharacter)
        } else if text.starts_with(ID_PREFIX) {
            Err(InvalidLabel::LooksLikeAnId)
        } else {
            Ok(Self(text.to_owned()))
        }
    }
}

impl TryFrom<String> for Label {
    type Error = InvalidLabel;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Label> for String {
    fn from(label: Label) -> Self {
        label.0
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A byte's absolute position in a terminal's output since it started, counted from 0.
/// Never reused, never rebased.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Offset(pub u64);

impl Offset {
    /// The first byte.
    pub const ZERO: Self = Self(0);

    /// Bytes from `earlier` to here; 0 where `earlier` is later.
    pub fn since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }

    /// This many bytes before here, and not before the start.
    #[must_use]
    pub fn back(self, bytes: u64) -> Self {
        Self(self.0.saturating_sub(bytes))
    }
}

impl Add<u64> for Offset {
    type Output = Self;

    fn add(self, bytes: u64) -> Self {
        Self(self.0.saturating_add(bytes))
    }
}

impl fmt::Display for Offset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_of_random_bits_parses_back() {
        for bits in [0, 1, u64::MAX, 0x0123_4567_89ab_cdef] {
            let id = TerminalId::from_random(bits);
            assert_eq!(id.as_str().parse(), Ok(id.clone()), "{bits:#x}");
        }
    }

    #[test]
    fn nothing_else_is_an_id() {
        for text in [
            "",
            "term_",
            "term_xyz789",
            "term_aaaaaaaaaaa1",
            "term_aaaaaaaaaaaaa",
            "x",
        ] {
            assert_eq!(
                text.parse::<TerminalId>(),
                Err(InvalidTerminalId),
                "{text:?}"
            );
        }
    }

    #[test]
    fn labels_are_printable_and_never_ids_or_paths() {
        let table = [
            ("build", None),
            ("mein Bau ✓", None),
            ("", Some(InvalidLabel::Empty)),
            ("a/b", Some(InvalidLabel::BadCharacter)),
            ("a\u{1b}[31m", Some(InvalidLabel::BadCharacter)),
            ("term_x", Some(InvalidLabel::LooksLikeAnId)),
        ];
        for (text, error) in table {
            assert_eq!(text.parse::<Label>().err(), error, "{text:?}");
        }
        assert_eq!("x".repeat(65).parse::<Label>(), Err(InvalidLabel::TooLong));
    }
}

//! What stands in the place of a secret: its length and a keyed hash of it.

use std::fmt;
use std::ops::Range;

use sha2::{Digest, Sha256};

use super::lazy_regex::LazyRegex;

/// The longest mark, in bytes.
pub const MAX_MARK_BYTES: usize = 64;
/// The length of a key, in bytes.
pub const KEY_BYTES: usize = 32;
/// How much of the hash a mark shows, in bytes. Of a thousand million secrets two may have the same.
const HASH_BYTES: usize = 6;
/// A mark, and the mark of earlier databases, which had neither length nor hash.
static FORM: LazyRegex = LazyRegex::new(r"\[redacted(?: [0-9]{1,20} bytes? [0-9a-f]{12})?\]");
/// Stands behind the bracket of a mark that was typed.
const TYPED: &str = "typed: ";
/// Stands for each byte of a mark while secrets are looked for. It is neither a quote nor a separator,
/// and no part of a secret.
const MASK: &str = "]";

/// The key of the hashes in marks. Whoever has it can try guesses, so it is the daemon's alone.
///
/// The hash is the first six bytes of SHA-256 over the key and the secret. So short a hash cannot be
/// extended, and `sha256sum` can check it.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct RedactionKey([u8; KEY_BYTES]);

impl RedactionKey {
    /// A key of these bytes.
    pub const fn new(bytes: [u8; KEY_BYTES]) -> Self {
        Self(bytes)
    }

    /// A keyed hash of a text, in hexadecimal: it tells whether two texts are the same, and nobody
    /// without the key can try guesses. No mark shows a part of it, since it is of a hash.
    pub fn sha256(&self, text: &str) -> String {
        let inner = Sha256::new()
            .chain_update(self.0)
            .chain_update(text)
            .finalize();
        let outer = Sha256::new().chain_update(self.0).chain_update(inner);
        format!("{:x}", outer.finalize())
    }

    /// The mark of a secret.
    pub(super) fn mark(&self, secret: &str) -> String {
        let digest = Sha256::new()
            .chain_update(self.0)
            .chain_update(secret)
            .finalize();
        let shown: u64 =
            (digest.iter().take(HASH_BYTES)).fold(0, |hash, byte| hash << 8 | u64::from(*byte));
        let length = secret.len();
        let unit = if length == 1 { "byte" } else { "bytes" };
        format!("[redacted {length} {unit} {shown:012x}]")
    }
}

impl fmt::Debug for RedactionKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("RedactionKey(..)")
    }
}

/// The text with each mark in it as one that was typed: `[typed: redacted …]`. `None`: there is none.
pub(super) fn typed_marks(text: &str) -> Option<String> {
    let mut marks = marks(text)?.peekable();
    marks.peek()?;
    let mut typed = String::with_capacity(text.len() + TYPED.len());
    let mut from = 0;
    for mark in marks {
        let behind_bracket = mark.start + 1;
        typed.push_str(text.get(from..behind_bracket).unwrap_or_default());
        typed.push_str(TYPED);
        from = behind_bracket;
    }
    typed.push_str(text.get(from..).unwrap_or_default());
    Some(typed)
}

fn marks(text: &str) -> Option<impl Iterator<Item = Range<usize>> + use<'_>> {
    let form = FORM.get()?;
    Some(form.find_iter(text).map(|mark| mark.range()))
}

/// A text of the same length in which no mark can be taken for a part of the text.
pub(super) fn without_marks(text: &str) -> Option<String> {
    let mut marks = marks(text)?.peekable();
    marks.peek()?;
    let mut masked = String::with_capacity(text.len());
    let mut from = 0;
    for mark in marks {
        masked.push_str(text.get(from..mark.start).unwrap_or_default());
        masked.push_str(&MASK.repeat(mark.len()));
        from = mark.end;
    }
    masked.push_str(text.get(from..).unwrap_or_default());
    Some(masked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_has_length_and_keyed_hash() {
        let (one, other) = (RedactionKey::default(), RedactionKey::new([7; KEY_BYTES]));
        // `{ head -c 32 /dev/zero; printf hunter2; } | sha256sum | head -c 12`
        assert_eq!(one.mark("hunter2"), "[redacted 7 bytes b111d26245be]");
        assert_eq!(other.mark("hunter2"), other.mark("hunter2"));
        assert_ne!(other.mark("hunter2"), one.mark("hunter2"));
        assert_ne!(one.mark("hunter2"), one.mark("hunter3"));
        assert!(one.mark("x").starts_with("[redacted 1 byte "));
        assert!(!format!("{other:?}").contains('7'));
    }

    #[test]
    fn marks_are_masked_and_nothing_else() {
        let mark = RedactionKey::default().mark("hunter2");
        for mark in [mark.as_str(), "[redacted]"] {
            let masked = without_marks(&format!("a {mark} b")).unwrap();
            assert_eq!(masked, format!("a {} b", "]".repeat(mark.len())));
        }
        for text in [
            "[redacted",
            "[redacted 7 bytes]",
            "[redacted 7 bytes xyz]",
            "redacted",
        ] {
            assert_eq!(without_marks(text), None, "{text}");
        }
    }
}

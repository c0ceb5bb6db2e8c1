//! Text for a person's tty without the marks that turn its reading direction.

use std::borrow::Cow;
use std::io::{self, IsTerminal as _};

use termd_proto::cells::is_direction_mark;

/// What a program printed, as standard output is given it: a person's tty gets no marks that turn the reading
/// direction, and everything else the text as it is.
pub(crate) fn for_stdout(text: &[u8]) -> Cow<'_, [u8]> {
    if io::stdout().is_terminal() {
        without_direction_marks(text)
    } else {
        Cow::Borrowed(text)
    }
}

/// The text without the marks that turn the reading direction, with which output could show another text
/// than it has (CVE-2021-42574). What is no UTF-8 stays.
pub(crate) fn without_direction_marks(text: &[u8]) -> Cow<'_, [u8]> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let mut kept = Vec::with_capacity(text.len());
    for chunk in text.utf8_chunks() {
        let parts = chunk.valid().split(is_direction_mark);
        kept.extend(parts.flat_map(str::bytes));
        kept.extend(chunk.invalid());
    }
    Cow::Owned(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_dropped_and_the_rest_stays() {
        for (text, left) in [
            ("plain".as_bytes(), "plain".as_bytes()),
            (
                "a\u{202e}b\u{2066}c\u{200f}\u{61c}é漢\u{200d}".as_bytes(),
                "abcé漢\u{200d}".as_bytes(),
            ),
            (b"\xff\xe2\x80\xae\xe2\x80", b"\xff\xe2\x80"),
        ] {
            assert_eq!(without_direction_marks(text), left);
        }
    }
}

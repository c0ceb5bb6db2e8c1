//! A terminal's output for a person's tty, without bytes that control the tty.
//!
//! Pure, chunk by chunk; a chunk may end anywhere. Plain text for pipes comes from the daemon, and
//! passes unchanged.

use crate::splitter::{Piece, Splitter};

/// How output is written.
#[derive(Debug)]
pub(crate) enum Rendering {
    Raw,
    /// For a person's tty: text, newlines and tabs, without escape sequences and other controls.
    Plain(Splitter),
}

impl Rendering {
    /// Text for a tty.
    pub(crate) fn plain() -> Self {
        Self::Plain(Splitter::default())
    }

    /// The chunk in this rendering.
    pub(crate) fn feed(&mut self, chunk: Vec<u8>) -> Vec<u8> {
        match self {
            Self::Raw => chunk,
            Self::Plain(splitter) => {
                let mut out = Vec::with_capacity(chunk.len());
                splitter.feed(&chunk, |piece| match piece {
                    Piece::Text(text) => out.extend(text),
                    Piece::Control(byte @ (b'\n' | b'\t')) => out.push(byte),
                    Piece::Control(_) | Piece::Sequence(_) | Piece::Overlong => {}
                });
                out
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds the input whole, and cut in two at every place: the output is the same.
    fn check(make: fn() -> Rendering, input: &[u8], want: &[u8]) {
        for cut in 0..=input.len() {
            let mut rendering = make();
            let (head, tail) = input.split_at(cut);
            let mut got = rendering.feed(head.to_vec());
            got.extend(rendering.feed(tail.to_vec()));
            assert_eq!(
                got.escape_ascii().to_string(),
                want.escape_ascii().to_string(),
                "cut at {cut}"
            );
        }
    }

    #[test]
    fn exact_bytes_stay() {
        let input: &[u8] = b"10%\r20%\r\n\x1b[31mred\x1b[0m\xff";
        check(|| Rendering::Raw, input, input);
    }

    #[test]
    fn nothing_controls_a_tty() {
        let table: [(&[u8], &[u8]); 6] = [
            (b"\x1b[31mred\x1b[0m\r\n", b"red\n"),
            (b"\x1b]0;title\x07x\x1b]8;;u\x1b\\y", b"xy"),
            (b"a\tb\x08\x00\x7f\x05c", b"a\tbc"),
            (b"\x1bP1$r0m\x1b\\z", b"z"),
            ("漢\u{9b}31m字".as_bytes(), "漢31m字".as_bytes()),
            (b"\xff\xfe ok", "\u{fffd}\u{fffd} ok".as_bytes()),
        ];
        for (input, want) in table {
            check(Rendering::plain, input, want);
        }
    }
}

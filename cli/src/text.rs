//! A terminal's output as text: the tty's CR LF turned back into LF, and for a person's tty
//! nothing that could control it.
//!
//! Pure, chunk by chunk; a chunk may end anywhere. This is the seam at which output that the
//! daemon's terminal model has rendered will come in: what is here knows bytes and no screen.

use crate::sequence::{Piece, Splitter};

/// Turns CR LF into LF, and leaves every other CR.
#[derive(Debug, Default)]
pub(crate) struct NewlineFilter {
    /// The last chunk ended with a CR that may belong to a LF.
    held: bool,
}

impl NewlineFilter {
    /// The chunk as text, but for a CR at its end.
    pub(crate) fn feed(&mut self, chunk: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(chunk.len() + 1);
        for &byte in chunk {
            if self.held && byte != b'\n' {
                out.push(b'\r');
            }
            self.held = byte == b'\r';
            if !self.held {
                out.push(byte);
            }
        }
        out
    }

    /// What is left when nothing more comes.
    pub(crate) fn finish(&mut self) -> &'static [u8] {
        if std::mem::take(&mut self.held) {
            b"\r"
        } else {
            b""
        }
    }
}

/// How output is written.
#[derive(Debug)]
pub(crate) enum Rendering {
    /// The exact bytes.
    Raw,
    /// For a pipe or a file: CR LF as LF, all else as it was.
    Text(NewlineFilter),
    /// For a person's tty: text, newlines and tabs; escape sequences and controls are left out.
    Plain(Splitter),
}

impl Rendering {
    /// Text for a pipe.
    pub(crate) fn text() -> Self {
        Self::Text(NewlineFilter::default())
    }

    /// Text for a tty.
    pub(crate) fn plain() -> Self {
        Self::Plain(Splitter::default())
    }

    /// The chunk, written.
    pub(crate) fn feed(&mut self, chunk: Vec<u8>) -> Vec<u8> {
        match self {
            Self::Raw => chunk,
            Self::Text(filter) => filter.feed(&chunk),
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

    /// What is left when nothing more comes.
    pub(crate) fn finish(&mut self) -> &'static [u8] {
        match self {
            Self::Text(filter) => filter.finish(),
            Self::Raw | Self::Plain(_) => b"",
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
            got.extend(rendering.finish());
            assert_eq!(
                got.escape_ascii().to_string(),
                want.escape_ascii().to_string(),
                "cut at {cut}"
            );
        }
    }

    #[test]
    fn newlines_come_back() {
        let table: [(&[u8], &[u8]); 6] = [
            (b"a\r\nb\r\n", b"a\nb\n"),
            (b"10%\r20%\r\n", b"10%\r20%\n"),
            (b"a\r\r\nb", b"a\r\nb"),
            (b"end\r", b"end\r"),
            (b"\n\r\n", b"\n\n"),
            (b"\x1b[31mred\x1b[0m\r\n", b"\x1b[31mred\x1b[0m\n"),
        ];
        for (input, want) in table {
            check(Rendering::text, input, want);
            check(|| Rendering::Raw, input, input);
        }
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

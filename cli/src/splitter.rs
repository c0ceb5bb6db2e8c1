//! Splits terminal output into text, control characters and whole escape sequences, byte for byte.
//!
//! Pure; any bytes can be split. This is the state machine of ECMA-48 (5.4, 5.6) in UTF-8, where C1
//! controls are two bytes long. It finds the end of a sequence and does not interpret it. `termd-vt`'s
//! reader does the opposite: it interprets sequences and drops their bytes, which filters must pass on.
//! And no crate of the client's side depends on the daemon's.

/// The longest sequence that is kept until its end. A longer one, such as a picture, becomes a
/// [`Piece::Overlong`].
const MAX_SEQUENCE_BYTES: usize = 64 * 1024;

/// A part of the stream.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Piece<'a> {
    /// Whole characters without controls. Bytes that are not UTF-8 become U+FFFD.
    Text(&'a [u8]),
    /// One C0 control other than ESC, or DEL.
    Control(u8),
    /// A whole sequence with its introducer, as the program printed it, in 7-bit form.
    Sequence(&'a [u8]),
    /// In place of a sequence that was too long.
    Overlong,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    Ground,
    /// After the first bytes of a character.
    Character,
    /// After ESC, and intermediates.
    Escape,
    /// After ESC `[`.
    Csi,
    /// In the string of OSC, which BEL also ends (xterm).
    Osc,
    /// In the string of DCS, SOS, PM or APC.
    Text,
    /// After ESC in either string: `\` ends it, anything else begins a new sequence.
    StringEscape,
}

/// Splits a stream, chunk by chunk.
#[derive(Debug, Default)]
pub(crate) struct Splitter {
    state: State,
    /// The unfinished sequence or character.
    begun: Vec<u8>,
    overlong: bool,
}

/// In place of an unfinished or wrong character.
const REPLACEMENT: &[u8] = "\u{fffd}".as_bytes();

/// The length of a character by its first byte; `None` if no character begins with that byte.
fn character_length(first: u8) -> Option<usize> {
    match first {
        0x20..=0x7e => Some(1),
        0xc2..=0xdf => Some(2),
        0xe0..=0xef => Some(3),
        0xf0..=0xf4 => Some(4),
        _ => None,
    }
}

impl Splitter {
    /// Calls `take` with each piece that ends in this chunk.
    pub(crate) fn feed(&mut self, chunk: &[u8], mut take: impl FnMut(Piece<'_>)) {
        let mut rest = chunk;
        while let Some((&byte, after)) = rest.split_first() {
            if self.state == State::Ground {
                let run = rest
                    .iter()
                    .position(|byte| !matches!(byte, 0x20..=0x7e))
                    .unwrap_or(rest.len());
                if run > 0 {
                    let (text, others) = rest.split_at(run);
                    take(Piece::Text(text));
                    rest = others;
                    continue;
                }
            }
            self.byte(byte, &mut take);
            rest = after;
        }
    }

    fn byte(&mut self, byte: u8, take: &mut impl FnMut(Piece<'_>)) {
        match self.state {
            State::Ground => self.ground(byte, take),
            State::Character => self.character(byte, take),
            // CAN and SUB end a sequence without effect (ECMA-48 8.3.6, 8.3.148). ESC begins a new one.
            State::Escape | State::Csi if matches!(byte, 0x18 | 0x1a) => self.reset(),
            State::Osc | State::Text | State::StringEscape if matches!(byte, 0x18 | 0x1a) => {
                self.reset();
            }
            State::Escape | State::Csi if byte == 0x1b => self.begin(byte, State::Escape),
            // Other controls act at once, in the middle of a sequence (DEC STD 070).
            State::Escape | State::Csi if byte < 0x20 => take(Piece::Control(byte)),
            State::Escape => {
                self.keep(byte);
                match (self.begun.len(), byte) {
                    (2, b'[') => self.state = State::Csi,
                    (2, b']') => self.state = State::Osc,
                    (2, b'P' | b'X' | b'^' | b'_') => self.state = State::Text,
                    (_, 0x20..=0x2f) => {}
                    _ => self.end(take),
                }
            }
            State::Csi => {
                self.keep(byte);
                // Parameters and intermediates continue; any other byte is final, or an error.
                if !matches!(byte, 0x20..=0x3f) {
                    self.end(take);
                }
            }
            State::Osc if byte == 0x07 => {
                self.keep(byte);
                self.end(take);
            }
            State::Osc | State::Text => {
                self.keep(byte);
                if byte == 0x1b {
                    self.state = State::StringEscape;
                }
            }
            State::StringEscape if byte == b'\\' => {
                self.keep(byte);
                self.end(take);
            }
            State::StringEscape => {
                // The string is broken off and dropped, as xterm does.
                self.begin(0x1b, State::Escape);
                self.byte(byte, take);
            }
        }
    }

    fn ground(&mut self, byte: u8, take: &mut impl FnMut(Piece<'_>)) {
        match (byte, character_length(byte)) {
            (0x1b, _) => self.begin(byte, State::Escape),
            (0x00..=0x1f | 0x7f, _) => take(Piece::Control(byte)),
            (_, Some(1)) => take(Piece::Text(&[byte])),
            (_, Some(_)) => self.begin(byte, State::Character),
            (_, None) => take(Piece::Text(REPLACEMENT)),
        }
    }

    fn character(&mut self, byte: u8, take: &mut impl FnMut(Piece<'_>)) {
        if !matches!(byte, 0x80..=0xbf) {
            self.reset();
            take(Piece::Text(REPLACEMENT));
            self.ground(byte, take);
            return;
        }
        self.begun.push(byte);
        let first = self.begun.first().copied().unwrap_or_default();
        if self.begun.len() < character_length(first).unwrap_or(1) {
            return;
        }
        let begun = std::mem::take(&mut self.begun);
        self.reset();
        match std::str::from_utf8(&begun) {
            // A C1 control in UTF-8 is no text. Terminals in UTF-8 mode ignore it.
            Ok(text) if text.chars().any(char::is_control) => {}
            Ok(text) => take(Piece::Text(text.as_bytes())),
            Err(_) => take(Piece::Text(REPLACEMENT)),
        }
    }

    fn begin(&mut self, byte: u8, state: State) {
        self.reset();
        self.begun.push(byte);
        self.state = state;
    }

    fn keep(&mut self, byte: u8) {
        if self.begun.len() < MAX_SEQUENCE_BYTES {
            self.begun.push(byte);
        } else {
            self.overlong = true;
        }
    }

    fn end(&mut self, take: &mut impl FnMut(Piece<'_>)) {
        if self.overlong {
            take(Piece::Overlong);
        } else {
            take(Piece::Sequence(&self.begun));
        }
        self.reset();
    }

    fn reset(&mut self) {
        self.state = State::Ground;
        self.begun.clear();
        self.overlong = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(chunks: &[&[u8]]) -> Vec<String> {
        let mut splitter = Splitter::default();
        let mut got: Vec<String> = Vec::new();
        for chunk in chunks {
            splitter.feed(chunk, |piece| {
                let (kind, bytes) = match piece {
                    Piece::Text(bytes) => ('t', bytes.to_vec()),
                    Piece::Control(byte) => ('c', vec![byte]),
                    Piece::Sequence(bytes) => ('s', bytes.to_vec()),
                    Piece::Overlong => ('o', Vec::new()),
                };
                let shown = String::from_utf8_lossy(&bytes).escape_debug().to_string();
                // Text may come in any number of pieces.
                match got.last_mut() {
                    Some(last) if kind == 't' && last.starts_with('t') => last.push_str(&shown),
                    _ => got.push(format!("{kind}{shown}")),
                }
            });
        }
        got
    }

    #[test]
    fn a_stream_is_cut_the_same_however_it_comes() {
        let table: [(&[u8], &[&str]); 12] = [
            (b"ab\r\n", &["tab", "c\\r", "c\\n"]),
            (b"\x1b[1;31mX", &["s\\u{1b}[1;31m", "tX"]),
            (b"\x1b(B\x1b7", &["s\\u{1b}(B", "s\\u{1b}7"]),
            (b"\x1b]0;t\x07a", &["s\\u{1b}]0;t\\u{7}", "ta"]),
            (b"\x1b]0;t\x1b\\a", &["s\\u{1b}]0;t\\u{1b}\\\\", "ta"]),
            (b"\x1bP+q54\x1b\\", &["s\\u{1b}P+q54\\u{1b}\\\\"]),
            (b"\x1b]0;broken\x1b[mA", &["s\\u{1b}[m", "tA"]),
            (b"\x1b[1\x08mA", &["c\\u{8}", "s\\u{1b}[1m", "tA"]),
            (b"\x1b[1\x18A", &["tA"]),
            (b"\x1b\x1b[A", &["s\\u{1b}[A"]),
            ("\u{9b}1mé漢😀".as_bytes(), &["t1mé漢😀"]),
            (b"\xe6\xbcA\xff", &["t\u{fffd}A\u{fffd}"]),
        ];
        for (input, want) in table {
            assert_eq!(pieces(&[input]), want, "{:?}", input.escape_ascii());
            let bytes: Vec<&[u8]> = input.chunks(1).collect();
            assert_eq!(pieces(&bytes), want, "{:?} by bytes", input.escape_ascii());
        }
    }

    #[test]
    fn a_string_without_end_is_not_kept() {
        let mut splitter = Splitter::default();
        splitter.feed(b"\x1b]0;", |piece| panic!("{piece:?}"));
        for _ in 0..200 {
            splitter.feed(&vec![b'x'; 65_536], |piece| panic!("{piece:?}"));
        }
        assert!(splitter.begun.len() <= MAX_SEQUENCE_BYTES);
        let mut last = None;
        splitter.feed(b"\x07", |piece| last = Some(piece == Piece::Overlong));
        assert_eq!(last, Some(true));
    }
}

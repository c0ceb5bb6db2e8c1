//! The keys of a replay, from what the tty sends. Pure.

/// A key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    Char(char),
    Left,
    Right,
    Up,
    Down,
    Home,
    End,
    Enter,
    Backspace,
    /// Ctrl-U: KILL (termios(3)).
    Kill,
    /// Ctrl-W: WERASE.
    WordErase,
    Escape,
    /// Ctrl-C.
    Interrupt,
}

/// The longest sequence of a key that is waited for, in bytes.
const MAX_SEQUENCE_BYTES: usize = 16;

/// Reads keys. A character may come in two chunks; ESC at the end of a chunk is the key.
#[derive(Debug, Default)]
pub(super) struct KeyReader {
    rest: Vec<u8>,
}

impl KeyReader {
    pub(super) fn read(&mut self, chunk: &[u8]) -> Vec<Key> {
        let mut bytes = std::mem::take(&mut self.rest);
        bytes.extend_from_slice(chunk);
        let mut keys = Vec::new();
        let mut at = 0;
        while let Some(left) = bytes.get(at..).filter(|left| !left.is_empty()) {
            let (length, key) = match first(left) {
                Some(found) => found,
                None if left.len() < MAX_SEQUENCE_BYTES => {
                    self.rest = left.to_vec();
                    break;
                }
                None => (left.len(), None),
            };
            keys.extend(key);
            at += length;
        }
        keys
    }
}

/// The first key and its bytes; no key where they are none of ours. `None`: its rest has not come.
fn first(bytes: &[u8]) -> Option<(usize, Option<Key>)> {
    match bytes {
        [0x1b, b'[' | b'O', rest @ ..] => {
            let end = rest.iter().position(|byte| (0x40..=0x7e).contains(byte))?;
            let key = match (rest.get(..end)?, rest[end]) {
                (_, b'A') => Some(Key::Up),
                (_, b'B') => Some(Key::Down),
                (_, b'C') => Some(Key::Right),
                (_, b'D') => Some(Key::Left),
                (_, b'H') | (b"1" | b"7", b'~') => Some(Key::Home),
                (_, b'F') | (b"4" | b"8", b'~') => Some(Key::End),
                _ => None,
            };
            Some((end + 3, key))
        }
        [0x1b, ..] => Some((1, Some(Key::Escape))),
        [b'\r' | b'\n', ..] => Some((1, Some(Key::Enter))),
        [0x7f | 0x08, ..] => Some((1, Some(Key::Backspace))),
        [0x15, ..] => Some((1, Some(Key::Kill))),
        [0x17, ..] => Some((1, Some(Key::WordErase))),
        [0x03, ..] => Some((1, Some(Key::Interrupt))),
        [..0x20, ..] => Some((1, None)),
        _ => character(bytes),
    }
}

fn character(bytes: &[u8]) -> Option<(usize, Option<Key>)> {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) if error.valid_up_to() > 0 => {
            std::str::from_utf8(bytes.get(..error.valid_up_to())?).ok()?
        }
        Err(error) => return error.error_len().map(|length| (length, None)),
    };
    let first = text.chars().next()?;
    Some((first.len_utf8(), Some(Key::Char(first))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_however_they_come() {
        let table: [(&[&[u8]], &[Key]); 10] = [
            (&[b"q +"], &[Key::Char('q'), Key::Char(' '), Key::Char('+')]),
            (&[b"\x1b[C\x1b[D\x1bOA"], &[Key::Right, Key::Left, Key::Up]),
            (&[b"\x1b"], &[Key::Escape]),
            (&[b"\x1b[", b"B"], &[Key::Down]),
            (&[b"\x1b[1;5C"], &[Key::Right]),
            (&[b"\x1b[H\x1b[4~"], &[Key::Home, Key::End]),
            (
                &[b"\xc3", b"\xa4\r\x7f"],
                &[Key::Char('ä'), Key::Enter, Key::Backspace],
            ),
            (&[b"\xff\x03\x01a"], &[Key::Interrupt, Key::Char('a')]),
            (&[b"\x15\x17"], &[Key::Kill, Key::WordErase]),
            (&[b"\x1b[?62;22c"], &[]),
        ];
        for (chunks, want) in table {
            let mut reader = KeyReader::default();
            let keys: Vec<_> = chunks.iter().flat_map(|chunk| reader.read(chunk)).collect();
            assert_eq!(keys, want, "{chunks:?}");
        }
    }

    #[test]
    fn what_never_ends_is_given_up() {
        let mut reader = KeyReader::default();
        assert_eq!(reader.read(b"\x1b[00000000000000000000"), []);
        assert_eq!(reader.read(b"q"), [Key::Char('q')]);
    }
}

//! What a person does at a tty, from the bytes that it sends: keys, pastes, the mouse. Pure.

/// Something that was pressed, pasted or clicked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// A key.
    Key(Key),
    /// A text, by bracketed paste (mode 2004).
    Paste(String),
    /// The mouse.
    Mouse(Mouse),
}

/// A key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    /// One that writes a character.
    Char(char),
    /// A letter with Ctrl, in lower case.
    Ctrl(char),
    Up,
    Down,
    Left,
    Right,
    Home,
    End,
    PageUp,
    PageDown,
    Tab,
    Enter,
    Backspace,
    Delete,
    Escape,
}

/// What the mouse did, and in which cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mouse {
    /// What it did.
    pub action: MouseAction,
    /// From 0.
    pub column: u16,
    /// From 0.
    pub row: u16,
}

/// What the mouse did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MouseAction {
    /// The left button was pressed.
    Press,
    WheelUp,
    WheelDown,
}

/// The longest sequence that is waited for, in bytes.
const MAX_SEQUENCE_BYTES: usize = 32;
/// The longest paste that is taken, in bytes: more than a line of a tty.
const MAX_PASTE_BYTES: usize = 64 << 10;
const PASTE_BEGINS: &[u8] = b"\x1b[200~";
const PASTE_ENDS: &[u8] = b"\x1b[201~";

/// Reads input. A character may come in two chunks; ESC at the end of a chunk is the key.
#[derive(Debug, Default)]
pub struct InputReader {
    rest: Vec<u8>,
    /// What has come of a paste.
    paste: Option<Vec<u8>>,
}

/// What stands at the beginning of some bytes.
enum First {
    Input(Input),
    PasteBegins,
    /// Nothing of ours.
    Other,
}

impl InputReader {
    /// What a chunk of bytes holds, after those before it.
    pub fn read(&mut self, chunk: &[u8]) -> Vec<Input> {
        let mut bytes = std::mem::take(&mut self.rest);
        bytes.extend_from_slice(chunk);
        let mut inputs = Vec::new();
        let mut at = 0;
        while let Some(left) = bytes.get(at..).filter(|left| !left.is_empty()) {
            if let Some(paste) = &mut self.paste {
                let (length, is_whole) = pasted(left);
                let room = MAX_PASTE_BYTES.saturating_sub(paste.len());
                paste.extend(left.iter().take(length.min(room)));
                at += length;
                if !is_whole {
                    self.rest = bytes.get(at..).unwrap_or_default().to_vec();
                    break;
                }
                at += PASTE_ENDS.len();
                let text = String::from_utf8_lossy(&self.paste.take().unwrap_or_default()).into();
                inputs.push(Input::Paste(text));
                continue;
            }
            let (length, first) = match first(left) {
                Some(found) => found,
                None if left.len() < MAX_SEQUENCE_BYTES => {
                    self.rest = left.to_vec();
                    break;
                }
                None => (left.len(), First::Other),
            };
            match first {
                First::Input(input) => inputs.push(input),
                First::PasteBegins => self.paste = Some(Vec::new()),
                First::Other => {}
            }
            at += length;
        }
        inputs
    }
}

/// How much of some bytes is of a paste, and whether its end stands behind that.
fn pasted(bytes: &[u8]) -> (usize, bool) {
    let end = PASTE_ENDS.len();
    if let Some(at) = bytes.windows(end).position(|part| part == PASTE_ENDS) {
        return (at, true);
    }
    // The end may come in two chunks.
    let held = (1..end)
        .rev()
        .find(|&length| bytes.ends_with(&PASTE_ENDS[..length]));
    (bytes.len() - held.unwrap_or(0), false)
}

/// The first input and its bytes. `None`: its rest has not come.
fn first(bytes: &[u8]) -> Option<(usize, First)> {
    let key = |length: usize, key: Key| Some((length, First::Input(Input::Key(key))));
    match bytes {
        _ if bytes.starts_with(PASTE_BEGINS) => Some((PASTE_BEGINS.len(), First::PasteBegins)),
        [0x1b, b'[' | b'O', rest @ ..] => {
            let end = rest.iter().position(|byte| (0x40..=0x7e).contains(byte))?;
            Some((end + 3, sequence(rest.get(..end)?, rest[end])))
        }
        [0x1b] | [0x1b, 0x1b, ..] => key(1, Key::Escape),
        // A key with Alt is none of ours, and must not be taken for the key without it.
        [0x1b, rest @ ..] => {
            let (length, _) = first(rest)?;
            Some((length + 1, First::Other))
        }
        [b'\r' | b'\n', ..] => key(1, Key::Enter),
        [b'\t', ..] => key(1, Key::Tab),
        [0x7f | 0x08, ..] => key(1, Key::Backspace),
        [byte @ 1..=26, ..] => key(1, Key::Ctrl(char::from(byte - 1 + b'a'))),
        [..0x20, ..] => Some((1, First::Other)),
        _ => character(bytes),
    }
}

/// A control sequence, by its parameters and its last byte.
fn sequence(params: &[u8], last: u8) -> First {
    if let (Some(params), b'M' | b'm') = (params.strip_prefix(b"<"), last) {
        return mouse(params, last == b'M').map_or(First::Other, First::Input);
    }
    // With Shift, Ctrl or Alt it is another key.
    let key = match (params, last) {
        (b"", b'A') => Key::Up,
        (b"", b'B') => Key::Down,
        (b"", b'C') => Key::Right,
        (b"", b'D') => Key::Left,
        (b"", b'H') | (b"1" | b"7", b'~') => Key::Home,
        (b"", b'F') | (b"4" | b"8", b'~') => Key::End,
        (b"", b'M') => Key::Enter,
        (b"3", b'~') => Key::Delete,
        (b"5", b'~') => Key::PageUp,
        (b"6", b'~') => Key::PageDown,
        _ => return First::Other,
    };
    First::Input(Input::Key(key))
}

/// A report of the mouse (mode 1006).
fn mouse(params: &[u8], is_press: bool) -> Option<Input> {
    let mut numbers = std::str::from_utf8(params).ok()?.split(';').map(str::parse);
    let button: u16 = numbers.next()?.ok()?;
    let mut place = || Some(numbers.next()?.ok()?.saturating_sub(1));
    let (column, row) = (place()?, place()?);
    let action = match button {
        0 if is_press => MouseAction::Press,
        64 => MouseAction::WheelUp,
        65 => MouseAction::WheelDown,
        _ => return None,
    };
    Some(Input::Mouse(Mouse {
        action,
        column,
        row,
    }))
}

fn character(bytes: &[u8]) -> Option<(usize, First)> {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) if error.valid_up_to() > 0 => {
            std::str::from_utf8(bytes.get(..error.valid_up_to())?).ok()?
        }
        Err(error) => return error.error_len().map(|length| (length, First::Other)),
    };
    let first = text.chars().next()?;
    Some((first.len_utf8(), First::Input(Input::Key(Key::Char(first)))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(chunks: &[&[u8]]) -> Vec<Input> {
        let mut reader = InputReader::default();
        chunks.iter().flat_map(|chunk| reader.read(chunk)).collect()
    }

    #[test]
    fn keys_are_read_however_they_come() {
        let table: [(&[&[u8]], &[Key]); 13] = [
            (&[b"q +"], &[Key::Char('q'), Key::Char(' '), Key::Char('+')]),
            (&[b"\x1b[C\x1b[D\x1bOA"], &[Key::Right, Key::Left, Key::Up]),
            (&[b"\x1b"], &[Key::Escape]),
            (&[b"\x1b\x1b"], &[Key::Escape, Key::Escape]),
            (&[b"\x1b[", b"B"], &[Key::Down]),
            (&[b"\x1b[1;5C"], &[]),
            (&[b"\x1by\x1b\xc3\xa4y"], &[Key::Char('y')]),
            (&[b"\x1b[H\x1b[4~"], &[Key::Home, Key::End]),
            (&[b"\x1b[5~\x1b[6~"], &[Key::PageUp, Key::PageDown]),
            (
                &[b"\xc3", b"\xa4\r\x7f\t"],
                &[Key::Char('ä'), Key::Enter, Key::Backspace, Key::Tab],
            ),
            (&[b"\xff\x03\x00a"], &[Key::Ctrl('c'), Key::Char('a')]),
            (&[b"\x1b[?62;22c"], &[]),
            (
                &[b"\x1b[000000000000000000000000000000000", b"q"],
                &[Key::Char('q')],
            ),
        ];
        for (chunks, want) in table {
            let want: Vec<_> = want.iter().copied().map(Input::Key).collect();
            assert_eq!(read(chunks), want, "{chunks:?}");
        }
    }

    #[test]
    fn a_paste_is_one_input_and_presses_no_key() {
        let paste = |text: &str| Input::Paste(text.to_owned());
        let table: [(&[&[u8]], &[Input]); 3] = [
            (&[b"\x1b[200~y\rq\x1b[201~"], &[paste("y\rq")]),
            (
                &[b"\x1b[200~a\x1b[2", b"01~q"],
                &[paste("a"), Input::Key(Key::Char('q'))],
            ),
            (&[b"\x1b[200~\x1b[A", b"b\x1b[201~"], &[paste("\x1b[Ab")]),
        ];
        for (chunks, want) in table {
            assert_eq!(read(chunks), want, "{chunks:?}");
        }
    }

    #[test]
    fn the_mouse_presses_and_scrolls() {
        let mouse = |action, column, row| {
            Input::Mouse(Mouse {
                action,
                column,
                row,
            })
        };
        let inputs = read(&[b"\x1b[<0;5;3M\x1b[<0;5;3m\x1b[<64;1;1M\x1b[<65;300;2M\x1b[<2;1;1M"]);
        let want = [
            mouse(MouseAction::Press, 4, 2),
            mouse(MouseAction::WheelUp, 0, 0),
            mouse(MouseAction::WheelDown, 299, 1),
        ];
        assert_eq!(inputs, want);
    }
}

//! Backslash sequences in the data of `terminal_write`.

/// Replaces `\r \n \t \e \0 \xNN` by their characters, also where the client has escaped them for JSON
/// once more. `\\` before one of them is a backslash. All else stays.
pub(crate) fn unescaped(data: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(data.len());
    let mut rest = data;
    while let Some((before, after)) = rest.split_once('\\') {
        bytes.extend_from_slice(before.as_bytes());
        let doubled = after.strip_prefix('\\');
        let left = match (
            sequence(after),
            doubled.map(|after| (after, sequence(after))),
        ) {
            (Some((byte, length)), _) => {
                bytes.push(byte);
                after.split_at(length).1
            }
            // An escaped sequence: its letters stay.
            (None, Some((after, Some((_, length))))) => {
                bytes.push(b'\\');
                let (letters, left) = after.split_at(length);
                bytes.extend_from_slice(letters.as_bytes());
                left
            }
            (None, _) => {
                bytes.push(b'\\');
                after
            }
        };
        rest = left;
    }
    bytes.extend_from_slice(rest.as_bytes());
    bytes
}

/// The byte of a sequence whose backslash is before `text`, and its length.
fn sequence(text: &str) -> Option<(u8, usize)> {
    let byte = match text.as_bytes().first()? {
        b'r' => b'\r',
        b'n' => b'\n',
        b't' => b'\t',
        b'e' => 0x1b,
        b'0' => 0,
        b'x' => {
            let digits = text.get(1..3)?;
            let byte = u8::from_str_radix(digits, 16).ok();
            return byte
                .filter(|_| !digits.starts_with('+'))
                .map(|byte| (byte, 3));
        }
        _ => return None,
    };
    Some((byte, 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_are_the_characters_that_they_name() {
        let table: &[(&str, &[u8])] = &[
            ("echo W$((1+1))\\r", b"echo W$((1+1))\r"),
            ("a\r", b"a\r"),
            ("\\x03", b"\x03"),
            ("\\x1b[A\\e[B\\0", b"\x1b[A\x1b[B\0"),
            ("a\\tb\\nc", b"a\tb\nc"),
            ("printf 'a\\\\nb'\\r", b"printf 'a\\nb'\r"),
            ("\\\\x41", b"\\x41"),
            ("grep '\\d\\w'", b"grep '\\d\\w'"),
            ("C:\\\\dir", b"C:\\\\dir"),
            ("\\xZZ \\x4", b"\\xZZ \\x4"),
            ("\\x+1", b"\\x+1"),
            ("\\x\u{e9}", "\\x\u{e9}".as_bytes()),
            ("\u{e9}\\", "\u{e9}\\".as_bytes()),
            ("", b""),
        ];
        for (data, want) in table {
            assert_eq!(unescaped(data), *want, "{data:?}");
        }
    }
}

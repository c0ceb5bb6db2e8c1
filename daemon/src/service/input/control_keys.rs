//! Input that ends or interrupts and begins nothing: it is typed also where it cannot be recorded yet.

use termd_policy::TypedLines;

/// Most keys in one input: more is no person at the end of their patience.
const MAX_KEYS: usize = 16;
/// VEOF, the end of a program's input.
const END_OF_FILE: u8 = 0x04;

/// Keys that end or interrupt: C-c, C-d, C-z and C-\ (VINTR, VEOF, VSUSP and VQUIT of termios(3), as
/// ttys have them at first).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ControlKeys(Vec<u8>);

impl ControlKeys {
    /// The keys, if the input is nothing else, and no part of a line was `typed` before that the end of
    /// input would have read.
    pub(super) fn of(bytes: &[u8], typed: &TypedLines) -> Option<Self> {
        let are_keys = bytes.iter().all(|byte| name(*byte).is_some());
        if bytes.is_empty() || bytes.len() > MAX_KEYS || !are_keys {
            return None;
        }
        let mut parts = bytes.split(|byte| *byte == END_OF_FILE);
        let before = parts.next().unwrap_or_default();
        if parts.next().is_some() {
            let mut typed = typed.clone();
            typed.feed(before, None);
            if typed.holds_text() {
                return None;
            }
        }
        Some(Self(bytes.to_vec()))
    }

    /// Their names, in order.
    pub(super) fn names(&self) -> Vec<&'static str> {
        self.0.iter().filter_map(|byte| name(*byte)).collect()
    }
}

fn name(byte: u8) -> Option<&'static str> {
    match byte {
        0x03 => Some("C-c"),
        END_OF_FILE => Some("C-d"),
        0x1a => Some("C-z"),
        0x1c => Some("C-\\"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_that_end_something_and_nothing_else() {
        let mut half_typed = TypedLines::default();
        half_typed.feed(b"rm -rf x", Some("bash"));
        let empty = TypedLines::default();
        for (bytes, typed, names) in [
            (&b"\x03"[..], &empty, &["C-c"][..]),
            (b"\x04", &empty, &["C-d"]),
            (b"\x1a\x1c", &empty, &["C-z", "C-\\"]),
            (b"\x03", &half_typed, &["C-c"]),
            (b"\x03\x04", &half_typed, &["C-c", "C-d"]),
            (b"", &empty, &[]),
            (b"a", &empty, &[]),
            (b"\x03a", &empty, &[]),
            (b"\r", &empty, &[]),
            (&[0x03; 17], &empty, &[]),
            // A tty that reads lines hands what was typed over at the end of file.
            (b"\x04", &half_typed, &[]),
            (b"\x04\x03", &half_typed, &[]),
        ] {
            let keys = ControlKeys::of(bytes, typed);
            let found = keys.map(|keys| keys.names()).unwrap_or_default();
            assert_eq!(found, names, "{bytes:?}");
        }
    }
}

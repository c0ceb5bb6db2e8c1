//! A key as the newer keyboard protocols report it: `CSI code ; modifiers u` (kitty) or
//! `CSI 27 ; modifiers ; code ~` (xterm's modifyOtherKeys). Pure.

/// Bits of the modifier field minus one: shift 1, alt 2, ctrl 4, … caps lock 64, num lock 128.
const SHIFT: u32 = 1;
const CONTROL: u32 = 4;
const LOCKS: u32 = 64 | 128;
/// The event of a key's release.
const RELEASE: u32 = 3;

/// A control sequence that a tty sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyReport {
    /// A character's key, pressed or repeated, alone, with shift, or with control and nothing else.
    Press { code: u32, is_control: bool },
    /// A key's release.
    Release,
    /// The mouse or the focus.
    NoKey,
    /// Another key, or one with other modifiers.
    Other,
}

/// The control sequence that bytes begin with, and its length. `None`: they begin with something else, or its
/// end is missing.
pub(super) fn key_report(bytes: &[u8]) -> Option<(KeyReport, usize)> {
    let body = bytes.strip_prefix(b"\x1b[")?;
    let end = body.iter().position(|byte| !matches!(byte, b' '..=b'?'))?;
    let (params, last) = (body.get(..end)?, *body.get(end)?);
    Some((report(params, last), end + 3))
}

fn report(params: &[u8], last: u8) -> KeyReport {
    match (params.first(), last) {
        (Some(b'<'), b'M' | b'm') | (None, b'I' | b'O') => return KeyReport::NoKey,
        _ => {}
    }
    let fields: Vec<(u32, u32)> = params.split(|&byte| byte == b';').map(field).collect();
    let (code, (modifiers, event)) = match (last, fields.as_slice()) {
        (b'u', [code]) => (code.0, (1, 1)),
        (b'u', [code, modifiers, ..]) | (b'~', [(27, _), modifiers, code]) => (code.0, *modifiers),
        (_, [_, (_, RELEASE), ..]) => return KeyReport::Release,
        _ => return KeyReport::Other,
    };
    if event == RELEASE {
        return KeyReport::Release;
    }
    match modifiers.wrapping_sub(1) & !LOCKS {
        CONTROL => KeyReport::Press {
            code,
            is_control: true,
        },
        0 | SHIFT => KeyReport::Press {
            code,
            is_control: false,
        },
        _ => KeyReport::Other,
    }
}

/// A field's first two numbers, `number:number`; 0 for a missing one.
fn field(bytes: &[u8]) -> (u32, u32) {
    let mut numbers = bytes.split(|&byte| byte == b':').map(|digits| {
        let text = std::str::from_utf8(digits).unwrap_or_default();
        text.parse().unwrap_or(0)
    });
    (
        numbers.next().unwrap_or_default(),
        numbers.next().unwrap_or_default(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_told_from_what_is_none() {
        let press = |code, is_control| KeyReport::Press { code, is_control };
        for (bytes, expected) in [
            ("\x1b[93;5u", Some((press(93, true), 7))),
            ("\x1b[93;5:2u", Some((press(93, true), 9))),
            ("\x1b[93;5:3u", Some((KeyReport::Release, 9))),
            ("\x1b[27;5;93~", Some((press(93, true), 10))),
            ("\x1b[100u", Some((press(100, false), 6))),
            ("\x1b[100;2uX", Some((press(100, false), 8))),
            ("\x1b[100;3u", Some((KeyReport::Other, 8))),
            ("\x1b[1;1:3A", Some((KeyReport::Release, 8))),
            ("\x1b[A", Some((KeyReport::Other, 3))),
            ("\x1b[<0;1;2M", Some((KeyReport::NoKey, 9))),
            ("\x1b[I", Some((KeyReport::NoKey, 3))),
            ("\x1b[93;5", None),
            ("x", None),
        ] {
            assert_eq!(key_report(bytes.as_bytes()), expected, "{bytes:?}");
        }
    }
}

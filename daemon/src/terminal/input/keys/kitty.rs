//! Keys in kitty's keyboard protocol, as far as a press alone goes: the flags 1 (disambiguate),
//! 4 (alternate keys), 8 (all keys as escape codes) and 16 (associated text, with 8).

use std::fmt::Write as _;

use super::legacy;
use super::{
    Code, Key, KeyModes, KeyPress, KeypadKey, Modifiers, code_of, keypad_char, shifted, typed_char,
};

/// Disambiguate escape codes.
const DISAMBIGUATE: u8 = 1;
/// Report alternate keys.
const ALTERNATES: u8 = 4;
/// Report all keys as escape codes.
const ALL_KEYS: u8 = 8;
/// Report associated text.
const TEXT: u8 = 16;

/// The number of F13, the first function key that has one of its own.
const F13: u32 = 57_376;
/// The number of the keypad's 0.
const KEYPAD_0: u32 = 57_399;

/// Whether any flag is in force that changes what a press sends.
pub(super) fn is_on(modes: KeyModes) -> bool {
    modes.kitty & (DISAMBIGUATE | ALL_KEYS) != 0
}

/// What kitty sends.
pub(super) fn bytes(press: KeyPress, modes: KeyModes) -> Vec<u8> {
    let all_keys = modes.kitty & ALL_KEYS != 0;
    if !all_keys && is_left_as_it_was(press) {
        return legacy::bytes(press, modes);
    }
    let KeyPress { key, held } = press;
    // F3's final byte would be that of a cursor position report.
    if key == Key::Function(3) {
        return coded(Code::Tilde(13), held).into_bytes();
    }
    match code_of(key) {
        Some(code) => coded(code, held).into_bytes(),
        None => numbered(press, modes).into_bytes(),
    }
}

/// Without flag 8: keys that only produce text, and Enter, Tab and Backspace by themselves, so that
/// a shell can still be used after a program that died with the flags on.
fn is_left_as_it_was(press: KeyPress) -> bool {
    match press.key {
        Key::Enter | Key::Tab | Key::Backspace => press.held.is_none(),
        Key::Keypad(KeypadKey::Enter) => false,
        Key::Char(_) | Key::Keypad(_) => press.held.without(Modifiers::SHIFT).is_none(),
        _ => false,
    }
}

/// The forms that xterm has too, but never SS3.
fn coded(code: Code, held: Modifiers) -> String {
    let parameter = held.parameter();
    match (code, held.is_none()) {
        (Code::Cursor(last) | Code::Pf(last), true) => format!("\u{1b}[{last}"),
        (Code::Cursor(last) | Code::Pf(last), false) => format!("\u{1b}[1;{parameter}{last}"),
        (Code::Tilde(number), true) => format!("\u{1b}[{number}~"),
        (Code::Tilde(number), false) => format!("\u{1b}[{number};{parameter}~"),
    }
}

/// `CSI number : shifted ; modifiers ; text u`.
fn numbered(press: KeyPress, modes: KeyModes) -> String {
    let KeyPress { key, held } = press;
    let mut sequence = format!("\u{1b}[{}", number_of(key));
    if let Key::Char(c) = key
        && modes.kitty & ALTERNATES != 0
        && held.has(Modifiers::SHIFT)
        && shifted(c) != c
    {
        let _ = write!(sequence, ":{}", u32::from(shifted(c)));
    }
    let text = text_of(press).filter(|_| modes.kitty & TEXT != 0 && modes.kitty & ALL_KEYS != 0);
    match (held.is_none(), text) {
        (true, None) => {}
        (false, None) => {
            let _ = write!(sequence, ";{}", held.parameter());
        }
        (true, Some(text)) => {
            let _ = write!(sequence, ";;{}", u32::from(text));
        }
        (false, Some(text)) => {
            let _ = write!(sequence, ";{};{}", held.parameter(), u32::from(text));
        }
    }
    sequence.push('u');
    sequence
}

/// The text that a press produces; none with control or alt.
fn text_of(press: KeyPress) -> Option<char> {
    if !press.held.without(Modifiers::SHIFT).is_none() {
        return None;
    }
    match press.key {
        Key::Char(c) => Some(typed_char(c, press.held)),
        Key::Keypad(KeypadKey::Enter) => None,
        Key::Keypad(pad) => Some(keypad_char(pad)),
        _ => None,
    }
}

/// The protocol's functional key definitions; a character's is its own, unshifted.
fn number_of(key: Key) -> u32 {
    match key {
        Key::Char(c) => u32::from(c),
        Key::Enter => 13,
        Key::Tab => 9,
        Key::Backspace => 127,
        Key::Escape => 27,
        Key::Function(n) => F13 + u32::from(n.saturating_sub(13)),
        Key::Keypad(pad) => keypad_number(pad),
        // They have a code.
        _ => 0,
    }
}

fn keypad_number(key: KeypadKey) -> u32 {
    let after_0 = match key {
        KeypadKey::Digit(digit) => u32::from(digit.min(9)),
        KeypadKey::Decimal => 10,
        KeypadKey::Divide => 11,
        KeypadKey::Multiply => 12,
        KeypadKey::Subtract => 13,
        KeypadKey::Add => 14,
        KeypadKey::Enter => 15,
        KeypadKey::Equal => 16,
        KeypadKey::Separator => 17,
    };
    KEYPAD_0 + after_0
}

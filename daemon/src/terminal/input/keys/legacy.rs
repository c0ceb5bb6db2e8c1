//! Keys as xterm sends them (ctlseqs: PC-Style Function Keys, VT220-Style Function Keys, VT52-Style
//! Function Keys, Alt and Meta Keys), with modifyOtherKeys.

use super::{
    BackspaceSends, Code, EnterSends, Key, KeyMode, KeyModes, KeyPress, KeypadKey, Modifiers,
    code_of, keypad_char, typed_char,
};

const ESC: char = '\u{1b}';
const BS: char = '\u{8}';
const DEL: char = '\u{7f}';

/// What xterm sends.
pub(super) fn bytes(press: KeyPress, modes: KeyModes) -> Vec<u8> {
    let KeyPress { key, held } = fewer_function_keys(press);
    if let Some(code) = code_of(key) {
        return coded(code, held, modes.cursor).into_bytes();
    }
    if let Some(code) = modified_other(key, held, modes) {
        return format!("\u{1b}[27;{};{code}~", held.parameter()).into_bytes();
    }
    if key == Key::Tab && held.has(Modifiers::SHIFT) {
        return with_alt("\u{1b}[Z".to_owned(), held).into_bytes();
    }
    with_alt(unmodified(key, held, modes), held).into_bytes()
}

/// What a VT52 sends, as xterm in its place: no parameters, so modifiers do not show, but for
/// control and alt with characters.
pub(super) fn vt52(press: KeyPress, modes: KeyModes) -> Vec<u8> {
    let KeyPress { key, held } = fewer_function_keys(press);
    let text = match (key, code_of(key)) {
        (_, Some(Code::Cursor(last) | Code::Pf(last))) => format!("{ESC}{last}"),
        (_, Some(Code::Tilde(number))) => format!("{ESC}[{number}~"),
        (Key::Keypad(pad), _) if modes.keypad == KeyMode::Application => {
            format!("{ESC}?{}", application_keypad(pad))
        }
        (Key::Tab, _) => "\t".to_owned(),
        _ => with_alt(unmodified(key, held, modes), held),
    };
    text.into_bytes()
}

/// F13 to F24 are F1 to F12 with shift (terminfo's kf13 is `CSI 1 ; 2 P`).
fn fewer_function_keys(press: KeyPress) -> KeyPress {
    match press.key {
        Key::Function(n @ 13..) => KeyPress {
            key: Key::Function(n - 12),
            held: press.held.with(Modifiers::SHIFT),
        },
        _ => press,
    }
}

fn coded(code: Code, held: Modifiers, cursor: KeyMode) -> String {
    let parameter = held.parameter();
    match (code, held.is_none()) {
        (Code::Cursor(last), true) if cursor == KeyMode::Normal => format!("{ESC}[{last}"),
        (Code::Cursor(last) | Code::Pf(last), true) => format!("{ESC}O{last}"),
        (Code::Cursor(last) | Code::Pf(last), false) => format!("{ESC}[1;{parameter}{last}"),
        (Code::Tilde(number), true) => format!("{ESC}[{number}~"),
        (Code::Tilde(number), false) => format!("{ESC}[{number};{parameter}~"),
    }
}

fn with_alt(text: String, held: Modifiers) -> String {
    if held.has(Modifiers::ALT) {
        format!("{ESC}{text}")
    } else {
        text
    }
}

/// What is sent before alt puts an ESC in front of it.
fn unmodified(key: Key, held: Modifiers, modes: KeyModes) -> String {
    let ctrl = held.has(Modifiers::CTRL);
    match key {
        Key::Char(c) => {
            let c = typed_char(c, held);
            control_char(c).filter(|_| ctrl).unwrap_or(c).to_string()
        }
        Key::Enter => match modes.enter {
            EnterSends::Return => "\r".to_owned(),
            EnterSends::ReturnAndLineFeed => "\r\n".to_owned(),
        },
        Key::Tab => "\t".to_owned(),
        // Control gives the other one of the two.
        Key::Backspace => match (modes.backspace, ctrl) {
            (BackspaceSends::Delete, false) | (BackspaceSends::Backspace, true) => DEL.to_string(),
            _ => BS.to_string(),
        },
        Key::Escape => ESC.to_string(),
        Key::Keypad(pad) if modes.keypad == KeyMode::Application => {
            format!("{ESC}O{}", application_keypad(pad))
        }
        Key::Keypad(pad) => keypad_char(pad).to_string(),
        // The others have a code.
        _ => String::new(),
    }
}

/// The C0 character that control makes of a key (VT220 and later; `ctrl-/` as xterm has it).
pub(super) fn control_char(c: char) -> Option<char> {
    let byte = match c.to_ascii_lowercase() {
        ' ' | '@' | '2' | '`' => 0,
        letter @ 'a'..='z' => letter as u8 & 0x1f,
        '[' | '{' | '3' => 0x1b,
        '\\' | '|' | '4' => 0x1c,
        ']' | '}' | '5' => 0x1d,
        '^' | '~' | '6' => 0x1e,
        '_' | '/' | '7' => 0x1f,
        '?' | '8' => 0x7f,
        _ => return None,
    };
    Some(char::from(byte))
}

/// The code in `CSI 27 ; mod ; code ~`, where modifyOtherKeys has it sent.
fn modified_other(key: Key, held: Modifiers, modes: KeyModes) -> Option<u32> {
    let level = modes.other_keys;
    if level == 0 || held.is_none() {
        return None;
    }
    let only_shift = held == Modifiers::SHIFT;
    let ctrl = held.has(Modifiers::CTRL);
    let code = match key {
        // 1 leaves what has a well-known meaning: alt's ESC, and control's C0.
        Key::Char(c) => {
            let c = typed_char(c, held);
            let known = !ctrl || control_char(c).is_some();
            if only_shift || (level == 1 && known) {
                return None;
            }
            u32::from(c)
        }
        Key::Enter => 13,
        Key::Tab if only_shift && level == 1 => return None,
        Key::Tab => 9,
        Key::Escape if level >= 2 => 27,
        Key::Backspace if level >= 2 && !only_shift => 127,
        _ => return None,
    };
    Some(code)
}

/// SS3's (a VT52's `ESC ?`) final byte in application mode.
fn application_keypad(key: KeypadKey) -> char {
    match key {
        KeypadKey::Digit(digit) => char::from(b'p' + digit.min(9)),
        KeypadKey::Decimal => 'n',
        KeypadKey::Divide => 'o',
        KeypadKey::Multiply => 'j',
        KeypadKey::Subtract => 'm',
        KeypadKey::Add => 'k',
        KeypadKey::Enter => 'M',
        KeypadKey::Equal => 'X',
        KeypadKey::Separator => 'l',
    }
}

//! Keys' names: `page-up`, `ctrl-a`, `C-a`, `^A`, `alt-x`, `M-x`, `shift-f5`, `kp-0`, `é`.
//!
//! Names are read in any case; `-` and `_` within them may be left out. One character is that
//! character's key: `A` is `shift-a`.

use std::str::FromStr;

use thiserror::Error;

use super::{Key, KeyPress, KeypadKey, LAST_FUNCTION_KEY, Modifiers};

/// Longer names are unknown.
const MAX_NAME_BYTES: usize = 64;
/// Characters of an unknown name in the error.
const MAX_SHOWN_CHARS: usize = 32;
/// How many letters may be wrong in a name for which a key is suggested.
const MAX_DISTANCE: usize = 2;

/// Modifiers, before a `-` or `+`. Single letters are Emacs' and tmux', and go with `-` alone.
const MODIFIERS: &[(&str, Modifiers)] = &[
    ("ctrl", Modifiers::CTRL),
    ("control", Modifiers::CTRL),
    ("alt", Modifiers::ALT),
    ("meta", Modifiers::ALT),
    ("option", Modifiers::ALT),
    ("shift", Modifiers::SHIFT),
    ("c", Modifiers::CTRL),
    ("m", Modifiers::ALT),
    ("a", Modifiers::ALT),
    ("s", Modifiers::SHIFT),
];

/// Names, without hyphens; the first for a key is the one that is offered.
const NAMES: &[(&str, Key)] = &[
    ("up", Key::Up),
    ("down", Key::Down),
    ("left", Key::Left),
    ("right", Key::Right),
    ("arrowup", Key::Up),
    ("arrowdown", Key::Down),
    ("arrowleft", Key::Left),
    ("arrowright", Key::Right),
    ("home", Key::Home),
    ("end", Key::End),
    ("pageup", Key::PageUp),
    ("pgup", Key::PageUp),
    ("ppage", Key::PageUp),
    ("prior", Key::PageUp),
    ("pagedown", Key::PageDown),
    ("pgdown", Key::PageDown),
    ("pgdn", Key::PageDown),
    ("npage", Key::PageDown),
    ("next", Key::PageDown),
    ("insert", Key::Insert),
    ("ins", Key::Insert),
    ("delete", Key::Delete),
    ("del", Key::Delete),
    ("enter", Key::Enter),
    ("return", Key::Enter),
    ("cr", Key::Enter),
    ("tab", Key::Tab),
    ("backspace", Key::Backspace),
    ("bspace", Key::Backspace),
    ("bs", Key::Backspace),
    ("escape", Key::Escape),
    ("esc", Key::Escape),
    ("space", Key::Char(' ')),
    ("spc", Key::Char(' ')),
    ("minus", Key::Char('-')),
    ("plus", Key::Char('+')),
    ("kpenter", Key::Keypad(KeypadKey::Enter)),
    ("kpplus", Key::Keypad(KeypadKey::Add)),
    ("kpadd", Key::Keypad(KeypadKey::Add)),
    ("kpminus", Key::Keypad(KeypadKey::Subtract)),
    ("kpsubtract", Key::Keypad(KeypadKey::Subtract)),
    ("kpmultiply", Key::Keypad(KeypadKey::Multiply)),
    ("kptimes", Key::Keypad(KeypadKey::Multiply)),
    ("kpdivide", Key::Keypad(KeypadKey::Divide)),
    ("kpslash", Key::Keypad(KeypadKey::Divide)),
    ("kpdecimal", Key::Keypad(KeypadKey::Decimal)),
    ("kpperiod", Key::Keypad(KeypadKey::Decimal)),
    ("kpequal", Key::Keypad(KeypadKey::Equal)),
    ("kpcomma", Key::Keypad(KeypadKey::Separator)),
    ("kpseparator", Key::Keypad(KeypadKey::Separator)),
];

/// A name that is no key's.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "has no key {name:?}{}; there are up, down, left, right, home, end, page-up, page-down, insert, \
     delete, enter, tab, backspace, escape, space, f1 to f24, kp-0 to kp-9, kp-enter, kp-plus, \
     kp-minus, kp-multiply, kp-divide, kp-decimal, kp-equal, kp-comma and every single character, \
     each also after ctrl-, alt- and shift- (C-, M-, S-, ^)",
    .suggestion.map(|name| format!(" (did you mean {name}?)")).unwrap_or_default()
)]
pub struct UnknownKey {
    /// As given, cut where it is long.
    pub name: String,
    /// A key's name that is nearly the same.
    pub suggestion: Option<&'static str>,
}

impl FromStr for KeyPress {
    type Err = UnknownKey;

    fn from_str(name: &str) -> Result<Self, UnknownKey> {
        parse(name).ok_or_else(|| UnknownKey {
            name: name.chars().take(MAX_SHOWN_CHARS).collect(),
            suggestion: nearest(name),
        })
    }
}

fn parse(name: &str) -> Option<KeyPress> {
    if name.len() > MAX_NAME_BYTES {
        return None;
    }
    let (mut held, base) = split_modifiers(name);
    let key = match single_char(base) {
        Some(c) if c.is_control() => return None,
        Some(c) => {
            // `A` is typed with shift; `C-A` is how people write `C-a`.
            if c.is_uppercase() {
                if !held.has(Modifiers::CTRL) {
                    held = held.with(Modifiers::SHIFT);
                }
                Key::Char(lower(c)?)
            } else {
                Key::Char(c)
            }
        }
        None => named(&plain(base))?,
    };
    Some(KeyPress { key, held })
}

/// Takes `ctrl-`, `C-`, `^` and the like off the front.
fn split_modifiers(name: &str) -> (Modifiers, &str) {
    let mut held = Modifiers::NONE;
    let mut rest = name;
    loop {
        if let Some(after) = rest.strip_prefix('^').filter(|after| !after.is_empty()) {
            held = held.with(Modifiers::CTRL);
            rest = after;
            continue;
        }
        let Some(at) = rest.find(['-', '+']) else {
            break;
        };
        let (word, after) = rest.split_at(at);
        let mut chars = after.chars();
        let separator = chars.next();
        let after = chars.as_str();
        let word = word.to_ascii_lowercase();
        let modifier = MODIFIERS
            .iter()
            .find(|(known, _)| *known == word && (known.len() > 1 || separator == Some('-')));
        match modifier {
            Some((_, modifier)) if !after.is_empty() => {
                held = held.with(*modifier);
                rest = after;
            }
            _ => break,
        }
    }
    (held, rest)
}

fn single_char(text: &str) -> Option<char> {
    let mut chars = text.chars();
    chars.next().filter(|_| chars.as_str().is_empty())
}

/// The lower-case letter, where it is one character.
fn lower(c: char) -> Option<char> {
    let mut lower = c.to_lowercase();
    lower.next().filter(|_| lower.next().is_none()).or(Some(c))
}

/// As [`NAMES`] has names.
fn plain(name: &str) -> String {
    let letters = name.chars().filter(|c| !matches!(c, '-' | '_' | ' '));
    letters.map(|c| c.to_ascii_lowercase()).collect()
}

fn named(name: &str) -> Option<Key> {
    if let Some((_, key)) = NAMES.iter().find(|(known, _)| *known == name) {
        return Some(*key);
    }
    if let Some(number) = name.strip_prefix('f') {
        let number: u8 = number.parse().ok()?;
        return (1..=LAST_FUNCTION_KEY)
            .contains(&number)
            .then_some(Key::Function(number));
    }
    let pad = single_char(name.strip_prefix("kp")?)?;
    Some(Key::Keypad(match pad {
        '0'..='9' => KeypadKey::Digit(pad as u8 - b'0'),
        '+' => KeypadKey::Add,
        '*' => KeypadKey::Multiply,
        '/' => KeypadKey::Divide,
        '.' => KeypadKey::Decimal,
        '=' => KeypadKey::Equal,
        ',' => KeypadKey::Separator,
        _ => return None,
    }))
}

/// The name that is most like this one, if one is.
fn nearest(name: &str) -> Option<&'static str> {
    if name.len() > MAX_NAME_BYTES {
        return None;
    }
    let wanted = plain(split_modifiers(name).1);
    let near = NAMES
        .iter()
        .map(|(known, _)| (distance(&wanted, known), *known));
    near.filter(|(distance, known)| *distance <= MAX_DISTANCE && *distance < known.len())
        .min()
        .map(|(_, known)| known)
}

/// Levenshtein's distance, in bytes.
fn distance(one: &str, other: &str) -> usize {
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, a) in one.bytes().enumerate() {
        let mut last = i + 1;
        let mut diagonal = i;
        let mut next = vec![last];
        for (above, b) in row.iter().skip(1).zip(other.bytes()) {
            let changed = diagonal + usize::from(a != b);
            diagonal = *above;
            last = changed.min(above + 1).min(last + 1);
            next.push(last);
        }
        row = next;
    }
    row.last().copied().unwrap_or(0)
}

//! Keys by name, and the bytes that a terminal sends for them.
//!
//! [`KeyPress`] is parsed from a name (`parse`). [`KeyPress::bytes`] writes it in the modes that the
//! program has set: xterm's PC-style keys (`legacy`), or kitty's keyboard protocol (`kitty`). Pure.

mod kitty;
mod legacy;
mod parse;

pub use parse::UnknownKey;

use termd_vt::Model;

/// The last function key. xterm and terminfo have F13 to F24 as F1 to F12 with shift.
const LAST_FUNCTION_KEY: u8 = 24;

/// Modifiers, as the sum that xterm's and kitty's sequences add 1 to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Modifiers(u8);

impl Modifiers {
    pub const NONE: Self = Self(0);
    pub const SHIFT: Self = Self(1);
    /// Alt, which is Meta (xterm's metaSendsEscape is on).
    pub const ALT: Self = Self(2);
    pub const CTRL: Self = Self(4);

    /// The union.
    #[must_use]
    pub const fn with(self, more: Self) -> Self {
        Self(self.0 | more.0)
    }

    /// The difference.
    #[must_use]
    pub const fn without(self, less: Self) -> Self {
        Self(self.0 & !less.0)
    }

    /// Whether all of `other` are held.
    pub const fn has(self, those: Self) -> bool {
        self.0 & those.0 == those.0
    }

    pub const fn is_none(self) -> bool {
        self.0 == 0
    }

    /// The parameter in a sequence: 1 for none (ctlseqs, PC-Style Function Keys).
    pub const fn parameter(self) -> u8 {
        self.0 + 1
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Key {
    /// The key that produces this character, without shift where that is known.
    Char(char),
    Enter,
    Tab,
    /// Backspace, xterm's backarrow key.
    Backspace,
    Escape,
    Up,
    Down,
    Right,
    Left,
    Home,
    End,
    Insert,
    /// Delete, the one of the editing keypad.
    Delete,
    /// Page up, VT220's Prev.
    PageUp,
    /// Page down, VT220's Next.
    PageDown,
    /// F1 to F24.
    Function(u8),
    /// A key of the numeric keypad, Num Lock on.
    Keypad(KeypadKey),
}

/// A key of the numeric keypad.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KeypadKey {
    /// 0 to 9.
    Digit(u8),
    /// `.`
    Decimal,
    /// `/`
    Divide,
    /// `*`
    Multiply,
    /// `-`
    Subtract,
    /// `+`
    Add,
    Enter,
    /// `=`
    Equal,
    /// `,`
    Separator,
}

/// A key and its modifiers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyPress {
    pub key: Key,
    pub held: Modifiers,
}

/// A mode of cursor keys or the keypad.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum KeyMode {
    /// Reset: numeric, normal.
    #[default]
    Normal,
    /// Set: application.
    Application,
}

/// What Enter sends (LNM, mode 20).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum EnterSends {
    #[default]
    Return,
    ReturnAndLineFeed,
}

/// What Backspace sends (DECBKM, mode 67).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum BackspaceSends {
    /// DEL, as terminfo's kbs and a tty's VERASE have it.
    #[default]
    Delete,
    Backspace,
}

/// The terminal whose keys are sent (DECANM, mode 2).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum KeySet {
    /// xterm's.
    #[default]
    Ansi,
    /// A VT52's.
    Vt52,
}

/// The modes that change what keys send.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct KeyModes {
    /// DECCKM.
    pub cursor: KeyMode,
    /// DECNKM, DECKPAM, DECKPNM.
    pub keypad: KeyMode,
    /// LNM.
    pub enter: EnterSends,
    /// DECBKM.
    pub backspace: BackspaceSends,
    /// DECANM.
    pub set: KeySet,
    /// kitty's flags in force: the sum of 1, 2, 4, 8, 16.
    pub kitty: u8,
    /// xterm's modifyOtherKeys (XTMODKEYS 4), 0 to 3.
    pub other_keys: u8,
}

impl KeyModes {
    /// Those that a program has set in this model.
    pub fn of(model: &Model) -> Self {
        let modes = model.modes();
        let when = |set: bool| {
            if set {
                KeyMode::Application
            } else {
                KeyMode::Normal
            }
        };
        Self {
            cursor: when(modes.application_cursor_keys),
            keypad: when(modes.application_keypad),
            enter: if modes.line_feed_new_line {
                EnterSends::ReturnAndLineFeed
            } else {
                EnterSends::Return
            },
            backspace: if model.backspace_sends_bs() {
                BackspaceSends::Backspace
            } else {
                BackspaceSends::Delete
            },
            set: if model.is_vt52() {
                KeySet::Vt52
            } else {
                KeySet::Ansi
            },
            kitty: modes.kitty_keyboard,
            other_keys: modes.modify_other_keys,
        }
    }
}

impl KeyPress {
    /// A key alone.
    pub const fn plain(key: Key) -> Self {
        Self {
            key,
            held: Modifiers::NONE,
        }
    }

    /// What a terminal in these modes sends for it.
    pub fn bytes(self, modes: KeyModes) -> Vec<u8> {
        match modes.set {
            KeySet::Vt52 => legacy::vt52(self, modes),
            KeySet::Ansi if kitty::is_on(modes) => kitty::bytes(self, modes),
            KeySet::Ansi => legacy::bytes(self, modes),
        }
    }
}

/// The character that a key of the keypad stands for.
fn keypad_char(key: KeypadKey) -> char {
    match key {
        KeypadKey::Digit(digit) => char::from(b'0' + digit.min(9)),
        KeypadKey::Decimal => '.',
        KeypadKey::Divide => '/',
        KeypadKey::Multiply => '*',
        KeypadKey::Subtract => '-',
        KeypadKey::Add => '+',
        KeypadKey::Enter => '\r',
        KeypadKey::Equal => '=',
        KeypadKey::Separator => ',',
    }
}

/// The character that shift makes of it on a US keyboard, where letters are.
fn shifted(c: char) -> char {
    const PAIRS: [(char, char); 21] = [
        ('`', '~'),
        ('1', '!'),
        ('2', '@'),
        ('3', '#'),
        ('4', '$'),
        ('5', '%'),
        ('6', '^'),
        ('7', '&'),
        ('8', '*'),
        ('9', '('),
        ('0', ')'),
        ('-', '_'),
        ('=', '+'),
        ('[', '{'),
        (']', '}'),
        ('\\', '|'),
        (';', ':'),
        ('\'', '"'),
        (',', '<'),
        ('.', '>'),
        ('/', '?'),
    ];
    if let Some((_, above)) = PAIRS.iter().find(|(below, _)| *below == c) {
        return *above;
    }
    let mut upper = c.to_uppercase();
    match (upper.next(), upper.next()) {
        (Some(only), None) => only,
        // Such as ß: there is no one character.
        _ => c,
    }
}

/// What is typed for a character key with nothing but shift.
fn typed_char(c: char, held: Modifiers) -> char {
    if held.has(Modifiers::SHIFT) {
        shifted(c)
    } else {
        c
    }
}

/// CSI's or SS3's final byte of a key that has one, or the number before its `~`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Code {
    /// `CSI A`, `CSI 1 ; mod A`; `SS3 A` in application mode.
    Cursor(char),
    /// `SS3 P`, `CSI 1 ; mod P`.
    Pf(char),
    /// `CSI n ~`, `CSI n ; mod ~`.
    Tilde(u8),
}

/// ctlseqs, PC-Style Function Keys; F13 and more are the caller's to bring down.
fn code_of(key: Key) -> Option<Code> {
    Some(match key {
        Key::Up => Code::Cursor('A'),
        Key::Down => Code::Cursor('B'),
        Key::Right => Code::Cursor('C'),
        Key::Left => Code::Cursor('D'),
        Key::Home => Code::Cursor('H'),
        Key::End => Code::Cursor('F'),
        Key::Insert => Code::Tilde(2),
        Key::Delete => Code::Tilde(3),
        Key::PageUp => Code::Tilde(5),
        Key::PageDown => Code::Tilde(6),
        Key::Function(1) => Code::Pf('P'),
        Key::Function(2) => Code::Pf('Q'),
        Key::Function(3) => Code::Pf('R'),
        Key::Function(4) => Code::Pf('S'),
        Key::Function(5) => Code::Tilde(15),
        // 16, 22, 27, 30 are not used, as on a VT220.
        Key::Function(n @ 6..=10) => Code::Tilde(n + 11),
        Key::Function(n @ 11..=12) => Code::Tilde(n + 12),
        _ => return None,
    })
}

#[cfg(test)]
mod tests;

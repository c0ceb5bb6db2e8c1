//! Keys that a command types into another terminal, and the lines that they make there: tmux(1) send-keys, screen(1)
//! stuff.

use std::iter::Peekable;
use std::str::Chars;

use crate::program::options::Options;
use crate::shell::word::UNKNOWN;

/// How often `-N` repeats keys, and how many there may be. More are not followed.
const MAX_REPEAT: usize = 32;
const MAX_KEYS: usize = 65_536;

/// Keys of tmux(1) that move within a line or change it, and recall none.
const MOVING_KEYS: [&str; 17] = [
    "Escape", "Tab", "BTab", "BSpace", "DC", "Delete", "IC", "Insert", "Home", "End", "Left",
    "Right", "NPage", "PageDown", "PgDn", "PPage", "PgUp",
];
/// Keys of tmux(1) of which it is not followed what they do.
const OTHER_KEYS: [&str; 33] = [
    "PageUp", "Up", "Down", "F1", "F2", "F3", "F4", "F5", "F6", "F7", "F8", "F9", "F10", "F11",
    "F12", "KP/", "KP*", "KP-", "KP+", "KP.", "KP0", "KP1", "KP2", "KP3", "KP4", "KP5", "KP6",
    "KP7", "KP8", "KP9", "None", "FocusIn", "FocusOut",
];

/// What keys do to the line that they are typed into, beside what they insert.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Editing {
    /// They only insert, and end lines.
    #[default]
    Nothing,
    /// They move within the line or change it.
    Moves,
    /// They may replace the line: with one of the history, or by a key that is not followed.
    Replaces,
}

/// Keys that are typed into another terminal.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct TypedKeys {
    /// What they insert. A line feed ends a line, and [`UNKNOWN`] stands for a key that edits it.
    pub(crate) text: String,
    pub(crate) editing: Editing,
}

impl TypedKeys {
    /// The keys of a `send-keys` of tmux(1).
    pub(super) fn of_tmux(given: &Options<'_>) -> Self {
        let mut once = Self::default();
        for (_, word) in &given.operands {
            if given.has_exactly("H") {
                once.code(word);
            } else if given.has_exactly("l") || !once.named(word) {
                once.literal(word.trim_end_matches(';'));
            }
        }
        let is_format = given.has_exactly("F") && once.text.contains("#{");
        let count = given
            .value(&["N"])
            .map_or(Some(1), |(_, count)| count.parse::<usize>().ok());
        match count {
            Some(1) if !is_format => once,
            Some(count)
                if !is_format && count <= MAX_REPEAT && once.text.len() * count <= MAX_KEYS =>
            {
                once.text = once.text.repeat(count);
                once
            }
            _ => {
                once.edit(Editing::Replaces);
                once
            }
        }
    }

    /// A text that is typed. Escape sequences are read as screen(1), kitty(1) and printf(1) have them.
    pub(super) fn of_text(text: &str) -> Self {
        let mut keys = Self::default();
        let mut rest = text.chars().peekable();
        while let Some(c) = rest.next() {
            if c != '\\' {
                keys.character(c);
                continue;
            }
            match rest.peek() {
                Some('n' | 'r') => keys.character('\n'),
                Some('e') => keys.character('\u{1b}'),
                Some('x') => {
                    rest.next();
                    if let Some(c) = escaped_code(&mut rest, 16, 2) {
                        keys.character(c);
                    }
                    continue;
                }
                Some('0'..='7') => {
                    if let Some(c) = escaped_code(&mut rest, 8, 3) {
                        keys.character(c);
                    }
                    continue;
                }
                _ => {
                    keys.character(c);
                    continue;
                }
            }
            rest.next();
        }
        keys
    }

    /// The text of a `stuff` of screen(1), where `^M` is a control character as well.
    pub(super) fn of_screen(text: &str) -> Self {
        let mut keys = String::new();
        let mut rest = text.chars().peekable();
        while let Some(c) = rest.next() {
            let control = (c == '^').then(|| rest.next_if(|c| matches!(c, '@'..='_' | 'a'..='z')));
            match control.flatten().and_then(control_character) {
                Some(control) => keys.push(control),
                None => keys.push(c),
            }
        }
        Self::of_text(&keys)
    }

    /// A byte, as `zellij action write` has it.
    pub(super) fn of_byte(word: &str) -> Self {
        let mut keys = Self::default();
        match word.parse::<u8>() {
            Ok(byte) => keys.character(char::from(byte)),
            Err(_) => keys.edit(Editing::Replaces),
        }
        keys
    }

    fn edit(&mut self, editing: Editing) {
        self.text.push(UNKNOWN);
        self.editing = self.editing.max(editing);
    }

    fn literal(&mut self, text: &str) {
        for c in text.chars() {
            self.character(c);
        }
    }

    /// A character, which may be a control character as a shell's line editor has it.
    fn character(&mut self, c: char) {
        match c {
            UNKNOWN => self.text.push(c),
            // What drops a line begins another one.
            '\n' | '\r' | '\u{3}' | '\u{4}' | '\u{7}' | '\u{15}' | '\u{1a}' | '\u{1c}' => {
                self.text.push('\n');
            }
            '\u{1}' | '\u{2}' | '\u{5}' | '\u{6}' | '\u{8}' | '\t' | '\u{b}' | '\u{c}'
            | '\u{14}' | '\u{17}' | '\u{1b}' | '\u{7f}' => self.edit(Editing::Moves),
            c if c.is_control() => self.edit(Editing::Replaces),
            c => self.text.push(c),
        }
    }

    /// The number of a character: `-H 67`.
    fn code(&mut self, word: &str) {
        let digits = word.strip_prefix("0x").unwrap_or(word);
        match u32::from_str_radix(digits, 16)
            .ok()
            .and_then(char::from_u32)
        {
            Some(c) => self.character(c),
            None => self.edit(Editing::Replaces),
        }
    }

    /// A key by its name. `false`: it names none, so that it is a text.
    fn named(&mut self, word: &str) -> bool {
        if word.starts_with("0x") {
            self.code(word);
            return true;
        }
        if let Some(control) = word.strip_prefix('^').and_then(only_character) {
            return self.control(control);
        }
        let (mut name, mut modifiers) = (word, String::new());
        while let Some((modifier, rest)) = name.split_at_checked(2)
            && matches!(modifier, "C-" | "c-" | "M-" | "m-" | "S-" | "s-")
            && !rest.is_empty()
        {
            modifiers.push_str(&modifier[..1].to_ascii_uppercase());
            name = rest;
        }
        let is = |key: &&str| key.eq_ignore_ascii_case(name);
        let is_moving = MOVING_KEYS.iter().any(&is);
        let is_other = OTHER_KEYS.iter().any(&is);
        let is_end = ["Enter", "KPEnter"].iter().any(&is);
        let is_space = is(&"Space");
        let single = only_character(name);
        match (modifiers.as_str(), single) {
            ("C", Some(c)) => return self.control(c),
            ("", Some(_)) => return false,
            ("" | "S" | "C", None) if is_end => self.text.push('\n'),
            ("" | "S", None) if is_space => self.text.push(' '),
            ("" | "S" | "C", None) if is_moving => self.edit(Editing::Moves),
            (_, Some(_)) => self.edit(Editing::Replaces),
            (_, None) if is_moving || is_other || is_end || is_space => {
                self.edit(Editing::Replaces);
            }
            (_, None) => return false,
        }
        true
    }

    fn control(&mut self, c: char) -> bool {
        match control_character(c) {
            Some(c) => self.character(c),
            None => self.edit(Editing::Replaces),
        }
        true
    }
}

/// The character of an escape sequence with up to `most` digits.
fn escaped_code(rest: &mut Peekable<Chars<'_>>, radix: u32, most: usize) -> Option<char> {
    let mut code = String::new();
    while let Some(digit) = rest.next_if(|c| code.len() < most && c.is_digit(radix)) {
        code.push(digit);
    }
    let code = u32::from_str_radix(&code, radix).ok();
    code.and_then(char::from_u32)
}

fn only_character(text: &str) -> Option<char> {
    let mut chars = text.chars();
    chars.next().filter(|_| chars.next().is_none())
}

/// The control character of a key with Ctrl.
fn control_character(c: char) -> Option<char> {
    let upper = c.to_ascii_uppercase();
    let code = matches!(upper, '@'..='_').then(|| u32::from(upper) & 0x1f);
    code.and_then(char::from_u32)
}

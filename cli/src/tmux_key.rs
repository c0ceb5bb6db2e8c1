//! Keys as people and `tmux send-keys` write them among the words of a text: `C-c`, `M-x`, `Enter`,
//! `^C`, `ctrl-c`, `<C-c>`. tmux reads them in any case.

/// tmux's names, which it presses wherever they stand, and those of `--key`.
const NAMES: [(&str, &str); 24] = [
    ("Enter", "enter"),
    ("Escape", "escape"),
    ("Esc", "escape"),
    ("Tab", "tab"),
    ("Space", "space"),
    ("Up", "up"),
    ("Down", "down"),
    ("Left", "left"),
    ("Right", "right"),
    ("Home", "home"),
    ("End", "end"),
    ("Insert", "insert"),
    ("IC", "insert"),
    ("Delete", "delete"),
    ("DC", "delete"),
    ("BTab", "shift-tab"),
    ("BSpace", "backspace"),
    ("Backspace", "backspace"),
    ("PageUp", "page-up"),
    ("PgUp", "page-up"),
    ("PPage", "page-up"),
    ("PageDown", "page-down"),
    ("PgDn", "page-down"),
    ("NPage", "page-down"),
];
/// How many names, from the first, are words or commands as well. In another case than tmux writes them
/// they are keys only where nothing else is typed.
const WORDS: usize = 15;
const MODIFIERS: [&str; 9] = [
    "c-", "m-", "s-", "ctrl-", "ctrl+", "alt-", "alt+", "shift-", "shift+",
];
const LAST_FUNCTION_KEY: u8 = 12;
/// Keys of the keypad that are not digits.
const KEYPAD: [(&str, &str); 6] = [
    ("enter", "enter"),
    ("/", "divide"),
    ("*", "multiply"),
    ("-", "minus"),
    ("+", "plus"),
    (".", "decimal"),
];

/// The name for `--key` of a word that looks like a key wherever it stands.
pub(crate) fn tmux_key(word: &str) -> Option<String> {
    if let Some(inner) = word
        .strip_prefix('<')
        .and_then(|rest| rest.strip_suffix('>'))
    {
        // vim writes keys so.
        let enter = inner.eq_ignore_ascii_case("CR").then(|| "enter".to_owned());
        return tmux_key(inner).or(enter);
    }
    let base = without_modifiers(word);
    let modifiers = word.strip_suffix(base)?;
    let has_modifier = !modifiers.is_empty();
    let is_sure =
        |(at, (tmux, _)): &(usize, &(&str, &str))| has_modifier || *at >= WORDS || *tmux == base;
    if let Some((_, (_, name))) = named(base).filter(is_sure) {
        return Some(format!("{modifiers}{name}"));
    }
    if let Some(name) = function_key(base).filter(|_| has_modifier || base.starts_with('F')) {
        return Some(format!("{modifiers}{name}"));
    }
    if let Some(name) = keypad_key(base) {
        return Some(format!("{modifiers}{name}"));
    }
    let is_char = base.len() == 1 && base.bytes().all(|byte| byte.is_ascii_graphic());
    // `S-4` is no key of tmux's: shift goes with named keys.
    let lower = modifiers.to_ascii_lowercase();
    let is_held = ["c-", "m-", "ctrl", "alt"]
        .iter()
        .any(|held| lower.contains(held));
    let is_caret = |rest: &str| {
        let is_key = |byte: u8| byte.is_ascii_alphabetic() || b"@[\\]^_".contains(&byte);
        rest.len() == 1 && rest.bytes().all(is_key)
    };
    let is_key = is_held && is_char || word.strip_prefix('^').is_some_and(is_caret);
    is_key.then(|| word.to_owned())
}

/// The same of a word that is all that is to be typed: `up` and `end`, too.
pub(crate) fn lone_key(word: &str) -> Option<String> {
    let name = named(word).map(|(_, (_, name))| (*name).to_owned());
    tmux_key(word).or(name).or_else(|| function_key(word))
}

fn without_modifiers(word: &str) -> &str {
    let mut base = word;
    while let Some(rest) = MODIFIERS.iter().find_map(|held| {
        let begins = base.get(..held.len())?.eq_ignore_ascii_case(held);
        base.get(held.len()..).filter(|_| begins)
    }) {
        base = rest;
    }
    base
}

/// tmux's name in any case, or ours, with its place in the table.
fn named(base: &str) -> Option<(usize, &'static (&'static str, &'static str))> {
    let mut names = NAMES.iter().enumerate();
    names.find(|(_, (tmux, name))| {
        let is_ours = name.contains('-') && base.eq_ignore_ascii_case(name);
        is_ours || base.eq_ignore_ascii_case(tmux)
    })
}

fn function_key(base: &str) -> Option<String> {
    let name = base.to_ascii_lowercase();
    let is_key = (1..=LAST_FUNCTION_KEY).any(|key| name == format!("f{key}"));
    is_key.then_some(name)
}

/// A key of the keypad: tmux's `KP0` and `KPEnter`, our `kp-0` and `kp-enter`.
fn keypad_key(base: &str) -> Option<String> {
    let rest = base.get(..2).filter(|kp| kp.eq_ignore_ascii_case("kp"));
    let rest = base.get(2..).filter(|_| rest.is_some())?;
    let key = match rest.strip_prefix('-') {
        Some(ours) if !ours.is_empty() => ours,
        _ => rest,
    };
    let key = key.to_ascii_lowercase();
    if key.len() == 1 && key.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(format!("kp-{key}"));
    }
    let mut others = KEYPAD.iter();
    let (_, name) = others.find(|(tmux, name)| *tmux == key || *name == key)?;
    Some(format!("kp-{name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_like_a_key_of_tmux_is_one() {
        for (word, key) in [
            ("C-c", "C-c"),
            ("M-x", "M-x"),
            ("C-M-x", "C-M-x"),
            ("^C", "^C"),
            ("Enter", "enter"),
            ("M-Enter", "M-enter"),
            ("S-Up", "S-up"),
            ("BTab", "shift-tab"),
            ("F5", "f5"),
            ("C-F12", "C-f12"),
            ("C-f12", "C-f12"),
            ("Delete", "delete"),
            ("Esc", "escape"),
            ("pageup", "page-up"),
            ("page-up", "page-up"),
            ("btab", "shift-tab"),
            ("KPEnter", "kp-enter"),
            ("KP0", "kp-0"),
            ("kp-0", "kp-0"),
            ("KP-", "kp-minus"),
            ("c-b", "c-b"),
            ("c-c", "c-c"),
            ("ctrl-c", "ctrl-c"),
            ("Ctrl+C", "Ctrl+C"),
            ("alt-enter", "alt-enter"),
            ("shift-f5", "shift-f5"),
            ("ctrl-page-up", "ctrl-page-up"),
            ("^[", "^["),
            ("<C-c>", "C-c"),
            ("<Esc>", "escape"),
            ("<cr>", "enter"),
        ] {
            assert_eq!(tmux_key(word).as_deref(), Some(key), "{word}");
        }
        for word in [
            "",
            "enter",
            "up",
            "end",
            "C-",
            "C",
            "^",
            "^foo",
            "^1",
            "S-4",
            "C-cc",
            "F",
            "F0",
            "F13",
            "F05",
            "press Enter now",
            "Enter\n",
            "-C-c",
            "f5",
            "dc",
            "c-",
            "ctrl-",
            "shift-a",
            "<a>",
            "<end>",
            "<>",
            "KP",
            "kpx",
            "C-\u{7}",
            "C-é",
            "é-x",
            "c\u{e9}",
        ] {
            assert_eq!(tmux_key(word), None, "{word:?}");
        }
    }

    #[test]
    fn a_word_alone_is_a_key_in_any_case() {
        for (word, key) in [
            ("up", "up"),
            ("ENTER", "enter"),
            ("end", "end"),
            ("delete", "delete"),
            ("f5", "f5"),
            ("dc", "delete"),
            ("C-c", "C-c"),
        ] {
            assert_eq!(lone_key(word).as_deref(), Some(key), "{word}");
        }
        for word in ["", "ls", "quit", "up\n", "f13", "y"] {
            assert_eq!(lone_key(word), None, "{word:?}");
        }
    }
}

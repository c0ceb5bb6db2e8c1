//! Keys as `tmux send-keys` writes them, among the words of a text: `C-c`, `M-x`, `Enter`, `^C`.

/// tmux's names and those of `--key`. Only in tmux's case: `up` and `end` are words.
const NAMES: [(&str, &str); 20] = [
    ("Enter", "enter"),
    ("Escape", "escape"),
    ("Tab", "tab"),
    ("BTab", "shift-tab"),
    ("BSpace", "backspace"),
    ("Space", "space"),
    ("Up", "up"),
    ("Down", "down"),
    ("Left", "left"),
    ("Right", "right"),
    ("Home", "home"),
    ("End", "end"),
    ("PageUp", "page-up"),
    ("PgUp", "page-up"),
    ("PPage", "page-up"),
    ("PageDown", "page-down"),
    ("PgDn", "page-down"),
    ("NPage", "page-down"),
    ("IC", "insert"),
    ("DC", "delete"),
];
const MODIFIERS: [&str; 3] = ["C-", "M-", "S-"];
const LAST_FUNCTION_KEY: u8 = 12;

/// The name for `--key` of a word that looks like a key.
pub(crate) fn tmux_key(word: &str) -> Option<String> {
    let mut base = word;
    while let Some(rest) = MODIFIERS.iter().find_map(|held| base.strip_prefix(held)) {
        base = rest;
    }
    let modifiers = word.strip_suffix(base)?;
    if let Some(name) = named(base) {
        return Some(format!("{modifiers}{name}"));
    }
    let is_char = base.len() == 1 && base.bytes().all(|byte| byte.is_ascii_graphic());
    // `S-4` is no key of tmux's: shift goes with named keys.
    let is_held = modifiers.contains("C-") || modifiers.contains("M-");
    let is_caret =
        |rest: &str| rest.len() == 1 && rest.bytes().all(|byte| byte.is_ascii_alphabetic());
    let is_key = is_held && is_char || word.strip_prefix('^').is_some_and(is_caret);
    is_key.then(|| word.to_owned())
}

fn named(base: &str) -> Option<String> {
    let mut names = NAMES.iter();
    if let Some((_, name)) = names.find(|(tmux, _)| *tmux == base) {
        return Some((*name).to_owned());
    }
    let number = base.strip_prefix('F')?;
    let is_key = (1..=LAST_FUNCTION_KEY).any(|key| key.to_string() == number);
    is_key.then(|| base.to_ascii_lowercase())
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
            "c-c",
            "C-\u{7}",
            "C-é",
        ] {
            assert_eq!(tmux_key(word), None, "{word:?}");
        }
    }
}

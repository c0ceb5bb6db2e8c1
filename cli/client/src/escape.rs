//! Control characters made visible, for every text of unknown origin that reaches a person's tty.
//!
//! Pure. The result has only characters that print: no C0 or C1 control, no DEL, and no character
//! that turns the reading direction or hides text (CVE-2023-28486, CVE-2021-42574).

use std::fmt::Write as _;

/// Characters that reorder or hide the text around them: bidirectional marks, embeddings,
/// overrides and isolates, zero-width characters, line and paragraph separators, tags.
pub fn misleads(c: char) -> bool {
    matches!(
        c,
        '\u{061c}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}'
    )
}

/// The text with every control character as `\n`, `\t`, `\r`, `\x1b` or `\u{202e}`. `\` becomes
/// `\\`, so that no text looks like an escaped character.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() => {
                let _ = write!(out, "\\x{:02x}", u32::from(c));
            }
            c if misleads(c) => {
                let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out
}

/// A program and its arguments as one line that a shell reads back: quoted where necessary, and
/// escaped like [`escaped`].
pub fn command_line(argv: &[String]) -> String {
    let words: Vec<String> = argv.iter().map(|word| shell_word(word)).collect();
    words.join(" ")
}

fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-+=./:,@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    if word.chars().any(|c| c.is_control() || misleads(c)) {
        // The shells' own notation for control characters.
        return format!("$'{}'", escaped(word).replace('\'', "\\'"));
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controls_are_made_visible() {
        let table = [
            ("plain ✓ 漢", "plain ✓ 漢"),
            ("\u{1b}[31mred", "\\x1b[31mred"),
            ("a\nb\tc\rd", "a\\nb\\tc\\rd"),
            ("\u{0}\u{7f}", "\\x00\\x7f"),
            ("\u{9b}2J", "\\x9b2J"),
            ("\u{202e}gpj.exe", "\\u{202e}gpj.exe"),
            ("\u{2066}x\u{2069}", "\\u{2066}x\\u{2069}"),
            ("a\u{200b}b", "a\\u{200b}b"),
            ("a\\x1b", "a\\\\x1b"),
        ];
        for (text, want) in table {
            assert_eq!(escaped(text), want, "{text:?}");
        }
    }

    #[test]
    fn nothing_that_controls_comes_out() {
        let all: String = ('\0'..=char::MAX).collect();
        assert!(!escaped(&all).chars().any(|c| c.is_control() || misleads(c)));
    }

    #[test]
    fn command_lines_read_back() {
        let table: [(&[&str], &str); 5] = [
            (&["ls", "-l", "a=b"], "ls -l a=b"),
            (&["echo", "two words"], "echo 'two words'"),
            (&["echo", ""], "echo ''"),
            (&["echo", "it's"], "echo 'it'\\''s'"),
            (&["printf", "\u{1b}[2J'"], "printf $'\\x1b[2J\\''"),
        ];
        for (argv, want) in table {
            let argv: Vec<String> = argv.iter().map(|&word| word.to_owned()).collect();
            assert_eq!(command_line(&argv), want);
        }
    }
}

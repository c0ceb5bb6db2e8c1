//! Control characters made visible, for every text of unknown origin that reaches a person's tty.
//!
//! Pure. The result has only characters that print: no C0 or C1 control, no DEL, and no character
//! that turns the reading direction or hides text (CVE-2023-28486, CVE-2021-42574).

use std::borrow::Cow;
use std::fmt::Write as _;

/// Characters that reorder or hide the text around them, or show nothing themselves: Unicode's
/// `Default_Ignorable_Code_Point` (17.0: bidirectional controls, zero-width characters, fillers,
/// variation selectors, tags), line and paragraph separators, interlinear annotations, the braille
/// blank. Not the two selectors between text and emoji, which stand in ordinary text.
pub fn misleads(c: char) -> bool {
    matches!(
        c,
        '\u{00ad}'
            | '\u{034f}'
            | '\u{061c}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{2800}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0d}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

/// Whether a character chooses between the text and the emoji form of the one before it.
fn is_emoji_selector(c: char) -> bool {
    matches!(c, '\u{fe0e}' | '\u{fe0f}')
}

/// The text with each character that misleads, and each C1 control, as `\u{202e}`: for a reader that
/// takes the text for what it shows, such as a language model. Other controls and `\` stay, since
/// JSON escapes them. A selector of emoji stays behind the character that it is for.
pub fn marked(text: &str) -> Cow<'_, str> {
    let is_suspect =
        |c: char| misleads(c) || is_emoji_selector(c) || matches!(c, '\x7f'..='\u{9f}');
    if !text.contains(is_suspect) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut before = ' ';
    for c in text.chars() {
        let selects = is_emoji_selector(c) && !before.is_whitespace() && !is_suspect(before);
        if is_suspect(c) && !selects {
            let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
        } else {
            out.push(c);
        }
        before = c;
    }
    Cow::Owned(out)
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

/// The text with what controls or misleads as by [`escaped`]. Newlines, tabs and `\\` stay: for words of
/// termctl's own with others' among them, escaped or not.
pub fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' | '\\' => out.push(c),
            c => out.push_str(&escaped(c.encode_utf8(&mut [0; 4]))),
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
            ("a\u{3164}b\u{115f}", "a\\u{3164}b\\u{115f}"),
            ("a\u{34f}b\u{ad}", "a\\u{34f}b\\u{ad}"),
            ("a\u{e0101}\u{fe00}", "a\\u{e0101}\\u{fe00}"),
            ("\u{26a0}\u{fe0f}", "\u{26a0}\u{fe0f}"),
        ];
        for (text, want) in table {
            assert_eq!(escaped(text), want, "{text:?}");
        }
    }

    #[test]
    fn words_with_others_words_among_them_are_printable() {
        let text = "no \u{1b}[31m\u{9b}m\u{202e}\nas \\x1b";
        assert_eq!(printable(text), "no \\x1b[31m\\x9bm\\u{202e}\nas \\x1b");
    }

    #[test]
    fn what_a_reader_cannot_see_is_marked() {
        let table = [
            ("plain ✓ 漢\n\t\\", "plain ✓ 漢\n\t\\"),
            ("a\u{e0049}\u{e007f}b", "a\\u{e0049}\\u{e007f}b"),
            ("\u{202e}gpj.exe", "\\u{202e}gpj.exe"),
            ("a\u{200b}\u{200d}b", "a\\u{200b}\\u{200d}b"),
            ("\u{26a0}\u{fe0f} 1\u{fe0f}", "\u{26a0}\u{fe0f} 1\u{fe0f}"),
            ("a\u{fe0f}\u{fe0e}\u{fe0f}", "a\u{fe0f}\\u{fe0e}\\u{fe0f}"),
            ("\u{fe0f} \u{fe0e}", "\\u{fe0f} \\u{fe0e}"),
            ("\u{9b}2J\u{7f}", "\\u{9b}2J\\u{7f}"),
            ("\u{1b}[1m", "\u{1b}[1m"),
        ];
        for (text, want) in table {
            assert_eq!(marked(text), want, "{text:?}");
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

//! Control characters made visible, for every text of unknown origin that reaches a person's tty.
//!
//! Pure. The result has only characters that print: no C0 or C1 control, no DEL, and no character
//! that turns the reading direction or hides text (CVE-2023-28486, CVE-2021-42574).

use std::borrow::Cow;
use std::fmt::Write as _;

use termd_proto::terminal::TerminalInfo;

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

/// A text of several lines as it is. A line with a character that controls or misleads is [`escaped`]
/// whole, so that such a character looks like none of the text. Tabs stay.
pub fn lines(text: &str) -> String {
    let is_plain = |c: char| c == '\t' || (!c.is_control() && !misleads(c));
    let line = |line: &str| {
        if line.chars().all(is_plain) {
            line.to_owned()
        } else {
            escaped(line)
        }
    };
    let lines: Vec<String> = text.split('\n').map(line).collect();
    lines.join("\n")
}

/// The text with what controls or misleads as by [`escaped`], in one line. `\` stays: for text whose
/// controls are escaped in a way of its own, such as a [`command_line`].
pub fn one_line(text: &str) -> String {
    let mut parts = text.split('\\').map(escaped);
    let first = parts.next().unwrap_or_default();
    parts.fold(first, |line, part| line + "\\" + &part)
}

/// A program and its arguments as one line that bash reads back: quoted where necessary. A word with
/// what [`escaped`] makes visible is in the `$'…'` of bash, zsh and ksh.
pub fn command_line(argv: &[String]) -> String {
    let words = argv.iter().enumerate().map(|(at, word)| {
        // Before the program, `NAME=VALUE` sets a variable.
        if at == 0 && word.contains('=') && is_visible(word) {
            quoted(word)
        } else {
            shell_word(word)
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

/// A terminal's own command as one line: that of its agent, where the agent wrote more around it.
pub fn terminal_command(info: &TerminalInfo) -> String {
    match &info.agent_line {
        Some(line) => shell_line(line),
        None => command_line(&info.argv),
    }
}

/// A line of a shell as it was typed; in `$'…'` where something in it controls or misleads.
pub fn shell_line(line: &str) -> String {
    if is_visible(line) {
        line.to_owned()
    } else {
        ansi_c_quoted(line)
    }
}

fn is_visible(text: &str) -> bool {
    !text.chars().any(|c| c.is_control() || misleads(c))
}

/// One word as bash reads it back: quoted where necessary.
pub(crate) fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-+=./:,@%".contains(c);
    if !is_visible(word) {
        // Fillers count as letters.
        ansi_c_quoted(word)
    } else if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        quoted(word)
    }
}

fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// Characters beyond ASCII as their bytes: a `\u` is for the locale of the shell that reads it.
fn ansi_c_quoted(text: &str) -> String {
    let mut out = String::from("$'");
    for c in text.chars() {
        match c {
            '\'' => out.push_str("\\'"),
            c if c.is_ascii() || is_visible(c.encode_utf8(&mut [0; 4])) => {
                out.push_str(&escaped(c.encode_utf8(&mut [0; 4])));
            }
            c => {
                for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                    let _ = write!(out, "\\x{byte:02x}");
                }
            }
        }
    }
    out.push('\'');
    out
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
    fn command_lines_are_quoted_where_necessary() {
        let table: [(&[&str], &str); 9] = [
            (&["ls", "-l", "a=b"], "ls -l a=b"),
            (&["a=b", "a=b"], "'a=b' a=b"),
            (&["echo", "two words"], "echo 'two words'"),
            (&["echo", ""], "echo ''"),
            (&["echo", "it's", "a\\b"], "echo 'it'\\''s' 'a\\b'"),
            (&["printf", "\u{1b}[2J'"], "printf $'\\x1b[2J\\''"),
            (&["a", "tab\there\\t"], "a $'tab\\there\\\\t'"),
            (&["a", "\u{202e}é漢"], "a $'\\xe2\\x80\\xaeé漢'"),
            (&["a", "b\u{3164}"], "a $'b\\xe3\\x85\\xa4'"),
        ];
        for (argv, want) in table {
            let argv: Vec<String> = argv.iter().map(|&word| word.to_owned()).collect();
            assert_eq!(command_line(&argv), want);
        }
    }

    #[test]
    fn lines_are_shown_as_they_were_typed() {
        for (line, want) in [
            (
                "printf '%s\\n' 'a\tb'",
                "$'printf \\'%s\\\\n\\' \\'a\\tb\\''",
            ),
            ("echo 'it'\\''s' \\\\", "echo 'it'\\''s' \\\\"),
        ] {
            assert_eq!(shell_line(line), want);
        }
    }

    #[test]
    fn bash_reads_back_what_is_shown() {
        let alphabet: Vec<char> =
            "aZ09 \\\\''\"$`!#&;|<>(){}[]*?~=%^-,.é漢\u{3000}\u{202e}\u{9b}\t\n\r\u{1b}\u{7f}ntxfu"
                .chars()
                .collect();
        // xorshift: words that differ from run to run would hide a fault.
        let mut state = 0x2545_f491_4f6c_dd1d_u64;
        let mut random = |below: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            usize::try_from(state % below as u64).unwrap()
        };
        let argvs: Vec<Vec<String>> = (0..400)
            .map(|_| {
                let words = 1 + random(4);
                let word = |random: &mut dyn FnMut(usize) -> usize| {
                    let length = random(8);
                    (0..length)
                        .map(|_| alphabet[random(alphabet.len())])
                        .collect()
                };
                (0..words).map(|_| word(&mut random)).collect()
            })
            .collect();
        let mut script = String::new();
        for argv in &argvs {
            let line = command_line(argv);
            assert!(is_visible(&line), "{line}");
            let _ = writeln!(script, "printf '%s\\0' {line}");
            let _ = writeln!(script, "printf '%s\\0' {}", ansi_c_quoted(&line));
        }
        let bash = std::process::Command::new("bash")
            .args(["-c", &script])
            .env("LC_ALL", "C")
            .output();
        let Ok(bash) = bash else {
            eprintln!("SKIP: no bash");
            return;
        };
        let printed = String::from_utf8(bash.stdout).unwrap();
        let mut printed = printed.split('\0');
        for argv in &argvs {
            let line = command_line(argv);
            for word in argv.iter().chain([&line]) {
                assert_eq!(printed.next(), Some(word.as_str()), "{argv:?}");
            }
        }
    }
}

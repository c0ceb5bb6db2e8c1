//! What `echo` and `printf` print of known words (bash(1), SHELL BUILTIN COMMANDS; printf(1p)).

use crate::shell::word::{UNKNOWN, Word};

/// How often a format is used again for further arguments.
const MAX_USES: usize = 64;

/// What `echo` prints.
pub(super) fn echoed(args: &[Word]) -> String {
    let is_option = |word: &&Word| {
        let letters = word.text.strip_prefix('-').unwrap_or_default();
        !letters.is_empty() && letters.chars().all(|c| matches!(c, 'e' | 'n' | 'E'))
    };
    let options: Vec<&Word> = args.iter().take_while(is_option).collect();
    let letters: String = options.iter().map(|word| word.text.as_str()).collect();
    let words = args.get(options.len()..).unwrap_or_default();
    let texts: Vec<&str> = words.iter().map(Word::possible).collect();
    let text = texts.join(" ");
    let (text, goes_on) = match (letters.rfind('e'), letters.rfind('E')) {
        (Some(on), off) if off.is_none_or(|off| off < on) => {
            let read = unescaped(&text, Octal::LeadingZero);
            (read.text, read.goes_on)
        }
        (None, None) if text.contains('\\') => {
            // sh and zsh read escapes without being told to, and bash does not.
            let read = unescaped(&text, Octal::LeadingZero).text;
            if read == text {
                (text, true)
            } else {
                (UNKNOWN.to_string(), true)
            }
        }
        _ => (text, true),
    };
    if letters.contains('n') || !goes_on {
        text
    } else {
        format!("{text}\n")
    }
}

/// What `printf` prints. `None` if it prints nothing, but sets a variable.
pub(super) fn formatted(args: &[Word]) -> Option<String> {
    let args = match args.first().map(|word| word.text.as_str()) {
        Some("-v") => return None,
        Some("--") => args.get(1..).unwrap_or_default(),
        _ => args,
    };
    let (format, values) = args.split_first()?;
    let values: Vec<&str> = values.iter().map(Word::possible).collect();
    Some(formatted_texts(format.possible(), &values))
}

/// What a format makes of these values.
pub(crate) fn formatted_texts(format: &str, values: &[&str]) -> String {
    if format.contains(UNKNOWN) {
        return UNKNOWN.to_string();
    }
    let mut printed = String::new();
    let mut values = values.iter().copied().peekable();
    for _ in 0..MAX_USES {
        let before = values.len();
        let goes_on = once(format, &mut values, &mut printed);
        if !goes_on || values.len() == 0 || values.len() == before {
            return printed;
        }
    }
    printed.push(UNKNOWN);
    printed
}

/// Prints a format once. `false`: the output ends here.
fn once<'a>(
    format: &str,
    values: &mut impl Iterator<Item = &'a str>,
    printed: &mut String,
) -> bool {
    let mut rest = format;
    while let Some(at) = rest.find(['%', '\\']) {
        let (plain, special) = rest.split_at(at);
        printed.push_str(plain);
        if special.starts_with('\\') {
            let end = escape_length(special, Octal::Any);
            let escape = special.get(..end).unwrap_or(special);
            if escape == "\\c" {
                // Some end the output here (printf(1)), and some print it (bash).
                printed.push(UNKNOWN);
                return false;
            }
            printed.push_str(&unescaped(escape, Octal::Any).text);
            rest = special.get(end..).unwrap_or_default();
            continue;
        }
        let body = special.get(1..).unwrap_or_default();
        let is_flag = |c: char| c.is_ascii_digit() || "-+ #0.'*hlLjzt".contains(c);
        let directive = body.trim_start_matches(is_flag);
        let flags = body.len() - directive.len();
        let flags = body.get(..flags).unwrap_or_default();
        let Some(conversion) = directive.chars().next() else {
            printed.push('%');
            return true;
        };
        rest = directive.get(conversion.len_utf8()..).unwrap_or_default();
        if conversion == '%' {
            printed.push('%');
            continue;
        }
        // A width or a precision cuts the value or pads it.
        let is_plain = flags.is_empty();
        let value = values.next().unwrap_or_default();
        match conversion {
            's' if is_plain => printed.push_str(value),
            'b' if is_plain => {
                let read = unescaped(value, Octal::LeadingZero);
                printed.push_str(&read.text);
                if !read.goes_on {
                    return false;
                }
            }
            'c' if is_plain => printed.extend(value.chars().next()),
            'd' | 'i' | 'u' if is_plain && is_number(value) => printed.push_str(value),
            _ => {
                printed.push(UNKNOWN);
                if conversion == '(' {
                    rest = rest.split_once(")T").map_or("", |(_, rest)| rest);
                }
            }
        }
    }
    printed.push_str(rest);
    true
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && !text.starts_with('0') && text.chars().all(|c| c.is_ascii_digit())
}

/// How an escape in octal digits is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Octal {
    /// `\0ddd`, and `\ddd` too.
    LeadingZero,
    /// `\ddd`.
    Any,
}

/// The length of the escape that a text begins with.
fn escape_length(text: &str, octal: Octal) -> usize {
    let mut chars = text.char_indices().skip(1);
    let Some((at, c)) = chars.next() else {
        return text.len();
    };
    let digits = |radix: u32, most: usize, from: usize| {
        let rest = text.get(from..).unwrap_or_default();
        let count = rest
            .chars()
            .take(most)
            .take_while(|c| c.is_digit(radix))
            .count();
        from + count
    };
    match c {
        'x' => digits(16, 2, at + 1),
        'u' => digits(16, 4, at + 1),
        'U' => digits(16, 8, at + 1),
        '0' if octal == Octal::LeadingZero => digits(8, 3, at + 1),
        '0'..='7' => digits(8, 3, at),
        c => at + c.len_utf8(),
    }
}

/// A text with its escapes read.
struct Unescaped {
    text: String,
    /// Whether what follows is printed: `\c` ends the output.
    goes_on: bool,
}

/// Reads the escapes of a text.
fn unescaped(text: &str, octal: Octal) -> Unescaped {
    let mut read = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let (plain, special) = rest.split_at(at);
        read.push_str(plain);
        let end = escape_length(special, octal);
        let escape = special.get(..end).unwrap_or(special);
        rest = special.get(end..).unwrap_or_default();
        let code = escape.get(1..).unwrap_or_default();
        let number = |digits: &str, radix| {
            let number = u32::from_str_radix(digits, radix).ok();
            // A byte of a longer character is not put together.
            number
                .filter(|number| *number < 0x80 || radix == 16)
                .and_then(char::from_u32)
        };
        match code.chars().next() {
            Some('a') => read.push('\u{7}'),
            Some('b') => read.push('\u{8}'),
            Some('e' | 'E') => read.push('\u{1b}'),
            Some('f') => read.push('\u{c}'),
            Some('n') => read.push('\n'),
            Some('r') => read.push('\r'),
            Some('t') => read.push('\t'),
            Some('v') => read.push('\u{b}'),
            Some('c') => {
                return Unescaped {
                    text: read,
                    goes_on: false,
                };
            }
            Some('x' | 'u' | 'U') if code.len() > 1 => {
                let digits = code.get(1..).unwrap_or_default();
                read.push(number(digits, 16).unwrap_or(UNKNOWN));
            }
            Some(c) if c.is_digit(8) => read.push(number(code, 8).unwrap_or(UNKNOWN)),
            Some('\\') => read.push('\\'),
            Some(c) if matches!(c, '"' | '\'' | '?') && octal == Octal::Any => read.push(c),
            _ => read.push_str(escape),
        }
    }
    read.push_str(rest);
    Unescaped {
        text: read,
        goes_on: true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printf_prints_what_its_manual_says() {
        let table: [(&str, &[&str], &str); 13] = [
            ("%s -rf /srv", &["rm"], "rm -rf /srv"),
            ("%s\\n", &["a", "b"], "a\nb\n"),
            ("\\x72m", &[], "rm"),
            ("\\162m", &[], "rm"),
            ("%b", &["\\0162m\\n"], "rm\n"),
            ("%d%%", &["5"], "5%"),
            ("%c%c", &["rx", "my"], "rm"),
            ("%5s", &["x"], "\u{fffc}"),
            ("%x", &["10"], "\u{fffc}"),
            ("a\\cb", &["x"], "a\u{fffc}"),
            ("%bx%s", &["a\\cb", "y"], "a"),
            ("%(%F)Tx", &["1"], "\u{fffc}x"),
            ("%s", &["\u{fffc}x"], "\u{fffc}x"),
        ];
        for (format, values, printed) in table {
            assert_eq!(
                formatted_texts(format, values),
                printed,
                "{format} {values:?}"
            );
        }
    }
}

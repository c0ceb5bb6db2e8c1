//! The words, texts and signs of code.

use crate::work;

/// Units of work of a token: it is made, and looked at by several rules. Of a code that is too long the
/// whole text is unknown, and not the rest of the code harmless.
const UNITS_OF_TOKEN: usize = 16;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Token {
    /// A name or a number.
    Word(String),
    /// A text in quotes, without them. An escaped character stands without its backslash.
    Text(String),
    /// A text that a shell runs: in backticks, `qx(…)`, `%x(…)`.
    Shell(String),
    Sign(char),
}

/// The tokens of a code.
pub(crate) fn tokens(code: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = code;
    while let Some(c) = rest.chars().next() {
        if !work::spend(UNITS_OF_TOKEN) {
            break;
        }
        let mut length = c.len_utf8();
        if let Some((text, end)) = quoted_command(rest) {
            tokens.push(Token::Shell(text));
            length = end;
        } else if c.is_alphanumeric() || c == '_' || c == '$' || c == '@' {
            let end =
                rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$' || c == '@'));
            length = end.unwrap_or(rest.len());
            let word = rest.get(..length).unwrap_or_default();
            let word = word.trim_start_matches(['$', '@']);
            tokens.push(Token::Word(word.to_owned()));
        } else if let Some((text, end)) = quoted(rest, c) {
            tokens.push(if c == '`' {
                Token::Shell(text)
            } else {
                Token::Text(text)
            });
            length = end;
        } else if !c.is_whitespace() || c == '\n' {
            tokens.push(Token::Sign(c));
        }
        rest = rest.get(length..).unwrap_or_default();
    }
    tokens
}

/// A text in quotes, and its length with them. Three quotes begin a text, too.
fn quoted(rest: &str, quote: char) -> Option<(String, usize)> {
    if !matches!(quote, '\'' | '"' | '`') {
        return None;
    }
    let triple: String = std::iter::repeat_n(quote, 3).collect();
    let end = if rest.starts_with(&triple) {
        triple.as_str()
    } else {
        triple.get(..1)?
    };
    let mut text = String::new();
    let mut chars = rest.char_indices().skip(end.len());
    while let Some((at, c)) = chars.next() {
        if rest.get(at..)?.starts_with(end) {
            return Some((text, at + end.len()));
        }
        if c == '\\' {
            let rest = rest.get(at + 1..).unwrap_or_default();
            let (escaped, length) = escaped(rest);
            text.extend(escaped);
            for _ in 0..length {
                chars.next();
            }
        } else {
            text.push(c);
        }
    }
    Some((text, rest.len()))
}

/// The character that an escape stands for, and the characters of it behind the backslash.
fn escaped(rest: &str) -> (Option<char>, usize) {
    let digits = |from: usize, most: usize, radix: u32| {
        let behind = rest.get(from..).unwrap_or_default();
        let count = behind
            .chars()
            .take(most)
            .take_while(|c| c.is_digit(radix))
            .count();
        let number = behind
            .get(..count)
            .and_then(|text| u32::from_str_radix(text, radix).ok());
        (number.and_then(char::from_u32), from + count)
    };
    let first = rest.chars().next();
    let (character, length) = match first {
        Some('x') => digits(1, 2, 16),
        Some('u') if rest.starts_with("u{") => {
            let (character, length) = digits(2, 6, 16);
            (character, length + 1)
        }
        Some('u') => digits(1, 4, 16),
        Some('0'..='7') => digits(0, 3, 8),
        Some('n') => (Some('\n'), 1),
        Some('t') => (Some('\t'), 1),
        _ => (None, 0),
    };
    // Texts are searched for words, and not for what does not print.
    match character.filter(|c| !c.is_control() || matches!(c, '\n' | '\t')) {
        Some(character) => (Some(character), length),
        None => (first, usize::from(first.is_some())),
    }
}

/// `qx(…)`, `qx{…}`, `%x(…)`: a text, and its length.
fn quoted_command(rest: &str) -> Option<(String, usize)> {
    let behind = ["qx", "%x"]
        .iter()
        .find_map(|name| rest.strip_prefix(name))?;
    let open = behind.chars().next()?;
    let close = match open {
        '(' => ')',
        '{' => '}',
        '[' => ']',
        '<' => '>',
        '/' | '|' | '!' => open,
        _ => return None,
    };
    let text = behind.get(1..)?;
    let end = text.find(close).unwrap_or(text.len());
    let length = "qx".len() + 1 + end + 1;
    Some((text.get(..end)?.to_owned(), length.min(rest.len())))
}

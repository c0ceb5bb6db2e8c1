//! Escapes in the texts of code.

use std::str::Chars;

use crate::shell::word::UNKNOWN;

/// Decodes a text: `escape` adds what stands behind a backslash.
pub(super) fn decoded(text: &str, mut escape: impl FnMut(&mut Chars<'_>, &mut String)) -> String {
    let mut decoded = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c == '\\' {
            escape(&mut chars, &mut decoded);
        } else {
            decoded.push(c);
        }
    }
    decoded
}

/// The character of the letters that C, and with it most languages, has for signs without a picture.
pub(super) fn control(letter: char) -> Option<char> {
    Some(match letter {
        'a' => '\u{7}',
        'b' => '\u{8}',
        'f' => '\u{c}',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'v' => '\u{b}',
        _ => return None,
    })
}

/// Takes what JavaScript and Ruby have behind a backslash: a continued line, a number of a character, or a
/// letter. `own` decodes letters that the language has for itself.
pub(super) fn numbered(
    chars: &mut Chars<'_>,
    decoded: &mut String,
    own: impl FnOnce(char) -> Option<char>,
) {
    let before = chars.clone();
    match chars.next() {
        Some('\n') | None => {}
        Some('0'..='7') => {
            *chars = before;
            number(chars, 3, 8, decoded);
        }
        Some('x') => number(chars, 2, 16, decoded),
        Some('u') if chars.as_str().starts_with('{') => braced(chars, 16, decoded),
        Some('u') => number(chars, 4, 16, decoded),
        Some(c) => decoded.push(own(c).or_else(|| control(c)).unwrap_or(c)),
    }
}

/// Takes up to this number of digits, and adds the character of their number.
pub(super) fn number(chars: &mut Chars<'_>, most: usize, radix: u32, decoded: &mut String) {
    let rest = chars.as_str();
    let digits = rest.chars().take(most);
    let length = digits.take_while(|c| c.is_digit(radix)).count();
    let number = rest.get(..length).unwrap_or_default();
    let number = u32::from_str_radix(number, radix).ok();
    decoded.push(number.and_then(char::from_u32).unwrap_or(UNKNOWN));
    *chars = rest.get(length..).unwrap_or_default().chars();
}

/// Takes what stands in braces, and adds the character of each number in it: `\u{72 6d}`.
pub(super) fn braced(chars: &mut Chars<'_>, radix: u32, decoded: &mut String) {
    let rest = chars.as_str();
    let inner = rest.strip_prefix('{').and_then(|rest| rest.split_once('}'));
    let Some((numbers, behind)) = inner else {
        decoded.push(UNKNOWN);
        return;
    };
    for number in numbers.split_whitespace() {
        let number = u32::from_str_radix(number, radix).ok();
        decoded.push(number.and_then(char::from_u32).unwrap_or(UNKNOWN));
    }
    *chars = behind.chars();
}

/// Takes the name of a character in braces, and adds the character.
pub(super) fn named(chars: &mut Chars<'_>, decoded: &mut String) {
    let rest = chars.as_str();
    let inner = rest.strip_prefix('{').and_then(|rest| rest.split_once('}'));
    decoded.push(inner.and_then(|(name, _)| by_name(name)).unwrap_or(UNKNOWN));
    if let Some((_, behind)) = inner {
        *chars = behind.chars();
    }
}

/// The character of a name, or of Perl's `U+72`, as far as a shell's words are made of it.
fn by_name(name: &str) -> Option<char> {
    if let Some(digits) = name.strip_prefix("U+") {
        return char::from_u32(u32::from_str_radix(digits, 16).ok()?);
    }
    let name = name.to_ascii_uppercase();
    let letter = |rest: &str| rest.chars().next().filter(|_| rest.len() == 1);
    if let Some(rest) = name.strip_prefix("LATIN SMALL LETTER ") {
        return letter(rest).map(|c| c.to_ascii_lowercase());
    }
    if let Some(rest) = name.strip_prefix("LATIN CAPITAL LETTER ") {
        return letter(rest);
    }
    match name.as_str() {
        "SPACE" => Some(' '),
        "HYPHEN-MINUS" => Some('-'),
        "SOLIDUS" => Some('/'),
        "FULL STOP" => Some('.'),
        _ => None,
    }
}

/// A text in which a backslash stands for itself but before itself and a quote.
pub(super) fn single_quoted(text: &str, quote: &str) -> String {
    decoded(text, |chars, decoded| {
        let next = chars.clone().next();
        match next {
            Some(c) if c == '\\' || quote.contains(c) => {
                decoded.push(c);
                chars.next();
            }
            _ => decoded.push('\\'),
        }
    })
}

/// Whether a sign stands in a text without a backslash before it.
pub(super) fn has_bare(text: &str, sign: &str) -> bool {
    text.match_indices(sign).any(|(at, _)| {
        let before = text.get(..at).unwrap_or_default();
        let backslashes = before.len() - before.trim_end_matches('\\').len();
        backslashes.is_multiple_of(2)
    })
}

//! Lines of zsh and fish in the words of bash, where these shells read the same text otherwise.

use std::iter::Peekable;
use std::str::Chars;

use super::quote::quoted;

/// What an interactive zsh reads otherwise: `#` begins no comment, and braces need no separator
/// (zshmisc(1)). `None`: nothing.
pub(crate) fn zsh_as_bash(line: &str) -> Option<String> {
    if !line.contains(['#', '}']) && !line.contains("\\!") {
        return None;
    }
    let words = line.replace('\n', " ; ");
    let read = words.split(' ').map(|word| match word {
        // An interactive zsh takes `\!` for `!`.
        "{" | "}" | "always" | "\\!" => ";".to_owned(),
        word if word.starts_with('#') => format!("\\{word}"),
        word => word.to_owned(),
    });
    Some(read.collect::<Vec<_>>().join(" "))
}

/// A line of fish: escapes hold outside quotes, and a substitution has no `$` (fish-language(1)).
pub(crate) fn fish_as_bash(line: &str) -> String {
    let mut read = String::new();
    let mut quote = None;
    let mut chars = line.chars().peekable();
    let mut previous = ' ';
    while let Some(c) = chars.next() {
        match (quote, c) {
            (None, '\\') => escape(&mut chars, &mut read),
            (Some(_), '\\') => {
                read.push('\\');
                read.extend(chars.next());
            }
            (None, '\'' | '"') => {
                quote = Some(c);
                read.push(c);
            }
            (Some(open), _) if open == c => {
                quote = None;
                read.push(c);
            }
            (None, '(') if previous != '$' => read.push_str("$("),
            _ => read.push(c),
        }
        previous = c;
    }
    read
}

/// `\x72`, `\u0072`, `\162`; any other escaped character stands as it is.
fn escape(chars: &mut Peekable<Chars<'_>>, read: &mut String) {
    let (radix, most) = match chars.peek() {
        Some('x' | 'X') => (16, 2),
        Some('u') => (16, 4),
        Some('U') => (16, 8),
        Some('0'..='7') => (8, 3),
        _ => {
            read.push('\\');
            read.extend(chars.next());
            return;
        }
    };
    if radix == 16 {
        chars.next();
    }
    let mut digits = String::new();
    while digits.len() < most
        && let Some(digit) = chars.next_if(|c| c.is_digit(radix))
    {
        digits.push(digit);
    }
    let character = u32::from_str_radix(&digits, radix).ok();
    let character = character.and_then(char::from_u32);
    let text = character.map_or_else(String::new, String::from);
    read.push_str(&quoted(&text));
}

//! awk, by a reader of its own: <https://pubs.opengroup.org/onlinepubs/9799919799/utilities/awk.html>,
//! "Lexical conventions".

use std::str::Chars;

use super::escapes;
use super::spelling::Spelling;

/// Code in the one spelling. `None`: a text or a pattern has no end.
pub(super) fn plain(code: &str) -> Option<String> {
    let mut spelling = Spelling::default();
    let mut rest = code;
    // Whether a value stands before, which a slash divides.
    let mut is_value = false;
    // The round brackets that are open: whether a statement may follow each.
    let mut brackets = Vec::new();
    let mut has_condition = false;
    while let Some(c) = rest.chars().next() {
        let mut length = c.len_utf8();
        match c {
            '#' => length = rest.find('\n').unwrap_or(rest.len()),
            '\\' => {
                let behind = rest.get(1..)?.trim_start_matches('\r');
                behind.strip_prefix('\n')?;
                length = rest.len() - behind.len() + 1;
                spelling.code(" ");
            }
            '"' => {
                length = quoted_length(rest, '"')?;
                spelling.text(&decoded(rest.get(1..length - 1)?));
                is_value = true;
            }
            '/' if !is_value => {
                length = pattern_length(rest)?;
                spelling.pattern();
                is_value = true;
            }
            '\'' | '`' | '\0' => return None,
            // gawk(1), "Indirect function calls": a variable names what is called.
            '@' if !is_directive(rest) => return None,
            c if is_letter(c) => {
                length = rest.find(|c| !is_letter(c)).unwrap_or(rest.len());
                let word = rest.get(..length)?;
                is_value = !matches!(
                    word,
                    "print" | "printf" | "return" | "in" | "getline" | "case" | "else" | "do"
                );
                has_condition = matches!(word, "if" | "while" | "for");
                spelling.code(word);
            }
            '(' => {
                brackets.push(std::mem::take(&mut has_condition));
                is_value = false;
                spelling.code("(");
            }
            ')' => {
                is_value = !brackets.pop()?;
                spelling.code(")");
            }
            c => {
                let is_blank = c.is_whitespace() && c != '\n';
                let is_counted = rest.starts_with("++") || rest.starts_with("--");
                if is_counted {
                    // Behind a value it belongs to it, and before one a value follows.
                    length = 2;
                } else if !is_blank {
                    is_value = c == ']';
                }
                spelling.code(rest.get(..length)?);
            }
        }
        rest = rest.get(length..)?;
    }
    Some(spelling.finish())
}

/// Whether gawk reads a directive here: `@include`, `@load`, `@namespace`.
fn is_directive(rest: &str) -> bool {
    let behind = rest.get(1..).unwrap_or_default().trim_start();
    ["include", "load", "namespace", "/"]
        .iter()
        .any(|name| behind.starts_with(name))
}

fn is_letter(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || !c.is_ascii()
}

/// The length of a text with its quotes.
fn quoted_length(rest: &str, quote: char) -> Option<usize> {
    let mut is_escaped = false;
    let mut chars = rest.char_indices().skip(1);
    chars.find_map(|(at, c)| {
        let ends = c == quote && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        ends.then_some(at + 1)
    })
}

/// The length of a pattern with its slashes. `None`: it has no end, or programs differ in where it ends:
/// to some a slash in brackets ends it.
fn pattern_length(rest: &str) -> Option<usize> {
    let (mut is_escaped, mut in_brackets) = (false, false);
    let mut bracket = 0;
    // Where a class of characters ends: `[:alpha:]`.
    let mut class_end = 0;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            '\n' => return None,
            _ if at < class_end => {}
            '[' if in_brackets && rest.get(at + 1..)?.starts_with([':', '.', '=']) => {
                let behind = rest.get(at + 2..)?;
                let name = behind.find(|c: char| !c.is_ascii_alphanumeric())?;
                if behind.get(name + 1..)?.starts_with(']') {
                    class_end = at + 2 + name + 2;
                }
            }
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '[' if !in_brackets => {
                in_brackets = true;
                bracket = at + 1 + usize::from(rest.get(at + 1..)?.starts_with('^'));
            }
            ']' if in_brackets && at > bracket => {
                in_brackets = false;
                let within = rest.get(bracket..at)?;
                if within.contains('/') && within.contains('"') {
                    return None;
                }
            }
            '/' if !in_brackets => return Some(at + 1),
            _ => {}
        }
    }
    None
}

fn decoded(text: &str) -> String {
    escapes::decoded(text, |chars: &mut Chars<'_>, decoded| {
        let before = chars.clone();
        match chars.next() {
            Some('\n') | None => {}
            Some('0'..='7') => {
                *chars = before;
                escapes::number(chars, 3, 8, decoded);
            }
            Some('x') => escapes::number(chars, 2, 16, decoded),
            Some('u') => escapes::number(chars, 8, 16, decoded),
            Some(c) => decoded.push(escapes::control(c).unwrap_or(c)),
        }
    })
}

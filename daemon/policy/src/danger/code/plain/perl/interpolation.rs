//! Values and code within texts: perlop(1), "Gory details of parsing quoted constructs".

use super::super::escapes;
use super::super::spelling::put_in;
use super::{is_letter, name_of};
use crate::shell::word::UNKNOWN;

/// What a text is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Pattern,
}

/// How the letters of a text are changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Case {
    AsWritten,
    Lower,
    Upper,
}

/// A text with its escapes decoded and its values put in, and the code in it. `None`: a bracket in it has
/// no end.
pub(super) fn interpolated(text: &str, kind: Kind) -> Option<(String, Vec<String>)> {
    let mut decoded = String::new();
    let mut codes = Vec::new();
    let (mut case, mut next_case) = (Case::AsWritten, Case::AsWritten);
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let behind = rest.get(c.len_utf8()..)?;
        let mut added = String::new();
        rest = match c {
            '\\' => {
                let mut chars = behind.chars();
                let before = chars.clone();
                match chars.next() {
                    Some('L' | 'F') => case = Case::Lower,
                    Some('U') => case = Case::Upper,
                    Some('E') => case = Case::AsWritten,
                    Some('Q') | None => {}
                    Some('l') => next_case = Case::Lower,
                    Some('u') => next_case = Case::Upper,
                    Some('0'..='7') => {
                        chars = before;
                        escapes::number(&mut chars, 3, 8, &mut added);
                    }
                    Some('x') if chars.as_str().starts_with('{') => {
                        escapes::braced(&mut chars, 16, &mut added);
                    }
                    Some('x') => escapes::number(&mut chars, 2, 16, &mut added),
                    Some('o') => escapes::braced(&mut chars, 8, &mut added),
                    Some('N') => escapes::named(&mut chars, &mut added),
                    Some('c') => {
                        chars.next();
                        added.push(UNKNOWN);
                    }
                    Some('e') => added.push('\u{1b}'),
                    Some(c) => added.push(escapes::control(c).unwrap_or(c)),
                }
                chars.as_str()
            }
            '$' | '@' => {
                let (value, length) = value(rest, kind, &mut codes)?;
                added.push_str(&value);
                rest.get(length..)?
            }
            '(' if kind == Kind::Pattern
                && ["?{", "??{", "*{", "**{"]
                    .iter()
                    .any(|code| behind.starts_with(code)) =>
            {
                let open = behind.trim_start_matches(['?', '*']);
                let inner = bracketed(open)?;
                codes.push(inner.to_owned());
                open.get(inner.len() + 2..)?
            }
            c => {
                added.push(c);
                behind
            }
        };
        if added.is_empty() {
            continue;
        }
        let once = std::mem::replace(&mut next_case, Case::AsWritten);
        let of_added = if once == Case::AsWritten { case } else { once };
        decoded.push_str(&match of_added {
            Case::AsWritten => added,
            Case::Lower => added.to_lowercase(),
            Case::Upper => added.to_uppercase(),
        });
    }
    Some((decoded, codes))
}

/// What a value in a text adds to it, and the length of what stands for it.
fn value(text: &str, kind: Kind, codes: &mut Vec<String>) -> Option<(String, usize)> {
    let sigil = text.get(..1)?;
    let mut length = 1;
    let mut behind = text.get(1..)?;
    // `$#a`, `$$a`, `@$a`.
    let is_length = behind.starts_with('#') && starts_name(behind.get(1..)?);
    let is_dereferenced = behind.starts_with('$') && starts_name(behind.trim_start_matches('$'));
    if is_length || is_dereferenced {
        let name = behind.trim_start_matches(['#', '$']);
        length += behind.len() - name.len();
        behind = name;
    }
    let mut name = None;
    match behind.chars().next() {
        Some('{') => {
            let inner = bracketed(behind)?;
            length += inner.len() + 2;
            let is_name = !inner.is_empty() && inner.chars().all(is_letter);
            if is_name {
                name = Some(inner);
            } else if !inner.starts_with('^') {
                codes.push(inner.replace("\\\"", "\""));
            }
        }
        Some(c) if is_letter(c) || behind.starts_with("::") => {
            let found = name_of(behind);
            length += found.len();
            let is_older = behind.get(found.len()..)?.starts_with('\'');
            name = (!is_older).then_some(found);
        }
        Some(c) if sigil == "$" && !c.is_whitespace() => {
            let is_end = kind == Kind::Pattern && matches!(c, ')' | '|');
            if is_end {
                return Some((sigil.to_owned(), 1));
            }
            return Some((put_in(None), 1 + c.len_utf8()));
        }
        _ => return Some((sigil.to_owned(), 1)),
    }
    let subscripts = subscripts(text.get(length..)?, kind, codes)?;
    let is_plain = sigil == "$" && subscripts == 0 && !is_length && !is_dereferenced;
    Some((put_in(name.filter(|_| is_plain)), length + subscripts))
}

fn starts_name(text: &str) -> bool {
    text.starts_with(|c: char| is_letter(c) || c == '{' || c == '$')
}

/// The length of the subscripts behind a name: `[0]{x}`, `->{x}`.
fn subscripts(text: &str, kind: Kind, codes: &mut Vec<String>) -> Option<usize> {
    let mut length = 0;
    loop {
        let rest = text.get(length..)?;
        let open = rest.strip_prefix("->").unwrap_or(rest);
        if !open.starts_with(['[', '{']) {
            return Some(length);
        }
        let Some(inner) = bracketed(open) else {
            return Some(length);
        };
        let is_index = |text: &str| {
            let text = text.trim_start_matches(['-', '$']);
            !text.is_empty() && text.chars().all(is_letter)
        };
        let repeats =
            open.starts_with('{') && inner.chars().all(|c| c.is_ascii_digit() || c == ',');
        // Else it is a part of the pattern.
        if kind == Kind::Pattern && (repeats || !is_index(inner)) {
            return Some(length);
        }
        codes.push(inner.replace("\\\"", "\""));
        length += rest.len() - open.len() + inner.len() + 2;
    }
}

/// What stands between the bracket that a text begins with and the one that closes it.
fn bracketed(text: &str) -> Option<&str> {
    let open = text.chars().next()?;
    let close = match open {
        '{' => '}',
        '[' => ']',
        _ => return None,
    };
    let mut depth = 0_usize;
    let mut is_escaped = false;
    for (at, c) in text.char_indices() {
        if is_escaped {
            is_escaped = false;
        } else if c == '\\' {
            is_escaped = true;
        } else if c == open {
            depth += 1;
        } else if c == close {
            depth -= 1;
            if depth == 0 {
                return text.get(1..at);
            }
        }
    }
    None
}

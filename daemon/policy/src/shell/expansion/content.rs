//! What the forms of `${…}` take of a variable's content (bash(1), Parameter Expansion).

use super::parameter::Reference;
use crate::shell::state::Content;
use crate::shell::word::UNKNOWN;

/// Whether `${x:-word}` and its kin take their word. `None`: it is not known.
pub(super) fn is_missing(content: &Content, reference: &Reference<'_>) -> Option<bool> {
    let of_text = |text: &str| {
        let is_known = !reference.tests_emptiness || !text.contains(UNKNOWN);
        is_known.then_some(reference.tests_emptiness && text.is_empty())
    };
    match (content, reference.subscript) {
        (Content::Text(text), None | Some("@" | "*" | "0")) => of_text(text),
        (Content::Unknown, _) | (Content::Text(_), Some(_)) => None,
        (Content::List(elements), subscript) => {
            let number = match subscript {
                None if !matches!(reference.name, "@" | "*") => Some(0),
                None | Some("@" | "*") if elements.len() <= 1 => Some(0),
                None | Some("@" | "*") => None,
                Some(number) => number.parse::<usize>().ok(),
            };
            match number.map(|number| elements.get(number)) {
                Some(element) => element.map_or(Some(true), |element| of_text(element)),
                None if subscript.is_none_or(|subscript| matches!(subscript, "@" | "*"))
                    && elements.iter().any(|element| !element.is_empty()) =>
                {
                    Some(false)
                }
                None => None,
            }
        }
    }
}

/// A part of a value or of a list (bash(1), Substring Expansion). `None`: it is not known.
pub(super) fn sliced(
    content: &Content,
    reference: &Reference<'_>,
    zero: Option<&str>,
    offset: i64,
    length: Option<i64>,
) -> Option<Content> {
    match content {
        Content::Text(text) if !text.contains(UNKNOWN) && reference.subscript.is_none() => {
            let chars: Vec<char> = text.chars().collect();
            let part = part(&chars, offset, length)?;
            Some(Content::Text(part.iter().collect()))
        }
        Content::List(elements) if reference.is_positional() && reference.is_list() => {
            // The one with the number 0 is the shell's name.
            let zero = zero.map_or_else(|| UNKNOWN.to_string(), str::to_owned);
            let all: Vec<String> = std::iter::once(zero).chain(elements.clone()).collect();
            Some(Content::List(part(&all, offset, length)?.to_vec()))
        }
        Content::List(elements) if reference.is_list() => {
            Some(Content::List(part(elements, offset, length)?.to_vec()))
        }
        _ => None,
    }
}

/// A part of a list. `None`: the shell takes it for a fault, or counts its end from behind.
fn part<T>(all: &[T], offset: i64, length: Option<i64>) -> Option<&[T]> {
    let count = i64::try_from(all.len()).ok()?;
    let from = if offset < 0 { count + offset } else { offset };
    let from = usize::try_from(from).ok()?.min(all.len());
    let length = match length {
        Some(length) => usize::try_from(length).ok()?,
        None => all.len(),
    };
    all.get(from..from.saturating_add(length).min(all.len()))
}

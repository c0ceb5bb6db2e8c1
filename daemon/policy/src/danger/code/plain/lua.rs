//! Lua: <https://www.lua.org/manual/5.4/manual.html#3.1>.

use tree_sitter::Node;

use super::escapes;
use super::grammar::{Grammar, Part, as_written, is_never_encoded};

pub(super) static LUA: Grammar = Grammar {
    language: || tree_sitter_lua::LANGUAGE.into(),
    has_old_line_ends: true,
    joins_lines: true,
    is_encoded: is_never_encoded,
    part,
    decode,
    word: as_written,
};

fn part(node: Node<'_>) -> Part {
    match node.kind() {
        "comment" | "hash_bang_line" => Part::Nothing,
        "string" => Part::Text,
        _ => Part::Code,
    }
}

#[allow(clippy::unnecessary_wraps)] // As other languages have it.
fn decode(opening: &str, text: &str) -> Option<String> {
    if opening.starts_with('[') {
        return Some(text.strip_prefix('\n').unwrap_or(text).to_owned());
    }
    Some(escapes::decoded(text, |chars, decoded| {
        let before = chars.clone();
        match chars.next() {
            Some('z') => *chars = chars.as_str().trim_start().chars(),
            Some('0'..='9') => {
                *chars = before;
                escapes::number(chars, 3, 10, decoded);
            }
            Some('x') => escapes::number(chars, 2, 16, decoded),
            Some('u') => escapes::braced(chars, 16, decoded),
            Some(c) => decoded.push(escapes::control(c).unwrap_or(c)),
            None => {}
        }
    }))
}

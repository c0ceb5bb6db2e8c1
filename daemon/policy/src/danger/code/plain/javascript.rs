//! JavaScript: <https://tc39.es/ecma262/#sec-ecmascript-language-lexical-grammar>.

use tree_sitter::Node;

use super::escapes;
use super::grammar::{Grammar, Part, is_never_encoded};

pub(super) static JAVASCRIPT: Grammar = Grammar {
    language: || tree_sitter_javascript::LANGUAGE.into(),
    has_old_line_ends: true,
    joins_lines: false,
    is_encoded: is_never_encoded,
    part,
    decode,
    word,
};

fn part(node: Node<'_>) -> Part {
    match node.kind() {
        "comment" | "hash_bang_line" => Part::Nothing,
        "string" => Part::Text,
        "template_string" => Part::Template,
        "template_substitution" => Part::PutIn,
        "regex" => Part::Pattern,
        // A script has such comments, and to a module they are operators.
        "html_comment" => Part::Unread,
        kind if kind.starts_with("jsx_") => Part::Unread,
        _ => Part::Code,
    }
}

fn decode(opening: &str, text: &str) -> Option<String> {
    if opening == "`" && escapes::has_bare(text, "${") {
        return None;
    }
    Some(escapes::decoded(text, |chars, decoded| {
        let before = chars.clone();
        match chars.next() {
            Some('\n') | None => {}
            Some('0'..='7') => {
                *chars = before;
                escapes::number(chars, 3, 8, decoded);
            }
            Some('x') => escapes::number(chars, 2, 16, decoded),
            Some('u') if chars.as_str().starts_with('{') => escapes::braced(chars, 16, decoded),
            Some('u') => escapes::number(chars, 4, 16, decoded),
            Some('a') => decoded.push('a'),
            Some(c) => decoded.push(escapes::control(c).unwrap_or(c)),
        }
    }))
}

fn word(source: &str) -> Option<String> {
    if source.contains('\\') {
        return decode("", source);
    }
    Some(source.to_owned())
}

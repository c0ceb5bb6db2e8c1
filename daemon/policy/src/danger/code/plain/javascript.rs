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
    // `a` is a letter as any other.
    let own = |c| (c == 'a').then_some('a');
    Some(escapes::decoded(text, |chars, decoded| {
        escapes::numbered(chars, decoded, own);
    }))
}

fn word(source: &str) -> Option<String> {
    if source.contains('\\') {
        return decode("", source);
    }
    Some(source.to_owned())
}

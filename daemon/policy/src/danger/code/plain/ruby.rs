//! Ruby: <https://docs.ruby-lang.org/en/master/syntax/literals_rdoc.html>.

use tree_sitter::Node;

use super::escapes;
use super::grammar::{Grammar, Part, is_never_encoded};
use crate::shell::word::UNKNOWN;

pub(super) static RUBY: Grammar = Grammar {
    language: || tree_sitter_ruby::LANGUAGE.into(),
    has_old_line_ends: false,
    joins_lines: false,
    is_encoded: is_never_encoded,
    part,
    decode,
    word,
};

fn part(node: Node<'_>) -> Part {
    // A keyword has the name of what it begins.
    if !node.is_named() {
        return Part::Code;
    }
    match node.kind() {
        "comment" => Part::Nothing,
        "string" | "delimited_symbol" => Part::Text,
        "bare_string" | "bare_symbol" => Part::BareText,
        "string_array" | "symbol_array" => Part::List,
        "subshell" => Part::Command,
        "chained_string" => Part::Joined,
        "regex" => Part::Pattern,
        "interpolation" => Part::PutIn,
        "heredoc_beginning" => Part::HereDocument,
        "heredoc_body" => Part::HereBody,
        // What stands behind `__END__` is data, and no data to `-e`.
        "uninterpreted" => Part::Unread,
        _ => Part::Code,
    }
}

fn decode(opening: &str, text: &str) -> Option<String> {
    let is_here_text = opening.starts_with('\'') && opening.len() > 1;
    if is_here_text {
        return Some(text.to_owned());
    }
    if opening == "'" || opening == ":'" || opening.starts_with("%q") || opening.starts_with("%s") {
        return Some(escapes::single_quoted(text, "'()[]{}<>"));
    }
    if ["#{", "#$", "#@"]
        .iter()
        .any(|sign| escapes::has_bare(text, sign))
    {
        return None;
    }
    let own = |c| match c {
        'e' => Some('\u{1b}'),
        's' => Some(' '),
        'c' | 'C' | 'M' => Some(UNKNOWN),
        _ => None,
    };
    Some(escapes::decoded(text, |chars, decoded| {
        escapes::numbered(chars, decoded, own);
    }))
}

/// A character (`?a`) and a variable whose name is a sign (`$'`) are values without a name.
#[allow(clippy::unnecessary_wraps)] // As other languages have it.
fn word(source: &str) -> Option<String> {
    if source == "$<" {
        return Some("ARGF".to_owned());
    }
    let mut chars = source.chars();
    let is_value = match (chars.next(), chars.next()) {
        (Some('?'), Some(_)) => true,
        (Some('$'), Some(sign)) => !(sign.is_alphanumeric() || sign == '_'),
        _ => false,
    };
    Some(if is_value { "$_p" } else { source }.to_owned())
}

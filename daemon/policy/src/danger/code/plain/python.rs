//! Python: <https://docs.python.org/3/reference/lexical_analysis.html>.

use tree_sitter::Node;
use unicode_normalization::UnicodeNormalization;

use super::escapes;
use super::grammar::{Grammar, Part};

pub(super) static PYTHON: Grammar = Grammar {
    language: || tree_sitter_python::LANGUAGE.into(),
    has_old_line_ends: true,
    joins_lines: true,
    is_encoded: names_encoding,
    part,
    decode,
    word,
};

fn part(node: Node<'_>) -> Part {
    match node.kind() {
        "comment" | "line_continuation" | "type_conversion" => Part::Nothing,
        "string" => Part::Text,
        "concatenated_string" => Part::Joined,
        "interpolation" | "format_expression" => Part::PutIn,
        "format_specifier" => Part::BareText,
        _ => Part::Code,
    }
}

fn decode(opening: &str, text: &str) -> Option<String> {
    let opening = opening.to_ascii_lowercase();
    if opening.contains('`') {
        return None;
    }
    let is_bytes = opening.contains('b');
    let text = if opening.contains(['f', 't']) {
        let is_raw = opening.contains('r');
        let bare = text.replace("{{", "").replace("}}", "");
        let named = bare.split("\\N{").skip(1);
        let names = named.filter(|rest| rest.contains('}')).count();
        let braces = bare.matches(['{', '}']).count();
        if is_raw && braces > 0 || braces != names * 2 {
            return None;
        }
        text.replace("{{", "{").replace("}}", "}")
    } else {
        text.to_owned()
    };
    if opening.contains('r') {
        return Some(text);
    }
    Some(escapes::decoded(&text, |chars, decoded| {
        let before = chars.clone();
        match chars.next() {
            Some('\n') => {}
            Some(c @ ('\\' | '\'' | '"')) => decoded.push(c),
            Some('0'..='7') => {
                *chars = before;
                escapes::number(chars, 3, 8, decoded);
            }
            Some('x') => escapes::number(chars, 2, 16, decoded),
            Some('N') if !is_bytes => escapes::named(chars, decoded),
            Some('u') if !is_bytes => escapes::number(chars, 4, 16, decoded),
            Some('U') if !is_bytes => escapes::number(chars, 8, 16, decoded),
            Some(c) => match escapes::control(c) {
                Some(control) => decoded.push(control),
                None => decoded.extend(['\\', c]),
            },
            None => decoded.push('\\'),
        }
    }))
}

/// Names are compared in the normal form NFKC: `ſystem` is `system`.
#[allow(clippy::unnecessary_wraps)] // As other languages have it.
fn word(source: &str) -> Option<String> {
    if source.is_ascii() {
        return Some(source.to_owned());
    }
    Some(source.nfkc().collect())
}

/// Whether a script names an encoding (PEP 263) in which it is another text.
fn names_encoding(code: &str) -> bool {
    const PLAIN: [&str; 6] = [
        "utf-8",
        "utf8",
        "ascii",
        "us-ascii",
        "latin-1",
        "iso-8859-1",
    ];
    let mut lines = code
        .lines()
        .take(2)
        .filter(|line| line.trim_start().starts_with('#'));
    lines.any(|line| {
        let Some((_, name)) = line
            .split_once("coding:")
            .or_else(|| line.split_once("coding="))
        else {
            return false;
        };
        let is_name = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        let name = name.trim_start();
        let end = name.find(|c| !is_name(c)).unwrap_or(name.len());
        let name = name.get(..end).unwrap_or_default().to_ascii_lowercase();
        !PLAIN.contains(&name.replace('_', "-").as_str())
    })
}

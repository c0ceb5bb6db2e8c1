//! The words of a line, roughly as a shell splits them.
//!
//! Unlike a shell's lexer this splitter skips nothing: a comment and a here-document may hold a secret too
//! (`docs/decisions/0062-readers-of-shell-text.md`). A word that is cut wrongly is cut too short.

use std::ops::Range;

/// A piece of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    /// A word with its quotes.
    Word(Range<usize>),
    /// A character that ends a command.
    End(char),
}

/// Iterates over the words of a line and the ends of its commands.
pub(super) fn pieces(line: &str) -> impl Iterator<Item = Piece> {
    let mut rest = 0;
    std::iter::from_fn(move || {
        rest += line[rest..].len() - line[rest..].trim_start_matches(separates).len();
        let first = line[rest..].chars().next()?;
        if ends_command(first) {
            rest += first.len_utf8();
            return Some(Piece::End(first));
        }
        let at = rest;
        rest += word_length(&line[at..]);
        Some(Piece::Word(at..rest))
    })
}

fn ends_command(character: char) -> bool {
    matches!(character, '|' | '&' | ';' | '\n' | '\r' | '(' | ')' | '`')
}

/// Whether a character stands between words. Whatever ends a word and no command is skipped before the
/// next word, so a word is never empty.
fn separates(character: char) -> bool {
    character.is_whitespace() && !ends_command(character)
}

fn word_length(text: &str) -> usize {
    let mut quote: Option<char> = None;
    let mut escaped = false;
    for (at, character) in text.char_indices() {
        if escaped {
            escaped = false;
            continue;
        }
        match (quote, character) {
            (Some('"') | None, '\\') => escaped = true,
            (Some(open), _) if open == character => quote = None,
            (None, '"' | '\'') => quote = Some(character),
            (None, _) if separates(character) || ends_command(character) => return at,
            _ => {}
        }
    }
    text.len()
}

//! The commands of a text that the grammar does not take, as far as they can be told apart.

use termd_proto::policy::Span;

use super::continuation::{Continuation, continuation};
use super::lexer::{Token, lex, word_length};
use super::reserved_words::{CLOSERS, LEADING, is_reserved};
use crate::shell::text::backticks;

/// A command with its words as they were written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct RawCommand {
    pub(crate) words: Vec<(String, Span)>,
    pub(crate) redirects: Vec<RawRedirect>,
    /// The texts of its command and process substitutions. A span is that of the whole word.
    pub(crate) substitutions: Vec<(String, Span)>,
    /// Whether it reads the output of the command before it.
    pub(crate) reads_pipe: bool,
}

/// A redirection with its word as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RawRedirect {
    pub(crate) operator: &'static str,
    pub(crate) target: String,
    pub(crate) span: Span,
}

/// The commands of a text, in order. Some may be empty.
pub(crate) fn commands(text: &str) -> Vec<RawCommand> {
    let mut commands = Vec::new();
    let mut current = RawCommand::default();
    let mut redirect: Option<&'static str> = None;
    for token in lex(text).tokens {
        match token {
            Token::Operator(operator) if operator.contains(['<', '>']) => {
                redirect = Some(operator);
            }
            Token::Word(raw, span) => {
                substitutions(&raw, span, &mut current.substitutions);
                if let Some(operator) = redirect.take() {
                    current.redirects.push(RawRedirect {
                        operator,
                        target: raw,
                        span,
                    });
                } else if !current.words.is_empty() || !stands_before_command(&raw) {
                    current.words.push((raw, span));
                }
            }
            Token::Operator(operator) => {
                let next = RawCommand {
                    reads_pipe: matches!(operator, "|" | "|&"),
                    ..RawCommand::default()
                };
                commands.push(std::mem::replace(&mut current, next));
            }
            Token::Newline => {
                if !current.words.is_empty() {
                    commands.push(std::mem::take(&mut current));
                }
            }
        }
    }
    commands.push(current);
    commands
}

/// Whether a word is a reserved word or an assignment, which a command may follow. An assignment is
/// taken more loosely than by a shell: too many commands are found rather than too few.
fn stands_before_command(raw: &str) -> bool {
    let is_assignment = raw.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    });
    is_assignment || LEADING.contains(&raw) || CLOSERS.contains(&raw)
}

/// The texts in `$(…)` and backticks of a text.
pub(crate) fn substituted(raw: &str) -> Vec<String> {
    let mut found = Vec::new();
    substitutions(raw, Span { start: 0, end: 0 }, &mut found);
    found.into_iter().map(|(inner, _)| inner).collect()
}

/// Adds the texts in `$(…)`, `<(…)` and backticks of a word.
fn substitutions(raw: &str, span: Span, out: &mut Vec<(String, Span)>) {
    let mut at = 0;
    let mut single = false;
    while let Some(rest) = raw.get(at..) {
        let Some(c) = rest.chars().next() else { return };
        let opens = rest.starts_with("$(") || rest.starts_with("<(") || rest.starts_with(">(");
        if c == '\'' {
            single = !single;
        } else if !single && opens && !rest.starts_with("$((") {
            let (length, _) = word_length(rest);
            let inner = rest.get(2..length).unwrap_or_default();
            let inner = inner.strip_suffix('"').unwrap_or(inner);
            let inner = inner.strip_suffix(')').unwrap_or(inner);
            out.push((inner.to_owned(), span));
            at += length.max(1);
            continue;
        } else if !single && c == '`' {
            let inner = backticks::written(rest.get(1..).unwrap_or_default());
            out.push((backticks::unescaped(inner, false), span));
            at += inner.len() + 2;
            continue;
        }
        at += c.len_utf8();
    }
}

/// Whether a text is plain although the grammar does not take it: lines of words and quotes, in
/// which nothing runs another command.
pub(crate) fn is_plain(text: &str) -> bool {
    let calm = |token: &Token| match token {
        Token::Word(raw, _) => !raw.contains(['`', '{', '}']) && !raw.contains("$("),
        Token::Operator(operator) => {
            matches!(*operator, ";" | "&&" | "||" | "|" | ">" | ">>" | "<" | "&")
        }
        Token::Newline => true,
    };
    lex(text).tokens.iter().all(calm) && continuation(text) == Continuation::Complete
}

/// Whether a text holds a reserved word, which may begin or end a command wherever it stands. What follows
/// `function NAME` is read as commands.
pub(crate) fn has_reserved_word(text: &str) -> bool {
    let is_reserved_word = |token: &Token| matches!(token, Token::Word(raw, _) if is_reserved(raw) && raw != "function");
    lex(text).tokens.iter().any(is_reserved_word)
}

//! Tokens of shell text, without a grammar: for text that the grammar does not take, and for text
//! that is not complete yet. Any text can be read.

use termd_proto::policy::Span;

/// How far ahead the end of an extended glob is looked for. Each bracket of a text may begin one.
const MAX_GLOB_BYTES: usize = 1_024;

/// How a text goes on in its next line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Continuation {
    /// Not at all: the shell runs the text.
    Complete,
    /// In quotes: the next line is data.
    Quoted,
    /// In a here-document: the next line is data.
    Heredoc,
    /// In a block, behind an operator, or behind a backslash: the next line holds commands.
    Open,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    Word(String, Span),
    Operator(&'static str),
    Newline,
}

/// A text in tokens.
pub(super) struct Tokens {
    pub(super) tokens: Vec<Token>,
    /// What the text ends in the middle of, if a token does not end.
    pub(super) continuation: Option<Continuation>,
    /// The end marker of the here-document that the text ends in.
    pub(super) open_heredoc: Option<String>,
}

const OPERATORS: [&str; 26] = [
    "<<<", "<<-", "&>>", ";;&", "<<", ">>", ">&", "<&", "<>", ">|", "&>", "&&", "||", "|&", ";;",
    ";&", "|", "&", ";", "<", ">", "(", ")", "((", "))", "<(",
];

/// A here-document whose body begins on the next line.
struct Heredoc {
    /// The line that ends it.
    end: String,
    /// Whether tabs before that line are skipped (`<<-`).
    skips_tabs: bool,
}

/// Splits a text into tokens.
pub(super) fn lex(text: &str) -> Tokens {
    let mut tokens = Tokens {
        tokens: Vec::new(),
        continuation: None,
        open_heredoc: None,
    };
    let mut heredocs: Vec<Heredoc> = Vec::new();
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let Some(c) = rest.chars().next() else { break };
        if c == '\n' {
            tokens.tokens.push(Token::Newline);
            at += 1;
            for heredoc in std::mem::take(&mut heredocs) {
                let Some(end) = end_of_heredoc(text, at, &heredoc) else {
                    tokens.continuation = Some(Continuation::Heredoc);
                    tokens.open_heredoc = Some(heredoc.end);
                    return tokens;
                };
                at = end;
            }
        } else if c.is_whitespace() {
            at += c.len_utf8();
        } else if let Some(after) = rest.strip_prefix("\\\n") {
            at += 2;
            if after.is_empty() {
                tokens.continuation = Some(Continuation::Open);
            }
        } else if c == '#' {
            at += rest.find('\n').unwrap_or(rest.len());
        } else if let Some(operator) = operator_at(rest) {
            at += operator.len();
            tokens.tokens.push(Token::Operator(operator));
        } else {
            let (length, continuation) = word_length(rest);
            let end = at + length.max(c.len_utf8());
            let raw = text.get(at..end).unwrap_or_default().to_owned();
            let begins = tokens.tokens.last().and_then(|token| match token {
                Token::Operator("<<") => Some(false),
                Token::Operator("<<-") => Some(true),
                _ => None,
            });
            if let Some(skips_tabs) = begins {
                heredocs.push(Heredoc {
                    end: raw.replace(['\'', '"', '\\'], ""),
                    skips_tabs,
                });
            }
            tokens
                .tokens
                .push(Token::Word(raw, Span { start: at, end }));
            at = end;
            if continuation.is_some() {
                tokens.continuation = continuation;
                return tokens;
            }
        }
    }
    if !heredocs.is_empty() {
        tokens.continuation = Some(Continuation::Heredoc);
    }
    tokens
}

fn operator_at(rest: &str) -> Option<&'static str> {
    // `<(` begins a word.
    if rest.starts_with("<(") || rest.starts_with(">(") {
        return None;
    }
    let mut operators = OPERATORS
        .iter()
        .filter(|operator| rest.starts_with(**operator));
    let first = operators.next()?;
    Some(if first.starts_with("((") || *first == "))" {
        "("
    } else {
        first
    })
}

/// Where the line after a here-document begins.
fn end_of_heredoc(text: &str, from: usize, heredoc: &Heredoc) -> Option<usize> {
    let mut at = from;
    for line in text.get(from..)?.split_inclusive('\n') {
        at += line.len();
        let bare = line.trim_end_matches(['\n', '\r']);
        let bare = if heredoc.skips_tabs {
            bare.trim_start_matches('\t')
        } else {
            bare
        };
        if bare == heredoc.end {
            // The newline stays, so that the text behind it begins on a line of its own.
            return Some(if line.ends_with('\n') { at - 1 } else { at });
        }
    }
    None
}

/// The length of the first word of a text, and what the text ends in the middle of if the word does
/// not end.
#[allow(clippy::match_same_arms)] // Quoted and escaped text is passed over first.
pub(super) fn word_length(rest: &str) -> (usize, Option<Continuation>) {
    let mut chars = rest.char_indices().peekable();
    // The closing character of each construct that is open.
    let mut open: Vec<char> = Vec::new();
    while let Some((at, c)) = chars.next() {
        let top = open.last().copied();
        match (top, c) {
            (Some('\''), '\'') | (Some('"'), '"') | (Some('`'), '`') => {
                open.pop();
            }
            (Some('\''), _) => {}
            (_, '\\') if chars.next().is_none() => {
                return (rest.len(), Some(Continuation::Open));
            }
            // The escaped character is consumed.
            (_, '\\') => {}
            (Some('"'), '$') | (Some(')' | '}') | None, '$' | '<' | '>')
                if chars.peek().is_some_and(|(_, next)| *next == '(') =>
            {
                chars.next();
                open.push(')');
            }
            (_, '$') if chars.peek().is_some_and(|(_, next)| *next == '{') => {
                chars.next();
                open.push('}');
            }
            (Some('"'), '`') => open.push('`'),
            (Some('"'), _) => {}
            (_, '\'' | '"' | '`') => open.push(c),
            (Some(')'), '(') => open.push(')'),
            (Some(close), c) if close == c => {
                open.pop();
            }
            // `name=(…)` is one word.
            (None, '(') if rest.get(..at).is_some_and(|before| before.ends_with('=')) => {
                open.push(')');
            }
            (None, '(') if is_extended_glob(rest, at) => open.push(')'),
            (None, c) if c.is_whitespace() || ";&|<>()".contains(c) => return (at, None),
            _ => {}
        }
    }
    let continuation = match open.last() {
        None => None,
        Some('\'' | '"') => Some(Continuation::Quoted),
        Some(_) => Some(Continuation::Open),
    };
    (rest.len(), continuation)
}

/// Whether a bracket opens an extended glob such as `@(a|b)` (bash(1), Pattern Matching). A subshell
/// has white space or nothing before its bracket.
fn is_extended_glob(rest: &str, at: usize) -> bool {
    let before = rest.get(..at).unwrap_or_default();
    if !before.ends_with(['@', '!', '?', '*', '+']) {
        return false;
    }
    let end = rest.floor_char_boundary(at.saturating_add(MAX_GLOB_BYTES));
    let inner = rest.get(at..end).unwrap_or_default();
    match inner.find(|c: char| c == ')' || c.is_whitespace()) {
        Some(stop) => inner.as_bytes().get(stop) == Some(&b')'),
        // At the text's end the glob would go on in the next line.
        None => end == rest.len(),
    }
}

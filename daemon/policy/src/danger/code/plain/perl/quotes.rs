//! Texts between delimiters of one's choice: perlop(1), "Quote and Quote-like Operators".

/// A text between delimiters.
#[derive(Debug)]
pub(super) struct Quoted<'a> {
    pub(super) inner: &'a str,
    /// The delimiter that opens it.
    pub(super) quote: char,
    pub(super) is_bracketed: bool,
    /// The length with both delimiters, and the blanks before.
    pub(super) length: usize,
}

/// The text at the beginning of a code. `None`: it has no end, or its delimiter is a letter or, behind a
/// blank, what begins a comment.
pub(super) fn quoted(code: &str) -> Option<Quoted<'_>> {
    let rest = code.trim_start();
    let quote = rest.chars().next()?;
    let is_behind_blank = rest.len() < code.len();
    if quote.is_alphanumeric() || quote == '_' || (is_behind_blank && quote == '#') {
        return None;
    }
    let close = match quote {
        '(' => ')',
        '[' => ']',
        '{' => '}',
        '<' => '>',
        c => c,
    };
    let is_bracketed = close != quote;
    let mut depth = 0_usize;
    let mut is_escaped = false;
    let from = quote.len_utf8();
    for (at, c) in rest.get(from..)?.char_indices() {
        if is_escaped {
            is_escaped = false;
        } else if c == '\\' {
            is_escaped = true;
        } else if c == close && depth == 0 {
            return Some(Quoted {
                inner: rest.get(from..from + at)?,
                quote,
                is_bracketed,
                length: code.len() - rest.len() + from + at + close.len_utf8(),
            });
        } else if c == close {
            depth -= 1;
        } else if c == quote {
            depth += 1;
        }
    }
    None
}

/// The line that ends a here-document, and the length of its name with quotes.
pub(super) fn here_delimiter(name: &str) -> Option<(&str, usize)> {
    let quote = name.chars().next()?;
    if matches!(quote, '\'' | '"' | '`') {
        let inner = name.get(1..)?;
        let end = inner.find(quote)?;
        return Some((inner.get(..end)?, end + 2));
    }
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let end = name.find(|c| !is_name(c)).unwrap_or(name.len());
    let starts = quote.is_ascii_alphabetic() || quote == '_';
    starts.then(|| (name.get(..end).unwrap_or_default(), end))
}

//! The text of a command substitution in backticks (POSIX 2.6.3).

/// The text behind a backtick up to the one that ends it, as it is written.
pub(crate) fn written(behind: &str) -> &str {
    let mut is_escaped = false;
    let end = behind.find(|c| {
        let ends = c == '`' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        ends
    });
    behind
        .get(..end.unwrap_or(behind.len()))
        .unwrap_or_default()
}

/// The commands of a text as it is written in backticks: one level of backslashes is taken off.
pub(crate) fn unescaped(written: &str, in_double_quotes: bool) -> String {
    let mut text = String::with_capacity(written.len());
    let mut chars = written.chars().peekable();
    while let Some(c) = chars.next() {
        let next = chars.peek().copied();
        let is_special =
            |next| matches!(next, '$' | '`' | '\\') || (in_double_quotes && next == '"');
        match next.filter(|next| c == '\\' && is_special(*next)) {
            Some(escaped) => {
                chars.next();
                text.push(escaped);
            }
            None => text.push(c),
        }
    }
    text
}

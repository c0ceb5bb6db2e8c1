//! Variables of the environment that code sets for what it starts: `os.environ["GIT_PAGER"] = "x"`,
//! `env={"GIT_PAGER": "x"}`, `%ENV = (GIT_PAGER => "x")`.

use super::code_tokens::CodeTokens;

/// Variables that are looked at.
const MAX_VARIABLES: usize = 64;

/// The names in capitals that get a text, with that text. What is no variable of the environment has names that no
/// program knows.
pub(super) fn variables(code: CodeTokens<'_>) -> Vec<(String, String)> {
    let places = 0..code.all().len();
    let found = places.filter_map(|at| {
        if let Some((name, value)) = assigned_in_text(code, at) {
            return Some((name.to_owned(), value.to_owned()));
        }
        // At the beginning of a statement it is a variable of the code's own.
        let is_own = at
            .checked_sub(1)
            .is_none_or(|before| matches!(code.sign(before), Some(';' | '\n')));
        let name = code.word(at).filter(|_| !is_own);
        let name = name.or_else(|| code.text(at))?;
        let value = value_behind(code, at + 1).filter(|_| is_name(name))?;
        Some((name.to_owned(), value.to_owned()))
    });
    found.take(MAX_VARIABLES).collect()
}

/// PHP's `putenv("NAME=value")`.
fn assigned_in_text(code: CodeTokens<'_>, at: usize) -> Option<(&str, &str)> {
    let function = at.checked_sub(2)?;
    let (name, value) = code.text(at)?.split_once('=')?;
    (code.is_word(function, &["putenv"]) && is_name(name)).then_some((name, value))
}

fn is_name(name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    name.len() > 1
        && name.starts_with(|c: char| c.is_ascii_uppercase())
        && name.chars().all(is_part)
}

/// The text that a name gets which ends before a token: behind `=`, `:`, `=>` or `,`, with the bracket of an index
/// between them.
fn value_behind(code: CodeTokens<'_>, at: usize) -> Option<&str> {
    let is_index = matches!(code.sign(at), Some(']' | '}'));
    let at = at + usize::from(is_index);
    let from = match (code.sign(at), code.sign(at + 1)) {
        (Some('='), Some('>')) | (Some('|'), Some('=')) => at + 2,
        (Some('='), Some('=')) => return None,
        (Some('=' | ':' | ','), _) => at + 1,
        _ => return None,
    };
    code.text(from)
}

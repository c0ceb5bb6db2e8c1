//! Brace expansion (bash(1)): the words that `a{b,c}d` stands for, before anything else in them is
//! read. Words and nesting are bounded.

use crate::shell::word::UNKNOWN;
use crate::work;

/// Words that one word may become. What a brace beyond that makes is unknown.
const MAX_BRACE_WORDS: usize = 64;
/// Levels of braces that are expanded.
const MAX_BRACE_DEPTH: usize = 8;

/// Expands `a{b,c}d`; a `{` that is quoted, or has no comma, stays.
pub(super) fn expand_braces(raw: &str, depth: usize, out: &mut Vec<String>) {
    let is_affordable = work::spend(raw.len());
    let Some((start, end, cuts)) = first_brace(raw) else {
        out.push(raw.to_owned());
        return;
    };
    if depth >= MAX_BRACE_DEPTH || out.len() >= MAX_BRACE_WORDS || !is_affordable {
        let unknown = UNKNOWN.to_string();
        if out.last() != Some(&unknown) {
            out.push(unknown);
        }
        return;
    }
    let (before, after) = (raw.get(..start), raw.get(end + 1..));
    let mut from = start + 1;
    for cut in cuts.into_iter().chain([end]) {
        if let (Some(before), Some(part), Some(after)) = (before, raw.get(from..cut), after) {
            expand_braces(&format!("{before}{part}{after}"), depth + 1, out);
        }
        from = cut + 1;
    }
}

/// The first brace expression: where it opens and closes, and its commas.
#[allow(clippy::match_same_arms)] // Quoted text is passed over before anything is looked at.
fn first_brace(raw: &str) -> Option<(usize, usize, Vec<usize>)> {
    let mut open: Vec<(usize, Vec<usize>)> = Vec::new();
    let mut found: Option<(usize, usize, Vec<usize>)> = None;
    let (mut quote, mut escaped, mut before) = (None, false, ' ');
    // `$(…)` and `${…}` hold commas and braces of their own.
    let mut shielded: Vec<char> = Vec::new();
    for (at, c) in raw.char_indices() {
        let was_escaped = std::mem::take(&mut escaped);
        match (quote, c) {
            _ if was_escaped => {}
            (Some('\''), '\'') | (Some('"'), '"') => quote = None,
            (None | Some('"'), '\\') => escaped = true,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(c),
            (None, '(') => shielded.push(')'),
            (None, '{') if before == '$' => shielded.push('}'),
            (None, c) if shielded.last() == Some(&c) => {
                shielded.pop();
            }
            (None, _) if !shielded.is_empty() => {}
            (None, '{') => open.push((at, Vec::new())),
            (None, ',') => {
                if let Some((_, cuts)) = open.last_mut() {
                    cuts.push(at);
                }
            }
            (None, '}') => {
                if let Some((start, cuts)) = open.pop()
                    && !cuts.is_empty()
                    && found.as_ref().is_none_or(|(earlier, ..)| start < *earlier)
                {
                    found = Some((start, at, cuts));
                }
            }
            _ => {}
        }
        before = c;
    }
    found
}

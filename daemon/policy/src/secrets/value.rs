//! Which part of a text may be hidden: values, and never code.
//!
//! What is hidden is one word in which a shell finds nothing to do: no white space, no separator, no
//! expansion, no quote, no path. So a hidden text can name a program at most, and never be a command
//! with arguments (`docs/decisions/0078-redaction-hides-values.md`).

use std::ops::Range;

/// Values of options and fields that are settings and not secrets.
const SETTINGS: [&str; 28] = [
    "ok", "true", "false", "yes", "no", "on", "off", "none", "null", "nil", "prompt", "stdin", "-",
    "ask", "default", "auto", "required", "optional", "basic", "digest", "bearer", "ntlm", "oauth",
    "oauth2", "plain", "md5", "enabled", "disabled",
];
/// Beginnings of values that say where a secret is (openssl-passphrase-options(1), keytool(1)).
const REFERENCES: [&str; 5] = ["file:", "env:", "fd:", "@-", "arn:"];
/// Characters of a hidden word, beside letters and digits.
const IN_WORD: &str = "_-.+/=~%@:,!#^*?";
/// Separators within a quoted value. They are shown, and the words between them are hidden.
const BETWEEN_WORDS: [char; 3] = ['&', ';', '|'];
const QUOTES: [char; 2] = ['"', '\''];
/// A shorter value, in bytes, is not random.
const MIN_RANDOM_BYTES: usize = 16;
/// The longest number that is a setting: `--pass 3`.
const MAX_SETTING_DIGITS: usize = 3;

/// The words of a value that are hidden. None where a shell might find something to do in the value.
pub(super) fn hidden_words(text: &str, value: Range<usize>, hidden: &mut Vec<Range<usize>>) {
    let Some(inner) = text.get(value.clone()) else {
        return;
    };
    if is_plain(text, &value) && !is_setting(inner) && !is_path(inner) {
        words_of_match(text, value, hidden);
    }
}

/// Each word of a range, such as one that a person's own pattern has found.
pub(super) fn words_of_match(text: &str, range: Range<usize>, hidden: &mut Vec<Range<usize>>) {
    let mut begin = None;
    for (at, character) in characters(text, &range) {
        match (begin, is_in_word(character) || is_literal_dollar(text, at)) {
            (None, true) => begin = Some(at),
            (Some(from), false) => {
                hidden.push(from..at);
                begin = None;
            }
            (None, false) | (Some(_), true) => {}
        }
    }
    hidden.extend(begin.map(|from| from..range.end));
}

/// The characters of a range, each with its place in the text.
fn characters<'a>(
    text: &'a str,
    range: &Range<usize>,
) -> impl Iterator<Item = (usize, char)> + use<'a> {
    let from = range.start;
    let characters = text.get(range.clone()).unwrap_or_default().char_indices();
    characters.map(move |(at, character)| (from + at, character))
}

/// Whether nothing in a value but quotes and separators ends a word.
fn is_plain(text: &str, value: &Range<usize>) -> bool {
    let is_quoted = text
        .get(value.clone())
        .is_some_and(|inner| inner.starts_with(QUOTES));
    characters(text, value).all(|(at, character)| {
        is_in_word(character)
            || QUOTES.contains(&character)
            || (is_quoted && BETWEEN_WORDS.contains(&character))
            || is_literal_dollar(text, at)
    })
}

fn is_in_word(character: char) -> bool {
    character.is_alphanumeric() || IN_WORD.contains(character)
}

/// Whether a `$` stands for itself, because nothing that it could expand follows it.
fn is_literal_dollar(text: &str, at: usize) -> bool {
    let mut rest = text.get(at..).unwrap_or_default().chars();
    rest.next() == Some('$')
        && rest.next().is_none_or(|next| {
            matches!(next, '%' | '^' | '.' | ',' | ':' | '/' | '+' | '=' | '~')
                || next.is_whitespace()
        })
}

/// Whether a value is a setting and no secret, or says where a secret is.
pub(super) fn is_setting(value: &str) -> bool {
    let bare = value.trim_matches(['"', '\'']);
    let is_number = bare.len() <= MAX_SETTING_DIGITS && bare.bytes().all(|b| b.is_ascii_digit());
    is_number
        || SETTINGS
            .iter()
            .any(|setting| setting.eq_ignore_ascii_case(bare))
        || REFERENCES
            .iter()
            .any(|reference| bare.starts_with(reference))
}

/// Whether a value names a file by a path that begins at a known place.
pub(super) fn is_path(value: &str) -> bool {
    let bare = value.trim_start_matches(['"', '\'', '@']);
    bare.starts_with('/')
        || bare.starts_with("./")
        || bare.starts_with("../")
        || bare.starts_with('~')
}

/// Whether a value mixes letters and digits as random text does, and is long enough for it.
pub(super) fn is_random(value: &str) -> bool {
    value.len() >= MIN_RANDOM_BYTES && is_mixed(value)
}

/// Whether a value has letters and digits.
pub(super) fn is_mixed(value: &str) -> bool {
    let digits = value.bytes().any(|byte| byte.is_ascii_digit());
    let letters = value.bytes().any(|byte| byte.is_ascii_alphabetic());
    digits && letters
}

/// Whether a value is long and has lower case, upper case and digits, as hardly a name has.
pub(super) fn is_dense(value: &str) -> bool {
    is_random(value)
        && value.bytes().any(|byte| byte.is_ascii_lowercase())
        && value.bytes().any(|byte| byte.is_ascii_uppercase())
}

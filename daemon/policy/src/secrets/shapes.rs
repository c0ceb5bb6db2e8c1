//! Secrets by the text right before them: headers, addresses, fields, assignments and private keys.
//!
//! `regex` finds one match in linear time. To find all matches in linear time, no pattern may look far
//! beyond the end of its match, nor begin a long match that does not end.

use std::ops::Range;

use regex::Captures;

use super::assignments::assignments;
use super::finding::{Finding, Place, PlaceKind};
use super::lazy_regex::LazyRegex;
use super::secret_names::{names_secret, names_secret_parameter, variable_has_secret};
use super::value::{is_mixed, is_random};
use super::{settings, tokens};

/// When the text that a pattern finds is a secret. Its first group is the secret, behind the group `name`
/// where there is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Check {
    Always,
    /// If the secret is long and mixes letters and digits, as random text does.
    Random,
    /// If the secret has letters and digits.
    Mixed,
    /// If the name names a secret.
    Name,
    /// The group is a list of `name=value`, whose values are secrets.
    Fields,
}

/// Each pattern with a text that every match holds in lower case, and its check.
static PATTERNS: [(&str, LazyRegex, Check); 20] = [
    // RFC 9110 §11.6.2: the scheme stays.
    (
        "authorization",
        LazyRegex::new(
            r#"(?i)(?-u:\b)(?:proxy-)?authorization["']?\s*[:=]\s*["']?(?:[a-z][a-z0-9-]{0,30}[ \t]+)?([^'"\s]+)"#,
        ),
        Check::Always,
    ),
    (
        ":",
        LazyRegex::new(
            r#"(?i)(?:^|[^/A-Za-z0-9_-])(?:x-[a-z-]{0,30}(?:key|token|secret|auth)|(?:[a-z]{1,20}-){1,4}(?:api-key|apikey|token|subscription-key)|api-key|apikey):[ \t]*([^'"\s]+)"#,
        ),
        Check::Always,
    ),
    // RFC 6265.
    (
        "cookie",
        LazyRegex::new(r#"(?i)(?-u:\b)cookie:[ \t]*([^'"\r\n]+)"#),
        Check::Fields,
    ),
    // RFC 6750, outside its header.
    (
        "bearer",
        LazyRegex::new(r"(?i)(?-u:\b)bearer[ \t]+([A-Za-z0-9._~+/=-]{16,})"),
        Check::Random,
    ),
    // RFC 3986 §3.2.1: user:password@ before a host.
    (
        "://",
        LazyRegex::new(r#"(?-u:\b)[A-Za-z][A-Za-z0-9+.-]{0,30}://[^\s/:@'"?#]*:([^\s/'"?#]+)@"#),
        Check::Always,
    ),
    // A token in a user's place.
    (
        "://",
        LazyRegex::new(r#"(?-u:\b)[A-Za-z][A-Za-z0-9+.-]{0,30}://([^\s/:@'"?#]{16,})[:@]"#),
        Check::Random,
    ),
    // A short one, where a person logs in by `git`.
    (
        "://",
        LazyRegex::new(
            r#"(?-u:\b)https?://([^\s/:@'"?#]{8,})@(?:[a-z.]{0,30}\.)?(?:github|gitlab|bitbucket|codeberg)\."#,
        ),
        Check::Mixed,
    ),
    // A field of JSON, and of Python's dictionaries.
    (
        "\"",
        LazyRegex::new(r#""(?<name>[A-Za-z0-9_.-]{1,64})"\s*:\s*("(?:[^"\\]|\\.)+")"#),
        Check::Name,
    ),
    (
        "'",
        LazyRegex::new(r"'(?<name>[A-Za-z0-9_.-]{1,64})'\s*:\s*('[^'\\]+')"),
        Check::Name,
    ),
    // A double-quoted field inside a quoted string: each quote has a backslash.
    (
        "\\\"",
        LazyRegex::new(r#"\\"(?<name>[A-Za-z0-9_.-]{1,64})\\"\s*:\s*\\"([^"\\]+)\\""#),
        Check::Name,
    ),
    // `name: value`, to the end of a line or of a string.
    (
        ": ",
        LazyRegex::new(
            r#"(?m)(?-u:\b)(?<name>[A-Za-z][A-Za-z0-9_-]{0,40})[ \t]*:[ \t]+([^\s'"\\,]+)(?:\\[nrt]|['",]|[ \t]*$)"#,
        ),
        Check::Name,
    ),
    // A name and a string in code: `password = "x"`, `password: 'x'`, `:password => "x"`, `d["password"] = "x"`.
    (
        "=",
        LazyRegex::new(
            r#"(?-u:\b)(?<name>[A-Za-z_][A-Za-z0-9_.-]{0,64})\\?["']?\]?[ \t]*(?::=|=>|=)[ \t]*\\?["']([^\s"'\\]+)\\?["']"#,
        ),
        Check::Name,
    ),
    (
        ":",
        LazyRegex::new(
            r#"(?-u:\b)(?<name>[A-Za-z_][A-Za-z0-9_.-]{0,64})\\?["']?[ \t]*:[ \t]*\\?["']([^\s"'\\]+)\\?["']"#,
        ),
        Check::Name,
    ),
    // Calls that take a name and a password: `auth=('u', 'x')`, `login('u', 'x')`.
    (
        "(",
        LazyRegex::new(
            r#"(?i)(?:auth|login|authenticate|superuser|create_user|createuser)=?[ \t]*\((?:[ \t]*\\?["'][^"'\\\n]{0,64}\\?["'][ \t]*,){1,3}[ \t]*\\?["']([^\s"'\\]+)\\?["'][ \t]*\)"#,
        ),
        Check::Always,
    ),
    // Calls that set one: `set_password('x')`.
    (
        "password",
        LazyRegex::new(
            r#"(?i)(?:set|make|check|change|reset|update|hash)_?password[ \t]*\([ \t]*\\?["']([^\s"'\\]+)\\?["']"#,
        ),
        Check::Always,
    ),
    // Commands that print a password for another program: restic(1), borg(1).
    (
        "pass",
        LazyRegex::new(
            r#"(?i)pass(?:word|phrase)?[_-]?(?:command|cmd)[= \t]+\\?["']?(?:echo|printf)[ \t]+(?:-n[ \t]+|\\?["']?%s\\?["']?[ \t]+)?\\?["']?([^\s"'\\]+)"#,
        ),
        Check::Always,
    ),
    // expect(1) types it.
    (
        "send",
        LazyRegex::new(r#"(?-u:\b)send[ \t]+(?:--[ \t]+)?\\?["'{]?([^\s"'\\{}\[\]$]+)\\+r"#),
        Check::Mixed,
    ),
    // SQL: CREATE and ALTER USER.
    (
        "password",
        LazyRegex::new(r#"(?i)(?-u:\b)password[ \t]*[ (][ \t]*(\\?'[^'\s\\]+\\?'|"[^"\s]+")"#),
        Check::Always,
    ),
    (
        "identified by",
        LazyRegex::new(r#"(?i)(?-u:\b)identified by[ \t]+(\\?'[^'\s\\]+\\?'|"[^"\s]+")"#),
        Check::Always,
    ),
    // netrc(5).
    (
        "login",
        LazyRegex::new(r#"(?i)(?-u:\b)login[ \t]+[^\s'"]{1,64}\s+password[ \t]+([^\s'"\\]+)"#),
        Check::Always,
    ),
];
/// Escapes that end in a letter or a digit.
static ESCAPES: LazyRegex = LazyRegex::new(
    r"\\[nrtbf]|\\u[0-9A-Fa-f]{4}|%[0-9A-Fa-f]{2}|%[sb]|\\(?:0?33|e|x1[Bb])\[[0-9;]*m",
);
/// How much of a word before a token is read.
const MAX_PATH_BYTES: usize = 256;
/// The text before the body of a private key, by RFC 7468, by SSH2's own form (RFC 4716 §3), and by `PuTTY`'s
/// (its manual, appendix C).
static KEY_BEGIN: LazyRegex = LazyRegex::new(
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|---- BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY ----|Private-Lines: [0-9]+",
);
/// The same behind the body.
static KEY_END: LazyRegex = LazyRegex::new(r"---- ?END|-----END|Private-(?:MAC|Hash)");
/// The whole line behind the body, by which a key is known whose beginning is not there.
static KEY_END_LINE: LazyRegex = LazyRegex::new(
    r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|---- END [A-Z0-9 ]{0,40}PRIVATE KEY ----|Private-MAC: ",
);
/// Lines before the end that may be too short for a line of a key: its last one, and a checksum.
const SHORT_KEY_LINES: usize = 2;
/// What each beginning holds.
const KEY_MARKERS: [&str; 3] = ["-----BEGIN ", "---- BEGIN ", "Private-Lines: "];
/// A line of a key. A shorter rest of it tells nothing.
static KEY_LINE: LazyRegex = LazyRegex::new("[A-Za-z0-9+/=]{16,}");
/// The shortest secret without a `:`, a `=` or a blank. An argv may have a million shorter words.
const MIN_BYTES: usize = 16;

/// Adds the secrets of a text.
pub(super) fn find(text: &str, finding: &mut Finding) {
    if text.len() < MIN_BYTES && !text.contains([':', '=', ' ']) {
        return;
    }
    for token in tokens_of_words(text) {
        finding.add(token);
    }
    finding.places.extend(tokens_across_quotes(text));
    let lower = text.to_ascii_lowercase();
    for (marker, pattern, check) in &PATTERNS {
        if !lower.contains(marker) {
            continue;
        }
        // Captures cost more than a search for any match.
        let Some(pattern) = pattern.get().filter(|pattern| pattern.is_match(text)) else {
            continue;
        };
        for captures in pattern.captures_iter(text) {
            add_checked(text, &captures, *check, finding);
        }
    }
    if KEY_MARKERS.iter().any(|marker| text.contains(marker)) {
        find_keys(text, finding);
    }
    for assigned in assignments(text) {
        add_assigned(text, assigned.name, assigned.value, finding);
    }
}

/// Tokens with quotes in them, which a shell takes off: `ghp_"…"`.
fn tokens_across_quotes(text: &str) -> Vec<Place> {
    let is_quote = |character: char| matches!(character, '"' | '\'');
    if !text.contains(is_quote) {
        return Vec::new();
    }
    let kept = || text.char_indices().filter(|(_, c)| !is_quote(*c));
    let unquoted: String = kept().map(|(_, c)| c).collect();
    let mut found = Vec::new();
    tokens::find(&unquoted, &mut found);
    if found.is_empty() {
        return Vec::new();
    }
    let origins: Vec<usize> = kept().flat_map(|(at, c)| at..at + c.len_utf8()).collect();
    let places = found.into_iter().filter_map(|token| {
        let (first, last) = (origins.get(token.start)?, origins.get(token.end - 1)?);
        let value = *first..last + 1;
        let is_cut = text.get(value.clone())?.contains(is_quote);
        let kind = PlaceKind::Match;
        is_cut.then_some(Place { value, kind })
    });
    places.collect()
}

/// Whether a variable's value is or holds a secret, whatever its name: a service's token, or an address
/// with a password.
pub(crate) fn is_secret_value(value: &str) -> bool {
    if !tokens_of_words(value).is_empty() {
        return true;
    }
    let mut finding = Finding::default();
    for (marker, pattern, check) in &PATTERNS {
        if *marker == "://"
            && value.contains(marker)
            && let Some(pattern) = pattern.get()
        {
            for captures in pattern.captures_iter(value) {
                add_checked(value, &captures, *check, &mut finding);
            }
        }
    }
    !finding.places.is_empty()
}

/// The secrets in output that a line would not be searched for, because there they may be what a shell runs:
/// tokens within a word, in a path, and behind an escape of JSON or of an address, and settings.
pub(super) fn in_output(text: &str) -> Vec<Range<usize>> {
    let anywhere = tokens::find_anywhere(text).into_iter();
    let mut found: Vec<_> = anywhere
        .filter(|token| token.is_distinctive || !is_part_of_path(text, token.range.start))
        .map(|token| token.range)
        .collect();
    found.extend(tokens_of_words(text));
    settings::find(text, &mut found);
    find_ends_of_keys(text, &mut found);
    found
}

/// The tokens that begin where a word does, or behind an escape, and are no names of files.
fn tokens_of_words(text: &str) -> Vec<Range<usize>> {
    let blanked = without_escapes(text);
    let mut found = Vec::new();
    tokens::find(blanked.as_deref().unwrap_or(text), &mut found);
    found.retain(|token| !is_part_of_path(text, token.start));
    found
}

/// A text with blanks for the escapes of JSON, of addresses and of printf(1), whose letters would stand before
/// a token: `\nghp_…`, `%3Dghp_…`, `%sghp_…`. All else is where it was.
fn without_escapes(text: &str) -> Option<String> {
    let escapes = ESCAPES.get().filter(|escapes| escapes.is_match(text))?;
    let blanked = escapes.replace_all(text, |found: &Captures<'_>| " ".repeat(found[0].len()));
    Some(blanked.into_owned())
}

/// Whether the token that begins here is the name of a file: a `/` stands before it, and its word is no
/// address and no `s/…/…/` of sed(1).
fn is_part_of_path(text: &str, at: usize) -> bool {
    let from = text.floor_char_boundary(at.saturating_sub(MAX_PATH_BYTES));
    let before = text.get(from..at).unwrap_or_default();
    if !before.ends_with('/') {
        return false;
    }
    let word = before.rsplit([' ', '\t', '\n', '=', ':', '"', '\'']).next();
    word.is_some_and(|word| !word.starts_with("//") && !word.starts_with("s/"))
}

fn add_checked(text: &str, captures: &Captures<'_>, check: Check, finding: &mut Finding) {
    let named = captures.name("name");
    let name = named.map(|name| name.as_str());
    // A name stands before its secret.
    let Some(secret) = captures.get(1 + usize::from(name.is_some())) else {
        return;
    };
    match check {
        Check::Always => finding.add(secret.range()),
        Check::Random if is_random(secret.as_str()) => finding.add(secret.range()),
        Check::Mixed if is_mixed(secret.as_str()) => finding.add(secret.range()),
        Check::Name if name.is_some_and(is_field_name) => {
            let name = named.map(|name| name.range());
            let variable = name.filter(|name| assigns(text, name.clone(), secret.start()));
            finding.places.push(Place {
                value: secret.range(),
                kind: variable.map_or(PlaceKind::Value, PlaceKind::Variable),
            });
        }
        Check::Fields => {
            for field in assignments(secret.as_str()) {
                finding.add_value_at(secret.start(), &field.value);
            }
        }
        Check::Random | Check::Mixed | Check::Name => {}
    }
}

/// Whether a shell would take this for the assignment of a variable. PHP and Perl have a `$` before the
/// name.
fn assigns(text: &str, name: Range<usize>, secret: usize) -> bool {
    let before = text.get(..name.start).unwrap_or_default();
    let between = text.get(name.end..secret).unwrap_or_default();
    between.starts_with('=') && !before.ends_with(['$', '-', '.'])
}

/// Whether a field of this name holds a secret. `auth` and `pass` begin many a sentence; cookies have
/// fields of their own.
fn is_field_name(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    names_secret(name) && !matches!(&*lower, "auth" | "pass") && !lower.ends_with("cookie")
}

fn add_assigned(text: &str, name: Range<usize>, value: Range<usize>, finding: &mut Finding) {
    let (Some(shown), Some(assigned)) = (text.get(name.clone()), text.get(value.clone())) else {
        return;
    };
    let bare = shown.trim_start_matches('-');
    let is_option = is_option_name(shown);
    let is_parameter = text
        .get(..name.start)
        .is_some_and(|before| before.ends_with(['?', '&']));
    let is_secret = if is_option {
        names_secret(bare)
    } else {
        variable_has_secret(bare, assigned)
            || (names_secret_parameter(bare)
                && is_random(assigned)
                && (is_parameter || bare.len() > "code".len()))
    };
    if !is_secret {
        // `--env=NAME=value`
        let quote = assigned.len() - assigned.trim_start_matches(['"', '\'']).len();
        if is_option_name(shown)
            && let Some((inner, _)) = assigned[quote..].split_once('=')
            && variable_has_secret(inner, "")
        {
            finding.add(value.start + quote + inner.len() + 1..value.end);
        }
        return;
    }
    let kind = if is_option || is_parameter {
        PlaceKind::Value
    } else {
        PlaceKind::Variable(name)
    };
    finding.places.push(Place { value, kind });
}

fn is_option_name(name: &str) -> bool {
    name.starts_with('-')
}

/// Adds the lines of private keys. What is no base64 between their ends is no key.
fn find_keys(text: &str, finding: &mut Finding) {
    let (Some(begin), Some(end), Some(line_pattern)) =
        (KEY_BEGIN.get(), KEY_END.get(), KEY_LINE.get())
    else {
        return;
    };
    let mut from = 0;
    while let Some(found) = begin.find_at(text, from) {
        let body = text.get(found.end()..).unwrap_or_default();
        let length = end.find(body).map_or(body.len(), |end| end.start());
        let lines = line_pattern.find_iter(body.get(..length).unwrap_or_default());
        for line in lines {
            let at = found.end() + line.start();
            // The letter of an escape: `\n` in JSON.
            let escape = usize::from(text.get(..at).is_some_and(|before| before.ends_with('\\')));
            if is_key_line(line.as_str()) {
                finding.add(at + escape..found.end() + line.end());
            }
        }
        from = found.end() + length;
    }
}

/// Adds the lines of private keys right before their ends, as of a file of which the end is printed. No command
/// line ends so.
fn find_ends_of_keys(text: &str, found: &mut Vec<Range<usize>>) {
    let (Some(end), Some(line_pattern)) = (KEY_END_LINE.get(), KEY_LINE.get()) else {
        return;
    };
    let mut from = 0;
    for ending in end.find_iter(text) {
        let before = text.get(from..ending.start()).unwrap_or_default();
        let body = before.rsplit_once('\n').map_or("", |(body, _)| body);
        let mut at = from;
        let lines = body.split_inclusive('\n').map(|line| {
            let start = at;
            at += line.len();
            (start, line)
        });
        let lines: Vec<_> = lines.collect();
        let mut short_lines = 0;
        let mut is_in_key = false;
        for (start, line) in lines.into_iter().rev() {
            let parts = line_pattern.find_iter(line);
            let parts: Vec<_> = parts.filter(|part| is_key_line(part.as_str())).collect();
            if parts.is_empty() {
                short_lines += 1;
                if is_in_key || short_lines > SHORT_KEY_LINES {
                    break;
                }
            }
            is_in_key |= !parts.is_empty();
            found.extend(
                parts
                    .iter()
                    .map(|part| start + part.start()..start + part.end()),
            );
        }
        from = ending.end();
    }
}

/// Whether a line mixes cases or digits, as base64 does.
fn is_key_line(line: &str) -> bool {
    let has_upper = line.bytes().any(|byte| byte.is_ascii_uppercase());
    is_mixed(line) || (has_upper && line.bytes().any(|byte| byte.is_ascii_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles() {
        let patterns = PATTERNS.iter().map(|(_, pattern, _)| pattern);
        for pattern in patterns.chain([&KEY_BEGIN, &KEY_END, &KEY_END_LINE, &KEY_LINE]) {
            assert!(pattern.get().is_some(), "{pattern:?}");
        }
    }
}

//! Secrets by their place in a command: after an option that takes one. Words of a line are found
//! as a shell would, roughly: what is cut wrongly is cut too small, and other patterns look at it.
//! Pure.

use std::ops::Range;

use super::secret_names::{Form, SecretOption, is_value, names_secret, options_of};

/// Lines in quotes in lines in quotes: `sh -c "sh -c '…'"`.
const MAX_DEPTH: usize = 3;

/// A word and where its text stands.
#[derive(Debug, Clone)]
struct Word<'a> {
    text: &'a str,
    at: usize,
}

/// What the next word would be.
#[derive(Debug, Clone, Copy)]
enum Awaited {
    Nothing,
    Secret,
    Pair(char),
}

/// Adds where secrets stand in a line.
pub(super) fn find_in_line(line: &str, found: &mut Vec<Range<usize>>) {
    find_in(line, 0, 0, found);
}

/// Adds where secrets stand in the words of an argv, by word.
pub(super) fn find_in_argv(argv: &[String], found: &mut [Vec<Range<usize>>]) {
    let mut reader = Reader::default();
    for (word, found) in argv.iter().zip(found) {
        if let Some(secret) = reader.read(word) {
            found.push(secret);
        }
    }
}

fn find_in(text: &str, base: usize, depth: usize, found: &mut Vec<Range<usize>>) {
    let mut reader = Reader::default();
    for word in words(text) {
        let Some(word) = word else {
            reader = Reader::default();
            continue;
        };
        let inner = word.text;
        if let Some(secret) = reader.read(inner) {
            found.push(base + word.at + secret.start..base + word.at + secret.end);
            continue;
        }
        let bare = inner.trim_matches(['"', '\'']);
        if depth < MAX_DEPTH && bare.len() < inner.len() && bare.contains(char::is_whitespace) {
            let skipped = inner.len() - inner.trim_start_matches(['"', '\'']).len();
            find_in(bare, base + word.at + skipped, depth + 1, found);
        }
    }
}

/// What a word is to the program at hand.
#[derive(Debug)]
enum Known {
    /// An option with a secret in it, here.
    Secret(Range<usize>),
    /// An option without one, perhaps with one in the next word.
    NoSecret,
    /// None of its options that hold secrets.
    Other,
}

impl Known {
    fn of(secret: Option<Range<usize>>) -> Self {
        secret.map_or(Self::NoSecret, Self::Secret)
    }
}

/// Reads one command's words in order.
#[derive(Debug)]
struct Reader {
    options: Vec<&'static SecretOption>,
    subcommands: Vec<&'static str>,
    awaited: Awaited,
}

impl Default for Reader {
    fn default() -> Self {
        Self {
            options: Vec::new(),
            subcommands: Vec::new(),
            awaited: Awaited::Nothing,
        }
    }
}

impl Reader {
    /// Where in this word a secret stands.
    fn read(&mut self, word: &str) -> Option<Range<usize>> {
        let awaited = std::mem::replace(&mut self.awaited, Awaited::Nothing);
        match awaited {
            Awaited::Secret if !word.starts_with("--") => return secret_in(word, 0),
            Awaited::Pair(separator) => return after_separator(word, 0, separator),
            Awaited::Secret | Awaited::Nothing => {}
        }
        match self.read_known(word) {
            Known::Secret(secret) => return Some(secret),
            Known::NoSecret => return None,
            Known::Other => {}
        }
        if let Some(name) = word.strip_prefix("--")
            && names_secret(name)
        {
            self.awaited = Awaited::Secret;
            return None;
        }
        if word.starts_with('-') {
            return None;
        }
        let bare = word.trim_matches(['"', '\'']);
        let mut known = options_of(bare).peekable();
        if known.peek().is_some() {
            self.options = known.collect();
            self.subcommands.clear();
        } else if let Some(option) = (self.options.iter()).find(|o| o.subcommand == Some(bare)) {
            self.subcommands.extend(option.subcommand);
        }
        None
    }

    /// The same by the options of the program at hand.
    fn read_known(&mut self, word: &str) -> Known {
        let quote = word.len() - word.trim_start_matches(['"', '\'']).len();
        let found = self.options.iter().find(|known| {
            let applies = known
                .subcommand
                .is_none_or(|sub| self.subcommands.contains(&sub));
            let begins = word[quote..].starts_with(known.option);
            applies && begins && (!known.option.starts_with("--") || fits_long(word, known))
        });
        let Some(option) = found.copied() else {
            return Known::Other;
        };
        let value = quote + option.option.len();
        let rest = word.get(value..).unwrap_or_default();
        match option.form {
            Form::Attached if rest.is_empty() => return Known::NoSecret,
            Form::Separate if rest.is_empty() => self.awaited = Awaited::Secret,
            Form::Pair(separator) if rest.is_empty() => self.awaited = Awaited::Pair(separator),
            Form::Pair(separator) => return Known::of(after_separator(word, value, separator)),
            Form::Attached | Form::Separate | Form::Prefix => {
                // One secret is enough: `sshpass -p x ssh -p 22`.
                let secret = secret_in(word, value);
                self.options.clear();
                return Known::of(secret);
            }
        }
        if matches!(option.form, Form::Separate) {
            self.options.clear();
        }
        Known::NoSecret
    }
}

/// `--user` and `--user=…`, and not `--user-agent`.
fn fits_long(word: &str, known: &SecretOption) -> bool {
    matches!(
        word.get(known.option.len()..)
            .and_then(|rest| rest.chars().next()),
        None | Some('=')
    )
}

fn secret_in(word: &str, from: usize) -> Option<Range<usize>> {
    let value = word.get(from..)?;
    let from = from + usize::from(value.starts_with('='));
    is_value(word.get(from..)?).then_some(from..word.len())
}

/// What stands behind the first separator, up to the closing quote.
fn after_separator(word: &str, from: usize, separator: char) -> Option<Range<usize>> {
    let at = from + word.get(from..)?.find(separator)? + separator.len_utf8();
    let closing = word.len() - word.trim_end_matches(['"', '\'']).len();
    let end = (word.len() - closing).max(at);
    is_value(word.get(at..end)?).then_some(at..end)
}

/// The words of a line with their quotes; `None` where a command ends.
fn words(line: &str) -> impl Iterator<Item = Option<Word<'_>>> {
    let mut rest = 0;
    std::iter::from_fn(move || {
        rest += line[rest..].len() - line[rest..].trim_start_matches(separates).len();
        let first = line[rest..].chars().next()?;
        if ends_command(first) {
            rest += first.len_utf8();
            return Some(None);
        }
        let at = rest;
        let length = word_length(&line[at..]);
        rest += length;
        Some(Some(Word {
            text: &line[at..at + length],
            at,
        }))
    })
}

fn ends_command(character: char) -> bool {
    matches!(character, '|' | '&' | ';' | '\n' | '\r' | '(' | ')' | '`')
}

/// Whether it stands between words. Whatever ends a word, and no command, is skipped before the next:
/// a word is never empty.
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

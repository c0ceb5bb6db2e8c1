//! Secrets by their place in a command: the values of options that take one.
//!
//! A line is split into words roughly as a shell does. Unlike a shell's lexer this one skips nothing: a
//! comment and a here-document may hold a secret too (`docs/decisions/0062-readers-of-shell-text.md`).
//! A word that is cut wrongly is cut too short, and the patterns of [`shapes`](super::shapes) still read
//! it.

use std::ops::Range;

use super::secret_names::{Form, SecretOption, is_value, names_secret, options_of};

/// Quoted lines within quoted lines that are read: `sh -c "sh -c '…'"`.
const MAX_DEPTH: usize = 3;

/// A word with its quotes, and the byte of the line where it begins.
#[derive(Debug, Clone)]
struct Word<'a> {
    text: &'a str,
    at: usize,
}

/// What the next word is.
#[derive(Debug, Clone, Copy, Default)]
enum Expected {
    #[default]
    Word,
    /// The value of an option, which is a secret.
    Secret,
    /// The value of an option, in which a secret stands behind this separator.
    Pair(char),
}

/// Adds the ranges of secrets in a line.
pub(super) fn find_in_line(line: &str, found: &mut Vec<Range<usize>>) {
    find_in(line, 0, 0, found);
}

/// Adds the ranges of secrets in the words of an argv, for each word.
pub(super) fn find_in_argv(argv: &[String], found: &mut [Vec<Range<usize>>]) {
    let mut reader = WordReader::default();
    for (word, found) in argv.iter().zip(found) {
        if let Some(secret) = reader.read(word) {
            found.push(secret);
        }
    }
}

fn find_in(text: &str, base: usize, depth: usize, found: &mut Vec<Range<usize>>) {
    let mut reader = WordReader::default();
    for word in words(text) {
        let Some(word) = word else {
            reader = WordReader::default();
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

/// What a word is to the program of its command.
#[derive(Debug)]
enum OptionMatch {
    /// An option with a secret in this range of the word.
    Secret(Range<usize>),
    /// An option without a secret in the word. The next word may be one.
    NoSecret,
    /// No option that takes a secret.
    Other,
}

impl OptionMatch {
    fn of(secret: Option<Range<usize>>) -> Self {
        secret.map_or(Self::NoSecret, Self::Secret)
    }
}

/// Reads the words of one command, in order.
#[derive(Debug, Default)]
struct WordReader {
    /// The options of the command's program that take a secret.
    options: Vec<&'static SecretOption>,
    subcommands: Vec<&'static str>,
    expected: Expected,
}

impl WordReader {
    /// The range of the secret in the next word.
    fn read(&mut self, word: &str) -> Option<Range<usize>> {
        match std::mem::take(&mut self.expected) {
            Expected::Secret if !word.starts_with("--") => return secret_in(word, 0),
            Expected::Pair(separator) => return after_separator(word, 0, separator),
            Expected::Secret | Expected::Word => {}
        }
        match self.read_option(word) {
            OptionMatch::Secret(secret) => return Some(secret),
            OptionMatch::NoSecret => return None,
            OptionMatch::Other => {}
        }
        if let Some(name) = word.strip_prefix("--")
            && names_secret(name)
        {
            self.expected = Expected::Secret;
            return None;
        }
        if word.starts_with('-') {
            return None;
        }
        let bare = word.trim_matches(['"', '\'']);
        let mut options = options_of(bare).peekable();
        if options.peek().is_some() {
            self.options = options.collect();
            self.subcommands.clear();
        } else if let Some(option) = (self.options.iter()).find(|o| o.subcommand == Some(bare)) {
            self.subcommands.extend(option.subcommand);
        }
        None
    }

    /// Reads a word as an option of the command's program.
    fn read_option(&mut self, word: &str) -> OptionMatch {
        let quote = word.len() - word.trim_start_matches(['"', '\'']).len();
        let found = self.options.iter().find(|known| {
            let applies = known
                .subcommand
                .is_none_or(|sub| self.subcommands.contains(&sub));
            let begins = word[quote..].starts_with(known.option);
            applies && begins && (!known.option.starts_with("--") || fits_long(word, known))
        });
        let Some(option) = found.copied() else {
            return OptionMatch::Other;
        };
        let value = quote + option.option.len();
        let rest = word.get(value..).unwrap_or_default();
        match option.form {
            Form::Attached if rest.is_empty() => return OptionMatch::NoSecret,
            Form::Separate if rest.is_empty() => self.expected = Expected::Secret,
            Form::Pair(separator) if rest.is_empty() => self.expected = Expected::Pair(separator),
            Form::Pair(separator) => {
                return OptionMatch::of(after_separator(word, value, separator));
            }
            Form::Attached | Form::Separate | Form::Prefix => {
                // A program takes one secret. Of `sshpass -p x ssh -p 22` the second is a port.
                let secret = secret_in(word, value);
                self.options.clear();
                return OptionMatch::of(secret);
            }
        }
        if matches!(option.form, Form::Separate) {
            self.options.clear();
        }
        OptionMatch::NoSecret
    }
}

/// Whether a word is a long option itself: `--user` or `--user=…`, and not `--user-agent`.
fn fits_long(word: &str, option: &SecretOption) -> bool {
    matches!(
        word.get(option.option.len()..)
            .and_then(|rest| rest.chars().next()),
        None | Some('=')
    )
}

fn secret_in(word: &str, from: usize) -> Option<Range<usize>> {
    let value = word.get(from..)?;
    let from = from + usize::from(value.starts_with('='));
    is_value(word.get(from..)?).then_some(from..word.len())
}

/// The range behind the first separator, up to the closing quote.
fn after_separator(word: &str, from: usize, separator: char) -> Option<Range<usize>> {
    let at = from + word.get(from..)?.find(separator)? + separator.len_utf8();
    let closing = word.len() - word.trim_end_matches(['"', '\'']).len();
    let end = (word.len() - closing).max(at);
    is_value(word.get(at..end)?).then_some(at..end)
}

/// The words of a line with their quotes. `None` stands where a command ends.
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

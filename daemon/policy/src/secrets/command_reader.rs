//! Secrets by their place in a command: the values of options that take one, by `programs.toml` and by
//! their names.
//!
//! What is read as what depends on the words of a command and never on a secret. So a text reads the same
//! when its secrets are replaced.

use std::ops::Range;

use super::finding::{Finding, Place, PlaceKind};
use super::programs::{Entry, Form, entries_of};
use super::secret_names::names_secret;
use super::value::is_random;

/// Words that a command may follow (POSIX 2.4).
const RESERVED: [&str; 12] = [
    "if", "then", "else", "elif", "while", "until", "do", "!", "{", "time", "begin", "and",
];
/// Programs that run the command behind them.
const STARTERS: [&str; 10] = [
    "sudo", "doas", "env", "nohup", "time", "nice", "exec", "command", "builtin", "xargs",
];
/// Programs whose operands are names of files to remove. The record has to show them.
const REMOVERS: [&str; 6] = ["rm", "rmdir", "unlink", "shred", "trash", "trash-put"];
/// The most entries that hold for one command: each word is compared with all of them.
const MAX_ENTRIES: usize = 96;
pub(super) const QUOTES: [char; 2] = ['"', '\''];

/// An entry and how far the command has come in it.
#[derive(Debug)]
struct Progress {
    entry: &'static Entry,
    /// How many words of `after` have come.
    after: usize,
    /// How many words that are no option have come since.
    arguments: usize,
    /// Whether the option has come.
    has_option: bool,
}

/// What the next word is.
#[derive(Debug, Clone, Copy, Default)]
enum Expected {
    #[default]
    Word,
    /// A secret, behind an option.
    Secret,
    /// A secret, whatever it begins with.
    Named,
    /// A value in which a secret stands behind this separator.
    Pair(char),
    /// An address with a user and a secret before its host.
    Address,
    /// Fields, whose values are secrets.
    Fields,
    /// A here-string.
    HereString,
    /// A file that is written.
    Target,
    /// A file that is read.
    Source,
}

/// What the input of a command is.
#[derive(Debug, Clone, Copy, Default)]
enum Input {
    #[default]
    Plain,
    Secret,
    /// A text with a secret behind this separator.
    Pair(char),
}

/// Reads the words of one command, in order.
#[derive(Debug, Default)]
pub(super) struct CommandReader {
    entries: Vec<Progress>,
    expected: Expected,
    /// Whether the command word has come.
    has_command: bool,
    /// Whether only programs that start others have come so far.
    is_leading: bool,
    /// If the program prints its words: how many before them it does not print.
    unprinted: Option<usize>,
    words: usize,
    /// Whether the command removes the files that its words name.
    removes: bool,
    /// What the command prints, if it only prints.
    printed: Vec<Range<usize>>,
    /// If the command is `read`: its last word that is no option, which names a variable.
    read_variable: Option<Range<usize>>,
    /// The file that the command writes.
    written: Option<Range<usize>>,
    /// What the command reads, from a pipe or a here-string.
    input: Vec<Range<usize>>,
    wanted: Input,
}

impl CommandReader {
    /// Whether this word would be the command word.
    pub(super) fn expects_command(&self, word: &str) -> bool {
        !self.has_command
            && matches!(self.expected, Expected::Word)
            && !is_assignment(word)
            && !RESERVED.contains(&word)
            && !is_redirect(word)
    }

    /// Whether this word names a file that the command removes, and holds nothing that runs.
    pub(super) fn is_removed(&self, word: &str) -> bool {
        self.removes && !word.contains(['$', '`']) && !word.contains(char::is_whitespace)
    }

    /// Reads a word that begins at `at`, and adds the ranges of the secrets in it. True: the word is
    /// nothing but the value of an option.
    pub(super) fn read(&mut self, word: &str, at: usize, secrets: &mut Vec<Range<usize>>) -> bool {
        let mut add = |secret: Range<usize>| secrets.push(at + secret.start..at + secret.end);
        self.words += 1;
        let is_command = self.expects_command(word);
        match std::mem::take(&mut self.expected) {
            Expected::Secret if !word.starts_with("--") => {
                add(0..word.len());
                return true;
            }
            Expected::Named => {
                add(0..word.len());
                return true;
            }
            Expected::Pair(separator) => {
                after_separator(word, 0, separator)
                    .into_iter()
                    .for_each(add);
                return true;
            }
            Expected::Address => {
                in_address(word, 0).into_iter().for_each(add);
                return true;
            }
            Expected::Fields => {
                fields(word, 0).for_each(add);
                return true;
            }
            Expected::HereString => {
                self.input.push(at..at + word.len());
                return false;
            }
            Expected::Target => {
                self.written = Some(at..at + word.len());
                return false;
            }
            Expected::Source => return false,
            Expected::Secret | Expected::Word => {}
        }
        if let Some(target) = redirect_target(word) {
            let is_here_string = word.starts_with("<<<");
            let is_written = word.contains('>');
            match (target.is_empty(), is_here_string) {
                (true, true) => self.expected = Expected::HereString,
                (true, false) if is_written => self.expected = Expected::Target,
                (true, false) => self.expected = Expected::Source,
                (false, true) => self.input.push(at + target.start..at + target.end),
                (false, false) if is_written => {
                    self.written = Some(at + target.start..at + target.end);
                }
                (false, false) => {}
            }
            return false;
        }
        let bare = word.trim_matches(QUOTES);
        self.note_operand(word, at, is_command);
        if self.removes {
            return false;
        }
        self.removes = self.is_leading && REMOVERS.contains(&program_name(bare));
        if let Some(found) = self.read_entries(word, bare) {
            let is_found = !found.is_empty();
            found.into_iter().for_each(add);
            return is_found;
        }
        if let Some(name) = long_option(word)
            && names_secret(name)
        {
            self.expected = Expected::Secret;
            return false;
        }
        if word.starts_with('-') {
            return false;
        }
        let is_leading = self.is_leading;
        let known = entries_of(bare).iter();
        let mut known = known
            .filter(|entry| is_leading || !entry.is_of_command())
            .peekable();
        if known.peek().is_some() {
            // A word may have the name of a program and be none: `wpa_passphrase net …`.
            let more = known.map(|entry| Progress::of(entry));
            self.entries
                .extend(more.take(MAX_ENTRIES.saturating_sub(self.entries.len())));
            self.note_stdin();
        }
        if !STARTERS.contains(&program_name(bare))
            && !is_assignment(word)
            && !RESERVED.contains(&bare)
        {
            self.is_leading = false;
        }
        false
    }

    /// Notes a command word, or what a command prints or reads.
    fn note_operand(&mut self, word: &str, at: usize, is_command: bool) {
        let bare = word.trim_matches(QUOTES);
        let range = at..at + word.len();
        if is_command {
            self.has_command = true;
            self.is_leading = true;
            self.unprinted = match program_name(bare) {
                "echo" => Some(0),
                // The first word of printf is its format.
                "printf" => Some(1),
                _ => None,
            };
            self.read_variable = (bare == "read").then_some(range);
            return;
        }
        if word.starts_with('-') {
            return;
        }
        if self.unprinted.is_some() {
            self.printed.push(range);
        } else if self.read_variable.is_some() {
            self.read_variable = Some(range);
        }
    }

    /// Reads a word by the entries of the command's program. `None` where no entry is about the word;
    /// else the secrets in it.
    fn read_entries(&mut self, word: &str, bare: &str) -> Option<Vec<Range<usize>>> {
        let quote = word.len() - word.trim_start_matches(QUOTES).len();
        let is_option = word.starts_with('-') && word.len() > 1;
        let mut answer: Option<Vec<Range<usize>>> = None;
        for progress in &mut self.entries {
            let entry = progress.entry;
            if let Some(next) = entry.after().nth(progress.after) {
                if next == bare {
                    progress.after += 1;
                    answer.get_or_insert_default();
                }
                continue;
            }
            if !is_option {
                progress.arguments += 1;
            }
            let unquoted = word.get(quote..).unwrap_or_default();
            let has_option = !entry.option.is_empty() && is_option_of(unquoted, &entry.option);
            let value = quote + entry.option.len();
            let value = value + usize::from(entry.option.starts_with("--") && value < word.len());
            let is_alone = value >= word.len();
            let applies = match entry.form {
                Form::Fields if entry.option.is_empty() => !is_option,
                Form::Argument => !is_option && Some(progress.arguments) == entry.position,
                Form::Named => {
                    !is_option && !bare.starts_with('.') && names_secret(last_name(bare))
                }
                _ => has_option,
            };
            if !applies {
                continue;
            }
            let found = answer.get_or_insert_default();
            match entry.form {
                Form::Attached | Form::Prefix | Form::Separate if has_option => {
                    if is_alone && entry.form == Form::Separate {
                        self.expected = Expected::Secret;
                    }
                    found.push(value.min(word.len())..word.len());
                }
                Form::Pair if has_option => {
                    let separator = entry.separator.unwrap_or(':');
                    if is_alone {
                        self.expected = Expected::Pair(separator);
                    }
                    found.extend(after_separator(word, value, separator));
                }
                Form::Address if has_option => {
                    if is_alone {
                        self.expected = Expected::Address;
                    }
                    found.extend(in_address(word, value));
                }
                Form::Fields if has_option => {
                    if is_alone {
                        self.expected = Expected::Fields;
                    }
                    found.extend(fields(word, value));
                }
                Form::Fields => found.extend(fields(word, 0)),
                Form::Argument => match entry.separator {
                    Some(separator) => found.extend(after_separator(word, 0, separator)),
                    None => found.push(0..word.len()),
                },
                Form::Named => self.expected = Expected::Named,
                Form::Stdin => progress.has_option = true,
                Form::Attached | Form::Prefix | Form::Separate | Form::Pair | Form::Address => {}
            }
            found.retain(|secret| !secret.is_empty());
            if entry.last {
                self.entries.clear();
                break;
            }
        }
        self.note_stdin();
        answer
    }

    fn note_stdin(&mut self) {
        let wanted = self.entries.iter().find(|progress| progress.wants_input());
        if let Some(progress) = wanted {
            self.wanted = progress.entry.separator.map_or(Input::Secret, Input::Pair);
        }
    }

    /// Ends the command, whose line begins at `base`, at this character. Only now is it known what of its
    /// input is secret.
    pub(super) fn end(&mut self, end: char, line: &str, base: usize, finding: &mut Finding) {
        let word_at = |word: &Range<usize>| line.get(word.start - base..word.end - base);
        let names = |word: &Range<usize>| word_at(word).is_some_and(names_secret);
        let set = self.read_variable.clone().filter(names);
        self.add_written(word_at, finding);
        for input in &self.input {
            match self.wanted {
                Input::Plain => {
                    let set = set.clone();
                    finding.places.extend(set.map(|name| Place {
                        value: input.clone(),
                        kind: PlaceKind::Variable(name),
                    }));
                }
                Input::Secret => finding.add(input.clone()),
                Input::Pair(separator) => {
                    let word = line.get(input.start - base..input.end - base);
                    let secret = word.and_then(|word| after_separator(word, 0, separator));
                    if let Some(secret) = secret {
                        finding.add_value_at(input.start, &secret);
                    }
                }
            }
        }
        let input = match (end, self.unprinted) {
            // A pipe may end a line.
            ('\n' | '\r', _) if self.words == 0 => std::mem::take(&mut self.input),
            ('|', Some(unprinted)) if self.printed.len() > unprinted => {
                self.printed.split_off(unprinted)
            }
            ('|', Some(_)) => std::mem::take(&mut self.printed),
            _ => Vec::new(),
        };
        *self = Self {
            input,
            ..Self::default()
        };
    }
}

impl CommandReader {
    /// Adds a random word that is written into a file whose name names a secret. Any other word may be a
    /// program that the file then runs.
    fn add_written<'a>(
        &self,
        word_at: impl Fn(&Range<usize>) -> Option<&'a str>,
        finding: &mut Finding,
    ) {
        let (Some(file), Some(unprinted)) = (&self.written, self.unprinted) else {
            return;
        };
        let name = program_name(word_at(file).unwrap_or_default().trim_matches(QUOTES));
        let name = name.trim_start_matches('.');
        let stem = name.split_once('.').map_or(name, |(stem, _)| stem);
        let printed = self.printed.get(unprinted..).unwrap_or_default();
        if let [word] = printed
            && names_secret(stem)
            && word_at(word).is_some_and(is_random)
        {
            finding.add(word.clone());
        }
    }
}

impl Progress {
    fn of(entry: &'static Entry) -> Self {
        Self {
            entry,
            after: 0,
            arguments: 0,
            has_option: false,
        }
    }

    fn wants_input(&self) -> bool {
        self.entry.form == Form::Stdin
            && self.entry.after().nth(self.after).is_none()
            && (self.entry.option.is_empty() || self.has_option)
    }
}

/// Whether a word begins with an option. A long one ends there or has a value: `--user` and `--user=…`,
/// and not `--user-agent`.
fn is_option_of(word: &str, option: &str) -> bool {
    let Some(rest) = word.strip_prefix(option) else {
        return false;
    };
    let is_whole_word = option.starts_with("--") || option.starts_with(char::is_alphanumeric);
    match rest.chars().next() {
        None | Some('=') => true,
        Some(_) => !is_whole_word || option.ends_with([':', '.']),
    }
}

/// The name of a long option without its value: `--name`, and `-name` of Java's programs.
fn long_option(word: &str) -> Option<&str> {
    match word.strip_prefix("--") {
        Some(name) => Some(name),
        // Shorter ones are clusters of short options.
        None => word
            .strip_prefix('-')
            .filter(|name| name.len() > "pass".len()),
    }
}

fn program_name(bare: &str) -> &str {
    bare.rsplit('/').next().unwrap_or(bare)
}

/// The last part of a name such as `//registry.npmjs.org/:_authToken`.
fn last_name(bare: &str) -> &str {
    bare.rsplit([':', '/']).next().unwrap_or(bare)
}

/// Whether a word assigns a variable.
fn is_assignment(word: &str) -> bool {
    let name = word
        .split_once('=')
        .map(|(name, _)| name.trim_end_matches('+'));
    name.is_some_and(|name| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

fn is_redirect(word: &str) -> bool {
    redirect_target(word).is_some()
}

/// The range of a redirection's target within its word. It is empty where the target is the next word.
fn redirect_target(word: &str) -> Option<Range<usize>> {
    let begin = word.len() - word.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let rest = word.get(begin..)?;
    if !rest.starts_with(['<', '>']) {
        return None;
    }
    Some(word.len() - rest.trim_start_matches(['<', '>']).len()..word.len())
}

/// The range behind the first separator.
fn after_separator(word: &str, from: usize, separator: char) -> Option<Range<usize>> {
    let at = from + word.get(from..)?.find(separator)? + separator.len_utf8();
    Some(at..word.len()).filter(|secret| !secret.is_empty())
}

/// The range of the secret in `NAME:SECRET@HOST`, which may have a scheme.
fn in_address(word: &str, from: usize) -> Option<Range<usize>> {
    let address = word.get(from..)?;
    let scheme = address.find("://").map_or(0, |at| at + "://".len());
    let host = address.rfind('@').filter(|host| *host > scheme)?;
    let name = address.get(scheme..host)?.find(':')?;
    let secret = from + scheme + name + 1..from + host;
    Some(secret).filter(|secret| !secret.is_empty())
}

/// The values of `name=value`, between which are `;`.
fn fields(word: &str, from: usize) -> impl Iterator<Item = Range<usize>> {
    let mut at = from;
    let parts = word.get(from..).unwrap_or_default().split(';');
    parts.filter_map(move |part| {
        let begin = at;
        at += part.len() + 1;
        let value = begin + part.find('=')? + 1;
        Some(value..begin + part.len()).filter(|value| !value.is_empty())
    })
}

//! Secrets by their place in a command: the values of options that take one, by `programs.toml` and by
//! their names.
//!
//! What is read as what depends on the words of a command and never on a secret. So a text reads the same
//! when its secrets are replaced.

use std::ops::Range;

use super::finding::Finding;
use super::programs::{Entry, Form, entries_of};
use super::secret_names::names_secret;
use super::value::{is_path, is_random};
use super::words::{Piece, pieces};

/// Quoted lines within quoted lines that are read: `sh -c "sh -c '…'"`.
const MAX_DEPTH: usize = 3;
/// Words that a command may follow (POSIX 2.4).
const RESERVED: [&str; 12] = [
    "if", "then", "else", "elif", "while", "until", "do", "!", "{", "time", "begin", "and",
];
/// Programs that run the command behind them.
const STARTERS: [&str; 10] = [
    "sudo", "doas", "env", "nohup", "time", "nice", "exec", "command", "builtin", "xargs",
];
/// Programs whose words are what they print.
const PRINTERS: [&str; 2] = ["echo", "printf"];
const QUOTES: [char; 2] = ['"', '\''];

/// Finds the secrets and the command words of a shell's line.
pub(super) fn find_in_line(line: &str, finding: &mut Finding) {
    LineReader {
        line,
        base: 0,
        depth: 0,
        is_code: true,
    }
    .read(finding);
}

/// Finds the secrets and the command words in the words of an argv, for each word.
pub(super) fn find_in_argv(argv: &[String], findings: &mut [Finding]) {
    let mut reader = CommandReader::default();
    let mut runs_next = true;
    for (number, (word, finding)) in argv.iter().zip(findings.iter_mut()).enumerate() {
        let range = 0..word.len();
        let is_line = word.contains(char::is_whitespace);
        if runs_next && !is_line {
            finding.commands.push(range.clone());
        }
        let mut secrets = Vec::new();
        let is_read = reader.read(word, 0, &mut secrets);
        secrets.into_iter().for_each(|secret| finding.add(secret));
        if is_line && !is_read {
            LineReader {
                line: word,
                base: 0,
                depth: 0,
                is_code: number == 0 || runs_next,
            }
            .read(finding);
        }
        runs_next = takes_code(word);
    }
}

/// Whether the word behind this option is run by a shell.
fn takes_code(word: &str) -> bool {
    let cluster = word.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
    cluster.is_some_and(|options| options.ends_with('c') && options.len() <= 4)
}

/// Reads one line, or a quoted line within a line.
struct LineReader<'a> {
    line: &'a str,
    /// Where the line begins in the whole text.
    base: usize,
    depth: usize,
    /// Whether a shell runs the line.
    is_code: bool,
}

impl LineReader<'_> {
    fn read(&self, finding: &mut Finding) {
        let mut reader = CommandReader::default();
        let mut runs_next = false;
        let mut lone = LoneWord::default();
        for piece in pieces(self.line) {
            let range = match piece {
                Piece::End(end) => {
                    lone.end(end, self, finding);
                    reader.end(end, self, finding);
                    runs_next = false;
                    continue;
                }
                Piece::Word(range) => range,
            };
            let word = self.line.get(range.clone()).unwrap_or_default();
            let is_command = reader.expects_command(word);
            lone.word(&range, is_command);
            let mut secrets = Vec::new();
            let is_read = reader.read(word, self.base + range.start, &mut secrets);
            secrets.into_iter().for_each(|secret| finding.add(secret));
            if is_read {
                continue;
            }
            let bare = word.trim_matches(QUOTES);
            let is_quoted = bare.len() < word.len();
            let quote = word.len() - word.trim_start_matches(QUOTES).len();
            let runs = std::mem::replace(&mut runs_next, takes_code(word)) && self.is_code;
            if is_quoted && self.depth < MAX_DEPTH && bare.contains(char::is_whitespace) {
                Self {
                    line: bare,
                    base: self.base + range.start + quote,
                    depth: self.depth + 1,
                    is_code: runs,
                }
                .read(finding);
            } else if runs {
                finding
                    .commands
                    .push(self.base + range.start..self.base + range.end);
            }
        }
        lone.end('\n', self, finding);
        reader.end('\n', self, finding);
    }
}

/// The command word of a command, until it is known whether other words follow.
#[derive(Debug, Default)]
struct LoneWord {
    command: Option<Range<usize>>,
    words: usize,
    /// Whether the command begins where a line does.
    is_first: bool,
    is_after_end: bool,
}

impl LoneWord {
    fn word(&mut self, range: &Range<usize>, is_command: bool) {
        if self.words == 0 {
            self.is_first = !self.is_after_end;
        }
        self.words += 1;
        if is_command {
            self.command = Some(range.clone());
        }
    }

    /// Notes the command word as one that is never hidden. The exception is a random word alone in its
    /// line, which is no path: what was pasted by mistake, or a line of a key.
    fn end(&mut self, end: char, reader: &LineReader<'_>, finding: &mut Finding) {
        let ends_line = matches!(end, '\n' | '\r');
        if let Some(command) = self.command.take() {
            let word = reader.line.get(command.clone()).unwrap_or_default();
            let is_lone = self.words == 1 && self.is_first && ends_line;
            let may_hide = is_lone && !is_path(word) && (is_random(word) || !reader.is_code);
            if reader.is_code && !may_hide {
                finding
                    .commands
                    .push(reader.base + command.start..reader.base + command.end);
            }
        }
        self.words = 0;
        self.is_after_end = !ends_line;
    }
}

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
    /// Fields, whose values are secrets.
    Fields,
    /// A here-string.
    HereString,
    /// A file.
    Target,
}

/// Reads the words of one command, in order.
#[derive(Debug, Default)]
struct CommandReader {
    entries: Vec<Progress>,
    expected: Expected,
    /// Whether the command word has come.
    has_command: bool,
    /// Whether only programs that start others have come so far.
    is_leading: bool,
    is_printer: bool,
    is_format: bool,
    words: usize,
    /// What the command prints, if it only prints.
    printed: Vec<Range<usize>>,
    /// What the command reads, from a pipe or a here-string.
    input: Vec<Range<usize>>,
    /// Whether the input is secret, and behind which separator.
    wanted: Option<Option<char>>,
}

impl CommandReader {
    /// Whether this word would be the command word.
    fn expects_command(&self, word: &str) -> bool {
        !self.has_command
            && matches!(self.expected, Expected::Word)
            && !is_assignment(word)
            && !RESERVED.contains(&word)
            && !is_redirect(word)
    }

    /// Reads a word that begins at `at`, and adds the ranges of the secrets in it. True: the word is
    /// nothing but the value of an option.
    fn read(&mut self, word: &str, at: usize, secrets: &mut Vec<Range<usize>>) -> bool {
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
            Expected::Fields => {
                fields(word, 0).for_each(add);
                return true;
            }
            Expected::HereString => {
                self.input.push(at..at + word.len());
                return false;
            }
            Expected::Target => return false,
            Expected::Secret | Expected::Word => {}
        }
        if let Some(target) = redirect_target(word) {
            let is_here_string = word.starts_with("<<<");
            match (target.is_empty(), is_here_string) {
                (true, true) => self.expected = Expected::HereString,
                (true, false) => self.expected = Expected::Target,
                (false, true) => self.input.push(at + target.start..at + target.end),
                (false, false) => {}
            }
            return false;
        }
        let bare = word.trim_matches(QUOTES);
        if is_command {
            self.has_command = true;
            self.is_leading = true;
            self.is_printer = PRINTERS.contains(&program_name(bare));
            self.is_format = program_name(bare) == "printf";
        } else if self.is_printer && !word.starts_with('-') {
            self.printed.push(at..at + word.len());
        }
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
            self.entries = known.map(|entry| Progress::of(entry)).collect();
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
            let found: Vec<Range<usize>> = match entry.form {
                Form::Attached | Form::Prefix | Form::Separate if has_option => {
                    if is_alone && entry.form == Form::Separate {
                        self.expected = Expected::Secret;
                    }
                    vec![value.min(word.len())..word.len()]
                }
                Form::Pair if has_option => {
                    let separator = entry.separator.unwrap_or(':');
                    if is_alone {
                        self.expected = Expected::Pair(separator);
                    }
                    after_separator(word, value, separator)
                        .into_iter()
                        .collect()
                }
                Form::Fields if has_option => {
                    if is_alone {
                        self.expected = Expected::Fields;
                    }
                    fields(word, value).collect()
                }
                Form::Fields if entry.option.is_empty() && !is_option => fields(word, 0).collect(),
                Form::Argument if !is_option && Some(progress.arguments) == entry.position => {
                    match entry.separator {
                        Some(separator) => {
                            after_separator(word, 0, separator).into_iter().collect()
                        }
                        None => vec![0..word.len()],
                    }
                }
                Form::Named if !is_option && names_secret(last_name(bare)) => {
                    self.expected = Expected::Named;
                    Vec::new()
                }
                Form::Stdin if has_option => {
                    progress.has_option = true;
                    Vec::new()
                }
                _ => continue,
            };
            answer
                .get_or_insert_default()
                .extend(found.into_iter().filter(|r| !r.is_empty()));
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
            self.wanted = Some(progress.entry.separator);
        }
    }

    /// Ends the command at this character. Only now is it known what of its input is secret.
    fn end(&mut self, end: char, line: &LineReader<'_>, finding: &mut Finding) {
        if let Some(separator) = self.wanted {
            for input in &self.input {
                let word = line
                    .line
                    .get(input.start - line.base..input.end - line.base);
                let secret = match (separator, word) {
                    (Some(separator), Some(word)) => after_separator(word, 0, separator)
                        .map(|secret| input.start + secret.start..input.start + secret.end),
                    _ => Some(input.clone()),
                };
                secret.into_iter().for_each(|secret| finding.add(secret));
            }
        }
        let input = match end {
            // A pipe may end a line.
            '\n' | '\r' if self.words == 0 => std::mem::take(&mut self.input),
            // The first word of printf is its format.
            '|' if self.is_format && self.printed.len() > 1 => self.printed.split_off(1),
            '|' => std::mem::take(&mut self.printed),
            _ => Vec::new(),
        };
        *self = Self {
            input,
            ..Self::default()
        };
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
        None => true,
        Some('=') => true,
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

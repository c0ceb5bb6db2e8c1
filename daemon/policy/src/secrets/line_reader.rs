//! Secrets and command words in a line, and in the lines quoted within it.

use std::ops::Range;

use super::command_reader::{CommandReader, QUOTES};
use super::finding::{Finding, Place, PlaceKind};
use super::secret_names::names_secret;
use super::value::{is_path, is_random};
use super::words::{Piece, pieces};
use crate::glob::Case;
use crate::program::kind::{ProgramKind, base_name, program_kind};
use crate::program::table::ProgramTable;
use crate::program::table::row::ProgramRow;
use crate::program::table::setting::{Setting, setting};

/// Quoted lines within quoted lines that are read: `sh -c "sh -c '…'"`.
const MAX_DEPTH: usize = 3;

/// Beginnings of command words whose value no text hides.
const DIRECTORIES: [&str; 5] = ["$HOME/", "${HOME}/", "$PWD/", "${PWD}/", "$VIRTUAL_ENV/"];

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
    let mut language = Language::SHELL;
    for (number, (word, finding)) in argv.iter().zip(findings.iter_mut()).enumerate() {
        let range = 0..word.len();
        let is_line = word.contains(char::is_whitespace);
        if runs_next && !is_line && !language.sets_address(word) {
            finding.commands.push(range.clone());
        }
        let mut secrets = Vec::new();
        if reader.is_removed(word) {
            finding.commands.push(range.clone());
        }
        let is_read = reader.read(word, 0, &mut secrets);
        for secret in secrets {
            finding.add(secret);
        }
        if is_line && !is_read {
            LineReader {
                line: word,
                base: 0,
                depth: 0,
                is_code: number == 0 || runs_next,
            }
            .read(finding);
        }
        language.read(word);
        runs_next = language.is_shell && takes_code(word);
    }
}

/// What the code is that the command so far would run.
#[derive(Debug, Clone, Copy)]
struct Language {
    is_shell: bool,
    /// The program whose settings stand behind `-c`, as git's.
    settings: Option<&'static ProgramRow>,
}

impl Language {
    const SHELL: Self = Self {
        is_shell: true,
        settings: None,
    };

    /// Takes the last word that names a shell, an interpreter or a database's client, or a program with
    /// settings.
    fn read(&mut self, word: &str) {
        let row = ProgramTable::built_in().row(base_name(word));
        self.settings = row.filter(|row| !row.settings.is_empty()).or(self.settings);
        match program_kind(word) {
            ProgramKind::Shell => *self = Self::SHELL,
            ProgramKind::Code | ProgramKind::Sql(_) => self.is_shell = false,
            ProgramKind::Text | ProgramKind::Other => {}
        }
    }

    /// Whether a word is a setting that is an address and nothing that runs: `git -c http.proxy=…`.
    fn sets_address(self, word: &str) -> bool {
        let key = word.split_once('=').map_or("", |(key, _)| key);
        let found = self
            .settings
            .and_then(|row| setting(&row.settings, key, Case::Ignored));
        matches!(found, Some(Setting::Address(_)))
    }
}

/// Whether a command word is known only once it runs. Directories of the user are no secrets.
fn is_computed(word: &str) -> bool {
    let bare = word.trim_start_matches(QUOTES);
    let known = DIRECTORIES.iter().find_map(|name| bare.strip_prefix(name));
    known.unwrap_or(bare).contains(['$', '`'])
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
    /// The name of a variable that gets an array behind this word (`TOKENS=(…)`), if the name names a secret
    /// and nothing in the array runs.
    fn secret_array(&self, word: &str, at: usize) -> Option<Range<usize>> {
        let name = word.strip_suffix('=')?;
        let name = name.strip_suffix('+').unwrap_or(name);
        let one = name.trim_end_matches(['s', 'S']);
        if !names_secret(name) && !names_secret(one) {
            return None;
        }
        let array = self.line.get(at + word.len()..)?.strip_prefix('(')?;
        let (values, _) = array.split_once(')')?;
        let runs = ['$', '`', '(', '<', '>', '|', '&', ';'];
        (!values.contains(runs)).then(|| self.base + at..self.base + at + name.len())
    }

    fn read(&self, finding: &mut Finding) {
        let mut reader = CommandReader::default();
        let mut runs_next = false;
        let mut language = Language::SHELL;
        let mut lone = LoneWord::default();
        let mut array = None;
        for piece in pieces(self.line) {
            let range = match piece {
                Piece::End('(' | '\n' | '\r') if array.is_some() => continue,
                Piece::Word(value) if array.is_some() => {
                    let kind = array.clone().map(PlaceKind::Variable);
                    let value = self.base + value.start..self.base + value.end;
                    finding
                        .places
                        .extend(kind.map(|kind| Place { value, kind }));
                    continue;
                }
                Piece::End(end) => {
                    array = None;
                    lone.end(end, self, finding);
                    reader.end(end, self.line, self.base, finding);
                    runs_next = false;
                    language = Language::SHELL;
                    continue;
                }
                Piece::Word(range) => range,
            };
            let word = self.line.get(range.clone()).unwrap_or_default();
            if self.is_code && reader.expects_command("") {
                array = self.secret_array(word, range.start);
            }
            let is_command = reader.expects_command(word);
            lone.word(&range, is_command);
            finding.is_computed |= is_command && self.is_code && is_computed(word);
            let mut secrets = Vec::new();
            if reader.is_removed(word) && self.is_code {
                finding
                    .commands
                    .push(self.base + range.start..self.base + range.end);
            }
            let is_read = reader.read(word, self.base + range.start, &mut secrets);
            for secret in secrets {
                finding.add(secret);
            }
            if is_read {
                continue;
            }
            let bare = word.trim_matches(QUOTES);
            language.read(bare);
            // `ProxyCommand='…'` has a line in quotes, too.
            let quote = word.find(QUOTES).map_or(0, |at| at + 1);
            let quoted = word.get(quote..).unwrap_or_default();
            let quoted = quoted.trim_start_matches(QUOTES);
            let quote = word.len() - quoted.len();
            let quoted = quoted.trim_end_matches(QUOTES);
            let takes_code = language.is_shell && takes_code(word);
            let runs = std::mem::replace(&mut runs_next, takes_code) && self.is_code;
            if quote > 0 && self.depth < MAX_DEPTH && quoted.contains(char::is_whitespace) {
                Self {
                    line: quoted,
                    base: self.base + range.start + quote,
                    depth: self.depth + 1,
                    is_code: runs,
                }
                .read(finding);
            } else if runs && !language.sets_address(bare) {
                finding
                    .commands
                    .push(self.base + range.start..self.base + range.end);
            }
        }
        lone.end('\n', self, finding);
        reader.end('\n', self.line, self.base, finding);
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
            // No program has a line break in its name: that word is a text.
            let is_text = word.contains(['\n', '\r']);
            let may_hide =
                is_text || (is_lone && !is_path(word) && (is_random(word) || !reader.is_code));
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

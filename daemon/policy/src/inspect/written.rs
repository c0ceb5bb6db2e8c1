//! Files that a text writes and then runs: `cat > x.sh <<E …`, `bash x.sh`.

use termd_proto::policy::{Span, Verdict};

use super::command_sink::CommandSink;
use super::inspector::Inspector;
use super::links::{Links, makes_links};
use super::stdin::{Piece, Stdin};
use crate::danger::files::is_kept;
use crate::danger::writes::{self, Files};
use crate::danger::{self, WrittenFile};
use crate::glob;
use crate::program::input::takes_script;
use crate::program::kind::{ProgramKind, base_name, is_shell, program_kind};
use crate::program::table::ProgramTable;
use crate::program::table::call::Call;
use crate::program::wrapper;
use crate::program::wrapper::inner_command::InnerCommand;
use crate::shell::state::{Content, PARAMETERS};
use crate::shell::word::{UNKNOWN, Word};
use crate::word_list::is_listed;

/// Programs that make a program of what they read, and name it behind `-o`.
const COMPILERS: &str =
    "cc gcc g++ c++ clang clang++ tcc rustc go ghc gfortran ld nim crystal v dmd gdc ldc2 ocamlopt";

/// The files of one text that are remembered.
const MAX_FILES: usize = 64;
/// What one file may hold, by the statements that write it anew.
const MAX_VERSIONS: usize = 8;
/// The code of one text that is remembered, in pieces.
const MAX_CODES: usize = 32;
/// The levels that a file takes which runs another one: of 160 that are read. The kernel follows as many
/// interpreters (`execve(2)`).
const RUN_DEPTH: usize = 32;

/// Why a text is unknown that runs a file which it has written otherwise than by a text of its own.
const WRITTEN: &str = "it runs a file that it has written, which is not read";

/// A part of what a file holds.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Text(String),
    /// What another file holds, which was there before the text.
    CopyOf(String),
    /// What a program makes or prints.
    Unread,
    /// A file of which a program changes a part, or which code of another language names. It matters to
    /// rules alone.
    Changed,
}

type Version = Vec<Part>;

/// What a text has written to files, by the last parts of their names.
#[derive(Debug, Default, Clone)]
pub(super) struct WrittenFiles {
    files: Vec<(String, Vec<Version>)>,
    /// Code of other languages, which may write the files that it names.
    codes: Vec<String>,
    links: Links,
    is_over: bool,
}

impl WrittenFiles {
    /// Learns of a file that gets what a command prints. `appends`: what it held stays.
    pub(super) fn learn(&mut self, path: &str, printed: &Stdin, appends: bool) {
        let versions = match printed {
            Stdin::Literal(text) => vec![vec![Part::Text(text.clone())]],
            Stdin::File(source) => self.copied(source),
            Stdin::Joined(pieces) => self.joined(pieces),
            Stdin::Given | Stdin::Fetched | Stdin::Computed => vec![vec![Part::Unread]],
        };
        self.add(path, versions, appends);
    }

    /// Learns of a file that has got another place.
    fn learn_copy(&mut self, source: &str, path: &str, is_link: bool) {
        if base_name(source) == base_name(path) {
            return;
        }
        if is_link {
            // It holds what the other one holds when it is run.
            let versions = vec![vec![Part::CopyOf(source.to_owned())]];
            self.add_file(path, versions, false);
        } else {
            let versions = self.copied(source);
            self.add(path, versions, false);
        }
    }

    /// Learns of code that may write files.
    pub(super) fn learn_code(&mut self, text: &str) {
        if self.codes.len() < MAX_CODES {
            self.codes.push(text.to_owned());
        } else {
            self.is_over = true;
        }
    }

    fn copied(&self, source: &str) -> Vec<Version> {
        let mut versions = self.versions(source).unwrap_or_default();
        if source.contains(UNKNOWN) {
            // A pattern may be of several files, in the order of their names.
            let name = base_name(source);
            let mut files: Vec<_> = self.files.iter().collect();
            files.retain(|(known, _)| may_be(known, name));
            files.sort();
            if files.len() > 1 {
                let of_files = files.iter().map(|(_, versions)| versions.as_slice());
                versions.extend(of_files.fold(vec![Vec::new()], |all, one| appended(&all, one)));
            }
        }
        if versions.is_empty() || source.contains(UNKNOWN) {
            versions.push(vec![Part::CopyOf(source.to_owned())]);
        }
        versions
    }

    /// What files and texts hold one behind the other.
    fn joined(&self, pieces: &[Piece]) -> Vec<Version> {
        let mut joined = vec![Vec::new()];
        for piece in pieces {
            let versions = match piece {
                Piece::Text(text) => vec![vec![Part::Text(text.clone())]],
                Piece::File(path) => self.copied(path),
            };
            joined = appended(&joined, &versions);
        }
        joined
    }

    /// Whether the text may have written a file.
    pub(super) fn may_have(&self, path: &str) -> bool {
        self.versions(path).is_some()
    }

    /// The links that the text has made.
    pub(super) fn links(&self) -> &Links {
        &self.links
    }

    /// Learns what a file holds, and what those hold which it leads to.
    fn add(&mut self, path: &str, versions: Vec<Version>, appends: bool) {
        for target in self.links.targets(path) {
            let name = base_name(&target);
            // Of a link to an unknown place any file may be written.
            self.is_over |= name == "{}" || name.chars().all(|c| c == UNKNOWN);
            self.add_file(&target, versions.clone(), appends);
        }
        self.add_file(path, versions, appends);
    }

    fn add_file(&mut self, path: &str, versions: Vec<Version>, appends: bool) {
        let name = base_name(path);
        let is_text = |version: &Version| version.iter().all(|part| matches!(part, Part::Text(_)));
        // A name of which nothing is known may be any other one.
        let is_named = name.chars().any(|c| c != UNKNOWN) || versions.iter().all(is_text);
        if name.is_empty() || path.starts_with("/dev/") || !is_named {
            return;
        }
        let Some((_, known)) = self.files.iter_mut().find(|(known, _)| known == name) else {
            self.is_over |= self.files.len() >= MAX_FILES;
            if !self.is_over {
                self.files.push((name.to_owned(), versions));
            }
            return;
        };
        if appends {
            // Where a line goes on, the file may also lack what was to be added.
            let open = known.iter().filter(|version| !ends_line(version)).cloned();
            let mut all: Vec<Version> = open.collect();
            all.extend(appended(known, &versions));
            *known = if all.len() > MAX_VERSIONS {
                vec![vec![Part::Unread]]
            } else {
                all
            };
        } else if known.len() + versions.len() <= MAX_VERSIONS {
            known.extend(versions);
        } else {
            known.push(vec![Part::Unread]);
            known.dedup();
        }
    }

    /// What the text has written to a file, or to one that it may be by what is known of the names.
    fn written(&self, path: &str) -> Option<Vec<Version>> {
        let name = base_name(path);
        let found = self.files.iter().filter(|(known, _)| may_be(known, name));
        let mut versions: Vec<Version> = found.flat_map(|(_, versions)| versions.clone()).collect();
        versions.dedup();
        (!versions.is_empty()).then_some(versions)
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(|(name, _)| name.as_str())
    }

    /// What a file may hold. `None`: the text has not written it.
    fn versions(&self, path: &str) -> Option<Vec<Version>> {
        if let Some(versions) = self.written(path) {
            return Some(versions);
        }
        let name = base_name(path);
        let is_named = self.codes.iter().any(|code| names(code, name));
        (is_named || self.is_over).then(|| vec![vec![Part::Changed]])
    }
}

/// Each of these versions with each of the others behind it. Too many are not told apart.
fn appended(versions: &[Version], added: &[Version]) -> Vec<Version> {
    if versions.len() * added.len() > MAX_VERSIONS {
        return vec![vec![Part::Unread]];
    }
    let pairs = versions
        .iter()
        .flat_map(|version| added.iter().map(move |added| (version, added)));
    pairs
        .map(|(version, added)| [version.as_slice(), added].concat())
        .collect()
}

/// Whether what is added to a file begins a line.
fn ends_line(version: &Version) -> bool {
    match version.last() {
        Some(Part::Text(text)) => text.is_empty() || text.ends_with('\n'),
        _ => true,
    }
}

/// Whether two names may be of one file, of which parts may not be known. A name of which nothing is known
/// is not taken for any other.
pub(super) fn may_be(known: &str, name: &str) -> bool {
    let is_open = known.contains(UNKNOWN) || name.contains(UNKNOWN);
    let is_named = |name: &str| name.chars().any(|c| c != UNKNOWN);
    known == name
        || (is_open
            && is_named(known)
            && is_named(name)
            && glob::may_fit(&known.replace(UNKNOWN, "*"), name, UNKNOWN))
}

/// Whether a file's name stands in code, as a word or the last part of a path.
fn names(code: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    !name.is_empty()
        && code.match_indices(name).any(|(at, _)| {
            let before = code.get(..at).unwrap_or_default();
            let behind = code.get(at + name.len()..).unwrap_or_default();
            !before.ends_with(is_part) && !behind.starts_with(is_part)
        })
}

impl Inspector {
    /// Inspects a file that the text has written, where a command runs it.
    pub(super) fn run_written(
        &mut self,
        words: &[Word],
        program: &str,
        stdin: &Stdin,
        span: Span,
        depth: usize,
    ) {
        let Some((name, args)) = words.split_first() else {
            return;
        };
        let programs = self.inspection.programs.clone();
        let is_sourced = matches!(program, "source" | ".");
        let finds_own = self.inspection.state.contents("PATH").is_some();
        let mut scripts = match program {
            _ if is_shell(program) || is_sourced => scripts_of_shell(&programs, program, args),
            _ if takes_script(program) => script_of_interpreter(&programs, program, args)
                .into_iter()
                .collect(),
            _ => Vec::new(),
        };
        for at in &mut scripts {
            *at += 1;
        }
        if scripts.is_empty() && (name.text.contains('/') || finds_own) {
            scripts.push(0);
        }
        let mut is_written = false;
        for at in scripts {
            let written = &self.inspection.written;
            let versions = words
                .get(at)
                .and_then(|path| written.versions(&path.path()));
            is_written |= versions.is_some();
            for version in versions.into_iter().flatten() {
                self.run_version((words, at), program, version, stdin, span, depth);
            }
        }
        if is_written {
            return;
        }
        // Packages and manifests start what no rule knows anyway.
        let is_make = matches!(program, "make" | "gmake");
        let reads_code = is_make || program_kind(program) != ProgramKind::Other;
        for file in danger::run_files(&programs, program, args) {
            let versions = self.inspection.written.written(&file).unwrap_or_default();
            for part in versions.into_iter().flatten() {
                match part {
                    Part::Text(text) => {
                        self.run_text(program, &Stdin::Literal(text), "", span, depth);
                    }
                    Part::Unread | Part::Changed if reads_code => {
                        self.inspection.note_possible(span);
                    }
                    Part::Unread | Part::Changed | Part::CopyOf(_) => {}
                }
            }
        }
    }

    /// Notes a file that the text has written, where a variable or a setting makes programs obey it.
    pub(super) fn obey_written(&mut self, path: &str, span: Span) {
        if self.inspection.written.written(path).is_some() {
            self.inspection.note_unread(Verdict::Unknown, WRITTEN, span);
        }
    }

    /// Notes files of a home that the text has written, where a variable makes a directory the home.
    pub(super) fn obey_home(&mut self, span: Span) {
        let files = Files::new(
            self.inspection.programs.files(),
            &self.inspection.state.place,
        );
        let is_obeyed = |name: &str| writes::is_setting(files, &format!("~/{name}"));
        if self.inspection.written.names().any(is_obeyed) {
            self.inspection.note_unread(Verdict::Unknown, WRITTEN, span);
        }
    }

    /// Inspects what a program runs of files and texts that it reads one behind the other:
    /// `cat a - b | sh`.
    pub(super) fn run_joined(&mut self, program: &str, pieces: &[Piece], span: Span, depth: usize) {
        let program = match program_kind(program) {
            ProgramKind::Shell => "sh",
            _ => program,
        };
        let words = [program, "-"].map(|text| Word::literal(text, span));
        for version in self.inspection.written.joined(pieces) {
            self.run_version((&words, 1), program, version, &Stdin::Given, span, depth);
        }
    }

    /// Inspects what a file holds that stands at a word of a command.
    fn run_version(
        &mut self,
        (words, at): (&[Word], usize),
        program: &str,
        version: Version,
        stdin: &Stdin,
        span: Span,
        depth: usize,
    ) {
        let mut text = String::new();
        for part in version {
            match part {
                Part::Text(part) => {
                    text.push_str(&part);
                    continue;
                }
                // A dump of one database is often the script of another one.
                Part::Unread if matches!(program_kind(program), ProgramKind::Sql(_)) => {
                    self.inspection.note_possible(span);
                }
                Part::Unread => self.inspection.note_unread(Verdict::Unknown, WRITTEN, span),
                Part::Changed => self.inspection.note_possible(span),
                Part::CopyOf(source) => {
                    let mut words = words.to_vec();
                    if let Some(word) = words.get_mut(at) {
                        // A name alone would be looked for, and an unknown directory taken for the system's.
                        let is_bare =
                            at == 0 && (!source.contains('/') || source.starts_with(UNKNOWN));
                        let source = if is_bare {
                            format!("./{source}")
                        } else {
                            source
                        };
                        *word = Word::literal(&source, word.span);
                    }
                    // Of an unknown name nothing of the text is looked up again.
                    let is_open = words.get(at).is_some_and(|word| !word.is_known());
                    let written = is_open.then(|| std::mem::take(&mut self.inspection.written));
                    self.command(&words, stdin, depth + RUN_DEPTH);
                    if let Some(written) = written {
                        self.inspection.written = written;
                    }
                }
            }
            if !text.is_empty() && !text.ends_with('\n') {
                // The line goes on with what is not read.
                text.push(UNKNOWN);
            }
        }
        let (Some(file), given) = (words.get(at), words.get(at + 1..).unwrap_or_default()) else {
            return;
        };
        if text.is_empty() {
            return;
        }
        if at == 0
            && let Some(mut interpreter) = interpreter(&text, span)
        {
            interpreter.extend_from_slice(words);
            self.command(&interpreter, stdin, depth + RUN_DEPTH);
            return;
        }
        let is_sourced = matches!(program, "source" | ".");
        if at > 0 && !is_shell(program) && !is_sourced {
            self.run_text(program, &Stdin::Literal(text), "", span, depth);
            return;
        }
        let args = words.get(1..).unwrap_or_default();
        let at = usize::MAX;
        if is_sourced && given.is_empty() {
            // It has the parameters of its caller (bash(1), source).
            let line = InnerCommand::Line { text, at };
            self.inner(program, line, args, stdin, span, depth);
            return;
        }
        let mut parameters = vec![file.clone()];
        parameters.extend_from_slice(given);
        let script = InnerCommand::Script {
            text,
            at,
            parameters,
        };
        let outer = self.inspection.state.clone();
        if !is_sourced {
            self.inspection.state = outer.of_child();
        }
        self.inner(program, script, args, stdin, span, depth);
        if is_sourced {
            let parameters = outer.contents(PARAMETERS).map(<[Content]>::to_vec);
            self.inspection.state.replace_parameters(parameters);
            self.inspection.state.zero = outer.zero;
        } else {
            self.inspection.state = outer;
        }
    }

    /// Learns of what a command writes, by its row, and of what a compiler makes.
    pub(super) fn learn_written(
        &mut self,
        program: &str,
        args: &[Word],
        stdin: &Stdin,
        span: Span,
    ) {
        let written = &mut self.inspection.written;
        let is_link = makes_links(program, args);
        for file in danger::written_files(&self.inspection.programs, program, args) {
            match file {
                WrittenFile::New(path) if matches!(program, "tee" | "sponge") => {
                    let appends = args
                        .iter()
                        .any(|word| matches!(&*word.text, "-a" | "--append"));
                    written.learn(&path, stdin, appends);
                }
                // What a compiler makes is no script.
                WrittenFile::New(_) if is_listed(program, COMPILERS) => {}
                WrittenFile::New(path) => written.learn(&path, &Stdin::Computed, false),
                WrittenFile::Changed(path) => {
                    written.add(&path, vec![vec![Part::Changed]], true);
                }
                WrittenFile::Copy { source, path } => written.learn_copy(&source, &path, is_link),
            }
        }
        if matches!(program, "sed" | "gsed") {
            // Its script may name the files that `w` writes.
            for word in args.iter().filter(|word| word.text.contains('w')) {
                let is_script =
                    word.text.contains([' ', 'w']) && !word.text.starts_with(['.', '/']);
                if is_script && word.text.split_whitespace().count() > 1 {
                    written.learn_code(&word.text);
                }
            }
        }
        if !written.links.learn(program, args) {
            let reason = "it makes more links than are followed";
            self.inspection.note_unread(Verdict::Unknown, reason, span);
        }
        let empties = *stdin == Stdin::File("/dev/null".to_owned());
        let mut files = args.iter().filter(|word| !word.text.starts_with('-'));
        if empties
            && matches!(program, "tee" | "sponge")
            && let Some(file) = files.find(|word| is_kept(&word.text))
        {
            let reason = "it empties a file of data";
            self.inspection.note(Verdict::Dangerous, reason, file.span);
        }
        let made = args
            .windows(2)
            .filter(|pair| pair.first().is_some_and(|word| word.text == "-o"));
        if is_listed(program, COMPILERS) {
            let made = made.filter_map(|pair| pair.get(1));
            self.inspection
                .built
                .extend(made.map(|word| word.raw.clone()));
        }
    }
}

/// The numbers of the arguments that are scripts of a shell.
fn scripts_of_shell(programs: &ProgramTable, program: &str, args: &[Word]) -> Vec<usize> {
    let started = wrapper::inner_commands(programs, program, args);
    let scripts = started.iter().filter_map(|inner| match inner {
        InnerCommand::ScriptFile(words) => args.len().checked_sub(words.len()),
        _ => None,
    });
    scripts.collect()
}

/// The number of the argument that is the script of an interpreter.
fn script_of_interpreter(programs: &ProgramTable, program: &str, args: &[Word]) -> Option<usize> {
    let started = wrapper::inner_commands(programs, program, args);
    let is_code = |inner: &InnerCommand| matches!(inner, InnerCommand::Code { .. });
    if started.iter().any(is_code) {
        return None;
    }
    let options = Call::new(programs.row(program)?, args).options(None);
    let mut operands = options.operands.iter();
    let script = operands.find(|(_, word)| !matches!(*word, "run" | "-"))?;
    Some(script.0)
}

/// The program that the first line of a script names, with its argument. It has one at the most
/// (`execve(2)`).
fn interpreter(text: &str, span: Span) -> Option<Vec<Word>> {
    let line = text.strip_prefix("#!")?.lines().next()?.trim();
    let (name, argument) = line.split_once([' ', '\t']).unwrap_or((line, ""));
    let words = [name, argument.trim()].into_iter();
    let words = words.filter(|word| !word.is_empty());
    Some(words.map(|word| Word::literal(word, span)).collect())
}

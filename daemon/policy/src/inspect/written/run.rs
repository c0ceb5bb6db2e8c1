//! What runs where a command runs a file that the text has written.

use termd_proto::policy::{Span, Verdict};

use super::mentions::Mentions;
use super::version::{Part, Version};
use crate::danger;
use crate::danger::writes::{self, Files};
use crate::inspect::command_sink::CommandSink;
use crate::inspect::inspector::Inspector;
use crate::inspect::stdin::{Piece, Stdin};
use crate::program::input::takes_script;
use crate::program::kind::{ProgramKind, is_shell, program_kind};
use crate::program::table::ProgramTable;
use crate::program::table::call::Call;
use crate::program::wrapper;
use crate::program::wrapper::inner_command::{InnerCommand, ObeyedHome};
use crate::shell::state::{Content, PARAMETERS};
use crate::shell::word::{UNKNOWN, Word};

/// The levels that a file takes which runs another one: of 160 that are read. The kernel follows as many
/// interpreters (`execve(2)`).
const RUN_DEPTH: usize = 32;

/// Why a text is unknown that runs a file which it has written otherwise than by a text of its own.
const WRITTEN: &str = "it runs a file that it has written, which is not read";

/// A command that runs a file.
#[derive(Debug, Clone, Copy)]
struct FileRun<'a> {
    words: &'a [Word],
    /// The number of the word that names the file.
    at: usize,
    program: &'a str,
    stdin: &'a Stdin,
    span: Span,
    depth: usize,
}

impl Inspector {
    /// Inspects a file that the text has written, where a command runs it.
    pub(in crate::inspect) fn run_written(
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
        // npm's tools put the programs of packages on the path of what they start.
        let is_of_package = |path: &str| {
            let found = path.rsplit_once("node_modules/.bin/");
            found.is_some_and(|(_, found)| found == name.text)
        };
        let finds_own = self.inspection.state.contents("PATH").is_some()
            || self.inspection.written.paths().any(is_of_package);
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
                let run = FileRun {
                    words,
                    at,
                    program,
                    stdin,
                    span,
                    depth,
                };
                self.run_version(run, version);
            }
        }
        if is_written {
            return;
        }
        self.run_written_subcommand(program, args, stdin, span, depth);
        self.run_obeyed(program, args, span, depth);
        // Packages and manifests start what no rule knows anyway.
        let is_make = matches!(program, "make" | "gmake");
        let reads_code = is_make || program_kind(program) != ProgramKind::Other;
        let mut files = danger::run_files(&programs, program, args);
        if takes_scripts(program) && self.inspection.written.names().next().is_some() {
            let mentions = Mentions::new(&programs, program, args);
            let paths = self.inspection.written.paths();
            files.extend(
                paths
                    .filter(|path| mentions.may_run(path))
                    .map(str::to_owned),
            );
        }
        for file in files {
            let versions = self.inspection.written.written(&file).unwrap_or_default();
            for part in versions.into_iter().flatten() {
                match part {
                    Part::Text(text) => self.run_settings(program, text, span, depth),
                    Part::Unread | Part::Changed if reads_code || takes_scripts(program) => {
                        self.note_written(span);
                    }
                    Part::Unread | Part::Changed | Part::CopyOf(_) => {}
                }
            }
        }
    }

    /// Inspects a text that a program runs. Settings of tmux(1) are its commands.
    pub(in crate::inspect) fn run_settings(
        &mut self,
        program: &str,
        text: String,
        span: Span,
        depth: usize,
    ) {
        let text = match program {
            "tmux" => {
                let lines = text.lines().filter(|line| !line.trim().is_empty());
                let commands: Vec<String> = lines.map(|line| format!("tmux {line}")).collect();
                commands.join("\n")
            }
            _ => text,
        };
        self.run_text(program, &Stdin::Literal(text), "", span, depth);
    }

    /// Inspects a written program that another one starts by a part of its name: `git zz` is `git-zz`.
    fn run_written_subcommand(
        &mut self,
        program: &str,
        args: &[Word],
        stdin: &Stdin,
        span: Span,
        depth: usize,
    ) {
        let names = self.inspection.written.names();
        let verbs = names.filter_map(|name| name.strip_prefix(program)?.strip_prefix('-'));
        let at = |verb: &str| args.iter().position(|word| word.text == verb);
        let found: Vec<usize> = verbs.filter_map(at).collect();
        for at in found {
            let Some((verb, rest)) = args.get(at..).and_then(<[Word]>::split_first) else {
                continue;
            };
            let path = format!("./{program}-{}", verb.text);
            let mut words = vec![Word::literal(&path, verb.span)];
            words.extend_from_slice(rest);
            let name = format!("{program}-{}", verb.text);
            self.run_written(&words, &name, stdin, span, depth + RUN_DEPTH);
        }
    }

    /// Notes a file that the text has written, where a variable or a setting makes programs obey it.
    pub(in crate::inspect) fn obey_written(&mut self, path: &str, span: Span) {
        if self.inspection.written.written(path).is_some() {
            self.inspection.note_unread(Verdict::Unknown, WRITTEN, span);
        }
    }

    /// Notes files of a home that the text has written, where a variable makes a directory the home.
    pub(in crate::inspect) fn obey_home(&mut self, home: ObeyedHome, span: Span) {
        let files = Files::new(
            self.inspection.programs.files(),
            &self.inspection.state.place,
        );
        let written = &self.inspection.written;
        let is_written = match home {
            ObeyedHome::Home => {
                let is_obeyed = |name: &str| writes::is_setting(files, &format!("~/{name}"));
                written.names().any(is_obeyed)
            }
            ObeyedHome::Config => {
                let is_obeyed =
                    |name: String| writes::is_setting(files, &format!("~/.config/{name}"));
                written.paths().flat_map(names_in_config).any(is_obeyed)
            }
            ObeyedHome::VimRuntime => {
                let mut paths = written.paths();
                paths.any(|path| {
                    let end = path.rsplit_once('.').map(|(_, end)| end);
                    matches!(end, Some("vim" | "lua"))
                })
            }
        };
        if is_written {
            self.inspection.note_unread(Verdict::Unknown, WRITTEN, span);
        } else {
            self.inspection.written.homes.push((home, span));
        }
    }

    /// Notes files that the text has written into a directory behind the place where it has made that a home.
    pub(in crate::inspect) fn obey_written_homes(&mut self) {
        for (home, span) in std::mem::take(&mut self.inspection.written.homes) {
            self.obey_home(home, span);
        }
    }

    /// Inspects what a program runs of files and texts that it reads one behind the other:
    /// `cat a - b | sh`.
    pub(in crate::inspect) fn run_joined(
        &mut self,
        program: &str,
        pieces: &[Piece],
        span: Span,
        depth: usize,
    ) {
        let program = match program_kind(program) {
            ProgramKind::Shell => "sh",
            _ => program,
        };
        let words = [program, "-"].map(|text| Word::literal(text, span));
        for version in self.inspection.written.joined(pieces) {
            let run = FileRun {
                words: &words,
                at: 1,
                program,
                stdin: &Stdin::Given,
                span,
                depth,
            };
            self.run_version(run, version);
        }
    }

    /// Notes that a file runs which the text has written, and which is not read.
    pub(in crate::inspect) fn note_written(&mut self, span: Span) {
        self.inspection.runs_of_written += 1;
        self.inspection.note_possible(span);
    }

    /// Inspects what a file holds that a command runs.
    fn run_version(&mut self, run: FileRun<'_>, version: Version) {
        let FileRun { program, span, .. } = run;
        let mut text = String::new();
        for part in version {
            match part {
                Part::Text(part) => {
                    text.push_str(&part);
                    continue;
                }
                // A dump of one database is often the script of another one.
                Part::Unread if matches!(program_kind(program), ProgramKind::Sql(_)) => {
                    self.note_written(span);
                }
                Part::Unread => {
                    self.inspection.note(Verdict::Unknown, WRITTEN, span);
                    self.note_written(span);
                }
                Part::Changed => self.note_written(span),
                Part::CopyOf(source) => self.run_source(run, source),
            }
            if !text.is_empty() && !text.ends_with('\n') {
                // The line goes on with what is not read.
                text.push(UNKNOWN);
            }
        }
        if !text.is_empty() {
            self.run_script(run, text);
        }
    }

    /// Inspects the command with the file in the place of its copy.
    fn run_source(&mut self, run: FileRun<'_>, source: String) {
        let mut words = run.words.to_vec();
        let Some(word) = words.get_mut(run.at) else {
            return;
        };
        // A name alone would be looked for, and an unknown directory taken for the system's.
        let is_bare = !source.contains('/') || source.starts_with(UNKNOWN);
        let source = if run.at == 0 && is_bare {
            format!("./{source}")
        } else {
            source
        };
        *word = Word::literal(&source, word.span);
        // Of an unknown name nothing of the text is looked up again.
        let is_open = !word.is_known();
        let written = is_open.then(|| std::mem::take(&mut self.inspection.written));
        self.command(&words, run.stdin, run.depth + RUN_DEPTH);
        if let Some(written) = written {
            self.inspection.written = written;
        }
    }

    /// Inspects the text of a file that a command runs.
    fn run_script(&mut self, run: FileRun<'_>, text: String) {
        let FileRun {
            words,
            at,
            program,
            stdin,
            span,
            depth,
        } = run;
        let Some(parameters) = words.get(at..).filter(|words| !words.is_empty()) else {
            return;
        };
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
        if is_sourced && parameters.len() == 1 {
            // It has the parameters of its caller (bash(1), source).
            let line = InnerCommand::Line { text, at };
            self.inner(program, line, args, stdin, span, depth);
            return;
        }
        let script = InnerCommand::Script {
            text,
            at,
            parameters: parameters.to_vec(),
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
}

/// Whether a program runs scripts of files, beside those of a shell.
fn takes_scripts(program: &str) -> bool {
    program_kind(program) == ProgramKind::Code
        || matches!(program, "sed" | "gsed")
        || program.ends_with("awk")
}

/// The names that a file may have within the directory of all settings: `git/config`, `fish/conf.d/x.fish`. One
/// without a directory may be in that of git.
fn names_in_config(path: &str) -> impl Iterator<Item = String> {
    let ends = path.match_indices('/').map(|(at, _)| &path[at + 1..]);
    let below = ends.chain([path]).filter(|name| name.contains('/'));
    let is_bare = !path.contains('/') && path.starts_with("config");
    let of_git = is_bare.then(|| format!("git/{path}"));
    below.map(str::to_owned).chain(of_git)
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

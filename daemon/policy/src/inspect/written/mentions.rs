//! Files that a program may run although no word of it is their path: `node w` runs `w.js`, `perl -wMW`
//! `W.pm`, `sed --fi w` a script, `git zz` the program `git-zz`.
//!
//! Which word names what runs is a matter of each program's options. A word up to the script counts, and
//! one of code, where a written file's name is a part of it.

use super::written_files::names;
use crate::danger;
use crate::program::input::module_of_code;
use crate::program::kind::{base_name, has_commands};
use crate::program::table::ProgramTable;
use crate::program::table::call::Call;
use crate::program::wrapper;
use crate::program::wrapper::inner_command::InnerCommand;
use crate::shell::word::Word;
use crate::word_list::is_listed;

/// How files of code end, of which the name without it is what loads them.
const CODE_ENDS: &str =
    "py pyc pyz pm pl rb js cjs mjs ts mts cts lua php phar so el scm tcl r R jl ex exs";
/// What separates the names of a module: `A::B`, `a.b`.
const BETWEEN_NAMES: [char; 4] = ['=', ':', ',', '.'];
/// Names of files that interpreters run by default, or before others.
const DEFAULT_NAMES: &str = "index __main__ __init__";
/// What the debugger of perl(1) runs before the script.
const PERL_DEBUGGER_FILE: &str = ".perldb";

/// The words of a command that may say what it runs.
pub(super) struct Mentions<'a> {
    options: &'a [Word],
    /// The script, where it is the operand.
    script: Option<&'a str>,
    code: Vec<String>,
    /// Whether it runs files by the names of tests.
    runs_tests: bool,
}

impl<'a> Mentions<'a> {
    pub(super) fn new(table: &ProgramTable, program: &str, args: &'a [Word]) -> Self {
        let started = wrapper::inner_commands(table, program, args).into_iter();
        let code: Vec<(usize, String)> = started
            .filter_map(|inner| match inner {
                InnerCommand::Code { at, text } => Some((at, text)),
                _ => None,
            })
            .collect();
        let operand = table.row(program).and_then(|row| {
            let options = Call::new(row, args).options(None);
            options.operands.first().map(|(at, _)| *at)
        });
        let last_code = code.iter().map(|(at, _)| *at).max();
        let end = operand.max(last_code).unwrap_or(args.len());
        let options = args.get(..end).unwrap_or_default();
        // A script that options name makes of the operands data.
        let is_named = has_commands(program)
            || matches!(program, "sed" | "gsed")
            || !code.is_empty()
            || !danger::run_files(table, program, args).is_empty()
            || (names_module(program, options) && module_of_code(program, args).is_none());
        let operand = operand.filter(|_| !is_named).and_then(|at| args.get(at));
        Self {
            options,
            script: operand.map(|word| word.text.as_str()),
            code: code.into_iter().map(|(_, text)| text).collect(),
            runs_tests: matches!(program, "node" | "nodejs")
                && args.iter().any(|word| word.text == "--test"),
        }
    }

    /// Whether a written file may be what runs.
    pub(super) fn may_run(&self, path: &str) -> bool {
        let mut parts = path.rsplit('/');
        let file = parts.next().unwrap_or(path);
        let stem = file
            .rsplit_once('.')
            .filter(|(_, end)| is_listed(end, CODE_ENDS));
        let Some((stem, end)) = stem else {
            return self.names(file) || (file == PERL_DEBUGGER_FILE && !self.options.is_empty());
        };
        let is_default = is_listed(stem, DEFAULT_NAMES);
        let mut directories = parts.filter(|part| !matches!(*part, "" | "." | ".."));
        if self.runs_tests && self.script.is_none() && is_test(path, stem, end) {
            return true;
        }
        self.names(file)
            || self.names(stem)
            || self.is_in_code(file)
            || self.is_in_code(stem)
            || (is_default && (self.names(".") || self.script.is_none() && self.code.is_empty()))
            || (is_default && directories.any(|part| self.names(part) || self.is_in_code(part)))
    }

    /// Whether a word is this name, or has it for a part, or is a cluster of options with it behind.
    fn names(&self, name: &str) -> bool {
        let options = self.options.iter().map(|word| word.text.as_str());
        options.chain(self.script).any(|word| {
            let mut values = word.split(['=', ':', ',']);
            let is_part = values.any(|value| base_name(value) == name)
                || word.split(BETWEEN_NAMES).any(|part| part == name);
            let is_cluster =
                word.starts_with('-') && word.len() > name.len() + 1 && word.ends_with(name);
            is_part || is_cluster
        })
    }

    /// Whether code has this name as a word of it.
    fn is_in_code(&self, name: &str) -> bool {
        self.code.iter().any(|code| names(code, name))
    }
}

/// Whether node(1) takes a file for a test: <https://nodejs.org/api/test.html#running-tests-from-the-command-line>.
fn is_test(path: &str, stem: &str, end: &str) -> bool {
    let is_named = stem == "test"
        || stem.starts_with("test-")
        || [".test", "-test", "_test"]
            .iter()
            .any(|last| stem.ends_with(last));
    let is_among = path.split('/').any(|directory| directory == "test");
    is_listed(end, "js cjs mjs ts cts mts") && (is_named || is_among)
}

/// Whether options name a module of Python's as the script: `-m`, `-um`.
fn names_module(program: &str, options: &[Word]) -> bool {
    let is_python = program.starts_with("python") || program.starts_with("pypy");
    let is_module = |word: &Word| {
        let cluster = word.text.strip_prefix('-');
        cluster.is_some_and(|letters| !letters.starts_with('-') && letters.contains('m'))
    };
    is_python && options.iter().any(is_module)
}

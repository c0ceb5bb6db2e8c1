//! Whether a text may run what it makes of its own words. Of such a text nothing is hidden
//! (`docs/decisions/0088-evaluated-text-is-shown.md`).

use std::collections::HashSet;

use termd_proto::policy::Verdict;

use super::lazy_regex::LazyRegex;
use crate::inspect::finding::InspectedCommand;
use crate::inspect::gate::CompiledGate;
use crate::inspect::inspect;
use crate::inspect::inspection::Inspection;
use crate::inspect::script::{CONFUSABLE, UNREADABLE};
use crate::program::input::runs_stdin;
use crate::program::kind::{base_name, is_interpreter, is_shell};
use crate::program::table::Programs;
use crate::request::{Completeness, Invocation, Request};
use crate::shell::expansion::printed::{is_descriptor, is_stdin};
use crate::shell::state::ShellState;
use crate::shell::word::Word;

/// Programs and builtins that run their words, or text that they read, later or under another name.
const EVALUATORS: [&str; 16] = [
    "eval",
    "trap",
    "alias",
    "xargs",
    "parallel",
    "fc",
    "history",
    "bind",
    "bindkey",
    "enable",
    "hash",
    "coproc",
    "complete",
    "mapfile",
    "readarray",
    "at",
];
/// Programs that name a file which is run later in the same text.
const WRITERS: [&str; 8] = [
    "tee", "chmod", "cp", "mv", "install", "ln", "dd", "uudecode",
];
/// Programs that run code of their own language, beside the interpreters.
const CODE_RUNNERS: [&str; 6] = [
    "rails",
    "manage.py",
    "django-admin",
    "artisan",
    "wp",
    "flask",
];
/// Parts of names by which code runs a text, finds what it runs by a name, or decodes. In lower case.
const RUNS_TEXT: [&str; 44] = [
    "exec",
    "eval",
    "system",
    "popen",
    "spawn",
    "subprocess",
    "compile",
    "import(",
    "__",
    "importlib",
    "getattr",
    "globals",
    "locals",
    "vars(",
    "builtins",
    "runpy",
    "ctypes",
    "pickle",
    "marshal",
    "child_process",
    "require(",
    "binding",
    "function(",
    "constructor",
    "instance_",
    "class_",
    "send(",
    "send:",
    "const_get",
    "passthru",
    "proc_open",
    "assert(",
    "loadstring",
    "load(",
    "decode",
    "b64",
    "fromhex",
    "unhex",
    "chr(",
    "fromcharcode",
    "pack(",
    "timeit",
    "qx",
    "`",
];
/// The same for expect(1), whose `spawn` and `send` are its purpose.
const EXPECT_RUNS_TEXT: [&str; 6] = ["eval", "exec", "decode", "source", "format", "subst"];
/// The definition of a function: what its name stands for later is not what it says.
static DEFINITION: LazyRegex =
    LazyRegex::new(r"\(\s*\)\s*(?:[{(]|\[\[|(?:if|for|while|until|case|select)\b)|\bfunction\s");
/// A redirection into a file.
static WRITTEN_FILE: LazyRegex = LazyRegex::new(r#">[>|]?[ \t]*["']?([^\s"'&;|<>()]+)"#);

/// Whether a text, or the words of an argv, may run what is made of words in it.
pub(super) fn may_evaluate(invocation: Invocation<'_>) -> bool {
    let joined: String;
    let text = match invocation {
        Invocation::Line(line) => line,
        Invocation::Argv(argv) => {
            joined = argv.join(" ");
            &joined
        }
    };
    if DEFINITION
        .get()
        .is_none_or(|definition| definition.is_match(text))
    {
        return true;
    }
    if names_last_word(text) {
        return true;
    }
    let inspection = inspect(
        &Request::from(invocation),
        Completeness::Whole,
        &CompiledGate::default(),
        &ShellState::default(),
        &Programs::default(),
        false,
    );
    has_unknown_program(&inspection)
        || runs_what_it_writes(&inspection, text)
        || inspection
            .commands
            .iter()
            .any(|command| runs_text(command, text))
}

/// Whether a shell's `$_` stands in a text, the last word of the command before. Within single quotes it is
/// that of Perl.
fn names_last_word(text: &str) -> bool {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut places = text.match_indices("$_").chain(text.match_indices("${_"));
    places.any(|(at, found)| {
        let before = text.get(..at).unwrap_or_default();
        let behind = text.get(at + found.len()..).unwrap_or_default();
        !behind.starts_with(is_name) && before.matches('\'').count() % 2 == 0
    })
}

/// Whether the gate cannot tell what the text runs, or has found that it runs what it decodes. A text
/// that is no shell is judged by its commands alone.
fn has_unknown_program(inspection: &Inspection) -> bool {
    let mut findings = inspection.findings();
    inspection
        .commands
        .iter()
        .any(|command| command.name_end.is_some())
        || findings.any(|finding| match finding.verdict {
            Verdict::Unknown => {
                finding.reason != UNREADABLE && !finding.reason.starts_with(CONFUSABLE)
            }
            Verdict::Dangerous => finding.reason.ends_with("unseen"),
            Verdict::Safe => false,
        })
}

/// Whether a program or a script has the name of a file that the text writes.
fn runs_what_it_writes(inspection: &Inspection, text: &str) -> bool {
    let mut written = HashSet::new();
    if let Some(redirection) = WRITTEN_FILE.get() {
        let files = redirection.captures_iter(text);
        written.extend(files.filter_map(|file| Some(base_name(file.get(1)?.as_str()))));
    }
    for command in &inspection.commands {
        if WRITERS.contains(&&*command.program) {
            written.extend(command.args.iter().map(|word| file_name(&word.text)));
        }
    }
    // The script of a shell is a command of its own name.
    inspection.commands.iter().any(|command| {
        let script = script_of(command).filter(|_| is_interpreter(&command.program));
        written.contains(&*command.program)
            || script.is_some_and(|script| written.contains(base_name(script)))
    })
}

/// The name of a file, without its directory and the `of=` of dd(1).
fn file_name(word: &str) -> &str {
    base_name(word.strip_prefix("of=").unwrap_or(word))
}

/// The file that a shell or an interpreter runs.
fn script_of(command: &InspectedCommand) -> Option<&str> {
    let runs_files = is_shell(&command.program)
        || is_interpreter(&command.program)
        || matches!(&*command.program, "source" | ".");
    let is_option = |text: &str| text.starts_with('-') && text != "-";
    let script = (command.args.iter()).find(|word| !is_option(&word.text))?;
    runs_files.then_some(&*script.text)
}

/// Whether a command runs its words or its input as code.
fn runs_text(command: &InspectedCommand, text: &str) -> bool {
    let program = &*command.program;
    if EVALUATORS.contains(&program) {
        return true;
    }
    // env(1) splits that word into others.
    if program == "env" && command.args.iter().any(|word| splits(&word.text)) {
        return true;
    }
    if is_shell(program) && uses_parameters(&command.args) {
        return true;
    }
    let reads_script = script_of(command).is_some_and(|file| is_stdin(file) || is_descriptor(file));
    let is_code = is_interpreter(program) || CODE_RUNNERS.contains(&program);
    let is_given =
        reads_script || ((is_code || is_shell(program)) && runs_stdin(program, &command.args));
    if !is_code || is_shell(program) {
        return is_given;
    }
    // Code that it is given stands in the text, or the gate does not know what it runs.
    let lower = text.to_ascii_lowercase();
    let parts: &[&str] = if program == "expect" {
        &EXPECT_RUNS_TEXT
    } else {
        &RUNS_TEXT
    };
    (is_given || has_code(command)) && parts.iter().any(|part| lower.contains(part))
}

/// Whether a script among the words of a shell may run the words behind it: `sh -c '$1' x WORD`.
fn uses_parameters(words: &[Word]) -> bool {
    let names_one = |text: &str| {
        let named = |c: char| c.is_ascii_digit() || matches!(c, '@' | '*' | '{');
        let mut behind = text.split('$').skip(1);
        behind.any(|rest| rest.starts_with(named))
    };
    let scripts = words.get(..words.len().saturating_sub(1));
    let mut scripts = scripts.unwrap_or_default().iter();
    scripts.any(|word| names_one(&word.text))
}

fn splits(word: &str) -> bool {
    word.starts_with("--split-string")
        || (word.starts_with('-') && !word.starts_with("--") && word.contains('S'))
}

/// Whether code stands among the words of a command, and not in a file alone.
fn has_code(command: &InspectedCommand) -> bool {
    let mut words = command.args.iter();
    words.any(|word| word.text.contains(['(', ' ', ';', '=', '`']))
}

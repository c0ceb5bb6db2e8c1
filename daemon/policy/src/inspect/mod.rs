//! What is in a text or an argv, and what is wrong with it.
//!
//! An [`Inspector`] reads scripts ([`script`]) and commands, and collects what it finds in an
//! [`Inspection`]. Everything is bounded; a text beyond a bound is unknown.

mod assignment;
mod builtins;
mod code;
mod command_danger;
mod command_sink;
pub(crate) mod cwd;
mod emptied;
mod fetched;
pub(crate) mod finding;
mod flow;
mod foreign_shell;
mod function_calls;
pub(crate) mod gate;
mod harmless_code;
pub(crate) mod inspection;
mod inspector;
mod line_discipline;
mod program_code;
mod program_input;
mod program_word;
mod redefinition;
mod redirect;
pub(crate) mod script;
mod script_of_stdin;
mod secret_flow;
mod statements;
mod stdin;
mod tree;
mod unordered;
mod written;

use termd_proto::policy::{MAX_JUDGED_BYTES, Span, Verdict};

use self::finding::InspectedCommand;
use crate::danger;
use crate::program::kind::{
    ProgramKind, base_name, is_foreign_shell, is_interpreter, program_kind, takes_commands,
};
use crate::program::table::Programs;
use crate::request::{Completeness, Invocation, Request};
use crate::shell::expansion::source::Nesting;
use crate::shell::state::{ShellState, Values};
use crate::shell::text::dialect;
use crate::shell::text::quote::{command_text, quoted};
use crate::shell::word::Word;
use crate::work;
use command_sink::CommandSink;
use gate::CompiledGate;
use inspection::{Inspection, SearchPath};
use inspector::Inspector;
use script::inspect_without_grammar;
use stdin::Stdin;

const TOO_MUCH_WORK: &str = "it takes too long to find out all that it does";

/// Inspects what is about to run, within the budget of a judgement.
pub(crate) fn inspect(
    request: &Request<'_>,
    completeness: Completeness,
    gate: &CompiledGate,
    state: &ShellState,
    programs: &Programs,
    asks_unlisted: bool,
) -> Inspection {
    let read = |state: ShellState| {
        let mut inspector = Inspector::default();
        inspector.inspection.state = state;
        inspector.inspection.programs = programs.clone();
        inspector.inspection.asks_unlisted = asks_unlisted;
        inspector.inspection.front = Some(request.front);
        match request.invocation {
            Invocation::Line(line) => {
                inspect_line(&mut inspector, line, request.program, completeness);
            }
            Invocation::Argv(argv) => inspect_argv(&mut inspector, argv),
        }
        inspector
    };
    let joined: String;
    let text = match request.invocation {
        Invocation::Line(line) => line,
        Invocation::Argv(argv) => {
            joined = command_text(argv);
            &joined
        }
    };
    let mut inspector = read(state.clone());
    if inspector.inspection.unordered.matters {
        let other = read(state.clone().with_values(Values::All));
        let whole = Span {
            start: 0,
            end: text.len(),
        };
        inspector.inspection.add_unordered(other.inspection, whole);
    }
    inspector.environment(request.env);
    let settings = std::mem::take(&mut inspector.inspection.git_settings);
    inspector.environment(&settings);
    inspector.obey_written_homes();
    inspector.inspection.note_exfiltration();
    let mut inspection = inspector.inspection;
    if work::is_spent() {
        let whole = Span {
            start: 0,
            end: text.len(),
        };
        inspection.note_unread(Verdict::Unknown, TOO_MUCH_WORK, whole);
    }
    if inspection.search_path == SearchPath::Own {
        let commands = inspection.commands.iter_mut();
        for command in commands.chain(&mut inspection.unordered.commands) {
            command.is_installed = false;
        }
    }
    if let Some(found) = gate.pattern_in(text) {
        let reason = format!("it fits the pattern {} of this client", found.pattern);
        inspection.note(Verdict::Dangerous, reason, found.span);
    }
    inspection
}

/// Which of the programs that a line starts may read what is typed behind it.
#[derive(Debug)]
pub(crate) struct Readers {
    /// Those that read lines, by their names.
    pub(crate) lines: Vec<String>,
    /// Which of them may read keys, and leave the rest of a line to the shell.
    pub(crate) keys: Option<KeyTaker>,
}

/// A program that may read the first characters of a line as keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum KeyTaker {
    /// A script, which may ask for a yes.
    Script,
    /// A program that is known to take keys.
    Program,
}

impl KeyTaker {
    /// How many characters it may read. More is not followed: each is one more judgement.
    pub(crate) fn count(self) -> usize {
        match self {
            Self::Script => 2,
            Self::Program => 16,
        }
    }
}

/// The state that a line leaves for the next one of the same terminal, and who may read the next one.
pub(crate) fn state_behind(
    line: &str,
    program: Option<&str>,
    state: &ShellState,
) -> (ShellState, Readers) {
    let mut inspector = Inspector::default();
    inspector.inspection.state = state.clone();
    work::within_budget(|| {
        inspect_line(&mut inspector, line, program, Completeness::Whole);
        if work::is_spent() {
            inspector.inspection.state.blur_all();
        }
    });
    let commands = &inspector.inspection.commands;
    let lines = commands.iter().filter(|command| reads_lines(command));
    let readers = Readers {
        lines: lines.map(|command| command.program.clone()).collect(),
        keys: commands.iter().filter_map(key_taker).max(),
    };
    (inspector.inspection.state.carried(), readers)
}

fn key_taker(command: &InspectedCommand) -> Option<KeyTaker> {
    if reads_keys(command) {
        Some(KeyTaker::Program)
    } else {
        is_script(command).then_some(KeyTaker::Script)
    }
}

/// Whether a command is a file that is not the system's, or an interpreter that runs one.
fn is_script(command: &InspectedCommand) -> bool {
    let is_code = |word: &Word| matches!(word.text.as_str(), "-c" | "-e" | "-m");
    let has_file = || {
        let mut operands = command
            .args
            .iter()
            .filter(|word| !word.text.starts_with('-'));
        operands.next().is_some() && !command.args.iter().any(is_code)
    };
    let is_named = command.name_end.is_none();
    is_named && (!command.is_installed || (is_interpreter(&command.program) && has_file()))
}

/// Whether a command is one that reads a few characters of its input: a pager or an editor, `read -n1`
/// and its kin, a program that is told how many bytes.
fn reads_keys(command: &InspectedCommand) -> bool {
    let has = |letters: &[char]| {
        let words = command.args.iter().map(|word| word.text.as_str());
        let mut options = words.filter_map(|word| word.strip_prefix('-'));
        options.any(|option| !option.starts_with('-') && option.contains(letters))
    };
    match base_name(&command.program) {
        "read" => has(&['n', 'N', 'k', 'q', 'd', 'u']),
        "mapfile" | "readarray" => has(&['d', 'u']),
        "dd" => true,
        "head" => has(&['c']) || command.args.iter().any(|word| word.text.starts_with("--b")),
        program => program_kind(program) == ProgramKind::Text,
    }
}

/// Whether a command reads what is typed behind it as code or SQL. An interpreter with an operand or with
/// code in its options reads that.
fn reads_lines(command: &InspectedCommand) -> bool {
    match program_kind(&command.program) {
        ProgramKind::Sql(_) => true,
        ProgramKind::Code if takes_commands(&command.program) => true,
        ProgramKind::Code => command.args.iter().all(|word| {
            word.text.starts_with('-') && !matches!(word.text.as_str(), "-c" | "-e" | "-m")
        }),
        ProgramKind::Shell | ProgramKind::Text | ProgramKind::Other => false,
    }
}

fn inspect_argv(inspector: &mut Inspector, argv: &[String]) {
    let mut at = 0;
    let mut words = Vec::new();
    for text in argv {
        let end = at + quoted(text).len();
        words.push(Word::literal(text, Span { start: at, end }));
        at = end + 1;
    }
    inspector.command(&words, &Stdin::Given, 0);
}

fn inspect_line(
    inspector: &mut Inspector,
    line: &str,
    program: Option<&str>,
    completeness: Completeness,
) {
    let whole = Span {
        start: 0,
        end: line.len(),
    };
    let kind = program.map_or(ProgramKind::Shell, program_kind);
    if kind == ProgramKind::Text {
        return;
    }
    let too_long = completeness == Completeness::TooLong || line.len() > MAX_JUDGED_BYTES;
    if too_long && matches!(kind, ProgramKind::Shell | ProgramKind::Sql(_)) {
        let reason = "it is longer than is looked at (64 KiB)";
        inspector.inspection.note(Verdict::Unknown, reason, whole);
        return;
    }
    // Long data for any other program is no command that could not be read.
    let line = line.get(..line.floor_char_boundary(MAX_JUDGED_BYTES));
    let line = line.unwrap_or_default();
    let without_grammar = |inspector: &mut Inspector| {
        inspect_without_grammar(inspector, line, Nesting::Outermost, &Stdin::Given, 0);
    };
    let is_read_whole = completeness == Completeness::Whole;
    // A line that is whole to zsh may only begin a block to bash.
    let is_typed = matches!(completeness, Completeness::Whole | Completeness::Begun);
    if kind == ProgramKind::Shell && is_typed && program.map(base_name) == Some("zsh") {
        inspect_as_zsh(inspector, line, whole);
    }
    inspector.inspection.reader = Some(kind);
    if kind == ProgramKind::Shell && is_typed {
        inspector.foreign(program.unwrap_or_default(), line, whole);
    }
    match kind {
        // A foreign shell has another grammar, so a line that is not bash is no fault.
        ProgramKind::Shell if is_read_whole && program.map(base_name) == Some("fish") => {
            // What it is in the words of another shell has no spans of its own.
            let text = dialect::fish_as_bash(line);
            let nesting = if text == line {
                Nesting::Outermost
            } else {
                Nesting::Within(whole)
            };
            inspect_without_grammar(inspector, &text, nesting, &Stdin::Given, 0);
        }
        ProgramKind::Shell if is_read_whole && program.is_some_and(is_foreign_shell) => {
            without_grammar(inspector);
        }
        ProgramKind::Shell if is_read_whole => {
            inspector.script(line, Nesting::Outermost, 0);
        }
        // A line that the program leaves unread may be read by the shell behind it.
        ProgramKind::Shell | ProgramKind::Other => {
            without_grammar(inspector);
            inspector.inspection.keep_dangers();
        }
        ProgramKind::Sql(client) => inspector.sql(client, line, Nesting::Outermost, whole, 0),
        ProgramKind::Code => {
            let name = program.map_or("", base_name);
            // Earlier lines may have set what this one runs.
            if inspector.code_line(name, line, whole) {
                let reason = "what it starts is only known once it runs";
                inspector.inspection.note(Verdict::Unknown, reason, whole);
            }
        }
        ProgramKind::Text => {}
    }
    let runs_lines = !matches!(kind, ProgramKind::Other | ProgramKind::Text);
    if completeness == Completeness::Edited && runs_lines {
        let reason = "it is made of a line of the history, or of keys that are not followed: what runs \
                      is not known";
        inspector.inspection.note(Verdict::Unknown, reason, whole);
    }
    if completeness == Completeness::Recalled && kind == ProgramKind::Shell {
        inspector.inspection.note_possible(whole);
    }
    let mut words = line.split(|c: char| !c.is_alphanumeric() && c != '-');
    if completeness == Completeness::Recalled && words.any(danger::is_dangerous_word) {
        let reason = "it was typed into a line that was recalled: what runs is not known";
        inspector.inspection.note(Verdict::Unknown, reason, whole);
    }
}

/// Inspects what zsh reads otherwise than bash.
fn inspect_as_zsh(inspector: &mut Inspector, line: &str, whole: Span) {
    let Some(text) = dialect::zsh_as_bash(line) else {
        return;
    };
    let mut inner = Inspector::default();
    inner.inspection.state = inspector.inspection.state.clone();
    let nesting = Nesting::Within(whole);
    inspect_without_grammar(&mut inner, &text, nesting, &Stdin::Given, 0);
    inspector.add_possible(inner, "", whole);
}

//! Programs that run what they read.

use super::kind::{ProgramKind, has_commands, is_interpreter, is_shell, program_kind};
use super::options::{Order, Valued, options};
use super::table::ProgramTable;
use super::table::call::Call;
use super::wrapper;
use super::wrapper::inner_command::InnerCommand;
use crate::shell::printed::is_stdin;
use crate::shell::word::Word;

/// Whether a program with these arguments runs what it reads on standard input.
pub(crate) fn runs_stdin(program: &str, args: &[Word]) -> bool {
    if is_shell(program) {
        const VALUED: Valued<'_> = Valued::These("o O rcfile init-file");
        let options = options(args, VALUED, Order::OptionsFirst);
        let file = options.operand(0);
        let from_stdin = file.is_none_or(is_stdin);
        return options.has(&["s"]) || (!options.has(&["c", "command"]) && from_stdin);
    }
    if matches!(program, "source" | ".") {
        return args.first().is_some_and(|word| is_stdin(&word.text));
    }
    if matches!(program, "make" | "gmake") {
        let options = options(args, Valued::These("f file makefile C j"), Order::Permuted);
        let mut files = options.values(&["f", "file", "makefile"]);
        return files.any(|(_, file)| is_stdin(file));
    }
    if matches!(program, "at" | "batch") {
        return !args
            .iter()
            .any(|word| matches!(&*word.text, "-f" | "-l" | "-d"));
    }
    match program_kind(program) {
        ProgramKind::Code if has_commands(program) => true,
        ProgramKind::Code => is_script_of_stdin(program, args),
        ProgramKind::Sql(_) => true,
        // The login shell behind `ssh HOST` reads it.
        ProgramKind::Shell => {
            matches!(program, "ssh")
                && wrapper::inner_commands(ProgramTable::built_in(), program, args).is_empty()
        }
        ProgramKind::Text => is_line_editor(program, args),
        ProgramKind::Other => false,
    }
}

/// Whether an interpreter reads its script from standard input: `python3`, `node - ARGUMENT`, `deno run -`.
fn is_script_of_stdin(program: &str, args: &[Word]) -> bool {
    let table = ProgramTable::built_in();
    let Some(row) = table.row(program).filter(|_| !program.ends_with("awk")) else {
        return false;
    };
    let mut call = Call::new(row, args);
    let options = call.options(None);
    let mut operands = options.operands.iter().map(|(_, word)| *word);
    let script = operands
        .next()
        .filter(|word| !matches!(*word, "run" | "eval" | "e"));
    let has_module = args.iter().any(|word| word.text.starts_with("-m"));
    let starts_code = || {
        let started = wrapper::inner_commands(table, program, args);
        let is_code = |inner: &InnerCommand| matches!(inner, InnerCommand::Code { .. });
        started.iter().any(is_code)
    };
    let runs_only = script.or(operands.next());
    runs_only.is_none_or(is_stdin) && !has_module && !call.asks_for_help() && !starts_code()
}

/// Whether the first operand of a program is a script that it runs.
pub(crate) fn takes_script(program: &str) -> bool {
    is_interpreter(program) && !program.ends_with("awk")
}

/// Whether vi(1) with these arguments reads its commands from standard input: `vim -es`, `ex`.
fn is_line_editor(program: &str, args: &[Word]) -> bool {
    let is_ex = program == "ex";
    let is_vi = matches!(program, "vi" | "vim" | "nvim" | "view" | "gvim" | "rvim");
    let has_mode = |word: &Word| {
        let letters = word.text.strip_prefix('-');
        letters.is_some_and(|letters| matches!(letters, "e" | "E" | "es" | "Es" | "s"))
    };
    is_ex || (is_vi && args.iter().any(has_mode))
}

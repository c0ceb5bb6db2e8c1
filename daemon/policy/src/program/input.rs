//! Programs that run what they read.

use super::kind::{ProgramKind, is_interpreter, is_shell, program_kind};
use super::options::{Order, Valued, options};
use super::table::ProgramTable;
use super::wrapper;
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
        ProgramKind::Code => args
            .iter()
            .all(|word| is_stdin(&word.text) || matches!(&*word.text, "-u" | "-i" | "-B" | "-s")),
        ProgramKind::Sql(_) => true,
        // The login shell behind `ssh HOST` reads it.
        ProgramKind::Shell => {
            matches!(program, "ssh")
                && wrapper::inner_commands(ProgramTable::built_in(), program, args).is_empty()
        }
        ProgramKind::Text | ProgramKind::Other => false,
    }
}

/// The process substitution that a program is given as its script, as it was written.
pub(crate) fn script_substitution<'a>(program: &str, args: &'a [Word]) -> Option<&'a str> {
    let runs_files =
        is_shell(program) || is_interpreter(program) || matches!(program, "source" | ".");
    let script = args.iter().find(|word| !word.text.starts_with('-'))?;
    (runs_files && script.raw.starts_with("<(")).then_some(script.raw.as_str())
}

//! Programs that run what they read.

use super::kind::{ProgramKind, has_commands, is_interpreter, is_shell, program_kind};
use super::options::{Order, Valued, options};
use super::table::ProgramTable;
use super::table::call::Call;
use super::wrapper;
use super::wrapper::inner_command::InnerCommand;
use crate::shell::printed::is_stdin;
use crate::shell::word::Word;
use crate::word_list::is_listed;

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
        // fish(1) takes no operand for standard input.
        return args.first().is_none_or(|word| is_stdin(&word.text));
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
    if module_of_code(program, args).is_some() || is_interactive(program, args) {
        return true;
    }
    let has_module = args.iter().any(|word| word.text.starts_with("-m"));
    let starts_code = || {
        let started = wrapper::inner_commands(table, program, args);
        let is_code = |inner: &InnerCommand| matches!(inner, InnerCommand::Code { .. });
        started.iter().any(is_code)
    };
    let runs_only = script.or(operands.next());
    runs_only.is_none_or(is_stdin) && !has_module && !call.asks_for_help() && !starts_code()
}

/// The module of Python's library that `-m` names, if it runs code or commands that it reads, or a script
/// that it is given: <https://docs.python.org/3/library/cmdline.html>.
pub(crate) fn module_of_code<'a>(program: &str, args: &'a [Word]) -> Option<&'a str> {
    const MODULES: &str = "
        asyncio bdb bpython cProfile code doctest idlelib ipdb IPython pdb profile ptpython pudb runpy timeit trace";
    if !is_interpreter(program) {
        return None;
    }
    let at = args.iter().position(|word| word.text.starts_with("-m"))?;
    let attached = args.get(at)?.text.strip_prefix("-m")?;
    let module = match attached {
        "" => args.get(at + 1)?.text.as_str(),
        module => module,
    };
    let name = module.split('.').next().unwrap_or(module);
    is_listed(name, MODULES).then_some(module)
}

/// Whether an interpreter reads lines behind its script: `python3 -i x.py`, `node -i`, `php -a`. To perl
/// and ruby the same option edits files.
fn is_interactive(program: &str, args: &[Word]) -> bool {
    let mut options = args.iter().take_while(|word| word.text.starts_with('-'));
    let asks = |word: &Word| {
        let letters = word.text.trim_start_matches('-');
        let is_long = word.text.starts_with("--");
        if is_long {
            letters == "interactive"
        } else {
            letters.contains('i') && letters.len() < 4
        }
    };
    match program {
        "perl" | "ruby" => false,
        "php" => options.any(|word| word.text == "-a"),
        _ => options.any(asks),
    }
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

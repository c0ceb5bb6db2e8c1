//! Programs that run what they read.

use termd_proto::policy::Span;

use super::kind::{ProgramKind, base_name, has_commands, is_interpreter, is_shell, program_kind};
use super::options::{Order, Valued, options};
use super::table::ProgramTable;
use super::table::call::Call;
use super::wrapper;
use super::wrapper::inner_command::InnerCommand;
use crate::shell::expansion::printed::is_stdin;
use crate::shell::word::Word;
use crate::word_list::is_listed;

/// The program that would run what a process with these arguments reads on standard input: itself, or
/// one that it may start. `None`: it is data.
pub fn code_reader(argv: &[String]) -> Option<&str> {
    let (program, rest) = argv.split_first()?;
    let program = base_name(program);
    let args = literals(rest);
    if runs_stdin(program, &args) {
        return Some(program);
    }
    if let Some(language) = console_language(program, &args) {
        return Some(language);
    }
    let starts_others = is_shell(program)
        || program_kind(program) == ProgramKind::Shell
        || !wrapper::inner_commands(ProgramTable::built_in(), program, &args).is_empty();
    let is_name = |c: char| c.is_alphanumeric() || "._-".contains(c);
    let words = || {
        let arguments = rest.iter().filter(|_| starts_others);
        arguments.flat_map(|argument| argument.split(|c| !is_name(c)))
    };
    let is_code = |kind| matches!(kind, ProgramKind::Code | ProgramKind::Sql(_));
    let shell = words().find(|word| program_kind(word) == ProgramKind::Shell);
    shell.or_else(|| words().find(|word| is_code(program_kind(word))))
}

/// Whether a process with these arguments is a shell that reads its script on standard input.
pub fn is_shell_of_stdin(argv: &[String]) -> bool {
    argv.split_first().is_some_and(|(program, rest)| {
        let program = base_name(program);
        is_shell(program) && runs_stdin(program, &literals(rest))
    })
}

fn literals(arguments: &[String]) -> Vec<Word> {
    let literal = |argument: &String| Word::literal(argument, Span { start: 0, end: 0 });
    arguments.iter().map(literal).collect()
}

/// Whether a program with these arguments runs what it reads on standard input.
pub(crate) fn runs_stdin(program: &str, args: &[Word]) -> bool {
    if is_shell(program) {
        return wrapper::reads_script_from_stdin(program, args);
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
        // The shell reads it that stands behind `ssh HOST`, `su USER` or `script FILE`.
        ProgramKind::Shell => {
            starts_shell(program, args)
                && wrapper::inner_commands(ProgramTable::built_in(), program, args).is_empty()
        }
        ProgramKind::Text => is_line_editor(program, args),
        ProgramKind::Other => false,
    }
}

/// The interpreter of a framework's console, which runs what it reads on standard input: `rails c`.
pub(crate) fn console_language(program: &str, args: &[Word]) -> Option<&'static str> {
    let mut operands = args.iter().map(|word| word.text.as_str());
    let mut is_verb = |verbs| operands.any(|word| is_listed(word, verbs));
    match program {
        "rails" if is_verb("c console") => Some("ruby"),
        "manage.py" | "django-admin" if is_verb("shell shell_plus") => Some("python3"),
        "flask" if is_verb("shell") => Some("python3"),
        "artisan" if is_verb("tinker") => Some("php"),
        _ => None,
    }
}

/// Whether a program starts a shell where it is given no command.
fn starts_shell(program: &str, args: &[Word]) -> bool {
    let is_asked_for = || {
        let mut options = args.iter().take_while(|word| word.text.starts_with('-'));
        options.any(|word| {
            let text = word.text.as_str();
            let is_cluster = !text.starts_with("--") && text.contains(['s', 'i', 'S']);
            is_cluster || matches!(text, "--shell" | "--login")
        })
    };
    match program {
        "ssh" | "script" | "su" | "runuser" | "newgrp" | "sg" | "unshare" | "nsenter"
        | "chroot" | "run0" => true,
        "capsh" => args.iter().any(|word| word.text == "--"),
        "sudo" | "sudo-rs" | "doas" | "systemd-run" => is_asked_for(),
        _ => false,
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
        "perl" => options.any(|word| starts_perl_debugger(&word.text)),
        "ruby" => false,
        "php" => options.any(|word| word.text == "-a"),
        _ => options.any(asks),
    }
}

/// Whether an option of perl(1) starts its debugger, which reads commands: `-d`, `-wde1`, and not `-d:NYTProf`.
fn starts_perl_debugger(option: &str) -> bool {
    const SWITCHES: &str = "acdlnpstuUwWTX";
    let letters = option.trim_start_matches('-');
    let end = letters
        .find(|c| !SWITCHES.contains(c))
        .unwrap_or(letters.len());
    let (switches, rest) = letters.split_at(end);
    switches.contains('d') && !(switches.ends_with('d') && rest.starts_with(':'))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runs_its_standard_input_and_what_reads_data() {
        for (argv, expected) in [
            (&["bash"][..], Some("bash")),
            (&["-bash"], Some("bash")),
            (&["/bin/sh", "-s"], Some("sh")),
            (&["python3"], Some("python3")),
            (&["python3", "-"], Some("python3")),
            (&["psql", "db"], Some("psql")),
            (&["ssh", "host"], Some("ssh")),
            (&["sh", "-c", "cd x && bash"], Some("bash")),
            (&["sh", "-c", "python3; zsh"], Some("zsh")),
            (&["bash", "/shims/python3"], Some("python3")),
            (&["env", "A=1", "bash"], Some("bash")),
            (&["timeout", "5", "node"], Some("node")),
            (&["bin/rails", "c"], Some("ruby")),
            (&["rails", "test"], None),
            (&["cat"], None),
            (&["wc", "-c"], None),
            (&["tar", "x", "-C", "/usr/lib/python3"], None),
            (&["sh", "-c", "cd x && gzip | wc -c"], None),
            (&["bash", "build.sh"], None),
            (&["python3", "script.py"], None),
            (&["ssh", "host", "tar x"], None),
            (&["timeout", "5", "wc"], None),
            (&[], None),
        ] {
            let words: Vec<String> = argv.iter().map(|word| (*word).to_owned()).collect();
            assert_eq!(code_reader(&words), expected, "{argv:?}");
        }
    }
}

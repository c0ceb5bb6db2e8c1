//! Lines and code within one word: of vim(1), sed(1), and of interpreters whose options cluster.

use super::inner_command::InnerCommand;
use super::sed_script::{Execution, executions};
use super::vim_script;
use crate::program::kind::base_name;
use crate::program::options::{Order, Valued, options};
use crate::program::table::ProgramTable;
use crate::program::table::call::Call;
use crate::shell::word::{UNKNOWN, Word};

const EDITED_TEXT: &str = "it runs the text that it edits";

/// The shell lines of `vim +!LINE`, `-c ':!LINE'` and `+'call system("…")'`.
pub(super) fn editor(args: &[Word]) -> Vec<InnerCommand> {
    let mut started = Vec::new();
    for (at, word) in args.iter().enumerate() {
        let text = word
            .text
            .trim_start_matches(['+', ':', ' ', '%', '.', '-', 'c']);
        let behind = [
            "!",
            "silent !",
            "sil !",
            "silent! !",
            "r !",
            "read !",
            "w !",
            "write !",
            "exe '!",
        ];
        let line = behind.iter().find_map(|prefix| text.strip_prefix(prefix));
        started.extend(line.map(|line| InnerCommand::line((at, line))));
        let is_command = word.text.starts_with('+')
            || at
                .checked_sub(1)
                .and_then(|before| args.get(before))
                .is_some_and(|before| matches!(&*before.text, "-c" | "--cmd") || is_silent(before));
        if is_command && text.starts_with("exe") {
            // `execute` puts a command together.
            started.push(InnerCommand::Any);
        }
        if is_command || text.contains("system(") || text.starts_with("py") {
            let command = word.text.trim_start_matches(['+', ':']);
            started.push(InnerCommand::code((at, command)));
        }
        let attached = word.text.strip_prefix("-c").or(word.text.strip_prefix('+'));
        match attached {
            Some(command) if !command.is_empty() => {
                started.extend(vim_script::started(at, command));
            }
            _ if is_command => started.extend(vim_script::started(at, &word.text)),
            _ => {}
        }
        let takes_keys = word.text == "-s" && !is_line_mode(args);
        if let (true, Some(keys)) = (takes_keys, args.get(at + 1)) {
            started.push(InnerCommand::ObeyedFile(keys.path()));
        }
    }
    started
}

/// Whether options make vi(1) take commands and no keys: `-e`, `-es`.
fn is_line_mode(args: &[Word]) -> bool {
    args.iter().any(|word| {
        let letters = word.text.strip_prefix('-').unwrap_or_default();
        matches!(letters, "e" | "E" | "es" | "Es")
    })
}

/// Whether options of vi(1) end with that of a command: `-sc`, `-esc`.
fn is_silent(word: &Word) -> bool {
    let letters = word.text.strip_prefix('-').unwrap_or_default();
    letters.ends_with('c') && letters.chars().all(|c| "eEsnc".contains(c))
}

/// What sed(1) runs and writes: the lines of `e` and of `s///e`, the files of `w`.
pub(super) fn sed(args: &[Word]) -> Vec<InnerCommand> {
    const VALUED: Valued<'_> = Valued::These("e expression f file l line-length");
    let options = options(args, VALUED, Order::Permuted);
    let mut scripts: Vec<(usize, &str)> = options.values(&["e", "expression"]).collect();
    let is_from_file = options.value(&["f", "file"]).is_some();
    if scripts.is_empty() && !is_from_file {
        scripts.extend(options.operands.first());
    }
    let scripts = scripts.into_iter();
    scripts
        .flat_map(|(at, script)| sed_script(at, script))
        .collect()
}

/// What a script of sed(1) runs and writes. `at` is the number of the argument that it stands in.
pub(crate) fn sed_script(at: usize, script: &str) -> Vec<InnerCommand> {
    if !script.is_empty() && script.chars().all(|c| c == UNKNOWN) {
        return vec![InnerCommand::Any];
    }
    let mut started = Vec::new();
    for executed in executions(script) {
        match executed {
            Execution::Line(line) => {
                started.push(InnerCommand::line((at, &line)));
                // `&` and `\1` are parts of the text.
                if line.contains(['&', '\\']) {
                    started.push(InnerCommand::Unknown(EDITED_TEXT));
                }
            }
            Execution::File(path) => started.push(InnerCommand::Writes(path)),
            Execution::Text => started.push(InnerCommand::Unknown(EDITED_TEXT)),
        }
    }
    started
}

/// The commands that perl(1) starts for operands such as `CMD|` and `|CMD`, where its code opens them
/// (perlfunc, `open`).
pub(super) fn opened(args: &[Word]) -> Vec<InnerCommand> {
    let operands = args.iter().enumerate();
    let operands = operands.filter(|(_, word)| !word.text.starts_with('-'));
    let pipes = operands.filter(|(_, word)| {
        let text = word.text.trim();
        text.len() > 1 && (text.starts_with('|') || text.ends_with('|'))
    });
    pipes
        .map(|(at, word)| InnerCommand::line((at, word.text.trim_matches(['|', ' ']))))
        .collect()
}

/// Code of perl(1) with the modules that options load before it: `-MIPC::Run=run -e CODE`.
pub(super) fn with_perl_modules(args: &[Word], started: Vec<InnerCommand>) -> Vec<InnerCommand> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | ':');
    let modules = args.iter().filter_map(|word| {
        let module = word
            .text
            .strip_prefix("-M")
            .or(word.text.strip_prefix("-m"))?;
        let end = module.find(|c| !is_part(c)).unwrap_or(module.len());
        let name = module.get(..end).filter(|name| !name.is_empty())?;
        Some(format!("use {name};"))
    });
    let modules: String = modules.collect();
    let with_modules = |inner| match inner {
        InnerCommand::Code { text, at } if !modules.is_empty() => InnerCommand::Code {
            text: format!("{modules} {text}"),
            at,
        },
        inner => inner,
    };
    started.into_iter().map(with_modules).collect()
}

/// The script of an interpreter that is a program of its own: `python manage.py flush`, `php artisan …`,
/// `python -m twine upload`.
pub(super) fn script(table: &ProgramTable, program: &str, args: &[Word]) -> Vec<InnerCommand> {
    let begin = match args.iter().position(|word| word.text == "-m") {
        Some(at) => at + 1,
        None => match args.iter().position(|word| !word.text.starts_with('-')) {
            Some(at) => at,
            None => return Vec::new(),
        },
    };
    let words = args.get(begin..).unwrap_or_default();
    let name = words.first().map_or("", |word| base_name(&word.text));
    if begin > 0 && matches!(name, "timeit" | "pdb" | "cProfile" | "trace") {
        // Statements of `timeit`, and commands of `pdb -c`.
        let code = words.iter().enumerate().skip(1);
        let code = code.filter(|(_, word)| word.text.contains([' ', '(', ';']));
        return code
            .map(|(at, word)| InnerCommand::code((begin + at, &word.text)))
            .collect();
    }
    // `bun install` is a verb of the interpreter, and not install(1).
    let first = words.first().map_or("", |word| word.text.as_str());
    let is_verb = table.row(program).is_some_and(|row| row.has_verb(first));
    if !is_verb && table.row(name).is_some() {
        InnerCommand::argv(words)
    } else {
        Vec::new()
    }
}

/// The script that `uv run` gives to Python: a name of it, one behind `--script`, or standard input.
pub(super) fn python_of_uv(table: &ProgramTable, args: &[Word]) -> Vec<InnerCommand> {
    let Some(row) = table.row("uv") else {
        return Vec::new();
    };
    let options = Call::new(row, args).options(None);
    let [(_, "run"), (at, script), ..] = *options.operands.as_slice() else {
        return Vec::new();
    };
    let words = args.get(at..).unwrap_or_default();
    let has_option = |word: &Word| matches!(word.text.as_str(), "--script" | "-s");
    let before = args.get(..at).unwrap_or_default();
    let is_script = script == "-"
        || [".py", ".pyw"].iter().any(|end| script.ends_with(end))
        || before.iter().any(has_option);
    let Some(first) = words.first().filter(|_| is_script) else {
        return Vec::new();
    };
    let mut python = vec![Word::literal("python3", first.span)];
    python.extend_from_slice(words);
    vec![InnerCommand::Argv(python)]
}

/// The code of a cluster such as `perl -pe CODE` and `ruby -ne CODE`.
pub(super) fn interpreter(args: &[Word]) -> Vec<InnerCommand> {
    let mut code = Vec::new();
    for (at, word) in args.iter().enumerate() {
        if !word.text.starts_with('-') {
            break;
        }
        // nim(1)
        if let Some(text) = word.text.strip_prefix("--eval:") {
            code.push(InnerCommand::code((at, text)));
        }
        let cluster = word.text.starts_with('-') && !word.text.starts_with("--");
        if cluster
            && word.text.ends_with(['e', 'E', 'r', 'c', 'p'])
            && let Some(next) = args.get(at + 1)
        {
            code.push(InnerCommand::code((at + 1, &next.text)));
        }
    }
    code
}

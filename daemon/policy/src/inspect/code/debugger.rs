//! Commands of gdb(1) and lldb(1) that start nothing but the program that is debugged.

use crate::word_list::is_listed;

/// Commands that read and step: <https://sourceware.org/gdb/current/onlinedocs/gdb/Command-and-Variable-Index.html>.
const COMMANDS: &str = "
    advance awatch b bt backtrace break c cont continue core-file d delete detach dir directory disable disas
    disass disassemble display down echo enable f file finish frame help i info k kill l list n next nexti ni p print
    printf ptype q quit r ra run rwatch s starti start si step stepi symbol-file tb tbreak u undisplay until up watch
    whatis where x";
/// What `set` may change.
const SETTINGS: &str = "
    confirm pagination width height print listsize breakpoint disassembly-flavor language var variable verbose
    follow-fork-mode detach-on-fork scheduler-locking non-stop output-radix max-value-size";

pub(super) fn is_debugger(program: &str) -> bool {
    matches!(
        program,
        "gdb" | "gdb-multiarch" | "cgdb" | "rust-gdb" | "lldb"
    )
}

/// Whether all lines only read and step. A command may be abbreviated, so an unknown word may be any.
pub(super) fn is_plain(text: &str) -> bool {
    text.lines().all(is_plain_line)
}

fn is_plain_line(line: &str) -> bool {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return true;
    }
    let mut words = line.split_whitespace();
    let command = words.next().unwrap_or_default();
    let command = command.split('/').next().unwrap_or(command);
    let first = words.next();
    match command {
        // The program gets further words, and a shell reads them first.
        "r" | "run" | "start" | "starti" => first.is_none(),
        "set" => first.is_some_and(|name| is_listed(name, SETTINGS)) && !calls(line),
        "show" => true,
        "thread" | "t" => {
            let lists = |word: &str| is_listed(word, "apply all bt backtrace full where");
            words
                .chain(first)
                .all(|word| lists(word) || word.parse::<u32>().is_ok())
        }
        command => is_listed(command, COMMANDS) && !calls(line),
    }
}

/// Whether a line calls something, as `print system("x")` does.
fn calls(line: &str) -> bool {
    let mut before = ' ';
    line.chars().any(|c| {
        let is_call = c == '(' && (before.is_alphanumeric() || matches!(before, '_' | ')'));
        before = c;
        is_call
    })
}

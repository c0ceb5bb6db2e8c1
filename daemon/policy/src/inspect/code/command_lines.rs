//! Lines that are commands of a program, and no code: `!CMD`, `shell CMD`, `%sx CMD`.

use super::debugger;
use super::input_runner::{runs_input, starts_runner};
use super::started::Started;
use crate::program::kind::has_commands;
use crate::program::wrapper::vim_script::is_editor;

/// What lines of code for a program run that are commands of that program.
pub(super) fn started(program: &str, code: &str) -> Started {
    let mut started = Started::default();
    if has_commands(program)
        || is_editor(program)
        || matches!(program, "tclsh" | "expect" | "cmake")
    {
        commands(code, &mut started);
    }
    if matches!(program.trim_end_matches(".exe"), "pwsh" | "powershell") {
        // A command of another program stands there as in a shell.
        started.lines.push(code.to_owned());
    }
    if program == "perl" {
        lines_of_perl_debugger(code, &mut started);
    }
    if matches!(program, "ipython" | "ipython3" | "IPython") {
        lines_of_ipython(code, &mut started);
    }
    started.may_start |= debugger::is_debugger(program) && !debugger::is_plain(code);
    started
}

/// What lines run that are commands of a program: `!CMD`, `:r !CMD`, `shell CMD`, `pipe … | CMD`.
fn commands(text: &str, started: &mut Started) {
    const LINES: [&str; 9] = [
        "shell ",
        "platform shell ",
        ".shell ",
        "sh ",
        "system ",
        "exec ",
        "spawn ",
        "COMMAND ",
        "eval exec ",
    ];
    const CODE: [&str; 7] = [
        "python3 ", "python ", "py3 ", "py ", "script ", "lua ", "tcl ",
    ];
    for line in text.lines() {
        let line = line.trim_start().trim_start_matches(['~', ':']);
        if let Some((before, shell)) = behind_escape(line) {
            started.lines.push(shell.to_owned());
            // `w !CMD` gives what is edited to a command, and `%` is its file.
            let gives_text = !before.is_empty() && !before.starts_with('r');
            started.may_start |= gives_text && runs_input(shell);
            started.may_start |= shell.contains('%') && starts_runner(shell);
        }
        let word = LINES.iter().find_map(|word| line.strip_prefix(word));
        started
            .lines
            .extend(word.map(|line| line.trim_matches(['"', '\'']).to_owned()));
        let code = CODE.iter().find_map(|word| line.strip_prefix(word));
        started.code.extend(code.map(str::to_owned));
        if let Some((_, shell)) = line.split_once('|')
            && (line.starts_with("pipe ") || line.contains("\"|") || line.contains("'|"))
        {
            started
                .lines
                .push(shell.trim_matches([' ', '"', '\'']).to_owned());
        }
        // cmake-commands(7).
        if let Some((_, command)) = line.split_once("COMMAND ") {
            let command = command.trim_end().trim_end_matches(')');
            started.lines.push(command.to_owned());
            started.runs_unread |= command.contains("${");
        }
        // A value of Tcl, of vim or of gdb.
        started.runs_unread |= word.is_some_and(|line| line.contains(['[', '$']));
    }
}

/// What stands before and behind `!`, `r !`, `1,5!` at the beginning of a line.
fn behind_escape(line: &str) -> Option<(&str, &str)> {
    let (before, shell) = line.split_once('!')?;
    let before = before.trim_end();
    let is_address = before
        .chars()
        .all(|c| c.is_ascii_digit() || ",.$%'<>+-\\ ".contains(c));
    let is_between = |c: char| c.is_ascii_digit() || " ,.%$".contains(c);
    let verb = before.rsplit(is_between).next().unwrap_or(before);
    let is_verb = matches!(
        verb,
        "r" | "read" | "w" | "write" | "sil" | "silent" | "e" | "|"
    );
    (is_address || is_verb).then(|| (before, shell.trim_start_matches(['!', ' '])))
}

/// The lines that perl's debugger gives to a shell: `!!CMD` (perldebug). In a script such a line is no call.
fn lines_of_perl_debugger(text: &str, started: &mut Started) {
    for line in text.lines() {
        let line = line.trim_start();
        let is_word = |shell: &&str| shell.starts_with(char::is_alphabetic);
        let once = || line.strip_prefix('!').filter(is_word);
        let Some(shell) = line.strip_prefix("!!").or_else(once) else {
            continue;
        };
        if shell.trim_start().starts_with(['$', '@', '(']) {
            started.may_start = true;
        } else {
            started.lines.push(shell.to_owned());
        }
    }
}

/// The lines that `IPython` gives to a shell: `!CMD`, `x = !CMD`, `%sx CMD`. Any other `%` may run what is not
/// followed: <https://ipython.readthedocs.io/en/stable/interactive/magics.html>.
fn lines_of_ipython(text: &str, started: &mut Started) {
    for line in text.lines() {
        if let Some((before, shell)) = line.split_once('!') {
            let before = before.trim_end();
            if before.is_empty() || before.ends_with('=') {
                started.lines.push(shell.trim_start_matches('!').to_owned());
            }
        }
        let magic = line.trim_start().strip_prefix('%');
        if let Some((_, shell)) = magic.and_then(|magic| magic.split_once(' ')) {
            started.lines.push(shell.to_owned());
        }
        started.runs_unread |= magic.is_some();
    }
}

//! Programs that start others, and what they start: by their rows of the table, and by code where a
//! row cannot say it.

mod awk;
pub(crate) mod batch_command;
mod batches;
mod by_row;
mod containers;
mod editors;
mod env;
pub(crate) mod inner_command;
mod less;
mod multiplexers;
mod option_words;
mod parallel;
mod sed_script;
mod shells;
pub(crate) mod typed_keys;
pub(crate) mod vim_script;

use crate::program::table::ProgramTable;
use crate::program::table::row::Takes;
use crate::shell::word::Word;
use batches::{find, xargs};
pub(crate) use by_row::{is_installed, of_variable};
pub(crate) use editors::sed_script;
use editors::{editor, interpreter, opened, python_of_uv, script, sed, with_perl_modules};
use env::env;
use inner_command::InnerCommand;
use less::less;
use multiplexers::{screen, tmux};
use parallel::parallel;
pub(crate) use shells::{OF_HISTORY, expands_history_of_stdin, reads_script_from_stdin};
use shells::{completions, coproc, fish_line, shell_line, sourced, trap};

/// What a command starts. Empty if it starts nothing that is known.
pub(crate) fn inner_commands(
    table: &ProgramTable,
    program: &str,
    args: &[Word],
) -> Vec<InnerCommand> {
    let takes = table.row(program).and_then(|row| row.takes);
    let mut started = match program {
        "env" => env(table, args),
        "coproc" => coproc(args),
        "trap" => trap(args),
        "source" | "." => sourced(args),
        "xargs" => xargs(args),
        "parallel" | "env_parallel" | "env_parallel.bash" => parallel(args),
        "find" | "gfind" => find(args),
        "compgen" | "complete" => completions(args),
        "tmux" => tmux(args),
        "screen" => screen(args),
        "uv" => python_of_uv(table, args),
        "sed" | "gsed" => sed(args),
        _ if vim_script::is_editor(program) => editor(args),
        // On some systems more(1) is less(1).
        "less" | "more" => less(args),
        "busybox" | "toybox" => Vec::new(),
        "docker" | "podman" | "nerdctl" => containers::entry_points(table, program, args),
        "fish" => fish_line(args),
        _ if takes == Some(Takes::Shell) => shell_line(program, args),
        _ if takes == Some(Takes::Code) => {
            let mut started = interpreter(args);
            started.extend(script(table, program, args));
            if program == "perl" {
                started.extend(opened(args));
            }
            started
        }
        _ => by_row::verb_program(program, args),
    };
    started.extend(by_row::started(table, program, args));
    if program == "perl" {
        started = with_perl_modules(args, started);
    }
    if program.ends_with("awk") {
        started = awk::with_variables(args, started);
    }
    started
}

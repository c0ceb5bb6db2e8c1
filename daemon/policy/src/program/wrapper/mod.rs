//! Programs that start others, and what they start.
//!
//! The options of each are read by its manual, so that the value of an option is not taken for the
//! command.

mod batches;
mod containers;
mod databases;
mod env;
pub(crate) mod inner_command;
mod interpreters;
mod line_options;
mod multiplexers;
mod prefixes;
mod shells;

use crate::program::kind::{is_interpreter, is_shell, sql_client};
use crate::shell::word::Word;
use batches::{find, parallel, xargs};
use containers::container;
use databases::statements;
use env::env;
use inner_command::InnerCommand;
use interpreters::{awk, code};
use line_options::{editor, git, su, tar};
use multiplexers::{screen, tmux};
use prefixes::prefixed;
use shells::{alias, coproc, is_query, shell_line, trap};

/// What a command starts. Empty if it starts nothing that is known.
pub(crate) fn inner_commands(program: &str, args: &[Word]) -> Vec<InnerCommand> {
    if is_shell(program) && !matches!(program, "busybox" | "toybox") {
        return shell_line(args);
    }
    if is_interpreter(program) {
        return code(program, args);
    }
    if let Some(client) = sql_client(program) {
        return statements(client, program, args);
    }
    match program {
        "env" => env(args),
        "coproc" => coproc(args),
        "eval" => InnerCommand::joined_line(args, 0),
        "trap" => trap(args),
        "alias" => alias(args),
        "command" if is_query(args) => Vec::new(),
        "xargs" => xargs(args),
        "parallel" => parallel(args),
        "find" => find(args),
        "fd" | "fdfind" => InnerCommand::after_mark(args, &["-x", "-X", "--exec", "--exec-batch"]),
        "docker" | "podman" | "nerdctl" | "docker-compose" => container(args),
        "kubectl" | "oc" if args.first().is_some_and(|word| word.text == "exec") => {
            InnerCommand::after_mark(args, &["--"])
        }
        "su" => su(args),
        "tmux" => tmux(args),
        "screen" => screen(args),
        "git" => git(args),
        "awk" | "gawk" | "mawk" | "nawk" => awk(args),
        "vi" | "vim" | "nvim" | "ex" => editor(args),
        "tar" => tar(args),
        _ => prefixed(program, args),
    }
}

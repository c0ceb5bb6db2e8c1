//! Completions on the command line: the shell asks termctl itself, by a variable, for what may stand at
//! the cursor.
//!
//! The daemon is asked for terminals and questions, never started, and waited for half a second at most.

mod candidates;

use std::env;
use std::io;

use clap::{Arg, Command, ValueHint};
use clap_complete::engine::{ArgValueCandidates, ArgValueCompleter, CompletionCandidate};
use clap_complete::env::{CompleteEnv, Shells};

use self::candidates::{
    Programs, actions, clients, closed_terminals, keys, open_terminals, questions, signals, tags,
};
use crate::args::Cli;

/// The variable by which a shell asks. It names the shell.
const VARIABLE: &str = "TERMCTL_COMPLETE";
const PROGRAM: &str = "termctl";
const ZSH: &str = "zsh";
const BASH: &str = "bash";
/// bash takes replies as they are, so this quotes them; and it knows of options with `=`.
const BASH_SCRIPT: &[u8] = include_bytes!("termctl.bash");

/// Answers where a shell asks, and ends the process then.
pub(crate) fn answer_shell() {
    // Looked at first, because every start of termctl comes by here.
    if env::var_os(VARIABLE).is_some() {
        CompleteEnv::with_factory(definition)
            .var(VARIABLE)
            .complete();
    }
}

/// The lines that make a shell ask.
pub(crate) fn script(shell: &str) -> io::Result<Vec<u8>> {
    if shell == BASH {
        return Ok(BASH_SCRIPT.to_vec());
    }
    let mut script = Vec::new();
    if let Some(completer) = Shells::builtins().completer(shell) {
        completer.write_registration(VARIABLE, PROGRAM, PROGRAM, PROGRAM, &mut script)?;
    }
    if shell == ZSH {
        // As a file of `fpath` it is run at the first completion, which it has to answer.
        script.extend_from_slice(
            b"if [[ ${funcstack[1]} = _termctl ]]; then _clap_dynamic_completer_termctl; fi\n",
        );
    }
    Ok(script)
}

/// What may stand on the command line, without what nobody types, and with what its values may be.
fn definition() -> Command {
    let whole = Cli::definition();
    let verbs = whole.get_subcommands().filter(|verb| !verb.is_hide_set());
    Command::new(PROGRAM)
        .args(whole.get_arguments().cloned())
        .subcommands(verbs.cloned().map(with_values))
        .version(env!("CARGO_PKG_VERSION"))
}

fn with_values(verb: Command) -> Command {
    let terminals = match verb.get_name() {
        "delete" => closed_terminals,
        _ => open_terminals,
    };
    let verb = verb.mut_args(|arg| with_value(arg, terminals));
    let below: Vec<String> = verb
        .get_subcommands()
        .map(|below| below.get_name().to_owned())
        .collect();
    below
        .into_iter()
        .fold(verb, |verb, below| verb.mut_subcommand(below, with_values))
}

/// An argument with what its value may be, by its name.
fn with_value(arg: Arg, terminals: fn() -> Vec<CompletionCandidate>) -> Arg {
    match arg.get_id().as_str() {
        "terminal" | "terminals" => arg.add(ArgValueCandidates::new(terminals)),
        "id" | "ids" => arg.add(ArgValueCandidates::new(questions)),
        "tags" | "removed" => arg.add(ArgValueCandidates::new(tags)),
        "key" => arg.add(ArgValueCandidates::new(keys)),
        "signal" => arg.add(ArgValueCandidates::new(signals)),
        "clients" => arg.add(ArgValueCandidates::new(clients)),
        "action" => arg.add(ArgValueCandidates::new(actions)),
        "command" if !arg.is_allow_negative_numbers_set() => {
            arg.add(ArgValueCompleter::new(Programs))
        }
        "agent" | "argv" => arg.add(ArgValueCompleter::new(Programs)),
        "cwd" | "directory" => arg.value_hint(ValueHint::DirPath),
        "output" | "anchors" | "config" | "file" => arg.value_hint(ValueHint::FilePath),
        _ => arg,
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;

    fn completed(line: &str) -> Vec<String> {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let last = words.len() - 1;
        let mut definition = definition();
        let found = clap_complete::engine::complete(&mut definition, words, last, None).unwrap();
        let values = found
            .iter()
            .map(|each| each.get_value().to_string_lossy().into_owned());
        values.collect()
    }

    #[test]
    fn what_may_stand_there_is_offered() {
        for (line, some, not) in [
            ("termctl ", "attach", "acp-agent"),
            ("termctl acp", "acp", "acp-agent"),
            ("termctl kill -s ", "TERM", "SIGTERM"),
            ("termctl kill --signal=U", "--signal=USR1", "--signal=TERM"),
            ("termctl setup --client ", "claude-code", "session"),
            ("termctl setup --tools ", "session", "claude-code"),
            ("termctl setup --client zed,cod", "zed,codex", "codex"),
            ("termctl send x -k page-", "page-up", "up"),
            (
                "termctl audit --action term",
                "terminal.create",
                "audit.pruned",
            ),
            ("termctl audit --front ", "mcp", "terminal.create"),
            ("termctl audit ", "verify", "terminal.create"),
            ("termctl create --cwd /", "/tmp/", "/etc/passwd"),
            ("termctl screenshot x -o /etc/pas", "/etc/passwd", "/tmp/"),
            ("termctl run -- s", "sh", "read"),
            ("termctl create s", "sh", "read"),
            ("termctl run cat /etc/pas", "/etc/passwd", "sh"),
            ("termctl completions ", "fish", "sh"),
        ] {
            let found = completed(line);
            assert!(found.iter().any(|value| value == some), "{line}: {found:?}");
            assert!(!found.iter().any(|value| value == not), "{line}: {found:?}");
        }
        assert!(completed("termctl acp-").is_empty());
    }

    #[test]
    fn every_shell_has_a_script() {
        for shell in Shells::builtins().names() {
            let script = String::from_utf8(script(shell).unwrap()).unwrap();
            assert!(script.contains(VARIABLE), "{shell}: {script}");
        }
    }
}

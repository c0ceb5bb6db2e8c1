//! Shells, and the builtins of shells that run a line: bash(1), zshmisc(1), fish(1).

use super::inner_command::InnerCommand;
use crate::program::options::{Order, Valued, options};
use crate::shell::quote::quoted;
use crate::shell::word::Word;

/// `$1` to `$9`: `$10` is `$1` and a zero.
const MAX_PARAMETERS: usize = 9;

/// The lines that a shell is given: `-c` in any cluster of options, and fish's `-C`.
pub(super) fn shell_line(args: &[Word]) -> Vec<InnerCommand> {
    const VALUED: Valued<'_> = Valued::These("o O rcfile init-file C init-command");
    let options = options(args, VALUED, Order::OptionsFirst);
    let mut started = Vec::new();
    for names in [["C", "init-command"].as_slice(), &["command"]] {
        started.extend(options.value(names).map(InnerCommand::line));
    }
    if options.has(&["c", "command"])
        && let Some((at, text)) = options.operands.first()
    {
        let parameters = options.operands.get(2..).unwrap_or_default();
        let parameters: Vec<String> = parameters.iter().map(|(_, text)| quoted(text)).collect();
        started.push(InnerCommand::Line {
            text: with_parameters(text, &parameters),
            at: *at,
        });
    }
    started
}

/// A script with its positional parameters replaced by these quoted ones.
fn with_parameters(script: &str, parameters: &[String]) -> String {
    if parameters.is_empty() {
        return script.to_owned();
    }
    let all = parameters.join(" ");
    let mut text = script.to_owned();
    for name in ["@", "*"] {
        for written in parameter_spellings(name) {
            text = text.replace(&written, &all);
        }
    }
    for (number, parameter) in parameters.iter().take(MAX_PARAMETERS).enumerate() {
        for written in parameter_spellings(&(number + 1).to_string()) {
            text = text.replace(&written, parameter);
        }
    }
    text
}

/// How a script may name a parameter, longer spellings first.
fn parameter_spellings(name: &str) -> [String; 4] {
    [
        format!("\"${{{name}}}\""),
        format!("\"${name}\""),
        format!("${{{name}}}"),
        format!("${name}"),
    ]
}

/// The command of `coproc` or `coproc NAME { …; }` (bash(1), Coprocesses). The grammar takes the
/// keyword for a program.
pub(super) fn coproc(args: &[Word]) -> Vec<InnerCommand> {
    let block = args.iter().position(|word| word.text == "{");
    let begin = block.map_or(0, |at| at + 1);
    InnerCommand::argv(args.get(begin..).unwrap_or_default())
}

/// The line of `trap LINE SIGNAL`.
pub(super) fn trap(args: &[Word]) -> Vec<InnerCommand> {
    let at = usize::from(args.first().is_some_and(|word| word.text == "--"));
    let line = args
        .get(at)
        .filter(|word| args.len() > at + 1 && !word.text.is_empty() && !word.text.starts_with('-'));
    let line = line.map(|word| InnerCommand::line((at, &word.text)));
    line.into_iter().collect()
}

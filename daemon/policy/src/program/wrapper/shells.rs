//! Shells, and the builtins of shells that run a line: bash(1), zshmisc(1), fish(1).

use super::inner_command::InnerCommand;
use crate::program::options::{Order, Valued, options};
use crate::shell::word::Word;

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
        let parameters = options.operands.iter().skip(1);
        let parameters = parameters.filter_map(|(at, _)| args.get(*at).cloned());
        started.push(InnerCommand::Script {
            text: (*text).to_owned(),
            at: *at,
            parameters: parameters.collect(),
        });
    } else if !options.has_exactly("s")
        && !options.has_exactly("n")
        && let Some((at, _)) = options.operands.first()
    {
        let words = args.get(*at..).unwrap_or_default();
        started.push(InnerCommand::ScriptFile(words.to_vec()));
    }
    started
}

/// The lines that fish(1) is given, whose `-c` takes a value.
pub(super) fn fish_line(args: &[Word]) -> Vec<InnerCommand> {
    const VALUED: Valued<'_> = Valued::These(
        "
        c command C init-command d debug D debug-stack-frames o debug-output p profile profile-startup f
        features",
    );
    let options = options(args, VALUED, Order::OptionsFirst);
    let lines = options.values(&["c", "command", "C", "init-command"]);
    let mut started: Vec<InnerCommand> = lines.map(InnerCommand::line).collect();
    let has_command = options.has(&["c", "command"]) || options.has_exactly("n");
    if let (false, Some((at, _))) = (has_command, options.operands.first()) {
        let words = args.get(*at..).unwrap_or_default();
        started.push(InnerCommand::ScriptFile(words.to_vec()));
    }
    started
}

/// The file of `source FILE`.
pub(super) fn sourced(args: &[Word]) -> Vec<InnerCommand> {
    let at = usize::from(args.first().is_some_and(|word| word.text == "--"));
    let words = args.get(at..).filter(|words| !words.is_empty());
    words
        .map(|words| InnerCommand::ScriptFile(words.to_vec()))
        .into_iter()
        .collect()
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

/// The words of `compgen -W WORDS`, which are expanded (bash(1), Programmable Completion).
pub(super) fn completions(args: &[Word]) -> Vec<InnerCommand> {
    let options = options(args, Valued::These("A C F G P S W X o"), Order::Permuted);
    let words = options.values(&["W"]);
    words
        .map(|(at, text)| InnerCommand::line((at, &format!(": {text}"))))
        .collect()
}

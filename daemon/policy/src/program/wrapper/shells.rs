//! Shells, and the builtins of shells that run a line: bash(1), zshmisc(1), fish(1).

use super::inner_command::InnerCommand;
use crate::program::options::{Order, Valued, options};
use crate::shell::expansion::printed::is_stdin;
use crate::shell::text::history::any_line_expands_history;
use crate::shell::word::Word;

/// Options of fish(1) that take a value.
const FISH_VALUED: Valued<'_> = Valued::These(
    "
    c command C init-command d debug D debug-stack-frames o debug-output p profile profile-startup f
    features",
);

/// Why a line for an interactive shell is unknown.
pub(crate) const OF_HISTORY: &str = "it is made of lines of the history";

/// A shell's arguments, taken apart (bash(1), OPTIONS; zshall(1), INVOCATION). A `+` is an option too.
struct ShellArguments<'a> {
    letters: String,
    /// The long options that hold their value.
    long: Vec<(usize, &'a str, &'a str)>,
    /// The numbers of the files that it reads before anything else.
    startup: Vec<usize>,
    /// The number of the first operand.
    first: usize,
}

impl<'a> ShellArguments<'a> {
    fn of(shell: &str, args: &'a [Word]) -> Self {
        // The value of an `o` is the rest of its word, if there is one. To others it stands in a later word.
        let attaches = matches!(
            shell,
            "zsh" | "rzsh" | "ksh" | "rksh" | "mksh" | "ksh93" | "yash"
        );
        let (mut letters, mut long, mut first) = (String::new(), Vec::new(), 0);
        let mut startup = Vec::new();
        while let Some(word) = args.get(first) {
            let text = word.text.as_str();
            let at = first;
            first += 1;
            // bash(1) takes long options with one dash, too.
            let name = text.trim_start_matches('-');
            if matches!(text, "-" | "--") {
                break;
            } else if text.starts_with('-') && matches!(name, "rcfile" | "init-file") {
                startup.push(first);
                first += 1;
            } else if let Some(name) = text.strip_prefix("--") {
                long.extend(name.split_once('=').map(|(name, value)| (at, name, value)));
                first += usize::from(name == "emulate");
            } else if let Some(cluster) = text.strip_prefix(['-', '+']) {
                for (start, letter) in cluster.char_indices() {
                    letters.push(letter);
                    let is_last = start + letter.len_utf8() == cluster.len();
                    if matches!(letter, 'o' | 'O') {
                        first += usize::from(is_last || !attaches);
                        if attaches {
                            break;
                        }
                    }
                }
            } else {
                first = at;
                break;
            }
        }
        Self {
            letters,
            long,
            startup,
            first,
        }
    }
}

/// The lines that a shell is given: by `-c` in any cluster of options.
pub(super) fn shell_line(shell: &str, args: &[Word]) -> Vec<InnerCommand> {
    let ShellArguments {
        letters,
        long,
        startup,
        first,
    } = ShellArguments::of(shell, args);
    let named = long.iter();
    let named = named.filter(|(_, name, _)| matches!(*name, "command" | "commands" | "execute"));
    let mut started: Vec<InnerCommand> = named
        .map(|(at, _, value)| InnerCommand::line((*at, value)))
        .collect();
    let startup = startup.iter().filter_map(|at| args.get(*at..));
    let startup = startup.filter(|words| !words.is_empty());
    started.extend(startup.map(|words| InnerCommand::ScriptFile(words.to_vec())));
    let is_long = |word: &Word| matches!(&*word.text, "--command" | "--commands" | "--execute");
    let has_command = letters.contains('c') || args.iter().take(first).any(is_long);
    let operands = args.get(first..).unwrap_or_default();
    if let (true, Some((script, parameters))) = (has_command, operands.split_first()) {
        if may_expand_history(&letters) && any_line_expands_history(&script.text) {
            started.push(InnerCommand::Unknown(OF_HISTORY));
        }
        started.push(InnerCommand::Script {
            text: script.text.clone(),
            at: first,
            parameters: parameters.to_vec(),
        });
    } else if !letters.contains(['s', 'n']) && !operands.is_empty() {
        started.push(InnerCommand::ScriptFile(operands.to_vec()));
    }
    started
}

/// Whether a shell with these options expands the history: `-i`, `-H`.
fn may_expand_history(letters: &str) -> bool {
    letters.contains(['i', 'H'])
}

/// Whether a shell with these arguments makes lines of its input out of earlier ones.
pub(crate) fn expands_history_of_stdin(shell: &str, args: &[Word], text: &str) -> bool {
    let letters = ShellArguments::of(shell, args).letters;
    may_expand_history(&letters) && any_line_expands_history(text)
}

/// The lines that fish(1) is given, whose `-c` takes a value.
pub(super) fn fish_line(args: &[Word]) -> Vec<InnerCommand> {
    let options = options(args, FISH_VALUED, Order::OptionsFirst);
    let lines = options.values(&["c", "command", "C", "init-command"]);
    let mut started: Vec<InnerCommand> = lines.map(InnerCommand::line).collect();
    let has_command = options.has(&["c", "command"]) || options.has_exactly("n");
    if let (false, Some((at, _))) = (has_command, options.operands.first()) {
        let words = args.get(*at..).unwrap_or_default();
        started.push(InnerCommand::ScriptFile(words.to_vec()));
    }
    started
}

/// Whether a shell with these arguments runs what it reads on standard input.
pub(crate) fn reads_script_from_stdin(shell: &str, args: &[Word]) -> bool {
    if shell == "fish" {
        let options = options(args, FISH_VALUED, Order::OptionsFirst);
        return !options.has(&["c", "command"]) && options.operand(0).is_none_or(is_stdin);
    }
    let arguments = ShellArguments::of(shell, args);
    let has_long = |word: &Word| matches!(&*word.text, "--command" | "--commands" | "--execute");
    let has_command = arguments.letters.contains('c') || args.iter().any(has_long);
    let file = args.get(arguments.first).map(|word| word.text.as_str());
    arguments.letters.contains('s') || (!has_command && file.is_none_or(is_stdin))
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

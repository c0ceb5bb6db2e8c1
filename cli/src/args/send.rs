//! The arguments of `termctl send`, whose order is that of the input.

use std::collections::BTreeMap;

use clap::{ArgAction, ArgMatches, Args, Command, FromArgMatches};

use crate::arg_types::ControlKey;

/// `termctl send`. What is given is typed in the order in which it stands; --enter and --eof before
/// everything else come last.
// Each is one switch, with a name of its own.
#[allow(clippy::struct_excessive_bools)]
#[derive(Debug, Args)]
pub(crate) struct SendArgs {
    /// Which terminal
    pub(crate) terminal: String,
    #[command(flatten)]
    pub(crate) input: OrderedInput,
    /// Type words as they are, also those that look like keys: C-c, Enter, M-x
    #[arg(short = 'l', long)]
    pub(crate) literal: bool,
    /// Type a secret, read from standard input without showing it: one line; only where the
    /// terminal waits for one
    #[arg(long, conflicts_with_all = ["text", "ctrl", "key", "stdin", "eof"])]
    pub(crate) secret: bool,
    /// Type it although the terminal says that it will not arrive as meant: a secret where none is
    /// awaited, a line that its tty would cut
    #[arg(long)]
    pub(crate) force: bool,
    /// Type it also where the gate would ask first
    #[arg(long)]
    pub(crate) confirmed: bool,
}

/// One thing to type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum InputPart {
    /// A word of the text.
    Word(String),
    /// A key by its name.
    Key(String),
    /// All of standard input.
    Stdin,
    Enter,
    /// End of file.
    Eof,
}

/// What to type, in order.
#[derive(Debug, Default)]
pub(crate) struct OrderedInput(pub(crate) Vec<InputPart>);

/// The definition of [`OrderedInput`]. clap keeps the place of a value and not that of a flag, so flags
/// are options whose value is left out.
#[derive(Debug, Args)]
struct InputArgs {
    /// What to type, joined by spaces; line ends are Enter. Text, keys, --stdin, --enter and --eof are
    /// typed in the order in which they stand
    text: Vec<String>,
    /// A control key, such as c
    #[arg(long, value_name = "KEY")]
    ctrl: Vec<ControlKey>,
    /// A key by name, such as up, ctrl-a, alt-x, shift-f5, kp-enter
    #[arg(short = 'k', long, value_name = "NAME")]
    key: Vec<String>,
    /// All of standard input, byte for byte
    #[arg(long, num_args = 0, action = ArgAction::Append, default_missing_value = "true")]
    stdin: Vec<bool>,
    /// The enter key (CR)
    #[arg(short = 'e', long, num_args = 0, action = ArgAction::Append, default_missing_value = "true")]
    enter: Vec<bool>,
    /// End of file (ctrl-d)
    #[arg(long, num_args = 0, action = ArgAction::Append, default_missing_value = "true")]
    eof: Vec<bool>,
}

impl Args for OrderedInput {
    fn augment_args(command: Command) -> Command {
        InputArgs::augment_args(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        InputArgs::augment_args_for_update(command)
    }
}

impl FromArgMatches for OrderedInput {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let InputArgs {
            text,
            ctrl,
            key,
            stdin,
            enter,
            eof,
        } = InputArgs::from_arg_matches(matches)?;
        let mut parts = BTreeMap::new();
        let mut place = |id: &str, values: Vec<InputPart>| {
            let indices = matches.indices_of(id).into_iter().flatten();
            parts.extend(indices.zip(values));
        };
        let control = ctrl.iter().map(|key| InputPart::Key(key.to_string()));
        place("text", text.into_iter().map(InputPart::Word).collect());
        place("ctrl", control.collect());
        place("key", key.into_iter().map(InputPart::Key).collect());
        place("stdin", vec![InputPart::Stdin; stdin.len()]);
        place("enter", vec![InputPart::Enter; enter.len()]);
        place("eof", vec![InputPart::Eof; eof.len()]);
        let mut parts: Vec<InputPart> = parts.into_values().collect();
        // `send shell --enter LINE`: options are written first from habit.
        let is_end = |part: &&InputPart| matches!(part, InputPart::Enter | InputPart::Eof);
        let leading = parts.iter().take_while(is_end).count();
        parts.rotate_left(leading);
        Ok(Self(parts))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::args::{Cli, Verb};

    fn parts(words: &[&str]) -> Vec<InputPart> {
        let words = ["termctl", "send"].iter().chain(words);
        let cli = Cli::try_parse_from(words).unwrap();
        let Verb::Send(args) = cli.verb else {
            panic!("{cli:?}");
        };
        assert_eq!(args.terminal, "t");
        args.input.0
    }

    #[test]
    fn the_order_is_kept() {
        let word = |text: &str| InputPart::Word(text.to_owned());
        let key = |name: &str| InputPart::Key(name.to_owned());
        let (enter, eof) = (InputPart::Enter, InputPart::Eof);
        for (line, want) in [
            (
                &["t", "-k", "escape", ":wq", "-e"][..],
                vec![key("escape"), word(":wq"), enter.clone()],
            ),
            (
                &[
                    "t", "a", "b", "--ctrl", "c", "c", "-k", "up", "-k", "down", "d",
                ],
                vec![
                    word("a"),
                    word("b"),
                    key("ctrl-c"),
                    word("c"),
                    key("up"),
                    key("down"),
                    word("d"),
                ],
            ),
            (
                &["t", "a", "-ee", "--stdin", "-e", "--eof", "-e", "b"],
                vec![
                    word("a"),
                    enter.clone(),
                    enter.clone(),
                    InputPart::Stdin,
                    enter.clone(),
                    eof.clone(),
                    enter.clone(),
                    word("b"),
                ],
            ),
            (
                &["t", "a", "-kup", "--key=down"],
                vec![word("a"), key("up"), key("down")],
            ),
            (&["-k", "up", "t", "a"], vec![key("up"), word("a")]),
            (&["t", "-e"], vec![enter.clone()]),
            (
                &["--enter", "--eof", "t", "a", "--", "-b"],
                vec![word("a"), word("-b"), enter, eof],
            ),
        ] {
            assert_eq!(parts(line), want, "{line:?}");
        }
    }
}

//! Reading the command line: the verb that scripts run in loops is tried alone.
//!
//! To set up the arguments of every verb takes as long as the daemon needs for an answer. So a verb
//! of [`alone`]'s that stands first is read with a definition that has no other; what that cannot
//! read (help, options before the verb, mistakes) is read by the whole one, which makes the message.
//!
//! **Invariant:** it makes no difference but the time; `a_verb_alone_is_read_as_among_all` holds it.

use std::ffi::OsString;

use clap::{Args, Command, FromArgMatches as _, Parser as _};

use super::{Cli, Common, Verb};

impl Cli {
    /// What these words say, the program's name the first of them; or what is wrong with them.
    pub(crate) fn read(words: Vec<OsString>) -> Result<Self, clap::Error> {
        match alone(&words) {
            Some(cli) => Ok(cli),
            None => Self::try_parse_from(words),
        }
    }
}

fn alone(words: &[OsString]) -> Option<Cli> {
    match words.get(1)?.to_str()? {
        "run" => read_as("run", Verb::Run, words),
        "create" => read_as("create", Verb::Create, words),
        "read" => read_as("read", Verb::Read, words),
        "screen" => read_as("screen", Verb::Screen, words),
        "wait" => read_as("wait", Verb::Wait, words),
        "send" => read_as("send", Verb::Send, words),
        "kill" => read_as("kill", Verb::Kill, words),
        "close" => read_as("close", Verb::Close, words),
        "list" => read_as("list", Verb::List, words),
        "show" => read_as("show", Verb::Show, words),
        _ => None,
    }
}

fn read_as<A: Args>(
    verb: &'static str,
    of: impl FnOnce(A) -> Verb,
    words: &[OsString],
) -> Option<Cli> {
    let definition = Common::augment_args(Command::new("termctl"))
        .subcommand_required(true)
        .subcommand(A::augment_args(Command::new(verb)));
    let matches = definition.try_get_matches_from(words).ok()?;
    let common = Common::from_arg_matches(&matches).ok()?;
    let (_, of_verb) = matches.subcommand()?;
    let verb = of(A::from_arg_matches(of_verb).ok()?);
    Some(Cli { common, verb })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        let words = std::iter::once("termctl").chain(line.split_ascii_whitespace());
        words.map(OsString::from).collect()
    }

    #[test]
    fn a_verb_alone_is_read_as_among_all() {
        let lines = [
            "create",
            "create --",
            "create -- true",
            "create --json -- true",
            "create --no-start --cols 100 --rows 40 bash -c 'x'",
            "run ls --json -l",
            "run --keep --json ls",
            "read --follow --raw term_x",
            "read --json term_x --since 5",
            "screen term_x --format json",
            "wait term_x --timeout 5s --no-start",
            "send -e --ctrl c -k up term_x some text",
            "send term_x --secret --force",
            "kill -s INT term_x --json",
            "close a b c --eof",
            "list -a --json",
            "show --no-start x",
        ];
        for line in lines {
            let words = words(line);
            let whole = Cli::try_parse_from(&words).expect(line);
            let alone = alone(&words).expect(line);
            assert_eq!(format!("{alone:?}"), format!("{whole:?}"), "{line}");
        }
    }

    #[test]
    fn what_it_cannot_read_is_left_to_the_whole_definition() {
        let lines = [
            "",
            "create --help",
            "create -h",
            "create --version",
            "create --nonsense",
            "--json create -- true",
            "cerate",
            "list -a --running",
            "send",
            "help",
        ];
        for line in lines {
            let words = words(line);
            assert!(alone(&words).is_none(), "{line}");
        }
    }
}

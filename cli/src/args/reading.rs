//! Reading the command line: the verb that scripts run in loops is tried alone.
//!
//! To set up the arguments of every verb takes as long as the daemon needs for an answer. So a verb
//! of [`alone`]'s that stands first is read with a definition that has no other; what that cannot
//! read (help, options before the verb, mistakes) is read by the whole one, which makes the message.
//!
//! **Invariant:** it makes no difference but the time; `a_verb_alone_is_read_as_among_all` holds it.

use std::ffi::OsString;
use std::path::Path;

use clap::{Args, Command, FromArgMatches as _};

use super::suggestions::with_safe_suggestions;
use super::words::verb_at;
use super::{Cli, Common, Verb};

/// The name of the link to this program by which agents' commands ask for passwords.
const ASKPASS: &str = "termd-askpass";

impl Cli {
    /// What these words say, the program's name the first of them; or what is wrong with them.
    pub(crate) fn read(mut words: Vec<OsString>) -> Result<Self, clap::Error> {
        name_askpass(&mut words);
        name_signals(&mut words);
        name_help(&mut words);
        if let Some(cli) = alone(&words) {
            return Ok(cli);
        }
        let mut definition = Self::definition();
        let matches = definition.try_get_matches_from_mut(&words);
        matches
            .and_then(|matches| Self::from_arg_matches(&matches))
            .map_err(|error| with_safe_suggestions(error.format(&mut definition), &words))
    }
}

/// Makes the bare name `termctl top`: for a person at a tty.
pub(crate) fn name_top(words: &mut Vec<OsString>) {
    if words.len() == 1 && !is_askpass(words) {
        words.push("top".into());
    }
}

fn is_askpass(words: &[OsString]) -> bool {
    let name = words.first().map(Path::new).and_then(Path::file_name);
    name.is_some_and(|name| name == ASKPASS)
}

/// Makes the name under which sudo(8), ssh(1) and git(1) run this program its verb.
fn name_askpass(words: &mut Vec<OsString>) {
    if is_askpass(words) {
        words.splice(1..1, ["askpass".into(), "--".into()]);
    }
}

/// Makes `help VERB` of git(1) `VERB --help`, and `version` `--version`.
fn name_help(words: &mut Vec<OsString>) {
    let Some(at) = verb_at(words) else {
        return;
    };
    match words.get(at).and_then(|word| word.to_str()) {
        Some("help") => {
            words.remove(at);
            words.push("--help".into());
        }
        Some("version") => words.splice(at.., ["--version".into()]).for_each(drop),
        _ => {}
    }
}

/// Makes `kill -9` and `kill -INT` of kill(1) `kill --signal=9`. No option of ours is a number or has
/// capitals.
fn name_signals(words: &mut [OsString]) {
    let Some(at) = verb_at(words).filter(|&at| words.get(at).is_some_and(|word| word == "kill"))
    else {
        return;
    };
    let options = words
        .iter_mut()
        .skip(at + 1)
        .take_while(|word| *word != "--");
    for word in options {
        let signal = word.to_str().and_then(|word| word.strip_prefix('-'));
        let is_number = |name: &str| name.bytes().all(|byte| byte.is_ascii_digit());
        let is_name = |name: &str| name.starts_with(|first: char| first.is_ascii_uppercase());
        if let Some(name) =
            signal.filter(|name| !name.is_empty() && (is_number(name) || is_name(name)))
        {
            *word = format!("--signal={name}").into();
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
    use clap::Parser as _;

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
            "wait a b --any",
            "wait a --for ^x --timeout 1h30m",
            "send -e --ctrl c -k up term_x some text",
            "send term_x --secret --force",
            "kill -s INT term_x --json",
            "close a b c --eof",
            "close --exited",
            "list -a --json",
            "list -q --running",
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
    fn a_signal_may_be_written_as_for_kill_1() {
        for (line, as_option) in [
            ("kill -9 t", "kill -s 9 t"),
            ("kill t -9", "kill -s 9 t"),
            ("kill -INT t", "kill -s INT t"),
            ("--json kill -SIGRTMIN+3 t", "--json kill -s SIGRTMIN+3 t"),
            ("kill -- -9", "kill -- -9"),
            ("run -- kill -9 1", "run -- kill -9 1"),
            ("run kill -9 1", "run kill -9 1"),
        ] {
            let read = Cli::read(words(line)).expect(line);
            let whole = Cli::try_parse_from(words(as_option)).expect(line);
            assert_eq!(format!("{read:?}"), format!("{whole:?}"), "{line}");
        }
        assert!(Cli::read(words("kill -l")).is_ok());
        assert!(Cli::read(words("kill")).is_err());
        assert!(Cli::read(words("kill -l t")).is_err());
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

//! The commands of parallel(1): a line, with the arguments behind `:::` or with what it reads.

use termd_proto::policy::MAX_JUDGED_BYTES;

use super::batch_command::{BatchCommand, Batches};
use super::inner_command::InnerCommand;
use crate::program::options::{Options, Order, Valued, options};
use crate::shell::text::quote::quoted;
use crate::shell::word::{UNKNOWN, Word};

/// Commands of one line that are looked at. Of more, the arguments count as unknown.
const MAX_COMMANDS: usize = 64;
const TOO_LONG: &str = "its arguments make a line that is too long";
const READS_PROGRAM: &str = "it runs what it reads";
const VALUED: Valued<'_> = Valued::These(
    "
    j jobs a arg-file S sshlogin C colsep N n I L max-procs max-args max-replace-args max-lines retries delay timeout
    results res joblog tagstring P nice memfree load halt halt-on-error env wd workdir basefile trc return block recstart
    recend tempdir tmpdir profile J rpl slf sshloginfile arg-sep arg-file-sep header H U replace-with parens er extensionreplace
    basenamereplace bnr dirnamereplace dnr basenameextensionreplace bner seqreplace slotreplace",
);
/// Options that give another name to what stands for an argument, or for a part of it.
const REPLACEMENTS: &[&str] = &[
    "U",
    "er",
    "extensionreplace",
    "basenamereplace",
    "bnr",
    "dirnamereplace",
    "dnr",
    "basenameextensionreplace",
    "bner",
    "seqreplace",
    "slotreplace",
    "rpl",
];

pub(super) fn parallel(args: &[Word]) -> Vec<InnerCommand> {
    let given = options(args, VALUED, Order::OptionsFirst);
    let operands = given.operands.as_slice();
    let end = operands.iter().position(|(_, text)| is_source(text));
    let (command, sources) = operands.split_at(end.unwrap_or(operands.len()));
    let Some((at, _)) = command.first() else {
        return if given.has(&["version", "help", "citation"]) {
            Vec::new()
        } else if operands.is_empty() {
            vec![InnerCommand::Unknown("it runs the lines that it reads")]
        } else {
            let lines = operands.iter().filter(|(_, text)| !is_source(text));
            lines.copied().map(InnerCommand::line).collect()
        };
    };
    let words: Vec<&str> = command.iter().map(|(_, text)| *text).collect();
    let text = words.join(" ");
    let placeholder = given.value(&["I"]).map_or("{}", |(_, text)| text);
    let name = text.split_whitespace().next().unwrap_or_default();
    let renamed = REPLACEMENTS
        .iter()
        .filter_map(|option| given.value(&[*option]));
    let renamed = renamed.filter_map(|(_, text)| text.split_whitespace().next());
    let mut started: Vec<InnerCommand> = perl_expressions(&given, &text, *at).collect();
    // A value of the first record names a column, and is no argument.
    let is_renamed = given.has(&["parens", "header"]) && !name.chars().all(is_plain)
        || renamed.into_iter().any(|place| name.contains(place));
    if is_renamed {
        started.push(InnerCommand::Unknown(READS_PROGRAM));
    }
    let is_program_read = name.contains('{') || name.contains(placeholder);
    if sources.is_empty() {
        started.extend(if is_program_read {
            vec![InnerCommand::Unknown(READS_PROGRAM)]
        } else {
            of_input(args.get(*at..).unwrap_or_default(), &text, *at, placeholder)
        });
        return started;
    }
    for arguments in combinations(&given, sources) {
        let is_known = !arguments.iter().any(|argument| argument.contains(UNKNOWN));
        if is_program_read && !is_known {
            started.push(InnerCommand::Unknown(READS_PROGRAM));
        }
        // Alone, an argument is a line by itself.
        let words: Vec<String> = if is_program_read {
            arguments
        } else {
            arguments.iter().map(|argument| word(argument)).collect()
        };
        match filled(&text, placeholder, &words) {
            Some(text) => started.push(InnerCommand::Line { text, at: *at }),
            None => started.push(InnerCommand::Unknown(TOO_LONG)),
        }
    }
    started
}

fn is_plain(c: char) -> bool {
    c.is_alphanumeric() || "-_./".contains(c)
}

/// The code of Perl in a line, or behind `--rpl`: `{= s/a/b/ =}`. Any of it may start something.
fn perl_expressions<'a>(
    given: &'a Options<'_>,
    text: &'a str,
    at: usize,
) -> impl Iterator<Item = InnerCommand> + 'a {
    let in_line = text.split("{=").skip(1);
    let in_line = in_line.map(|rest| rest.split("=}").next().unwrap_or(rest));
    let rpl = given.value(&["rpl"]).into_iter();
    let rpl = rpl.filter_map(|(_, text)| text.split_once(char::is_whitespace));
    let code = in_line.chain(rpl.map(|(_, code)| code));
    code.map(move |code| InnerCommand::code((at, code)))
}

fn is_source(text: &str) -> bool {
    matches!(text, ":::" | ":::+" | "::::" | "::::+")
}

/// A command that gets lines of standard input, or of a file.
fn of_input(words: &[Word], text: &str, at: usize, placeholder: &str) -> Vec<InnerCommand> {
    let is_line = words.iter().any(|word| {
        let is_sign = |c: char| c.is_whitespace() || ";|&<>".contains(c);
        word.text.contains(is_sign)
    });
    let has_place = text.contains(placeholder);
    let mut started = vec![InnerCommand::Line {
        text: text.to_owned(),
        at,
    }];
    if !text.contains('{') && !has_place || has_place && !is_line {
        started.push(InnerCommand::Batch(BatchCommand {
            words: words.to_vec(),
            placeholder: has_place.then(|| placeholder.to_owned()),
            batches: Batches::Some,
        }));
    }
    started
}

/// The arguments of each command: one of each source, or several of one.
fn combinations(given: &Options<'_>, sources: &[(usize, &str)]) -> Vec<Vec<String>> {
    let mut lists: Vec<Vec<String>> = Vec::new();
    let mut is_file = false;
    for (_, text) in sources {
        if is_source(text) {
            is_file = text.starts_with("::::");
            lists.push(Vec::new());
        } else if let Some(list) = lists.last_mut() {
            // Columns of a value are not followed.
            let is_read = is_file || given.has(&["C", "colsep"]);
            list.push(if is_read {
                UNKNOWN.to_string()
            } else {
                (*text).to_owned()
            });
        }
    }
    let all = || lists.concat();
    if given.has(&["X", "m", "xargs"]) {
        return vec![all()];
    }
    let number = given.value(&["N", "n", "max-args", "max-replace-args"]);
    if let Some((_, number)) = number {
        let (all, number) = (all(), number.parse().unwrap_or(0).max(1));
        return if all.len().div_ceil(number) > MAX_COMMANDS {
            vec![vec![UNKNOWN.to_string()]]
        } else {
            all.chunks(number).map(<[String]>::to_vec).collect()
        };
    }
    let count = lists.iter().map(Vec::len).try_fold(1, usize::checked_mul);
    if count.is_none_or(|count| count > MAX_COMMANDS) {
        return vec![lists.iter().map(|_| UNKNOWN.to_string()).collect()];
    }
    lists.iter().fold(vec![Vec::new()], |before, list| {
        let longer = before.iter().flat_map(|arguments| {
            let with = |more: &String| [arguments.as_slice(), std::slice::from_ref(more)].concat();
            list.iter().map(with).collect::<Vec<_>>()
        });
        longer.collect()
    })
}

/// A line with its arguments: in their places, or at its end. `None`: it is too long to be judged.
fn filled(text: &str, placeholder: &str, words: &[String]) -> Option<String> {
    let all = words.join(" ");
    let places = text.matches('{').count() + text.matches(placeholder).count();
    if text.len() + places * all.len() > MAX_JUDGED_BYTES {
        return None;
    }
    let mut line = text.replace(placeholder, &all);
    for (number, word) in words.iter().enumerate() {
        line = line.replace(&format!("{{{}}}", number + 1), word);
    }
    if line == text && !text.contains('{') {
        line = format!("{text} {all}");
    }
    Some(line)
}

/// An argument as a word of the line. A pattern of the shell stays one.
fn word(text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./,:=@%+~*?".contains(c) || c == UNKNOWN;
    if !text.is_empty() && text.chars().all(is_plain) {
        text.to_owned()
    } else {
        quoted(text)
    }
}

//! Programs that start a command for each thing that they find or read: xargs(1), find(1).

use super::batch_command::{BatchCommand, Batches};
use super::inner_command::InnerCommand;
use super::shells::shell_line;
use crate::program::kind::{base_name, is_shell};
use crate::program::options::{Order, Valued, options};
use crate::shell::word::{UNKNOWN, Word};
use crate::word_list::is_listed;

/// The command of xargs(1). A command that is itself read is not known.
pub(super) fn xargs(args: &[Word]) -> Vec<InnerCommand> {
    const DELIMITERS: [&str; 4] = ["d", "delimiter", "E", "eof"];
    const LIMITS: [&str; 11] = [
        "0",
        "null",
        "n",
        "max-args",
        "L",
        "l",
        "max-lines",
        "s",
        "max-chars",
        "P",
        "max-procs",
    ];
    const VALUED: Valued<'_> = Valued::These(
        "
        a d E I L n P s J R S arg-file delimiter max-args max-procs max-chars process-slot-var",
    );
    let options = options(args, VALUED, Order::OptionsFirst);
    let Some((at, _)) = options.operands.first() else {
        return Vec::new();
    };
    let words = args.get(*at..).unwrap_or_default().to_vec();
    let (name, rest) = (words.first(), words.get(1..).unwrap_or_default());
    let name = name.map_or("", |word| base_name(&word.text));
    let replaced = options.value(&["I"]).map(|(_, text)| text);
    let placeholder = replaced.unwrap_or("{}");
    let runs_input = words.first().is_some_and(|word| word.text == placeholder)
        || (is_shell(name)
            && match shell_line(name, rest).first() {
                Some(InnerCommand::Script { text, .. }) => {
                    text.trim_start().starts_with(placeholder) || text.trim() == "$0"
                }
                _ => rest
                    .iter()
                    .any(|word| word.text.ends_with('c') && word.text.starts_with('-')),
            });
    let batches = if options.has(&DELIMITERS) {
        Batches::Any
    } else if options.has(&LIMITS) {
        Batches::Some
    } else {
        Batches::One
    };
    let mut started = vec![InnerCommand::Batch(BatchCommand {
        words,
        placeholder: replaced.map(str::to_owned),
        batches,
    })];
    if runs_input {
        started.push(InnerCommand::Unknown("it runs what it reads"));
    }
    started
}

/// The commands of find(1).
pub(super) fn find(args: &[Word]) -> Vec<InnerCommand> {
    let mut started = Vec::new();
    let mut words = args.iter();
    while let Some(word) = words.next() {
        if matches!(&*word.text, "-exec" | "-execdir" | "-ok" | "-okdir") {
            let command = words
                .by_ref()
                .take_while(|word| !matches!(&*word.text, ";" | "+"));
            started.push(InnerCommand::Argv(command.map(with_found).collect()));
        }
    }
    if has_open_expression(args) {
        started.push(InnerCommand::Any);
    }
    started
}

/// Whether unknown words may be a part of the expression, such as `-exec`. The first operand is where
/// find(1) begins, and what stands behind a primary such as `-name` is its value.
fn has_open_expression(args: &[Word]) -> bool {
    const PRIMARIES: &str = "
        -name -iname -path -ipath -wholename -iwholename -regex -iregex -lname -ilname -type -xtype -size -mtime -atime -ctime
        -mmin -amin -cmin -newer -newermt -anewer -cnewer -maxdepth -mindepth -perm -user -group -uid -gid -links -inum
        -samefile -fstype -regextype -printf -fprint -fprint0 -fprintf -fls";
    let is_option = |word: &&Word| is_listed(&word.text, "-H -L -P");
    let place = args.iter().take_while(is_option).count();
    let pairs = args.iter().zip(args.iter().skip(1)).skip(place);
    let mut open = pairs.filter(|(before, word)| {
        word.text.starts_with(UNKNOWN) && word.splits && !is_listed(&before.text, PRIMARIES)
    });
    open.next().is_some()
}

/// A word in which find(1) puts the name of a file for `{}`.
fn with_found(word: &Word) -> Word {
    let unknown = UNKNOWN.to_string();
    Word {
        text: word.text.replace("{}", &unknown),
        ..word.clone()
    }
}

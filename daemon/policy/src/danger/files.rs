//! Programs that remove or overwrite files, or open them to everybody.

use super::arguments::any;
use super::git;
use super::writes::{self, is_device, is_system_path, normal};
use crate::program::options::{Options, Order, Valued, options};
use crate::shell::word::Word;

const NO_VALUES: Valued<'_> = Valued::These("");

pub(crate) fn danger(program: &str, args: &[Word]) -> Option<String> {
    match program {
        "rm" => rm(&options(args, NO_VALUES, Order::Permuted)),
        "chmod" => chmod(args),
        "chown" | "chgrp" | "setfacl" => {
            let given = options(args, NO_VALUES, Order::Permuted);
            given
                .has(&["R", "recursive"])
                .then(|| format!("`{program} -R` changes a whole tree"))
        }
        "chattr" => {
            (!args.is_empty()).then(|| "chattr changes what may be done with a file".to_owned())
        }
        "shred" => (!args.is_empty()).then(|| "shred overwrites files for good".to_owned()),
        "srm" | "wipe" => (!args.is_empty()).then(|| format!("{program} removes files for good")),
        "find" => {
            any(args, "-delete").then(|| "`find -delete` removes all that it finds".to_owned())
        }
        "mv" | "cp" | "install" | "ln" => copied(program, args),
        "tee" => {
            let given = options(args, NO_VALUES, Order::Permuted);
            let appends = given.has(&["a", "append"]);
            let mut files = given.operands.iter();
            files.find_map(|(_, path)| writes::danger(path, appends))
        }
        "truncate" => {
            let given = options(args, Valued::These("s r size"), Order::Permuted);
            given
                .operands
                .iter()
                .find_map(|(_, path)| writes::danger(path, false))
        }
        "git" => git::danger(args),
        _ => None,
    }
}

fn rm(given: &Options<'_>) -> Option<String> {
    let forced = given.has(&["f", "force"]);
    let recursive = given.has(&["r", "R", "recursive"]);
    if given.has(&["no-preserve-root"]) {
        return Some("`rm --no-preserve-root` may remove everything".to_owned());
    }
    let spelled = match (recursive, forced) {
        (true, true) => "rm -rf",
        (true, false) => "rm -r",
        (false, true) => "rm -f",
        (false, false) => {
            let mut paths = given.operands.iter();
            return paths
                .find(|(_, path)| is_system_path(&normal(path)))
                .map(|_| "it removes a file of the system".to_owned());
        }
    };
    Some(match (recursive, forced) {
        (true, _) => format!("`{spelled}` removes whole trees"),
        _ => format!("`{spelled}` removes without asking"),
    })
}

fn chmod(args: &[Word]) -> Option<String> {
    let flags = args.iter().filter(|word| {
        // `-x` and `-rw` are modes and not options.
        word.text.starts_with("--")
            || !word
                .text
                .trim_matches('-')
                .contains(['r', 'w', 'x', 's', 't', ','])
    });
    let flags: Vec<Word> = flags.cloned().collect();
    let given = options(&flags, NO_VALUES, Order::Permuted);
    if given.has(&["R", "recursive"]) || args.iter().any(|word| is_recursive_cluster(&word.text)) {
        return Some("`chmod -R` changes a whole tree".to_owned());
    }
    let mode = args.iter().find(|word| !word.text.starts_with('-'))?;
    let octal = mode.text.trim_start_matches('0');
    let numeric = !octal.is_empty() && octal.chars().all(|c| c.is_digit(8));
    let everybody = (numeric && octal.len() >= 3 && octal.ends_with("777"))
        || mode.text.split(',').any(|clause| {
            let (who, rights) = clause.split_once(['+', '=']).unwrap_or((clause, ""));
            let all = who.contains('a') || (who.contains('o') && who.contains('u'));
            all && ["r", "w", "x"].iter().all(|right| rights.contains(right))
        });
    everybody.then(|| format!("`chmod {}` opens it to everybody", mode.text))
}

fn is_recursive_cluster(text: &str) -> bool {
    text.starts_with('-') && !text.starts_with("--") && text.contains('R')
}

fn copied(program: &str, args: &[Word]) -> Option<String> {
    let given = options(args, Valued::These("S suffix"), Order::Permuted);
    let target = given.value(&["t", "target-directory"]);
    let last = target.or_else(|| given.operands.last().copied());
    let (_, path) = last?;
    let path = normal(path);
    if program == "mv" && path == "/dev/null" {
        return Some("`mv … /dev/null` destroys it".to_owned());
    }
    if program == "mv"
        && given
            .operands
            .iter()
            .any(|(_, from)| is_root(&normal(from)))
    {
        return Some("it moves the whole system away".to_owned());
    }
    (given.operands.len() > 1 && is_device(&path))
        .then(|| format!("it writes over the device {path}"))
}

fn is_root(path: &str) -> bool {
    matches!(path, "/" | "/*")
}

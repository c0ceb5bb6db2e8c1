//! Programs that remove files, or open them to everybody: rm(1), chmod(1), find(1).

use super::writes::{is_root, normal};
use crate::program::options::{Options, Order, Valued, options};
use crate::shell::word::Word;

const NO_VALUES: Valued<'_> = Valued::These("");

pub(super) fn danger(program: &str, args: &[Word]) -> Option<String> {
    match program {
        "rm" => rm(&options(args, NO_VALUES, Order::Permuted)),
        "chmod" => chmod(args),
        "find" => args
            .iter()
            .any(|word| word.text == "-delete")
            .then(|| "`find -delete` removes all that it finds".to_owned()),
        "mv" => {
            let mut from = args.iter();
            from.any(|word| is_root(&normal(&word.text)))
                .then(|| "it moves the whole system away".to_owned())
        }
        _ => None,
    }
}

fn rm(given: &Options<'_>) -> Option<String> {
    let forced = given.has(&["f", "force"]);
    let recursive = given.has(&["r", "R", "recursive"]);
    if given.has(&["no-preserve-root"]) {
        return Some("`rm --no-preserve-root` may remove everything".to_owned());
    }
    match (recursive, forced) {
        (true, true) => Some("`rm -rf` removes whole trees".to_owned()),
        (true, false) => Some("`rm -r` removes whole trees".to_owned()),
        (false, true) => Some("`rm -f` removes without asking".to_owned()),
        (false, false) => None,
    }
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
    let setuid = numeric && octal.len() == 4 && octal.starts_with(['4', '5', '6', '7'])
        || mode.text.split(',').any(|clause| {
            let (who, rights) = clause.split_once(['+', '=']).unwrap_or((clause, ""));
            rights.contains('s') && (who.is_empty() || who.contains(['u', 'a']))
        });
    if setuid {
        let mode = &mode.text;
        return Some(format!(
            "`chmod {mode}` lets everybody run it with its owner's rights"
        ));
    }
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

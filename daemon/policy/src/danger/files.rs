//! Programs that remove files, or open them to everybody: rm(1), chmod(1), find(1).

use super::writes::{is_data, is_one_of, is_root, is_system_path, normal};
use crate::program::kind::base_name;
use crate::program::options::{Options, Order, Valued, options};
use crate::program::table::FilePatterns;
use crate::shell::word::{UNKNOWN, Word};
use crate::word_list::is_listed;

const NO_VALUES: Valued<'_> = Valued::These("");

pub(super) fn danger(patterns: &FilePatterns, program: &str, args: &[Word]) -> Option<String> {
    match program {
        "rm" if args.iter().any(|word| word.text == "{}") => {
            Some("`rm` removes all that another command finds".to_owned())
        }
        "rm" => rm(patterns, &options(args, NO_VALUES, Order::Permuted)),
        "chmod" => chmod(args),
        "truncate" => truncate(&options(
            args,
            Valued::These("s size r reference"),
            Order::Permuted,
        )),
        "rsync" => rsync(&options(
            args,
            Valued::These("e rsh f filter exclude include exclude-from include-from T B"),
            Order::Permuted,
        )),
        "install" | "ginstall" => {
            let given = options(
                args,
                Valued::These("m mode o owner g group S suffix t target-directory"),
                Order::Permuted,
            );
            let (_, mode) = given.value(&["m", "mode"])?;
            is_setuid(mode).then(|| {
                format!("`install -m {mode}` lets everybody run it with its owner's rights")
            })
        }
        "perl" | "ruby" | "gawk" => {
            drops_lines(program, args).then(|| format!("`{program} -i` empties files"))
        }
        "find" | "gfind" => {
            let is_removal = |pair: &[Word]| match pair {
                [first, second] => {
                    let runs = matches!(&*first.text, "-exec" | "-execdir");
                    runs && is_listed(
                        base_name(&second.text),
                        "rm unlink shred trash trash-put srm",
                    )
                }
                _ => false,
            };
            let removes =
                args.iter().any(|word| word.text == "-delete") || args.windows(2).any(is_removal);
            removes.then(|| "`find` removes all that it finds".to_owned())
        }
        "mv" => {
            let mut from = args.iter();
            from.any(|word| is_root(&normal(&word.text)))
                .then(|| "it moves the whole system away".to_owned())
        }
        _ => None,
    }
}

fn rm(patterns: &FilePatterns, given: &Options<'_>) -> Option<String> {
    let forced = given.has(&["f", "force"]);
    let recursive = given.has(&["r", "R", "recursive"]);
    if given.has(&["no-preserve-root"]) {
        return Some("`rm --no-preserve-root` may remove everything".to_owned());
    }
    let is_every = |file: &str| {
        matches!(file, "*" | "./*" | ".*" | "*.*" | "**")
            || file.starts_with("!(")
            || file.starts_with('^')
    };
    if given.operands.iter().any(|(_, file)| is_every(file)) {
        return Some("`rm` removes every file of a directory".to_owned());
    }
    let mut operands = given.operands.iter();
    let names_some = !given.operands.is_empty();
    if recursive && names_some && operands.all(|(_, path)| is_regenerated(patterns, path)) {
        return None;
    }
    match (recursive, forced) {
        (true, true) => Some("`rm -rf` removes whole trees".to_owned()),
        (true, false) => Some("`rm -r` removes whole trees".to_owned()),
        (false, true) if given.operands.iter().all(|(_, file)| is_named_file(file)) => None,
        (false, true) => Some("`rm -f` removes without asking".to_owned()),
        (false, false) => None,
    }
}

/// Whether a word names a directory below that of the command which a tool makes anew: `node_modules`.
fn is_regenerated(patterns: &FilePatterns, word: &str) -> bool {
    let path = word.strip_prefix("./").unwrap_or(word);
    let is_plain = !path.starts_with(['/', '~', '$'])
        && !path.contains(['*', '?', '[', '{', UNKNOWN])
        && !path.split('/').any(|part| part == "..");
    let path = format!("./{}", path.trim_end_matches('/'));
    is_plain && is_one_of(&patterns.regenerated, &path)
}

/// Whether a word names one file of the directory or of /tmp, with its suffix: `notes/old.md`.
fn is_named_file(word: &str) -> bool {
    let made = word.strip_prefix("/tmp/tmp.").unwrap_or_default();
    if made.starts_with(UNKNOWN) && !made.contains(['/', '*']) {
        // A file of mktemp(1).
        return true;
    }
    let word = word.strip_prefix("./").unwrap_or(word);
    let word = word.strip_prefix("/tmp/").unwrap_or(word);
    let is_plain = !word.starts_with(['/', '~', '.', '$'])
        && !word.contains(['*', '?', '[', '{', UNKNOWN])
        && !word.split('/').any(|part| part == "..");
    let name = word.rsplit('/').next().unwrap_or_default();
    let suffix = name.rsplit_once('.').map_or("", |(_, suffix)| suffix);
    is_plain && !suffix.is_empty() && !is_data(name)
}

/// The suffixes of files that somebody has entered or collected.
const KEPT_SUFFIXES: &str = "
    csv tsv json jsonl ndjson xml yml yaml toml ini conf cnf env xls xlsx ods doc docx odt mbox ics ledger journal
    geojson npy pkl h5 feather avro orc";
/// Directories that data is kept in.
const KEPT_PLACES: &str = "data db backup backups storage uploads";
/// Directories of what programs make anew.
const OUTPUT_PLACES: &str = "
    log logs tmp temp cache .cache build dist out output target coverage reports results test-results artifacts
    node_modules";
/// How the names of files begin that programs make anew.
const OUTPUT_NAMES: [&str; 8] = [
    "out", "result", "report", "tmp", "temp", "log", "summary", "test",
];

/// Whether a file holds what somebody has entered or collected, by its name: no log, and no output of a build.
pub(crate) fn is_kept(path: &str) -> bool {
    if path.starts_with("/tmp/") || path.starts_with("/var/tmp/") {
        return false;
    }
    let (directories, name) = path.rsplit_once('/').unwrap_or(("", path));
    let suffix = name.rsplit_once('.').map_or("", |(_, suffix)| suffix);
    let mut places = directories.split('/');
    let is_of_home = path.starts_with(['~', '$']) && !path.contains("/.");
    let is_of_data = is_listed(places.clone().next().unwrap_or(""), KEPT_PLACES);
    let is_stored = (is_of_home || is_of_data) && !name.starts_with('.') && suffix != "log";
    let is_output = places.any(|place| is_listed(place, OUTPUT_PLACES))
        || OUTPUT_NAMES.iter().any(|begin| name.starts_with(begin));
    is_data(name) || (!is_output && (is_stored || is_listed(suffix, KEPT_SUFFIXES)))
}

/// Files that truncate(1) empties. A log may be emptied, and so may a file that the text cannot know to
/// hold more than a name without a suffix.
fn truncate(given: &Options<'_>) -> Option<String> {
    let (_, size) = given.value(&["s", "size"])?;
    let shrinks = size.trim_start_matches('0').is_empty() || size.starts_with(['-', '<', '/', '%']);
    let is_kept = |file: &str| {
        let is_output = [".log", ".out", ".tmp", ".txt"]
            .iter()
            .any(|end| file.ends_with(end));
        let name = file.rsplit('/').next().unwrap_or_default();
        !file.starts_with("/tmp/")
            && !is_output
            && (file.contains(['{', '*', UNKNOWN]) || name.contains('.'))
    };
    let mut files = given.operands.iter();
    (shrinks && files.any(|(_, file)| is_kept(file)))
        .then(|| "`truncate` empties a file".to_owned())
}

/// Whether code that edits files in place prints no line: `perl -i -ne 'print if 0'`, `gawk -i inplace 0`.
fn drops_lines(program: &str, args: &[Word]) -> bool {
    let valued = match program {
        "gawk" => "i include v assign F e source",
        _ => "e E I M m r C",
    };
    let given = options(args, Valued::These(valued), Order::OptionsFirst);
    let is_in_place = match program {
        "gawk" => given
            .value(&["i", "include"])
            .is_some_and(|(_, file)| file == "inplace"),
        _ => given.has_exactly("i") && given.has_exactly("n"),
    };
    let code = given.value(&["e", "E", "source"]);
    let code = code.or_else(|| {
        given
            .operands
            .first()
            .copied()
            .filter(|_| program == "gawk")
    });
    let Some((_, code)) = code.filter(|_| is_in_place) else {
        return false;
    };
    let prints = ["print", "say", "puts", "write", "putc", "p "]
        .iter()
        .any(|call| code.contains(call));
    let code = code.trim().trim_end_matches(';');
    let never = [
        "if 0",
        "unless 1",
        "if false",
        "unless true",
        "if undef",
        "if nil",
        "if ''",
        "if \"\"",
    ];
    if program == "gawk" {
        // A pattern without an action prints.
        return !prints
            && (code == "0" || (code.ends_with('}') && code.starts_with(['{', '/', 'B'])));
    }
    !prints || never.iter().any(|end| code.ends_with(end))
}

/// `rsync --delete` to a place outside of the directory.
fn rsync(given: &Options<'_>) -> Option<String> {
    let deletes = given.has(&[
        "delete",
        "del",
        "delete-after",
        "delete-before",
        "delete-excluded",
        "delete-during",
    ]);
    let tries = given.has(&["n", "dry-run"]) || given.has_exactly("n");
    let (_, place) = given.operands.last().filter(|_| given.operands.len() > 1)?;
    let is_temporary = place.starts_with("/tmp/") || place.starts_with("/var/tmp/");
    let is_outside = place.starts_with(['/', '~', '$', UNKNOWN])
        || place.starts_with("..")
        || place.contains(':');
    let (_, source) = given.operands.first()?;
    let name = source
        .trim_end_matches('/')
        .rsplit('/')
        .next()
        .unwrap_or_default();
    let is_empty = matches!(
        name,
        "empty" | "void" | "none" | "null" | "blank" | "nothing" | "e" | ""
    ) || source.starts_with("/tmp/")
        || source.starts_with("/var/tmp/")
        || source.contains("mktemp");
    if deletes && !tries && is_empty && !is_temporary {
        return Some("`rsync --delete` from an empty directory removes all".to_owned());
    }
    (deletes && !tries && is_outside && !is_temporary)
        .then(|| "`rsync --delete` removes what is at the other place".to_owned())
}

fn is_setuid(mode: &str) -> bool {
    let octal = mode.trim_start_matches('0');
    let numeric = !octal.is_empty() && octal.chars().all(|c| c.is_digit(8));
    numeric && octal.len() == 4 && octal.starts_with(['4', '5', '6', '7'])
        || mode.split(',').any(|clause| {
            let (who, rights) = clause.split_once(['+', '=']).unwrap_or((clause, ""));
            rights.contains('s') && (who.is_empty() || who.contains(['u', 'a']))
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
    if args.iter().any(|word| is_system_path(&word.text)) {
        return Some("`chmod` changes the rights of a file of the system".to_owned());
    }
    let octal = mode.text.trim_start_matches('0');
    let numeric = !octal.is_empty() && octal.chars().all(|c| c.is_digit(8));
    if is_setuid(&mode.text) {
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

//! What removes or overwrites files, or opens them to everybody.

use super::any;
use crate::program::options::{Options, Order, Valued, options};
use crate::shell::word::Word;

const NO_VALUES: Valued<'_> = Valued::These(&[]);

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
            any(args, &["-delete"]).then(|| "`find -delete` removes all that it finds".to_owned())
        }
        "mv" | "cp" | "install" | "ln" => copied(program, args),
        "tee" => {
            let given = options(args, NO_VALUES, Order::Permuted);
            let appends = given.has(&["a", "append"]);
            let mut files = given.operands.iter();
            files.find_map(|(_, path)| of_writing(path, appends))
        }
        "truncate" => {
            let given = options(args, Valued::These(&["s", "r", "size"]), Order::Permuted);
            given
                .operands
                .iter()
                .find_map(|(_, path)| of_writing(path, false))
        }
        "git" => git(args),
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
        // `-x` and `-rw` are modes.
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
    let given = options(args, Valued::These(&["S", "suffix"]), Order::Permuted);
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

/// Why it is dangerous to write to this file.
pub(crate) fn of_writing(path: &str, appends: bool) -> Option<String> {
    let path = normal(path);
    if is_device(&path) {
        return Some(format!("it writes over the device {path}"));
    }
    if path == "/proc/sysrq-trigger" {
        return Some("it stops the machine by the kernel's own key".to_owned());
    }
    if is_system_path(&path) {
        return Some("it writes over a file of the system".to_owned());
    }
    if path.ends_with("/.ssh/authorized_keys") {
        return Some("it changes who may log in".to_owned());
    }
    let starts_shells = [
        ".bashrc",
        ".bash_profile",
        ".profile",
        ".zshrc",
        ".zshenv",
        ".zprofile",
    ];
    let name = path.rsplit('/').next().unwrap_or_default();
    let at_home = path.starts_with(['~', '$', '/', crate::shell::word::UNKNOWN]);
    (!appends && at_home && starts_shells.contains(&name))
        .then(|| "it empties a file that shells start with".to_owned())
}

/// A path without `.`, `..` and doubled slashes, as far as the text goes.
fn normal(path: &str) -> String {
    if !path.starts_with('/') {
        return path.to_owned();
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

fn is_root(path: &str) -> bool {
    matches!(path, "/" | "/*")
}

fn is_system_path(path: &str) -> bool {
    let trees = [
        "/etc/",
        "/boot/",
        "/bin/",
        "/sbin/",
        "/lib/",
        "/lib64/",
        "/usr/bin/",
        "/usr/sbin/",
        "/usr/lib/",
    ];
    trees.iter().any(|tree| path.starts_with(tree))
}

/// A disk or a part of one, or the machine's memory.
fn is_device(path: &str) -> bool {
    let Some(name) = path.strip_prefix("/dev/") else {
        return false;
    };
    let numbered = [
        "sd", "hd", "vd", "xvd", "nvme", "mmcblk", "dm-", "md", "loop", "sr", "nbd",
    ];
    let kernel = ["mem", "kmem", "port"];
    let below = ["mapper/", "disk/", "block/"];
    kernel.contains(&name)
        || below.iter().any(|part| name.starts_with(part))
        || numbered.iter().any(|kind| {
            name.strip_prefix(kind).is_some_and(|rest| {
                rest.starts_with(|c: char| {
                    c.is_ascii_alphanumeric() || c == crate::shell::word::UNKNOWN
                })
            })
        })
}

/// git(1): what throws work away here, or elsewhere.
fn git(args: &[Word]) -> Option<String> {
    const GLOBAL: [&str; 7] = [
        "-C",
        "-c",
        "--git-dir",
        "--work-tree",
        "--namespace",
        "--exec-path",
        "--config-env",
    ];
    let (verb, rest) = super::verb(args, &GLOBAL)?;
    let given = options(
        rest,
        Valued::These(&["o", "push-option", "repo", "e", "exclude"]),
        Order::Permuted,
    );
    let said = |what: &str| Some(format!("`git {what}"));
    match verb {
        "reset" if given.has(&["hard"]) => said("reset --hard` throws changes away"),
        "push" => {
            // Not by abbreviation: `--force` begins three options, and all of them overwrite.
            let forced = given.has(&["f", "force", "force-with-lease", "mirror", "delete", "d"]);
            let refspecs = given.operands.iter().skip(1);
            let by_refspec = refspecs
                .into_iter()
                .any(|(_, text)| text.starts_with(['+', ':']));
            (forced || by_refspec)
                .then(|| "`git push --force` overwrites what others may have".to_owned())
        }
        "clean" => {
            let forced = given.has(&["f", "force"]);
            let only_shows = given.has(&["n", "dry-run"]);
            (forced && !only_shows)
                .then(|| "`git clean -f` removes files that git does not know".to_owned())
        }
        "rm" if given.has(&["f", "force"]) && !given.has(&["cached"]) => {
            said("rm -f` removes changed files")
        }
        "filter-branch" | "filter-repo" => said("filter-branch` rewrites history"),
        "reflog" if given.operand(0) == Some("expire") => {
            said("reflog expire` removes the way back")
        }
        "gc" if rest.iter().any(|word| word.text.starts_with("--prune=")) => {
            said("gc --prune` removes the way back")
        }
        "update-ref" if given.has(&["d"]) => said("update-ref -d` removes a reference"),
        "stash" if matches!(given.operand(0), Some("clear" | "drop")) => {
            said("stash` throws stashed changes away")
        }
        _ => None,
    }
}

//! Which commands destroy, stop or give away, by families.
//!
//! Each family is asked with a program's name and its arguments, and says in one line what is
//! dangerous about them. It must not know how a command was found in a text.

pub(crate) mod code;
mod files;
pub(crate) mod fork_bomb;
mod packages;
mod services;
pub(crate) mod sql;
mod storage;

pub(crate) use files::of_writing;

use crate::shell::word::Word;

/// Why this command is dangerous; `None`: nothing about it is known to be.
pub(crate) fn of_command(program: &str, args: &[Word]) -> Option<String> {
    if asks_for_help(args) {
        return None;
    }
    files::danger(program, args)
        .or_else(|| storage::danger(program, args))
        .or_else(|| services::danger(program, args))
        .or_else(|| packages::danger(program, args))
}

/// A script of System V's init, by its path.
pub(crate) fn of_init_script(path: &str, args: &[Word]) -> Option<String> {
    let stops = path.starts_with("/etc/init.d/") && any(args, &["stop", "force-stop"]);
    stops.then(|| format!("`{path} stop` stops a service"))
}

/// `--help` and `--version` end a program before it does anything.
fn asks_for_help(args: &[Word]) -> bool {
    let before = args.iter().take_while(|word| word.text != "--");
    let mut options = before.map(|word| word.text.as_str());
    options.any(|text| matches!(text, "--help" | "--version"))
}

/// The first argument that is no option, and what is behind it.
fn verb<'a>(args: &'a [Word], valued: &[&str]) -> Option<(&'a str, &'a [Word])> {
    let mut at = 0;
    while let Some(word) = args.get(at) {
        if !word.text.starts_with('-') {
            return Some((&word.text, args.get(at + 1..).unwrap_or_default()));
        }
        at += if valued.contains(&&*word.text) { 2 } else { 1 };
    }
    None
}

/// Whether one of the arguments is one of these, to the letter.
fn any(args: &[Word], wanted: &[&str]) -> bool {
    args.iter().any(|word| wanted.contains(&&*word.text))
}

/// Whether a word is a name or a flag of something dangerous: enough to doubt a line of which only
/// parts are known.
pub(crate) fn is_dangerous_word(word: &str) -> bool {
    matches!(
        word,
        "rm" | "dd"
            | "mkfs"
            | "shred"
            | "wipefs"
            | "shutdown"
            | "reboot"
            | "halt"
            | "poweroff"
            | "kill"
            | "pkill"
            | "killall"
            | "chmod"
            | "chown"
            | "systemctl"
            | "push"
            | "reset"
            | "clean"
            | "find"
            | "DROP"
            | "drop"
            | "TRUNCATE"
            | "truncate"
            | "DELETE"
            | "delete"
            | "destroy"
            | "prune"
            | "-rf"
            | "-fr"
            | "-r"
            | "-f"
            | "-R"
            | "-9"
            | "--force"
            | "--hard"
            | "--recursive"
            | "-delete"
    )
}

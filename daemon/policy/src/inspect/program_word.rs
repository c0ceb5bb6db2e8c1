//! What the first word of a command says of its program.

use crate::program::kind::base_name;
use crate::shell::state::ShellState;
use crate::shell::word::{UNKNOWN, Word};

/// Whether a word is a variable that holds a descriptor (bash(1), REDIRECTION): `exec {NAME[1]}>&-`.
pub(super) fn is_descriptor_variable(word: &Word) -> bool {
    let inner = word.raw.strip_prefix('{');
    let inner = inner.and_then(|raw| raw.strip_suffix('}'));
    inner.is_some_and(|raw| raw.ends_with(']') && !raw.contains([',', '.']))
}

/// Whether a word is an argument of the function or the script that it stands in, or all of them: `$1`, `"$@"`.
pub(super) fn is_parameter(word: &Word) -> bool {
    let raw = word.raw.trim_matches(['"', '{', '}']);
    raw.strip_prefix('$').is_some_and(|rest| {
        let rest = rest.trim_start_matches('{');
        matches!(rest, "@" | "*") || rest.starts_with(|c: char| c.is_ascii_digit())
    })
}

/// Whether the name of a word's program is only known once it runs, or is a pattern that the shell
/// replaces.
pub(super) fn is_computed(word: &Word) -> bool {
    let name = base_name(word.possible());
    // What xargs(1), fd(1) and parallel(1) put in.
    name.contains(UNKNOWN) || name.contains("{}")
}

/// The end of a program's name that is not known, or not for certain. `None`: it is known.
pub(super) fn unknown_name_end(word: &Word) -> Option<String> {
    let name = base_name(word.possible());
    if word.splits {
        // The known part may become a word of its own.
        return Some(String::new());
    }
    if name.contains("{}") {
        return Some(String::new());
    }
    let (_, end) = name.rsplit_once(UNKNOWN)?;
    Some(end.to_owned())
}

/// The program that a word names, if that is known. The last part of its path is enough.
pub(super) fn known_program(word: &Word, state: &ShellState) -> Option<String> {
    if !is_computed(word) {
        // zsh(1), "= expansion".
        let name = base_name(&word.text);
        return Some(name.strip_prefix('=').unwrap_or(name).to_owned());
    }
    if word.text.chars().count() > 1 {
        return None;
    }
    // Variables that by custom hold a program, as a program of the same kind.
    let variable = word.raw.trim_matches(['"', '{', '}', '$']);
    if state.contents(variable).is_some() {
        return None;
    }
    let known = match variable {
        "SHELL" | "BASH" => "sh",
        "EDITOR" | "VISUAL" | "PAGER" | "BROWSER" | "CC" | "CXX" | "LD" | "AR" | "MAKE"
        | "CARGO" | "RUSTC" | "GIT" | "NODE" | "NPM" | "GO" | "JAVA" => "true",
        "PYTHON" | "PYTHON3" => "python3",
        _ => return None,
    };
    Some(known.to_owned())
}

//! The line that an agent's model asked for, out of the argv of the shell that runs it.
//!
//! Agents put a preamble before each line, and something behind it: 400 bytes around an `ls`. A person who
//! reads a history looks for the `ls`. The whole argv is kept and judged all the same.
//!
//! **Promise:** what is left out is a wrapper of a known form, byte for byte. A line around which
//! anything else stands is given whole, and an argv of which more runs than one line gives none. The files
//! that a wrapper names (an agent's snapshot of a shell) are taken for the agent's by the form of their
//! paths, and the environment is no part of an argv.

mod wrapper;

use crate::program::kind::base_name;

/// Names of the shells that read a line as these wrappers are written.
const SHELLS: [&str; 4] = ["bash", "zsh", "sh", "dash"];
/// Directories of a system's own programs. Any file elsewhere may be called `bash`.
const SYSTEM_DIRECTORIES: [&str; 4] = [
    "/bin",
    "/usr/bin",
    "/usr/local/bin",
    "/run/current-system/sw/bin",
];

/// The line that is meant by an argv such as `bash -c LINE`, without the wrapper of the agent. `None`: the
/// argv is not that of a shell with one line, so it stands for itself. The program is given by its path
/// where that is known.
pub fn agent_line(argv: &[String]) -> Option<String> {
    let line = shell_line(argv)?;
    let inner = wrapper::unwrapped(line).map(|unwrapped| unwrapped.line());
    Some(inner.unwrap_or_else(|| line.to_owned()))
}

/// The same argv with another line in its wrapper. `None`: there is no wrapper.
pub(crate) fn with_line(
    argv: &[String],
    change: impl FnOnce(&str) -> String,
) -> Option<Vec<String>> {
    let line = shell_line(argv)?;
    let unwrapped = wrapper::unwrapped(line)?;
    let changed = unwrapped.with_line(&change(&unwrapped.line()));
    let words = argv.iter();
    let words = words.map(|word| if word == line { &changed } else { word });
    Some(words.cloned().collect())
}

/// The one line that an argv has its shell run.
fn shell_line(argv: &[String]) -> Option<&str> {
    let (program, arguments) = argv.split_first()?;
    if !is_system_shell(program) {
        return None;
    }
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    // Parameters of the line would be a part of what runs.
    let (["-c" | "-lc", line] | ["-l", "-c", line] | ["-c", "-l", line]) = *arguments.as_slice()
    else {
        return None;
    };
    // A shell takes it for one more option.
    (!line.starts_with(['-', '+'])).then_some(line)
}

/// Whether a program is a shell of the system, by its path or its bare name.
fn is_system_shell(program: &str) -> bool {
    let is_in_system = match program.rsplit_once('/') {
        Some((directory, _)) => SYSTEM_DIRECTORIES.contains(&directory),
        None => true,
    };
    is_in_system && SHELLS.contains(&base_name(program))
}

//! What programs do with what they are given, by their manuals. What is dangerous is not known here.

pub(crate) mod input;
pub(crate) mod kind;
pub(crate) mod options;
pub(crate) mod output;
pub(crate) mod table;
pub(crate) mod wrapper;

pub use input::{code_reader, is_shell_of_stdin};
pub use kind::{is_interpreter, is_shell};

/// Whether a program of this name reads lines of a shell, here or on another machine.
pub fn reads_shell_lines(name: &str) -> bool {
    kind::program_kind(name) == kind::ProgramKind::Shell
}

/// Whether a variable of this name makes programs run or load something.
pub fn is_program_variable(name: &str) -> bool {
    table::ProgramTable::built_in().variable(name).is_some() || is_git_setting(name)
}

/// Whether a variable of this name is one of those that give git a setting together: `GIT_CONFIG_KEY_0`
/// (git-config(1)).
pub fn is_git_setting(name: &str) -> bool {
    let parts = ["GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_"];
    name == "GIT_CONFIG_COUNT" || parts.iter().any(|part| name.starts_with(part))
}

/// Whether a variable of this name says in which files programs look for code that they run.
pub fn names_code_files(name: &str) -> bool {
    use table::setting::Setting::{Directories, File, Home, Script};
    let setting = table::ProgramTable::built_in().variable(name);
    matches!(setting, Some(Directories | File | Home | Script))
}

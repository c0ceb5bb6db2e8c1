//! Programs by their names: shells, clients of databases, interpreters, and programs that take keys.

use super::table::ProgramTable;
use super::table::row::Takes;

/// What a program does with a line that is typed into it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProgramKind {
    /// Runs it as a shell does, here or on another machine.
    Shell,
    /// Runs it as SQL, or as a command of the client.
    Sql(SqlClient),
    /// Runs it as code.
    Code,
    /// Takes it as text or keys: an editor, a pager, a monitor.
    Text,
    /// Not known. The shell behind the program may read what the program leaves unread.
    Other,
}

/// The language of a client of a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SqlClient {
    /// SQL: psql, mysql, sqlite3 and the like.
    Sql,
    /// A command a line: redis-cli and its kin.
    Redis,
    /// The shells of `MongoDB`.
    Mongo,
}

/// The kind of a program, by its path or by its name as the kernel has it (`proc_pid_comm(5)`).
pub(crate) fn program_kind(program: &str) -> ProgramKind {
    takes(base_name(program)).map_or(ProgramKind::Other, Takes::kind)
}

/// What a program of this name reads.
fn takes(name: &str) -> Option<Takes> {
    ProgramTable::built_in().row(name)?.takes
}

/// The last part of a path, without the leading `-` of a login shell.
pub(crate) fn base_name(program: &str) -> &str {
    let name = program.rsplit('/').next().unwrap_or(program);
    name.strip_prefix('-')
        .filter(|rest| !rest.is_empty())
        .unwrap_or(name)
}

/// Whether a program reads commands of its own, whatever its operands are: gdb, ed.
pub(crate) fn takes_commands(program: &str) -> bool {
    takes(base_name(program)) == Some(Takes::Commands)
}

/// Whether a program of this name is a shell.
pub fn is_shell(name: &str) -> bool {
    takes(name) == Some(Takes::Shell)
}

/// Whether a program is a shell whose grammar is not that of bash.
pub(crate) fn is_foreign_shell(program: &str) -> bool {
    matches!(
        base_name(program),
        "fish" | "csh" | "tcsh" | "nu" | "xonsh" | "elvish"
    )
}

/// Whether a program of this name reads commands of its own, of which some run others.
pub(crate) fn has_commands(name: &str) -> bool {
    takes(name) == Some(Takes::Commands)
}

/// Whether a program of this name is an interpreter other than a shell.
pub fn is_interpreter(name: &str) -> bool {
    takes(name) == Some(Takes::Code)
}

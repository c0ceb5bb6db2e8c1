//! Programs by their names: shells, clients of databases, interpreters, and programs that take keys.

use crate::word_list::is_listed;

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

const SHELLS: &str = "sh bash rbash zsh dash ash ksh ksh93 mksh yash fish busybox toybox csh tcsh";
/// Programs with a shell at their other end.
const SHELL_CARRIERS: &str = "
    ssh su sudo doas docker podman kubectl login mosh mosh-client script tmux screen telnet
    machinectl nsenter lxc";
/// Editors, pagers and monitors.
const TEXT_PROGRAMS: &str = "
    vi vim nvim view vimdiff ex ed nano pico emacs emacsclient micro hx helix kak joe mcedit
    less more most man info bat top htop btop atop watch tig lazygit mc ranger fzf ncdu";

/// Interpreters, without the digits of a version.
const INTERPRETERS: &str = "
    python pypy ipython bpython ptpython perl ruby irb pry node nodejs deno bun php lua luajit
    tclsh julia R Rscript ghci iex jshell";

/// The kind of a program, by its path or by its name as the kernel has it (`proc_pid_comm(5)`).
pub(crate) fn program_kind(program: &str) -> ProgramKind {
    let name = base_name(program);
    if is_shell(name) || is_listed(name, SHELL_CARRIERS) || name == "tmux: client" {
        ProgramKind::Shell
    } else if let Some(client) = sql_client(name) {
        ProgramKind::Sql(client)
    } else if is_interpreter(name) {
        ProgramKind::Code
    } else if is_listed(name, TEXT_PROGRAMS) || name.starts_with("vim.") {
        ProgramKind::Text
    } else {
        ProgramKind::Other
    }
}

/// The last part of a path, without the leading `-` of a login shell.
pub(crate) fn base_name(program: &str) -> &str {
    let name = program.rsplit('/').next().unwrap_or(program);
    name.strip_prefix('-')
        .filter(|rest| !rest.is_empty())
        .unwrap_or(name)
}

/// Whether a program of this name is a shell.
pub fn is_shell(name: &str) -> bool {
    is_listed(name, SHELLS)
}

/// Whether a program is a shell whose grammar is not that of bash.
pub(crate) fn is_foreign_shell(program: &str) -> bool {
    matches!(
        base_name(program),
        "fish" | "csh" | "tcsh" | "nu" | "xonsh" | "elvish"
    )
}

/// The language of a client of a database; `None` for any other program.
pub(crate) fn sql_client(name: &str) -> Option<SqlClient> {
    match name {
        "psql" | "pgcli" | "mysql" | "mariadb" | "mycli" | "sqlite3" | "sqlite" | "litecli"
        | "duckdb" | "cockroach" | "clickhouse" | "clickhouse-client" | "sqlcmd" | "sqlplus"
        | "usql" | "cqlsh" | "trino" | "presto" | "bq" => Some(SqlClient::Sql),
        "redis-cli" | "valkey-cli" | "keydb-cli" => Some(SqlClient::Redis),
        "mongo" | "mongosh" => Some(SqlClient::Mongo),
        _ => None,
    }
}

/// Whether a program of this name is an interpreter other than a shell.
pub(crate) fn is_interpreter(name: &str) -> bool {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    is_listed(stem, INTERPRETERS)
}

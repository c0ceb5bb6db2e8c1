//! What a program makes of what it is given: which names are shells, clients of databases, and
//! interpreters.
//!
//! It must not know what a text says.

/// What a program does with a line that is typed into it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reader {
    /// Runs it as a shell does, here or elsewhere.
    Shell,
    /// Runs it as SQL, with the commands of its own.
    Sql(SqlClient),
    /// Runs it as code.
    Code,
    /// Takes it as text or keys: an editor, a pager, a monitor.
    Text,
    /// Not known. What it leaves unread, the shell behind it reads.
    Other,
}

/// Which client of a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SqlClient {
    /// psql, mysql, sqlite3 and the like.
    Sql,
    /// redis-cli and its kin: a command a line.
    Redis,
    /// The shells of `MongoDB`.
    Mongo,
}

const SHELLS: [&str; 14] = [
    "sh", "bash", "rbash", "zsh", "dash", "ash", "ksh", "ksh93", "mksh", "yash", "fish", "busybox",
    "toybox", "csh",
];
/// What has a shell at its other end.
const CARRIERS: [&str; 19] = [
    "ssh",
    "su",
    "sudo",
    "doas",
    "docker",
    "podman",
    "kubectl",
    "login",
    "mosh",
    "mosh-client",
    "script",
    "tmux",
    "tmux: client",
    "screen",
    "telnet",
    "machinectl",
    "nsenter",
    "lxc",
    "tcsh",
];
const TEXT: [&str; 34] = [
    "vi",
    "vim",
    "nvim",
    "view",
    "vimdiff",
    "ex",
    "ed",
    "nano",
    "pico",
    "emacs",
    "emacsclient",
    "micro",
    "hx",
    "helix",
    "kak",
    "joe",
    "mcedit",
    "less",
    "more",
    "most",
    "man",
    "info",
    "bat",
    "top",
    "htop",
    "btop",
    "atop",
    "watch",
    "tig",
    "lazygit",
    "mc",
    "ranger",
    "fzf",
    "ncdu",
];

/// A program by its name (the last part of its path, or `proc_pid_comm(5)`).
pub fn reader(program: &str) -> Reader {
    let name = base_name(program);
    if is_shell(name) || CARRIERS.contains(&name) {
        Reader::Shell
    } else if let Some(client) = sql_client(name) {
        Reader::Sql(client)
    } else if is_interpreter(name) {
        Reader::Code
    } else if TEXT.contains(&name) || name.starts_with("vim.") {
        Reader::Text
    } else {
        Reader::Other
    }
}

/// The last part of a path; a login shell's leading `-` off.
pub(crate) fn base_name(program: &str) -> &str {
    let name = program.rsplit('/').next().unwrap_or(program);
    name.strip_prefix('-')
        .filter(|rest| !rest.is_empty())
        .unwrap_or(name)
}

/// Whether it is a shell.
pub fn is_shell(name: &str) -> bool {
    SHELLS.contains(&name) || name == "tcsh"
}

/// Whether it is a shell that does not read what bash reads.
pub(crate) fn is_foreign_shell(program: &str) -> bool {
    matches!(
        base_name(program),
        "fish" | "csh" | "tcsh" | "nu" | "xonsh" | "elvish"
    )
}

/// Which client of a database it is.
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

/// Whether it runs code that is no shell's.
pub(crate) fn is_interpreter(name: &str) -> bool {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    matches!(
        stem,
        "python"
            | "pypy"
            | "ipython"
            | "bpython"
            | "ptpython"
            | "perl"
            | "ruby"
            | "irb"
            | "pry"
            | "node"
            | "nodejs"
            | "deno"
            | "bun"
            | "php"
            | "lua"
            | "luajit"
            | "tclsh"
            | "julia"
            | "R"
            | "Rscript"
            | "ghci"
            | "iex"
            | "jshell"
    )
}

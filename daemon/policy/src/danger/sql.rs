//! Statements of databases that drop, truncate, or change every row.
//!
//! Comments and quoted text are skipped as the SQL standard, `PostgreSQL` and `MySQL` have them.

mod administration;
pub(crate) mod written_files;

use crate::program::kind::{SqlClient, base_name};
use crate::shell::word::{UNKNOWN, Word};
use crate::word_list::is_listed;

/// Kinds of objects that DROP removes.
const OBJECTS: &str = "
    TABLE DATABASE SCHEMA INDEX VIEW MATERIALIZED USER ROLE SEQUENCE TRIGGER FUNCTION PROCEDURE
    TYPE EXTENSION COLUMN OWNED TABLESPACE KEYSPACE POLICY FOREIGN TEMPORARY EVENT SERVER
    PUBLICATION SUBSCRIPTION LOGIN CONSTRAINT AGGREGATE DOMAIN RULE LANGUAGE WAREHOUSE STAGE PIPE STREAM TASK
    SHARE EXTERNAL SNAPSHOT DICTIONARY PACKAGE SYNONYM PROC PARTITION MEASUREMENT SERIES SHARD RETENTION GROUP
    ROUTINE OPERATOR AVAILABILITY RESOURCE CERTIFICATE CREDENTIAL CONTINUOUS DATASET CATALOG";
/// Whether a file of statements destroys something, by its name. What is restored writes over a database that
/// others use.
pub(crate) fn destroys_by_name(path: &str, args: &[Word]) -> bool {
    let host = args.windows(2).find_map(|pair| match pair {
        [option, host] if matches!(&*option.text, "-h" | "--host" | "-H" | "-S") => {
            Some(&host.text)
        }
        _ => None,
    });
    let is_remote = host.is_some_and(|host| !is_local(host))
        || args.iter().any(|word| {
            let host = word.text.strip_prefix("--host=");
            let host = host.or_else(|| word.text.split_once("://").map(|(_, rest)| rest));
            host.is_some_and(|host| !is_local(host))
        });
    let verbs = [
        "drop", "reset", "wipe", "truncate", "delete", "purge", "destroy", "teardown", "cleanup",
        "rollback", "undo", "nuke",
    ];
    let restores = ["restore", "backup", "dump"];
    let name = base_name(path).to_lowercase();
    let is_down = name.ends_with("clean.sql") || name.ends_with("down.sql");
    is_down
        || verbs.iter().any(|verb| name.contains(verb))
        || (is_remote && restores.iter().any(|verb| name.contains(verb)))
}

fn is_local(host: &str) -> bool {
    ["localhost", "127.0.0.1", "::1"]
        .iter()
        .any(|local| host.contains(local))
        || host.starts_with('/')
}

/// Why a text is dangerous to the database of a client.
pub(crate) fn danger(client: SqlClient, text: &str) -> Option<String> {
    match client {
        SqlClient::Sql => {
            if text.contains("\\gexec") {
                return Some("`\\gexec` runs the statements that it selects".to_owned());
            }
            // PostgreSQL's comments nest, others' do not.
            if text.matches("/*").count() > 1
                && let Some(reason) = of_statements(&statements(text, Comments::Nested))
            {
                return Some(reason);
            }
            of_statements(&statements(text, Comments::Flat))
        }
        SqlClient::Redis => text.split(['\n', ';']).find_map(of_redis),
        SqlClient::Mongo => {
            let tight: String = text.chars().filter(|c| !c.is_whitespace()).collect();
            let found = [
                "dropDatabase(",
                ".drop(",
                "dropDatabase:",
                "dropAllUsers",
                "dropUser(",
                "dropRole(",
                "dropIndexes(",
                "dropIndex(",
                "deleteMany({})",
                "deleteMany()",
                "remove({})",
                "updateMany({},",
                "updateUser(",
                "changeUserPassword(",
                "grantRolesToUser(",
                "killOp(",
                "rs.remove(",
                "rs.stepDown(",
                "rs.reconfig(",
                "removeShard(",
                "fsyncLock(",
                "renameCollection(",
                "convertToCapped",
                "shutdown:1",
                "shutdownServer(",
            ];
            found
                .into_iter()
                .find(|call| tight.contains(call))
                .map(|call| format!("`{call}…` drops or empties a collection, or stops the server"))
        }
    }
}

/// Why one of these statements is dangerous.
fn of_statements(statements: &[Vec<String>]) -> Option<String> {
    let word = |statement: Option<&Vec<String>>| {
        statement
            .and_then(|words| words.first())
            .cloned()
            .unwrap_or_default()
    };
    let begins = matches!(&*word(statements.first()), "BEGIN" | "START");
    let takes_back = begins && word(statements.last()) == "ROLLBACK";
    let commits = || {
        statements
            .iter()
            .any(|words| words.first().is_some_and(|word| word == "COMMIT"))
    };
    let is_kept = |words: &&Vec<String>| {
        let changes = words
            .first()
            .is_some_and(|word| word == "DELETE" || word == "UPDATE");
        !(changes && takes_back && !commits())
    };
    statements
        .iter()
        .filter(is_kept)
        .find_map(|words| of_statement(words))
}

fn of_redis(line: &str) -> Option<String> {
    let mut words = line.split_whitespace().map(str::to_ascii_uppercase);
    let first = words.next()?;
    let second = words.next().unwrap_or_default();
    let third = words.next().unwrap_or_default();
    match (first.as_str(), second.as_str()) {
        ("FLUSHALL" | "FLUSHDB" | "FLUSH_ALL", _) => Some(format!("{first} empties the database")),
        ("CONFIG", "SET") if is_listed(&third, "DIR DBFILENAME") => {
            Some("CONFIG SET makes the server write to another file".to_owned())
        }
        ("CONFIG", "SET")
            if is_listed(
                &third,
                "REQUIREPASS PROTECTED-MODE SAVE APPENDONLY MAXMEMORY MAXMEMORY-POLICY MASTERAUTH BIND",
            ) =>
        {
            Some("CONFIG SET changes how the server keeps or guards its data".to_owned())
        }
        ("DEL" | "UNLINK" | "HDEL" | "JSON.DEL", _)
            if second.contains('*') || second == UNKNOWN.to_string() =>
        {
            Some(format!("{first} removes keys that are not seen"))
        }
        ("CLIENT", "KILL") | ("ACL", "SETUSER" | "DELUSER" | "LOAD") => {
            Some(format!("{first} {second} changes who may use the server"))
        }
        ("CLUSTER", "FAILOVER" | "FORGET" | "DELSLOTS" | "FLUSHSLOTS")
        | ("SENTINEL", "REMOVE" | "FAILOVER" | "RESET")
        | ("XGROUP", "DESTROY")
        | ("SWAPDB" | "FAILOVER" | "MIGRATE", _) => Some(format!(
            "{first} {second} replaces or moves what the server holds"
        )),
        ("MODULE", "LOAD") | ("DEBUG", _) => {
            Some(format!("{first} {second} can stop or take over the server"))
        }
        ("SLAVEOF" | "REPLICAOF", _) | ("CLUSTER", "RESET") => {
            Some(format!("{first} replaces what the server holds"))
        }
        ("SHUTDOWN", _) => Some("SHUTDOWN stops the server".to_owned()),
        ("SCRIPT" | "FUNCTION", "FLUSH") => {
            Some(format!("{first} FLUSH empties the server's scripts"))
        }
        ("EVAL" | "EVALSHA", _)
            if [
                "FLUSHALL",
                "FLUSHDB",
                "'DEL'",
                "\"DEL\"",
                "UNLINK",
                "OS.EXECUTE",
                "IO.POPEN",
            ]
            .iter()
            .any(|call| line.to_ascii_uppercase().contains(call)) =>
        {
            Some(format!("{first} runs a script that removes keys"))
        }
        _ => None,
    }
}

fn of_statement(words: &[String]) -> Option<String> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    if words.first() == Some(&"EXPLAIN") && !words.contains(&"ANALYZE") {
        return None;
    }
    if let Some(reason) = administration::danger(&words) {
        return Some(reason);
    }
    // EXPLAIN without ANALYZE runs nothing. WITH … DELETE does.
    let main = words
        .iter()
        .position(|word| matches!(*word, "DROP" | "TRUNCATE" | "DELETE" | "UPDATE" | "ALTER"))?;
    let before = words.get(..main).unwrap_or_default();
    let leads = match before.first() {
        Some(&"EXPLAIN") => before.contains(&"ANALYZE"),
        None | Some(&"WITH" | &"BEGIN" | &"DO" | &"EXECUTE") => true,
        Some(_) => false,
    };
    if !leads {
        return None;
    }
    let after = words.get(main + 1..).unwrap_or_default();
    let has_where = chooses(after);
    match (
        words.get(main).copied()?,
        after.first().copied().unwrap_or_default(),
    ) {
        // The `drop` of a shell or a program has no kind of object behind it.
        ("DROP", kind) if is_object(kind) => Some(format!("DROP {kind} cannot be taken back")),
        ("TRUNCATE", next) if !next.is_empty() && next != "(" => {
            Some("TRUNCATE empties a table".to_owned())
        }
        ("DELETE", "FROM") if !has_where => {
            Some("DELETE without WHERE removes every row".to_owned())
        }
        ("DELETE", next) if next != "FROM" && after.contains(&"FROM") && !has_where => {
            Some("DELETE without WHERE removes every row".to_owned())
        }
        ("UPDATE", _) if after.contains(&"SET") && !has_where => {
            Some("UPDATE without WHERE changes every row".to_owned())
        }
        ("ALTER", "TABLE") if after.contains(&"DELETE") || after.contains(&"UPDATE") => {
            Some("ALTER TABLE … DELETE removes or changes rows for good".to_owned())
        }
        ("ALTER", "TABLE") if after.contains(&"DISABLE") || after.contains(&"DETACH") => {
            Some("ALTER TABLE takes a check or a part of a table away".to_owned())
        }
        ("ALTER", "TABLE") if after.windows(2).any(|words| words == ["RENAME", "TO"]) => {
            Some("ALTER TABLE … RENAME takes a table from those who use it".to_owned())
        }
        ("ALTER", "TABLE") if after.contains(&"DROP") => {
            Some("ALTER TABLE … DROP removes a part of a table".to_owned())
        }
        _ => None,
    }
}

/// Whether the words of a statement choose rows: `WHERE 1 = 1` does not.
fn chooses(words: &[&str]) -> bool {
    let Some(at) = words.iter().position(|word| *word == "WHERE") else {
        return false;
    };
    let rest: Vec<&str> = words
        .iter()
        .skip(at + 1)
        .take_while(|word| !matches!(**word, "RETURNING" | "LIMIT"))
        .copied()
        .collect();
    match rest.as_slice() {
        [] | ["1" | "TRUE" | "NOT"] | ["NOT", "FALSE"] | [_, "IS", "NOT", "NULL"] => false,
        [left, right] => left != right || *left == "?",
        _ => true,
    }
}

fn is_object(kind: &str) -> bool {
    is_listed(kind, OBJECTS)
}

/// Whether a comment may hold another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comments {
    Flat,
    Nested,
}

impl Comments {
    /// The length of the comment that a text begins with.
    fn length(self, text: &str) -> usize {
        let mut depth = 0_usize;
        let mut at = 0;
        while let Some(found) = text.get(at..).and_then(|rest| {
            let signs = rest.as_bytes().windows(2);
            signs.enumerate().find_map(|(from, sign)| match sign {
                b"/*" if depth == 0 || self == Self::Nested => Some((from, true)),
                b"*/" => Some((from, false)),
                _ => None,
            })
        }) {
            at += found.0 + 2;
            depth = if found.1 { depth + 1 } else { depth - 1 };
            if depth == 0 {
                return at;
            }
        }
        text.len()
    }
}

/// The words of each statement, in upper case. Comments are left out; a quoted text stands as `?`.
fn statements(text: &str, comments: Comments) -> Vec<Vec<String>> {
    let mut statements = vec![Vec::new()];
    let mut word = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let skipped = if rest.starts_with("--") || (c == '#' && word.is_empty()) {
            Some(rest.find('\n').unwrap_or(rest.len()))
        } else if rest.starts_with("/*!") {
            // MySQL runs the text in such a comment.
            Some(
                rest.chars()
                    .take_while(|c| "/*!0123456789".contains(*c))
                    .count(),
            )
        } else if rest.starts_with("/*") {
            Some(comments.length(rest))
        } else if matches!(c, '\'' | '"' | '`') {
            Some(quoted_length(rest, c))
        } else if c == '$'
            && statements
                .last()
                .is_some_and(|words| words.first().is_some_and(|word| word == "DO"))
        {
            // The body of DO runs.
            dollar_tag_length(rest)
        } else if c == '$' {
            dollar_quoted_length(rest)
        } else {
            None
        };
        let is_name = c.is_alphanumeric() || c == '_';
        if (skipped.is_some() || !is_name) && !word.is_empty() {
            push(&mut statements, std::mem::take(&mut word));
        }
        if let Some(length) = skipped {
            if matches!(c, '\'' | '"' | '`') {
                push(&mut statements, "?".to_owned());
            }
            rest = rest.get(length.max(1)..).unwrap_or_default();
            continue;
        }
        match c {
            ';' => statements.push(Vec::new()),
            '(' => push(&mut statements, "(".to_owned()),
            c if is_name => word.extend(c.to_uppercase()),
            _ => {}
        }
        rest = rest.get(c.len_utf8()..).unwrap_or_default();
    }
    if !word.is_empty() {
        push(&mut statements, word);
    }
    statements.retain(|words| !words.is_empty());
    statements
}

fn push(statements: &mut [Vec<String>], word: String) {
    if let Some(last) = statements.last_mut() {
        last.push(word);
    }
}

/// The length of a quoted text, its quotes included.
fn quoted_length(rest: &str, quote: char) -> usize {
    let mut chars = rest.char_indices().skip(1).peekable();
    while let Some((at, c)) = chars.next() {
        if c == '\\' {
            chars.next();
        } else if c == quote {
            if chars.peek().is_some_and(|(_, next)| *next == quote) {
                chars.next();
            } else {
                return at + c.len_utf8();
            }
        }
    }
    rest.len()
}

/// The length of `$tag$`.
fn dollar_tag_length(rest: &str) -> Option<usize> {
    let end = rest.get(1..)?.find('$')? + 2;
    let tag = rest.get(1..end - 1)?;
    tag.chars()
        .all(|c| c.is_alphanumeric() || c == '_')
        .then_some(end)
}

/// The length of `$tag$ … $tag$` of `PostgreSQL`.
fn dollar_quoted_length(rest: &str) -> Option<usize> {
    let end = rest.get(1..)?.find('$')? + 2;
    let tag = rest.get(..end)?;
    let inner = tag.trim_matches('$');
    if !inner.chars().all(|c| c.is_alphanumeric() || c == '_') {
        return None;
    }
    let close = rest.get(end..)?.find(tag)?;
    Some(end + close + tag.len())
}

/// The lines that a client gives to a shell: `\!` of psql and mysql, `system`, `.shell` of sqlite3.
pub(crate) fn shell_lines(client: SqlClient, text: &str) -> Vec<&str> {
    if client != SqlClient::Sql {
        return Vec::new();
    }
    let prefixes = [
        "\\!", ".shell ", ".shel ", ".she ", ".sh ", ".system ", ".syste ", ".syst ", ".sys ",
        ".sy ", "system ", "!", "\\P ", "pager ", "host ", "shell ",
    ];
    let quotes = ['"', '\'', ' ', ')', '`'];
    let lines = text.lines().map(str::trim_start);
    lines
        .filter_map(|line| {
            // sqlite3(1): `.read |CMD`, `.import "|CMD" t`; psql(1): `\copy t from program 'CMD'`.
            let piped = line.starts_with('.').then(|| line.split_once('|'));
            let program = line
                .starts_with("\\copy")
                .then(|| line.split_once("program "));
            // psql(1): `select 1 \\g |CMD`, `` \\set x `CMD` ``.
            let meta = line.rsplit_once('\\');
            let meta = meta.map(|(_, meta)| meta.split_once('|'));
            let meta = meta.filter(|parts| {
                parts.is_some_and(|(name, _)| name.trim().chars().all(char::is_alphabetic))
            });
            let printed = line.starts_with('\\').then(|| line.split_once('`'));
            let behind = piped.or(program).or(meta).or(printed).flatten();
            let line_of = |prefix: &&str| line.strip_prefix(*prefix);
            behind
                .map(|(_, line)| line.trim_matches(quotes))
                .or_else(|| {
                    line.strip_prefix("\\setenv PAGER ")
                        .map(|line| line.trim_matches(quotes))
                })
                .or_else(|| prefixes.iter().find_map(line_of))
                // psql takes a command also behind statements.
                .or_else(|| line.split_once("\\!").map(|(_, line)| line))
        })
        .collect()
}

/// Whether a command of sqlite3(1) starts a line in which it decodes escapes: `.shell "fr\157b"`.
pub(crate) fn hides_line(text: &str) -> bool {
    text.lines().map(str::trim_start).any(|line| {
        let starts = line.starts_with(".sh") || line.starts_with(".sy") || line.contains('|');
        line.starts_with('.') && starts && line.contains('\\')
    })
}

/// Whether a text has a command of sqlite3(1) that opens its answer in another program, or a function that starts an
/// editor: `.excel`, `.once -e`, `edit(x, 'vi')`.
pub(crate) fn opens_answer(client: SqlClient, text: &str) -> bool {
    let mut lines = text.lines().map(str::trim_start);
    client == SqlClient::Sql
        && lines.any(|line| {
            let verb = line.split_whitespace().next().unwrap_or_default();
            let option = line.split_whitespace().nth(1).unwrap_or_default();
            matches!(verb, ".excel" | ".www")
                || matches!(verb, ".once" | ".output") && option.starts_with('-')
        })
}

/// Whether a text starts a program or loads a library by a function or command of its client: sqlite3(1),
/// psql(1).
pub(crate) fn may_start(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    let copies = text.contains("copy") && text.contains("program");
    let loads = text
        .lines()
        .any(|line| line.trim_start().starts_with(".load"));
    copies
        || loads
        || hides_line(&text)
        || ["edit", "load_extension"].iter().any(|name| {
            text.match_indices(name).any(|(at, _)| {
                let before = text.get(..at).unwrap_or_default();
                let behind = text.get(at + name.len()..).unwrap_or_default();
                let is_part = |c: char| c.is_alphanumeric() || c == '_';
                !before.ends_with(is_part)
                    && behind
                        .trim_start_matches(['"', ']', '`', ' ', '\n', '\t'])
                        .starts_with(['(', '/'])
            })
        })
}

/// Whether a client runs the text typed so far. Otherwise it waits for more.
pub(crate) fn is_complete(client: SqlClient, text: &str) -> bool {
    let text = text.trim();
    client != SqlClient::Sql
        || text.is_empty()
        || text.starts_with(['\\', '.', '!'])
        || text.ends_with(';')
        || ["\\g", "\\G", "\\gx", "\\gset"]
            .iter()
            .any(|end| text.ends_with(end))
}

//! Statements that change a server of databases, who may use it, or what it runs.

use crate::word_list::is_listed;

/// Functions that act when they are selected.
const ACTING_FUNCTIONS: &str = "
    PG_TERMINATE_BACKEND PG_CANCEL_BACKEND PG_DROP_REPLICATION_SLOT PG_READ_FILE PG_READ_BINARY_FILE PG_PROMOTE
    PG_WRITE_FILE PG_FILE_WRITE PG_FILE_UNLINK PG_FILE_RENAME LO_IMPORT LO_EXPORT LO_UNLINK DBLINK_EXEC SYS_EXEC
    SYS_EVAL XP_CMDSHELL XP_REGWRITE SP_OACREATE SP_ADDSRVROLEMEMBER LOAD_EXTENSION WRITEFILE
    PG_REPLICATION_ORIGIN_DROP PG_STAT_RESET PG_CREATE_RESTORE_POINT";
/// Extensions and languages by which a server runs programs or reads files.
const OPEN_EXTENSIONS: &str =
    "PLPYTHONU PLPYTHON2U PLPYTHON3U PLPERLU PLTCLU PLSH PLRUBYU ADMINPACK FILE_FDW DBLINK C";

/// Statements that change the server, who may use it, or what it runs.
pub(super) fn danger(words: &[&str]) -> Option<String> {
    let first = words.first().copied().unwrap_or_default();
    let second = words.get(1).copied().unwrap_or_default();
    let has = |word: &str| words.contains(&word);
    let pairs = |pair: [&str; 2]| words.windows(2).any(|words| words == pair);
    if let Some(function) = words.windows(2).find_map(|pair| match pair {
        [name, "("] if is_listed(name, ACTING_FUNCTIONS) => Some(*name),
        _ => None,
    }) {
        return Some(format!(
            "{function} ends, reads or changes what the server holds"
        ));
    }
    if words
        .iter()
        .any(|word| matches!(*word, "XP_CMDSHELL" | "SP_OACREATE"))
    {
        return Some("it runs a program on the server".to_owned());
    }
    if pairs(["INTO", "OUTFILE"]) || pairs(["INTO", "DUMPFILE"]) {
        return Some("INTO OUTFILE writes a file on the server".to_owned());
    }
    match (first, second) {
        ("COPY", _) if pairs(["TO", "PROGRAM"]) || pairs(["FROM", "PROGRAM"]) => {
            Some("COPY … PROGRAM runs a program".to_owned())
        }
        ("DO", _) if has("EXECUTE") => {
            Some("DO … EXECUTE runs statements that it computes".to_owned())
        }
        (_, _) if first != "CREATE" && pairs(["EXECUTE", "IMMEDIATE"]) => {
            Some("EXECUTE IMMEDIATE runs a statement that it computes".to_owned())
        }
        ("BEGIN" | "DECLARE" | "FOR" | "LOOP" | "IF", _)
            if words
                .windows(2)
                .any(|pair| pair[0] == "EXECUTE" && matches!(pair[1], "?" | "(" | "FORMAT")) =>
        {
            Some("EXECUTE runs a statement that it computes".to_owned())
        }
        ("GRANT" | "REVOKE", next)
            if !next.is_empty() && (has("TO") || has("FROM") || has("ON")) =>
        {
            Some(format!("{first} changes who may do what"))
        }
        ("ALTER", "ROLE" | "USER" | "LOGIN" | "GROUP") => {
            Some(format!("ALTER {second} changes who may do what"))
        }
        ("ALTER", "SYSTEM" | "DATABASE" | "SERVER" | "INSTANCE" | "DEFAULT" | "POLICY") => {
            Some(format!("ALTER {second} changes how the server works"))
        }
        ("CREATE", "ROLE" | "USER")
            if ["SUPERUSER", "BYPASSRLS", "CREATEROLE", "REPLICATION"]
                .iter()
                .any(|right| has(right)) =>
        {
            Some(format!(
                "CREATE {second} gives rights over the whole server"
            ))
        }
        ("CREATE", "EXTENSION")
            if words
                .iter()
                .skip(2)
                .any(|word| is_listed(word, OPEN_EXTENSIONS)) =>
        {
            Some("CREATE EXTENSION lets the server run programs".to_owned())
        }
        ("CREATE", _)
            if words
                .windows(2)
                .any(|pair| pair[0] == "LANGUAGE" && is_listed(pair[1], OPEN_EXTENSIONS))
                || has("SONAME") =>
        {
            Some("CREATE FUNCTION lets the server run programs".to_owned())
        }
        _ => of_server(words),
    }
}

/// Statements that replace what a server holds, or change how it works.
fn of_server(words: &[&str]) -> Option<String> {
    let first = words.first().copied().unwrap_or_default();
    let second = words.get(1).copied().unwrap_or_default();
    let third = words.get(2).copied().unwrap_or_default();
    match (first, second) {
        ("CREATE", "OR") if third == "REPLACE" && words.get(3) == Some(&"TABLE") => {
            Some("CREATE OR REPLACE TABLE drops what the table holds".to_owned())
        }
        ("INSERT", "OVERWRITE") => Some("INSERT OVERWRITE drops what the table holds".to_owned()),
        ("RENAME", "TABLE" | "USER") => {
            Some(format!("RENAME {second} takes it from those who use it"))
        }
        ("SET", "GLOBAL" | "PERSIST" | "PASSWORD") => {
            Some(format!("SET {second} changes how the server works"))
        }
        ("RESET", "MASTER" | "REPLICA" | "SLAVE" | "BINARY")
        | ("PURGE", "BINARY" | "MASTER")
        | ("STOP", "REPLICA" | "SLAVE" | "GROUP_REPLICATION")
        | ("CHANGE", "MASTER" | "REPLICATION") => {
            Some(format!("{first} {second} breaks copies or ways back"))
        }
        ("KILL", next)
            if next.chars().all(|c| c.is_ascii_digit()) && !next.is_empty()
                || matches!(next, "QUERY" | "CONNECTION" | "MUTATION" | "HARD")
                    && first == "KILL" =>
        {
            Some("KILL ends what others run".to_owned())
        }
        ("SHUTDOWN", _) if words.len() <= 3 => Some("SHUTDOWN stops the server".to_owned()),
        ("SYSTEM", "SHUTDOWN" | "KILL" | "STOP" | "DROP") => Some(format!(
            "SYSTEM {second} stops or empties a part of the server"
        )),
        ("INSTALL", "PLUGIN" | "COMPONENT" | "SONAME") => {
            Some("INSTALL loads code into the server".to_owned())
        }
        ("RESTORE", "DATABASE" | "?")
        | ("DETACH", "TABLE" | "DATABASE")
        | ("FLUSH", "PRIVILEGES")
            if second != "PRIVILEGES" =>
        {
            Some(format!(
                "{first} replaces or takes away what the server holds"
            ))
        }
        _ => None,
    }
}

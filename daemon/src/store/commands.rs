//! The rows of commands run in shells, and looking commands up.

use std::sync::LazyLock;

use sqlx::sqlite::{SqliteConnection, SqliteRow};
use sqlx::{QueryBuilder, Row, Sqlite};
use termd_proto::command::{CommandInfo, CommandPage};
use termd_proto::{Offset, Tags, TerminalId};

use super::error::StoreError;
use super::sql::{cut_page, decode_error, fetch_limit, from_word, integer};
use super::terminals::tags_json;

/// A command line has begun to run in a terminal's shell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandStarted {
    /// Its number in its terminal, from 1.
    pub number: u64,
    /// The command line; empty where it was hidden, or is not known.
    pub text: String,
    /// The directory, if the shell has reported it.
    pub cwd: Option<String>,
    /// When, in milliseconds since the epoch.
    pub at_ms: i64,
    /// Where its output begins.
    pub start_offset: Offset,
}

/// A command line has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandEnded {
    /// Its number in its terminal.
    pub number: u64,
    /// As the shell reports it; `None`: it is not known.
    pub exit_code: Option<i32>,
    /// When, in milliseconds since the epoch.
    pub at_ms: i64,
    /// Where its output ends.
    pub end_offset: Offset,
}

/// A beginning or an end of a command in a shell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandChange {
    /// The command has begun.
    Started(CommandStarted),
    /// The command has ended. Its beginning was reported before.
    Ended(CommandEnded),
}

/// A [`CommandChange`] on its way to the disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandWrite {
    /// The terminal; its row was put before.
    pub terminal: TerminalId,
    /// The beginning or the end.
    pub change: CommandChange,
}

/// Which commands are wanted; an absent field does not restrict.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommandQuery {
    /// Commands of this terminal.
    pub terminal: Option<TerminalId>,
    /// Commands of terminals that have one of these tags; none: of all.
    pub tags: Tags,
    /// Commands whose text has each of these words as a part of it.
    pub text: Option<String>,
    /// Commands that exited with this code.
    pub exit_code: Option<i32>,
    /// Whether they failed: by a signal, or an exit code other than 0.
    pub failed: Option<bool>,
    /// Started not before this time.
    pub since_ms: Option<i64>,
    /// Started before this time.
    pub until_ms: Option<i64>,
}

/// Shorter words are not in the index, which has three characters an entry.
const MIN_INDEXED_CHARS: usize = 3;
/// Words of a query that are searched for; further ones would hardly narrow the result.
const MAX_WORDS: usize = 16;

/// Commands, and whether each is of an imported recording.
const SELECT: &str = "SELECT *, EXISTS (SELECT 1 FROM terminals WHERE terminals.id = commands.terminal \
     AND imported_at_ms IS NOT NULL) AS imported FROM commands";
static NTH_LAST: LazyLock<String> = LazyLock::new(|| {
    format!("{SELECT} WHERE terminal = ?1 ORDER BY number DESC LIMIT 1 OFFSET ?2")
});
static BY_NUMBER: LazyLock<String> =
    LazyLock::new(|| format!("{SELECT} WHERE terminal = ?1 AND number = ?2"));
static BETWEEN: LazyLock<String> = LazyLock::new(|| {
    format!(
        "{SELECT} WHERE terminal = ?1 AND start_offset < ?3 \
         AND (end_offset IS NULL OR end_offset > ?2) ORDER BY number DESC"
    )
});

/// Writes a command's beginning or its end. A server that reads output a second time reports both
/// again, which changes nothing.
pub(super) async fn put_command(
    connection: &mut SqliteConnection,
    write: &CommandWrite,
) -> Result<(), sqlx::Error> {
    match &write.change {
        CommandChange::Started(started) => start(connection, &write.terminal, started).await,
        CommandChange::Ended(ended) => end(connection, &write.terminal, ended).await,
    }
}

async fn start(
    connection: &mut SqliteConnection,
    terminal: &TerminalId,
    started: &CommandStarted,
) -> Result<(), sqlx::Error> {
    sqlx::query(
        "INSERT INTO commands (terminal, number, source, text, cwd, started_at_ms, start_offset) \
         VALUES (?1, ?2, 'shell', ?3, ?4, ?5, ?6) ON CONFLICT (terminal, number) DO NOTHING",
    )
    .bind(terminal.as_str())
    .bind(integer(started.number))
    .bind(started.text.as_str())
    .bind(started.cwd.as_deref())
    .bind(started.at_ms)
    .bind(integer(started.start_offset.0))
    .execute(connection)
    .await
    .map(|_| ())
}

async fn end(
    connection: &mut SqliteConnection,
    terminal: &TerminalId,
    ended: &CommandEnded,
) -> Result<(), sqlx::Error> {
    sqlx::query(
        "UPDATE commands SET ended_at_ms = ?3, exit_code = ?4, end_offset = ?5 \
         WHERE terminal = ?1 AND number = ?2 AND source = 'shell' AND ended_at_ms IS NULL",
    )
    .bind(terminal.as_str())
    .bind(integer(ended.number))
    .bind(ended.at_ms)
    .bind(ended.exit_code)
    .bind(integer(ended.end_offset.0))
    .execute(connection)
    .await
    .map(|_| ())
}

/// Writes the hash of all that a terminal's own command has printed.
pub(super) async fn put_output_hash(
    connection: &mut SqliteConnection,
    terminal: &TerminalId,
    sha256: &str,
) -> Result<(), sqlx::Error> {
    sqlx::query("UPDATE commands SET output_sha256 = ?2 WHERE terminal = ?1 AND number = 0")
        .bind(terminal.as_str())
        .bind(sha256)
        .execute(connection)
        .await
        .map(|_| ())
}

/// One page of the commands that match the query, newest first. The cursor is the time and the `seq`
/// of the last row of the page before.
pub(super) async fn list(
    connection: &mut SqliteConnection,
    wanted: &CommandQuery,
    cursor: Option<&str>,
    limit: u32,
) -> Result<CommandPage, StoreError> {
    let mut query = QueryBuilder::<Sqlite>::new(format!("{SELECT} WHERE 1"));
    if let Some(cursor) = cursor {
        let (at_ms, seq) = parse_cursor(cursor)?;
        query.push(" AND (started_at_ms, seq) < (").push_bind(at_ms);
        query.push(", ").push_bind(seq).push(")");
    }
    match &wanted.terminal {
        Some(terminal) => query.push(" AND terminal = ").push_bind(terminal.as_str()),
        // What was run elsewhere is no history of this daemon.
        None => query.push(
            " AND terminal NOT IN (SELECT id FROM terminals WHERE imported_at_ms IS NOT NULL)",
        ),
    };
    if let Some(tags) = tags_json(&wanted.tags)? {
        query.push(" AND terminal IN (SELECT id FROM terminals WHERE EXISTS (SELECT 1");
        query
            .push(" FROM json_each(terminals.tags) AS own JOIN json_each(")
            .push_bind(tags);
        query.push(") AS wanted USING (value)))");
    }
    if let Some(code) = wanted.exit_code {
        query.push(" AND exit_code = ").push_bind(code);
    }
    match wanted.failed {
        Some(true) => query.push(" AND (exit_code <> 0 OR exit_signal IS NOT NULL)"),
        Some(false) => query.push(" AND exit_code = 0"),
        None => &mut query,
    };
    if let Some(since) = wanted.since_ms {
        query.push(" AND started_at_ms >= ").push_bind(since);
    }
    if let Some(until) = wanted.until_ms {
        query.push(" AND started_at_ms < ").push_bind(until);
    }
    let words = wanted.text.as_deref().unwrap_or_default();
    for word in words.split_whitespace().take(MAX_WORDS) {
        // What an agent writes around a line has words that every line of it would be found by.
        query.push(" AND (agent_line IS NULL OR instr(lower(agent_line), lower(");
        query.push_bind(word).push(")) > 0)");
        if word.chars().count() < MIN_INDEXED_CHARS {
            query.push(" AND instr(lower(text), lower(").push_bind(word);
            query.push(")) > 0");
        } else {
            query
                .push(" AND seq IN (SELECT rowid FROM commands_text WHERE commands_text MATCH ")
                .push_bind(phrase(word))
                .push(")");
        }
    }
    query
        .push(" ORDER BY started_at_ms DESC, seq DESC LIMIT ")
        .push_bind(fetch_limit(limit));
    let mut rows = query.build().fetch_all(connection).await?;
    let next_cursor = cut_page(&mut rows, limit).map(cursor_of).transpose()?;
    let commands = rows.iter().map(command_of).collect::<Result<_, _>>()?;
    Ok(CommandPage {
        commands,
        next_cursor,
    })
}

/// One command of a terminal; a negative number counts from the newest.
pub(super) async fn command(
    connection: &mut SqliteConnection,
    terminal: &TerminalId,
    number: i64,
) -> Result<Option<CommandInfo>, StoreError> {
    let query = if number < 0 {
        sqlx::query(NTH_LAST.as_str())
            .bind(terminal.as_str())
            .bind(-1 - number)
    } else {
        sqlx::query(BY_NUMBER.as_str())
            .bind(terminal.as_str())
            .bind(number)
    };
    let row = query.fetch_optional(connection).await?;
    Ok(row.as_ref().map(command_of).transpose()?)
}

/// The commands of which some output is in a range, the last first.
pub(super) async fn commands_between(
    connection: &mut SqliteConnection,
    terminal: &TerminalId,
    (start, end): (Offset, Offset),
) -> Result<Vec<CommandInfo>, StoreError> {
    let rows = sqlx::query(BETWEEN.as_str())
        .bind(terminal.as_str())
        .bind(integer(start.0))
        .bind(integer(end.0))
        .fetch_all(connection)
        .await?;
    Ok(rows.iter().map(command_of).collect::<Result<_, _>>()?)
}

/// A word as an FTS5 string: nothing in it is an operator.
fn phrase(word: &str) -> String {
    format!("\"{}\"", word.replace('"', "\"\""))
}

fn parse_cursor(cursor: &str) -> Result<(i64, i64), StoreError> {
    cursor
        .split_once(':')
        .and_then(|(at_ms, seq)| Some((at_ms.parse().ok()?, seq.parse().ok()?)))
        .ok_or(StoreError::BadCursor)
}

fn cursor_of(row: &SqliteRow) -> Result<String, sqlx::Error> {
    let at_ms: i64 = row.try_get("started_at_ms")?;
    let seq: i64 = row.try_get("seq")?;
    Ok(format!("{at_ms}:{seq}"))
}

fn command_of(row: &SqliteRow) -> Result<CommandInfo, sqlx::Error> {
    let terminal: &str = row.try_get("terminal")?;
    let exit_code: Option<i64> = row.try_get("exit_code")?;
    Ok(CommandInfo {
        terminal: terminal.parse().map_err(decode_error)?,
        number: row.try_get("number")?,
        source: from_word(row.try_get("source")?)?,
        text: row.try_get("text")?,
        agent_line: row.try_get("agent_line")?,
        cwd: row.try_get("cwd")?,
        started_at_ms: row.try_get("started_at_ms")?,
        ended_at_ms: row.try_get("ended_at_ms")?,
        exit_code: exit_code.map(|code| i32::try_from(code).unwrap_or(i32::MAX)),
        signal: row.try_get("exit_signal")?,
        start: Offset(row.try_get("start_offset")?),
        end: row.try_get::<Option<u64>, _>("end_offset")?.map(Offset),
        output_sha256: row.try_get("output_sha256")?,
        imported: row.try_get("imported")?,
    })
}

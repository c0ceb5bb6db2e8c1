//! The rows of commands run in shells, and looking commands up.

use sqlx::sqlite::{SqliteConnection, SqliteRow};
use sqlx::{QueryBuilder, Row, Sqlite};
use termd_proto::command::{CommandInfo, CommandPage, CommandSource};
use termd_proto::{Offset, TerminalId};

use super::StoreError;
use super::model::{CommandChange, CommandEnded, CommandQuery, CommandStarted, CommandWrite};
use super::rows::{decode_error, integer, large};

/// Shorter words are in no index of three characters.
const INDEXED_CHARS: usize = 3;
/// Words of a query that are looked for; further ones would hardly narrow it down.
const MAX_WORDS: usize = 16;

/// Writes a command's beginning or its end. Each is written once: told again, by a server that
/// reads output a second time, it changes nothing.
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

/// One page of the commands that the query lets through, newest first. The cursor is the time and
/// the row of the last one on the page before.
pub(super) async fn list(
    connection: &mut SqliteConnection,
    wanted: &CommandQuery,
    cursor: Option<&str>,
    limit: u32,
) -> Result<CommandPage, StoreError> {
    let mut query = QueryBuilder::<Sqlite>::new("SELECT * FROM commands WHERE 1");
    if let Some(cursor) = cursor {
        let (at_ms, seq) = parse_cursor(cursor)?;
        query.push(" AND (started_at_ms, seq) < (").push_bind(at_ms);
        query.push(", ").push_bind(seq).push(")");
    }
    if let Some(terminal) = &wanted.terminal {
        query.push(" AND terminal = ").push_bind(terminal.as_str());
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
        if word.chars().count() < INDEXED_CHARS {
            query.push(" AND instr(lower(text), lower(").push_bind(word);
            query.push(")) > 0");
        } else {
            query
                .push(" AND seq IN (SELECT rowid FROM commands_text WHERE commands_text MATCH ")
                .push_bind(phrase(word))
                .push(")");
        }
    }
    // One more than asked for tells whether there is a next page.
    query
        .push(" ORDER BY started_at_ms DESC, seq DESC LIMIT ")
        .push_bind(i64::from(limit) + 1);
    let rows = query.build().fetch_all(connection).await?;
    let page = &rows[..rows.len().min(limit as usize)];
    let next_cursor = match page.last() {
        Some(last) if rows.len() > page.len() => {
            let at_ms: i64 = last.try_get("started_at_ms")?;
            let seq: i64 = last.try_get("seq")?;
            Some(format!("{at_ms}:{seq}"))
        }
        _ => None,
    };
    let commands = page.iter().map(command_of).collect::<Result<_, _>>()?;
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
        sqlx::query(
            "SELECT * FROM commands WHERE terminal = ?1 ORDER BY number DESC LIMIT 1 OFFSET ?2",
        )
        .bind(terminal.as_str())
        .bind(-1 - number)
    } else {
        sqlx::query("SELECT * FROM commands WHERE terminal = ?1 AND number = ?2")
            .bind(terminal.as_str())
            .bind(number)
    };
    let row = query.fetch_optional(connection).await?;
    Ok(row.as_ref().map(command_of).transpose()?)
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

fn command_of(row: &SqliteRow) -> Result<CommandInfo, sqlx::Error> {
    let number = |name: &str| large(row.try_get::<i64, _>(name)?);
    let source: String = row.try_get("source")?;
    let source = [CommandSource::Argv, CommandSource::Shell]
        .into_iter()
        .find(|known| known.as_str() == source)
        .ok_or_else(|| decode_error(format!("no source is named {source:?}")))?;
    let end: Option<i64> = row.try_get("end_offset")?;
    let exit_code: Option<i64> = row.try_get("exit_code")?;
    Ok(CommandInfo {
        terminal: row
            .try_get::<String, _>("terminal")?
            .parse()
            .map_err(decode_error)?,
        number: number("number")?,
        source,
        text: row.try_get("text")?,
        cwd: row.try_get("cwd")?,
        started_at_ms: row.try_get("started_at_ms")?,
        ended_at_ms: row.try_get("ended_at_ms")?,
        exit_code: exit_code.map(|code| i32::try_from(code).unwrap_or(i32::MAX)),
        signal: row.try_get("exit_signal")?,
        start: Offset(number("start_offset")?),
        end: end.map(large).transpose()?.map(Offset),
    })
}

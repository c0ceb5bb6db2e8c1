//! The rows of terminals and of the commands run in them.

use std::fmt::Display;

use sqlx::Row;
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use termd_proto::terminal::{CloseCause, EndCause, ExitStatus, Front, Owner, Stdio};
use termd_proto::{Offset, TerminalId};

use super::StoreError;
use super::model::TerminalRow;

/// An offset as SQLite's signed integers hold it. No terminal prints eight exbibytes.
pub(super) fn integer(offset: u64) -> i64 {
    i64::try_from(offset).unwrap_or(i64::MAX)
}

/// A column that does not hold what termd writes into it.
pub(super) fn decode_error(error: impl Display) -> sqlx::Error {
    sqlx::Error::Decode(error.to_string().into())
}

/// Puts an owner together from its columns.
pub(super) fn owner_of(
    front: &str,
    uid: i64,
    pid: i64,
    exe: Option<String>,
    session: Option<String>,
    client: Option<String>,
) -> Result<Owner, sqlx::Error> {
    let front = [Front::Acp, Front::Mcp, Front::Cli, Front::Daemon]
        .into_iter()
        .find(|known| known.as_str() == front)
        .ok_or_else(|| decode_error(format!("no front is named {front:?}")))?;
    Ok(Owner {
        front,
        uid: u32::try_from(uid).map_err(decode_error)?,
        pid: i32::try_from(pid).map_err(decode_error)?,
        exe,
        session,
        client,
    })
}

/// Writes or replaces a terminal's row and that of its own command. What block commits and
/// retention move, they alone move.
pub(super) async fn put_terminal(
    connection: &mut SqliteConnection,
    row: &TerminalRow,
) -> Result<(), sqlx::Error> {
    let json = |error: serde_json::Error| sqlx::Error::Encode(error.into());
    let exit = row.exit_status.as_ref();
    let exit_code = exit.and_then(|status| status.exit_code).map(i64::from);
    let exit_signal = exit.and_then(|status| status.signal.as_deref());
    let meta = row.meta.as_ref().map(serde_json::to_string).transpose();
    let held_to = row.held_to.as_ref().map(serde_json::to_string).transpose();
    sqlx::query(
        "INSERT INTO terminals (id, label, argv, cwd, pid, cols, rows, front, owner_uid, \
         owner_pid, owner_exe, session, client, created_at_ms, exited_at_ms, exit_code, \
         exit_signal, released_at_ms, closed_at_ms, output_byte_limit, meta, close_cause, \
         idle_timeout_ms, last_activity_ms, scrollback_lines, first_cols, first_rows, stdio, \
         confinement, end_cause) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, \
         ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30) \
         ON CONFLICT (id) DO UPDATE SET label = excluded.label, argv = excluded.argv, \
         cwd = excluded.cwd, pid = excluded.pid, cols = excluded.cols, rows = excluded.rows, \
         front = excluded.front, owner_uid = excluded.owner_uid, owner_pid = excluded.owner_pid, \
         owner_exe = excluded.owner_exe, session = excluded.session, client = excluded.client, \
         created_at_ms = excluded.created_at_ms, exited_at_ms = excluded.exited_at_ms, \
         exit_code = excluded.exit_code, exit_signal = excluded.exit_signal, \
         released_at_ms = excluded.released_at_ms, closed_at_ms = excluded.closed_at_ms, \
         output_byte_limit = excluded.output_byte_limit, meta = excluded.meta, \
         close_cause = excluded.close_cause, idle_timeout_ms = excluded.idle_timeout_ms, \
         last_activity_ms = excluded.last_activity_ms, \
         scrollback_lines = excluded.scrollback_lines, first_cols = excluded.first_cols, \
         first_rows = excluded.first_rows, confinement = excluded.confinement, \
         end_cause = excluded.end_cause",
    )
    .bind(row.id.as_str())
    .bind(row.label.as_ref().map(termd_proto::Label::as_str))
    .bind(serde_json::to_string(&row.argv).map_err(json)?)
    .bind(row.cwd.as_str())
    .bind(row.pid)
    .bind(i64::from(row.cols))
    .bind(i64::from(row.rows))
    .bind(row.owner.front.as_str())
    .bind(i64::from(row.owner.uid))
    .bind(row.owner.pid)
    .bind(row.owner.exe.as_deref())
    .bind(row.owner.session.as_deref())
    .bind(row.owner.client.as_deref())
    .bind(row.created_at_ms)
    .bind(row.exited_at_ms)
    .bind(exit_code)
    .bind(exit_signal)
    .bind(row.released_at_ms)
    .bind(row.closed_at_ms)
    .bind(integer(row.output_byte_limit))
    .bind(meta.map_err(json)?)
    .bind(row.close_cause.map(CloseCause::as_str))
    .bind(row.idle_timeout_ms.map(integer))
    .bind(row.last_activity_ms)
    .bind(row.scrollback_lines)
    .bind(row.first_cols.map(i64::from))
    .bind(row.first_rows.map(i64::from))
    .bind(stdio_name(row.stdio))
    .bind(held_to.map_err(json)?)
    .bind(row.end_cause.map(EndCause::as_str))
    .execute(&mut *connection)
    .await?;
    sqlx::query(
        "INSERT INTO commands (terminal, number, source, text, cwd, started_at_ms, ended_at_ms, \
         exit_code, exit_signal, start_offset) VALUES (?1, 0, 'argv', ?2, ?3, ?4, ?5, ?6, ?7, 0) \
         ON CONFLICT (terminal, number) DO UPDATE SET text = excluded.text, cwd = excluded.cwd, \
         started_at_ms = excluded.started_at_ms, ended_at_ms = excluded.ended_at_ms, \
         exit_code = excluded.exit_code, exit_signal = excluded.exit_signal",
    )
    .bind(row.id.as_str())
    .bind(shell_quoted(&row.argv))
    .bind(row.cwd.as_str())
    .bind(row.created_at_ms)
    .bind(row.exited_at_ms)
    .bind(exit_code)
    .bind(exit_signal)
    .execute(connection)
    .await?;
    Ok(())
}

/// One terminal's row.
pub(super) async fn terminal(
    connection: &mut SqliteConnection,
    id: &TerminalId,
) -> Result<Option<TerminalRow>, StoreError> {
    let row = sqlx::query("SELECT * FROM terminals WHERE id = ?1")
        .bind(id.as_str())
        .fetch_optional(connection)
        .await?;
    Ok(row.as_ref().map(terminal_of).transpose()?)
}

/// The newest terminals that are not closed, newest first.
pub(super) async fn open_terminals(
    connection: &mut SqliteConnection,
    limit: u32,
) -> Result<Vec<TerminalRow>, StoreError> {
    let rows = sqlx::query(
        "SELECT * FROM terminals WHERE closed_at_ms IS NULL ORDER BY seq DESC LIMIT ?1",
    )
    .bind(i64::from(limit))
    .fetch_all(connection)
    .await?;
    Ok(rows.iter().map(terminal_of).collect::<Result<_, _>>()?)
}

/// One page of all terminals, oldest first. The cursor is the `seq` of the last one before.
pub(super) async fn list_terminals(
    connection: &mut SqliteConnection,
    cursor: Option<&str>,
    limit: u32,
) -> Result<(Vec<TerminalRow>, Option<String>), StoreError> {
    let after: i64 = match cursor {
        Some(cursor) => cursor.parse().map_err(|_| StoreError::BadCursor)?,
        None => 0,
    };
    let rows = sqlx::query("SELECT * FROM terminals WHERE seq > ?1 ORDER BY seq LIMIT ?2")
        .bind(after)
        // One more than asked for tells whether there is a next page.
        .bind(i64::from(limit) + 1)
        .fetch_all(connection)
        .await?;
    let page = &rows[..rows.len().min(limit as usize)];
    let next = match page.last() {
        Some(last) if rows.len() > page.len() => Some(last.try_get::<i64, _>("seq")?.to_string()),
        _ => None,
    };
    let terminals = page.iter().map(terminal_of).collect::<Result<_, _>>()?;
    Ok((terminals, next))
}

/// Ids that begin with this, in their order.
pub(super) async fn ids_with_prefix(
    connection: &mut SqliteConnection,
    prefix: &str,
    limit: u32,
) -> Result<Vec<TerminalId>, StoreError> {
    // `~` sorts after every character of an id, so this is a range of the index.
    let ids: Vec<String> = sqlx::query_scalar(
        "SELECT id FROM terminals WHERE id >= ?1 AND id < ?1 || '~' ORDER BY id LIMIT ?2",
    )
    .bind(prefix)
    .bind(i64::from(limit))
    .fetch_all(connection)
    .await?;
    let ids = ids.iter().map(|id| id.parse().map_err(decode_error));
    Ok(ids.collect::<Result<_, _>>()?)
}

fn terminal_of(row: &SqliteRow) -> Result<TerminalRow, sqlx::Error> {
    let text = |name: &str| row.try_get::<String, _>(name);
    let optional_text = |name: &str| row.try_get::<Option<String>, _>(name);
    let number = |name: &str| row.try_get::<i64, _>(name);
    let optional_number = |name: &str| row.try_get::<Option<i64>, _>(name);
    let small = |name: &str| u16::try_from(number(name)?).map_err(decode_error);
    let optional_small = |name: &str| {
        let number = optional_number(name)?.map(u16::try_from);
        number.transpose().map_err(decode_error)
    };
    let offset = |name: &str| Ok::<_, sqlx::Error>(Offset(large(number(name)?)?));

    let exit_code = optional_number("exit_code")?
        .map(u32::try_from)
        .transpose()
        .map_err(decode_error)?;
    let signal = optional_text("exit_signal")?;
    let exit_status =
        (exit_code.is_some() || signal.is_some()).then_some(ExitStatus { exit_code, signal });
    let label = optional_text("label")?.map(|label| label.parse());
    let meta = optional_text("meta")?.map(|meta| serde_json::from_str(&meta));
    let held_to = optional_text("confinement")?.map(|held_to| serde_json::from_str(&held_to));
    Ok(TerminalRow {
        id: text("id")?.parse().map_err(decode_error)?,
        label: label.transpose().map_err(decode_error)?,
        argv: serde_json::from_str(&text("argv")?).map_err(decode_error)?,
        cwd: text("cwd")?,
        pid: i32::try_from(number("pid")?).map_err(decode_error)?,
        cols: small("cols")?,
        rows: small("rows")?,
        owner: owner_of(
            &text("front")?,
            number("owner_uid")?,
            number("owner_pid")?,
            optional_text("owner_exe")?,
            optional_text("session")?,
            optional_text("client")?,
        )?,
        created_at_ms: number("created_at_ms")?,
        exited_at_ms: optional_number("exited_at_ms")?,
        exit_status,
        released_at_ms: optional_number("released_at_ms")?,
        closed_at_ms: optional_number("closed_at_ms")?,
        close_cause: optional_text("close_cause")?.and_then(|cause| cause_named(&cause)),
        end_cause: optional_text("end_cause")?.and_then(|cause| end_cause_named(&cause)),
        held_to: held_to.transpose().map_err(decode_error)?,
        idle_timeout_ms: optional_number("idle_timeout_ms")?.map(large).transpose()?,
        last_activity_ms: optional_number("last_activity_ms")?,
        scrollback_lines: optional_number("scrollback_lines")?
            .map(u32::try_from)
            .transpose()
            .map_err(decode_error)?,
        first_cols: optional_small("first_cols")?,
        first_rows: optional_small("first_rows")?,
        output_byte_limit: large(number("output_byte_limit")?)?,
        start: offset("start_offset")?,
        end: offset("end_offset")?,
        stdio: stdio_of(&text("stdio")?)?,
        meta: meta.transpose().map_err(decode_error)?,
    })
}

/// A cause by its word; one that a later termd wrote is not known.
fn cause_named(word: &str) -> Option<CloseCause> {
    [CloseCause::Idle, CloseCause::Disconnect]
        .into_iter()
        .find(|cause| cause.as_str() == word)
}

/// The same of a limit.
fn end_cause_named(word: &str) -> Option<EndCause> {
    EndCause::ALL
        .into_iter()
        .find(|cause| cause.as_str() == word)
}

fn stdio_name(stdio: Stdio) -> &'static str {
    match stdio {
        Stdio::Pty => "pty",
        Stdio::Pipes => "pipes",
    }
}

fn stdio_of(name: &str) -> Result<Stdio, sqlx::Error> {
    [Stdio::Pty, Stdio::Pipes]
        .into_iter()
        .find(|known| stdio_name(*known) == name)
        .ok_or_else(|| decode_error(format!("no stdio is named {name:?}")))
}

/// A column that is never negative.
pub(super) fn large(number: i64) -> Result<u64, sqlx::Error> {
    u64::try_from(number).map_err(decode_error)
}

/// An argv as a line that a POSIX shell would run as that argv.
pub(super) fn shell_quoted(argv: &[String]) -> String {
    let quoted: Vec<String> = argv.iter().map(|word| shell_word(word)).collect();
    quoted.join(" ")
}

fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

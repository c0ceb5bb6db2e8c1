//! The rows of terminals, each with the row of the command that it was created for.

use std::sync::LazyLock;

use serde_json::{Map, Value};
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use sqlx::{FromRow, Row};
use termd_proto::terminal::{CloseCause, Confinement, EndCause, ExitStatus, Owner, Stdio};
use termd_proto::{Label, Offset, Tags, TerminalId};

use super::error::StoreError;
use super::sql::{cut_page, decode_error, fetch_limit, from_json, from_word, integer, upsert};

/// One terminal's row.
#[derive(Debug, Clone, PartialEq)]
pub struct TerminalRow {
    /// Its id.
    pub id: TerminalId,
    /// Its label.
    pub label: Option<Label>,
    /// Its tags.
    pub tags: Tags,
    /// The command and its arguments.
    pub argv: Vec<String>,
    /// The line that an agent asked its shell to run, where the argv is that of a wrapper or of `-c`.
    pub agent_line: Option<String>,
    /// The directory that it was started in.
    pub cwd: String,
    /// Its root process.
    pub pid: i32,
    /// Columns, last.
    pub cols: u16,
    /// Rows, last.
    pub rows: u16,
    /// Who created it.
    pub owner: Owner,
    /// When it was started.
    pub created_at_ms: i64,
    /// When its exit was known.
    pub exited_at_ms: Option<i64>,
    /// How its command ended.
    pub exit_status: Option<ExitStatus>,
    /// When `terminal/release` ended its ACP life.
    pub released_at_ms: Option<i64>,
    /// When it was imported. `None`: it ran in this daemon.
    pub imported_at_ms: Option<i64>,
    /// When a person last looked at it.
    pub seen_at_ms: Option<i64>,
    /// When it was closed.
    pub closed_at_ms: Option<i64>,
    /// Why it was closed. `None`: by request, or it is open.
    pub close_cause: Option<CloseCause>,
    /// The limit that ended its command.
    pub end_cause: Option<EndCause>,
    /// The limits and the sandbox of its command.
    pub held_to: Option<Confinement>,
    /// The time without activity after which it is closed, in milliseconds.
    pub idle_timeout_ms: Option<u64>,
    /// When something last happened in it, as of this row.
    pub last_activity_ms: Option<i64>,
    /// Lines of scrollback that its screen keeps.
    pub scrollback_lines: Option<u32>,
    /// Columns at the start.
    pub first_cols: Option<u16>,
    /// Rows at the start.
    pub first_rows: Option<u16>,
    /// Bytes that `terminal/output` keeps.
    pub output_byte_limit: u64,
    /// Where the transcript begins. Retention dropped what was before.
    pub start: Offset,
    /// End of what is stored.
    pub end: Offset,
    /// What its command has for standard input, output and error.
    pub stdio: Stdio,
    /// The `_meta` of its creation.
    pub meta: Option<Map<String, Value>>,
}

impl FromRow<'_, SqliteRow> for TerminalRow {
    fn from_row(row: &SqliteRow) -> Result<Self, sqlx::Error> {
        let text = |name: &str| row.try_get::<&str, _>(name);
        let optional_text = |name: &str| row.try_get::<Option<&str>, _>(name);
        let exit_code = row.try_get("exit_code")?;
        let signal = row.try_get("exit_signal")?;
        let has_exit_status = Option::is_some(&exit_code) || Option::is_some(&signal);
        let label = optional_text("label")?.map(str::parse);
        Ok(Self {
            id: text("id")?.parse().map_err(decode_error)?,
            label: label.transpose().map_err(decode_error)?,
            tags: optional_text("tags")?.map_or(Ok(Tags::default()), from_json)?,
            argv: from_json(text("argv")?)?,
            agent_line: row.try_get("agent_line")?,
            cwd: row.try_get("cwd")?,
            pid: row.try_get("pid")?,
            cols: row.try_get("cols")?,
            rows: row.try_get("rows")?,
            owner: Owner {
                front: from_word(text("front")?)?,
                uid: row.try_get("owner_uid")?,
                pid: row.try_get("owner_pid")?,
                exe: row.try_get("owner_exe")?,
                session: row.try_get("session")?,
                client: row.try_get("client")?,
                // A later termd may have written a front that this one does not know.
                agent: optional_text("owner_agent")?.and_then(|agent| from_json(agent).ok()),
                terminal: None,
            },
            created_at_ms: row.try_get("created_at_ms")?,
            exited_at_ms: row.try_get("exited_at_ms")?,
            exit_status: has_exit_status.then_some(ExitStatus { exit_code, signal }),
            released_at_ms: row.try_get("released_at_ms")?,
            imported_at_ms: row.try_get("imported_at_ms")?,
            seen_at_ms: row.try_get("seen_at_ms")?,
            closed_at_ms: row.try_get("closed_at_ms")?,
            // A later termd may have written a cause that this one does not know.
            close_cause: optional_text("close_cause")?.and_then(|word| from_word(word).ok()),
            end_cause: optional_text("end_cause")?.and_then(|word| from_word(word).ok()),
            held_to: optional_text("confinement")?.map(from_json).transpose()?,
            idle_timeout_ms: row.try_get("idle_timeout_ms")?,
            last_activity_ms: row.try_get("last_activity_ms")?,
            scrollback_lines: row.try_get("scrollback_lines")?,
            first_cols: row.try_get("first_cols")?,
            first_rows: row.try_get("first_rows")?,
            output_byte_limit: row.try_get("output_byte_limit")?,
            start: Offset(row.try_get("start_offset")?),
            end: Offset(row.try_get("end_offset")?),
            stdio: from_word(text("stdio")?)?,
            meta: optional_text("meta")?.map(from_json).transpose()?,
        })
    }
}

static PUT_TERMINAL: LazyLock<String> = LazyLock::new(|| {
    let columns = "id, label, argv, cwd, pid, cols, rows, front, owner_uid, owner_pid, owner_exe, \
                   session, client, created_at_ms, exited_at_ms, exit_code, exit_signal, \
                   released_at_ms, closed_at_ms, output_byte_limit, meta, close_cause, \
                   idle_timeout_ms, last_activity_ms, scrollback_lines, first_cols, first_rows, \
                   stdio, confinement, end_cause, agent_line, imported_at_ms, \
                   seen_at_ms, tags, owner_agent";
    // Texts that are redacted are written once: a row from the database has marks.
    upsert("terminals", "id", columns, &["argv", "meta", "agent_line"])
});
static PUT_COMMAND: LazyLock<String> = LazyLock::new(|| {
    let columns = "terminal, number, source, text, cwd, started_at_ms, ended_at_ms, exit_code, \
                   exit_signal, start_offset, agent_line";
    upsert(
        "commands",
        "terminal, number",
        columns,
        &["text", "agent_line"],
    )
});

/// Writes or replaces a terminal's row and the row of its own command. The row's `start` and `end`
/// are not written: retention moves the one, commits of blocks move the other.
pub(super) async fn put_terminal(
    connection: &mut SqliteConnection,
    row: &TerminalRow,
) -> Result<(), sqlx::Error> {
    let json = |error: serde_json::Error| sqlx::Error::Encode(error.into());
    let exit = row.exit_status.as_ref();
    let exit_code = exit.and_then(|status| status.exit_code);
    let exit_signal = exit.and_then(|status| status.signal.as_deref());
    let meta = row.meta.as_ref().map(serde_json::to_string).transpose();
    let held_to = row.held_to.as_ref().map(serde_json::to_string).transpose();
    let tags = tags_json(&row.tags)?;
    let agent = row.owner.agent.as_ref().map(serde_json::to_string);
    sqlx::query(PUT_TERMINAL.as_str())
        .bind(row.id.as_str())
        .bind(row.label.as_ref().map(Label::as_str))
        .bind(serde_json::to_string(&row.argv).map_err(json)?)
        .bind(row.cwd.as_str())
        .bind(row.pid)
        .bind(row.cols)
        .bind(row.rows)
        .bind(row.owner.front.as_str())
        .bind(row.owner.uid)
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
        .bind(row.first_cols)
        .bind(row.first_rows)
        .bind(stdio_word(row.stdio))
        .bind(held_to.map_err(json)?)
        .bind(row.end_cause.map(EndCause::as_str))
        .bind(row.agent_line.as_deref())
        .bind(row.imported_at_ms)
        .bind(row.seen_at_ms)
        .bind(tags)
        .bind(agent.transpose().map_err(json)?)
        .execute(&mut *connection)
        .await?;
    sqlx::query(PUT_COMMAND.as_str())
        .bind(row.id.as_str())
        .bind(0)
        .bind("argv")
        .bind(shell_quoted(&row.argv))
        // A recording does not say it.
        .bind((!row.cwd.is_empty()).then_some(row.cwd.as_str()))
        .bind(row.created_at_ms)
        .bind(row.exited_at_ms)
        .bind(exit_code)
        .bind(exit_signal)
        .bind(0)
        .bind(row.agent_line.as_deref())
        .execute(connection)
        .await?;
    Ok(())
}

/// Moves the end of what is stored of a terminal, never back.
pub(super) async fn raise_end(
    connection: &mut SqliteConnection,
    id: &TerminalId,
    end: Offset,
) -> Result<(), sqlx::Error> {
    sqlx::query("UPDATE terminals SET end_offset = max(end_offset, ?2) WHERE id = ?1")
        .bind(id.as_str())
        .bind(integer(end.0))
        .execute(connection)
        .await?;
    Ok(())
}

/// One terminal's row.
pub(super) async fn terminal(
    connection: &mut SqliteConnection,
    id: &TerminalId,
) -> Result<Option<TerminalRow>, StoreError> {
    let row = sqlx::query_as("SELECT * FROM terminals WHERE id = ?1")
        .bind(id.as_str())
        .fetch_optional(connection)
        .await?;
    Ok(row)
}

/// The newest terminals that are not closed, newest first.
pub(super) async fn open_terminals(
    connection: &mut SqliteConnection,
    limit: u32,
) -> Result<Vec<TerminalRow>, StoreError> {
    let rows = sqlx::query_as(
        "SELECT * FROM terminals WHERE closed_at_ms IS NULL ORDER BY seq DESC LIMIT ?1",
    )
    .bind(limit)
    .fetch_all(connection)
    .await?;
    Ok(rows)
}

/// One page of all terminals that have one of these tags, or of all, oldest first. The cursor is the
/// `seq` of the last row of the page before.
pub(super) async fn list_terminals(
    connection: &mut SqliteConnection,
    tags: &Tags,
    cursor: Option<&str>,
    limit: u32,
) -> Result<(Vec<TerminalRow>, Option<String>), StoreError> {
    let after: i64 = match cursor {
        Some(cursor) => cursor.parse().map_err(|_| StoreError::BadCursor)?,
        None => 0,
    };
    let tags = tags_json(tags)?;
    let mut rows = sqlx::query(
        "SELECT * FROM terminals WHERE seq > ?1 AND (?3 IS NULL OR EXISTS (SELECT 1 \
         FROM json_each(terminals.tags) AS own JOIN json_each(?3) AS wanted USING (value))) \
         ORDER BY seq LIMIT ?2",
    )
    .bind(after)
    .bind(fetch_limit(limit))
    .bind(tags)
    .fetch_all(connection)
    .await?;
    let last = cut_page(&mut rows, limit).map(|last| last.try_get::<i64, _>("seq"));
    let next = last.transpose()?.map(|seq| seq.to_string());
    let terminals = rows.iter().map(TerminalRow::from_row);
    Ok((terminals.collect::<Result<_, _>>()?, next))
}

/// Terminals of all states with their `seq`, newest first.
pub(super) async fn newest_terminals(
    connection: &mut SqliteConnection,
    newest: i64,
    limit: u32,
) -> Result<Vec<(i64, TerminalRow)>, StoreError> {
    let rows = sqlx::query("SELECT * FROM terminals WHERE seq <= ?1 ORDER BY seq DESC LIMIT ?2")
        .bind(newest)
        .bind(limit)
        .fetch_all(connection)
        .await?;
    let rows = rows.iter().map(numbered).collect::<Result<_, _>>()?;
    Ok(rows)
}

/// One terminal's row with its `seq`.
pub(super) async fn numbered_terminal(
    connection: &mut SqliteConnection,
    id: &TerminalId,
) -> Result<Option<(i64, TerminalRow)>, StoreError> {
    let row = sqlx::query("SELECT * FROM terminals WHERE id = ?1")
        .bind(id.as_str())
        .fetch_optional(connection)
        .await?;
    Ok(row.as_ref().map(numbered).transpose()?)
}

fn numbered(row: &SqliteRow) -> Result<(i64, TerminalRow), sqlx::Error> {
    Ok((row.try_get("seq")?, TerminalRow::from_row(row)?))
}

/// Closed terminals with this label, newest first.
pub(super) async fn closed_with_label(
    connection: &mut SqliteConnection,
    label: &Label,
    limit: u32,
) -> Result<Vec<TerminalId>, StoreError> {
    let ids: Vec<String> = sqlx::query_scalar(
        "SELECT id FROM terminals WHERE label = ? AND closed_at_ms IS NOT NULL \
         ORDER BY created_at_ms DESC LIMIT ?",
    )
    .bind(label.as_str())
    .bind(limit)
    .fetch_all(connection)
    .await?;
    let ids = ids.iter().map(|id| id.parse().map_err(decode_error));
    Ok(ids.collect::<Result<_, _>>()?)
}

/// Ids that begin with this prefix, sorted.
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
    .bind(limit)
    .fetch_all(connection)
    .await?;
    let ids = ids.iter().map(|id| id.parse().map_err(decode_error));
    Ok(ids.collect::<Result<_, _>>()?)
}

/// As the database has them: a JSON array; `None`: no tags.
pub(super) fn tags_json(tags: &Tags) -> Result<Option<String>, sqlx::Error> {
    let json = (!tags.is_empty()).then(|| serde_json::to_string(tags));
    json.transpose()
        .map_err(|error| sqlx::Error::Encode(error.into()))
}

fn stdio_word(stdio: Stdio) -> &'static str {
    match stdio {
        Stdio::Pty => "pty",
        Stdio::Pipes => "pipes",
    }
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

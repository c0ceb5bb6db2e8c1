//! Retention: what is dropped, when, and the record of it.
//!
//! Works in steps that are small transactions of the writer's, so that nobody waits for it; a pass
//! that is cut short leaves a database that is as good as before, and the next one goes on.
//! Promises: a running terminal's transcript is never touched; what is dropped of a transcript has
//! a row in `transcript_dropped`; dropped audit records have an `audit.pruned` record, and the
//! chain goes on being verifiable from the last of them.

use serde_json::{Map, Value};
use sqlx::Row;
use sqlx::sqlite::{SqliteConnection, SqlitePool};
use tokio::sync::{mpsc, oneshot};

use super::StoreError;
use super::audit::{self, Head};
use super::audit_words::{AuditAction, AuditOutcome};
use super::model::{AuditEntry, Retention};
use super::queue::Urgent;
use super::refusal::own_actor;
use super::rows::{integer, large};

/// Blocks dropped in one transaction: 4 MiB of output at the most, some milliseconds.
const BLOCKS_A_STEP: i64 = 64;
/// Audit records dropped in one transaction.
const RECORDS_A_STEP: i64 = 256;
/// Pages given back to the file system in one transaction: 1 MiB.
const PAGES_A_STEP: i64 = 256;
/// Free pages that stay for what comes next: 4 MiB.
const PAGES_TO_KEEP: i64 = 1024;

/// One transaction's worth of dropping.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    /// The oldest blocks of a terminal's transcript.
    Blocks {
        terminal: String,
        /// Where its transcript began before this pass, so that a pass leaves one record.
        from: i64,
        reason: Reason,
        at_ms: i64,
    },
    /// Moves the anchor past the audit records written before a time.
    Anchor { before_ms: i64, at_ms: i64 },
    /// The oldest audit records that the anchor has passed.
    Records,
    /// Gives free pages back to the file system.
    Pages,
}

/// Why a transcript was dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reason {
    Age,
    Size,
}

impl Reason {
    fn as_str(self) -> &'static str {
        match self {
            Self::Age => "age",
            Self::Size => "size",
        }
    }
}

/// Whether a step of this kind may find more to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pruned {
    Some,
    All,
}

/// Drops what is past retention. Gives the terminals whose transcripts were dropped.
pub(super) async fn apply(
    readers: &SqlitePool,
    writer: &mpsc::Sender<Urgent>,
    retention: &Retention,
    now_ms: i64,
) -> Result<Vec<String>, StoreError> {
    let dropped = drop_transcripts(readers, writer, retention, now_ms).await?;
    let before_ms = now_ms.saturating_sub(retention.audit_age_ms);
    let at_ms = now_ms;
    run_all(writer, Step::Anchor { before_ms, at_ms }).await?;
    run_all(writer, Step::Records).await?;
    run_all(writer, Step::Pages).await?;
    Ok(dropped)
}

/// Drops the transcripts of ended terminals, oldest first, until all together take no more than
/// this, in bytes as stored. Gives those that were dropped.
pub(super) async fn shrink(
    readers: &SqlitePool,
    writer: &mpsc::Sender<Urgent>,
    transcript_bytes: u64,
    now_ms: i64,
) -> Result<Vec<String>, StoreError> {
    let retention = Retention {
        transcript_age_ms: i64::MAX,
        transcript_bytes,
        audit_age_ms: i64::MAX,
    };
    let dropped = drop_transcripts(readers, writer, &retention, now_ms).await?;
    run_all(writer, Step::Pages).await?;
    Ok(dropped)
}

async fn drop_transcripts(
    readers: &SqlitePool,
    writer: &mpsc::Sender<Urgent>,
    retention: &Retention,
    now_ms: i64,
) -> Result<Vec<String>, StoreError> {
    let mut dropped = Vec::new();
    for (terminal, from, reason) in transcripts_to_drop(readers, retention, now_ms).await? {
        let step = Step::Blocks {
            terminal: terminal.clone(),
            from,
            reason,
            at_ms: now_ms,
        };
        run_all(writer, step).await?;
        dropped.push(terminal);
    }
    Ok(dropped)
}

/// Repeats a step until there is nothing left for it.
async fn run_all(writer: &mpsc::Sender<Urgent>, step: Step) -> Result<(), StoreError> {
    loop {
        let (done, pruned) = oneshot::channel();
        let urgent = Urgent::Prune(step.clone(), done);
        writer.send(urgent).await.map_err(|_| StoreError::Closed)?;
        if pruned.await.map_err(|_| StoreError::Closed)?? == Pruned::All {
            return Ok(());
        }
    }
}

/// The ended terminals whose transcripts go, oldest first, with where each begins.
async fn transcripts_to_drop(
    readers: &SqlitePool,
    retention: &Retention,
    now_ms: i64,
) -> Result<Vec<(String, i64, Reason)>, StoreError> {
    let total: i64 =
        sqlx::query_scalar("SELECT coalesce(sum(octet_length(data)), 0) FROM transcript_blocks")
            .fetch_one(readers)
            .await?;
    let ended = sqlx::query(
        "SELECT t.id, t.start_offset, t.exited_at_ms, sum(octet_length(b.data)) \
         FROM terminals t JOIN transcript_blocks b ON b.terminal = t.id \
         WHERE t.exited_at_ms IS NOT NULL GROUP BY t.id ORDER BY t.exited_at_ms, t.seq",
    )
    .fetch_all(readers)
    .await?;
    let too_old = now_ms.saturating_sub(retention.transcript_age_ms);
    let mut left = large(total)?;
    let mut dropped = Vec::new();
    for row in ended {
        let exited_at_ms: i64 = row.try_get(2)?;
        let reason = if exited_at_ms < too_old {
            Reason::Age
        } else if left > retention.transcript_bytes {
            Reason::Size
        } else {
            break;
        };
        left = left.saturating_sub(large(row.try_get(3)?)?);
        dropped.push((row.try_get(0)?, row.try_get(1)?, reason));
    }
    Ok(dropped)
}

/// Does one step in the transaction that is open. Gives the chain's new head where it has one.
pub(super) async fn run(
    connection: &mut SqliteConnection,
    step: Step,
    head: &Head,
) -> Result<(Pruned, Option<Head>), sqlx::Error> {
    match step {
        Step::Blocks {
            terminal,
            from,
            reason,
            at_ms,
        } => drop_blocks(connection, &terminal, from, reason, at_ms)
            .await
            .map(|pruned| (pruned, None)),
        Step::Anchor { before_ms, at_ms } => move_anchor(connection, before_ms, at_ms, head)
            .await
            .map(|head| (Pruned::All, head)),
        Step::Records => drop_records(connection).await.map(|pruned| (pruned, None)),
        Step::Pages => give_pages_back(connection)
            .await
            .map(|pruned| (pruned, None)),
    }
}

async fn drop_blocks(
    connection: &mut SqliteConnection,
    terminal: &str,
    from: i64,
    reason: Reason,
    at_ms: i64,
) -> Result<Pruned, sqlx::Error> {
    // It shows what is to be forgotten.
    sqlx::query("DELETE FROM screens WHERE terminal = ?1")
        .bind(terminal)
        .execute(&mut *connection)
        .await?;
    let to: Option<i64> = sqlx::query_scalar(
        "SELECT max(start_offset + length) FROM (SELECT start_offset, length \
         FROM transcript_blocks WHERE terminal = ?1 ORDER BY start_offset LIMIT ?2)",
    )
    .bind(terminal)
    .bind(BLOCKS_A_STEP)
    .fetch_one(&mut *connection)
    .await?;
    let Some(to) = to else {
        return Ok(Pruned::All);
    };
    sqlx::query(
        "DELETE FROM transcript_blocks WHERE id IN (SELECT id FROM transcript_blocks \
         WHERE terminal = ?1 ORDER BY start_offset LIMIT ?2)",
    )
    .bind(terminal)
    .bind(BLOCKS_A_STEP)
    .execute(&mut *connection)
    .await?;
    // It is told by where the transcript begins.
    sqlx::query("DELETE FROM transcript_gaps WHERE terminal = ?1 AND end_offset <= ?2")
        .bind(terminal)
        .bind(to)
        .execute(&mut *connection)
        .await?;
    sqlx::query("UPDATE terminals SET start_offset = max(start_offset, ?2) WHERE id = ?1")
        .bind(terminal)
        .bind(to)
        .execute(&mut *connection)
        .await?;
    sqlx::query(
        "INSERT INTO transcript_dropped (terminal, from_offset, to_offset, at_ms, reason) \
         VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (terminal, from_offset) DO UPDATE \
         SET to_offset = excluded.to_offset, at_ms = excluded.at_ms",
    )
    .bind(terminal)
    .bind(from)
    .bind(to)
    .bind(at_ms)
    .bind(reason.as_str())
    .execute(connection)
    .await?;
    Ok(Pruned::Some)
}

/// Records what is to be dropped, and lets the trigger and the verifier know where the chain
/// begins now. Only a run of old records at the beginning goes: a gap would break the chain.
async fn move_anchor(
    connection: &mut SqliteConnection,
    before_ms: i64,
    at_ms: i64,
    head: &Head,
) -> Result<Option<Head>, sqlx::Error> {
    let anchor = audit::anchor(&mut *connection).await?;
    let first_kept: Option<i64> = sqlx::query_scalar(
        "SELECT seq FROM audit WHERE seq > ?1 AND at_ms >= ?2 ORDER BY seq LIMIT 1",
    )
    .bind(anchor.seq)
    .bind(before_ms)
    .fetch_optional(&mut *connection)
    .await?;
    let through = first_kept.map_or(head.seq, |first| first - 1);
    if through <= anchor.seq {
        return Ok(None);
    }
    let hash: String = sqlx::query_scalar("SELECT hash FROM audit WHERE seq = ?1")
        .bind(through)
        .fetch_one(&mut *connection)
        .await?;
    let entry = pruned_entry(&anchor, through, &hash, at_ms);
    let head = audit::append(&mut *connection, head, &entry).await?;
    sqlx::query("UPDATE audit_anchor SET seq = ?1, hash = ?2")
        .bind(through)
        .bind(hash)
        .execute(connection)
        .await?;
    Ok(Some(head))
}

/// The record of dropping the records after `anchor` up to `through`.
fn pruned_entry(anchor: &Head, through: i64, hash: &str, at_ms: i64) -> AuditEntry {
    let detail = [
        ("from", Value::from(anchor.seq + 1)),
        ("through", Value::from(through)),
        ("hash", Value::from(hash)),
    ];
    AuditEntry {
        at_ms,
        action: AuditAction::AuditPruned,
        outcome: AuditOutcome::Ok,
        actor: own_actor(),
        terminal: None,
        detail: detail
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect::<Map<_, _>>(),
    }
}

async fn drop_records(connection: &mut SqliteConnection) -> Result<Pruned, sqlx::Error> {
    let dropped = sqlx::query(
        "DELETE FROM audit WHERE seq IN (SELECT seq FROM audit \
         WHERE seq <= (SELECT seq FROM audit_anchor) ORDER BY seq LIMIT ?1)",
    )
    .bind(RECORDS_A_STEP)
    .execute(connection)
    .await?
    .rows_affected();
    Ok(if integer(dropped) < RECORDS_A_STEP {
        Pruned::All
    } else {
        Pruned::Some
    })
}

async fn give_pages_back(connection: &mut SqliteConnection) -> Result<Pruned, sqlx::Error> {
    let free: i64 = sqlx::query_scalar("PRAGMA freelist_count")
        .fetch_one(&mut *connection)
        .await?;
    if free <= PAGES_TO_KEEP {
        return Ok(Pruned::All);
    }
    // A pragma takes no parameters; the number is PAGES_A_STEP.
    sqlx::query("PRAGMA incremental_vacuum(256)")
        .fetch_all(connection)
        .await?;
    Ok(if free - PAGES_A_STEP <= PAGES_TO_KEEP {
        Pruned::All
    } else {
        Pruned::Some
    })
}

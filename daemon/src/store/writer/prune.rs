//! Retention's transactions: each drops a little, with the record of it.
//!
//! The steps are small, so that no other write waits long. Whatever is dropped of a transcript has a
//! row in `transcript_dropped`. Dropped audit records have an `audit.pruned` record, and the chain
//! verifies from the last of them on.

use serde_json::Value;
use sqlx::sqlite::SqliteConnection;

use super::erase::erase;
use crate::store::audit::action::AuditAction;
use crate::store::audit::chain;
use crate::store::audit::entry::AuditEntry;
use crate::store::audit::head::Head;

/// Blocks dropped in one transaction: 4 MiB of output at most, some milliseconds.
const BLOCKS_A_STEP: i64 = 64;
/// Audit records dropped in one transaction.
const RECORDS_A_STEP: u32 = 256;
/// Pages given back to the file system in one transaction: 1 MiB.
const PAGES_A_STEP: i64 = 256;
/// Free pages that stay for later writes: 4 MiB.
const MIN_FREE_PAGES: i64 = 1024;

/// One transaction's worth of dropping.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    /// Drops the oldest blocks of a terminal's transcript.
    Blocks {
        terminal: String,
        /// Where its transcript began before this pass, so that a pass leaves one row.
        from: i64,
        reason: Reason,
        at_ms: i64,
    },
    /// Erases a closed terminal's transcript: the pages that held it are overwritten.
    Erase { terminal: String, at_ms: i64 },
    /// Moves the anchor past the audit records written before a time.
    Anchor { before_ms: i64, at_ms: i64 },
    /// Drops the oldest audit records that the anchor has passed.
    Records,
    /// Gives free pages back to the file system.
    Pages,
}

/// Why a transcript was dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reason {
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

/// Whether the same step may find more to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pruned {
    Some,
    All,
}

impl Pruned {
    fn more(more: bool) -> Self {
        if more { Self::Some } else { Self::All }
    }
}

/// Does one step in the transaction that is open. Returns the chain's new head where it has one.
pub(super) async fn run(
    connection: &mut SqliteConnection,
    step: Step,
    head: &Head,
) -> Result<(Pruned, Option<Head>), sqlx::Error> {
    let pruned = match step {
        Step::Blocks {
            terminal,
            from,
            reason,
            at_ms,
        } => drop_blocks(connection, &terminal, from, reason, at_ms).await?,
        Step::Erase { terminal, at_ms } => erase(connection, &terminal, at_ms).await?,
        Step::Anchor { before_ms, at_ms } => {
            let head = move_anchor(connection, before_ms, at_ms, head).await?;
            return Ok((Pruned::All, head));
        }
        Step::Records => drop_records(connection).await?,
        Step::Pages => free_pages(connection).await?,
    };
    Ok((pruned, None))
}

async fn drop_blocks(
    connection: &mut SqliteConnection,
    terminal: &str,
    from: i64,
    reason: Reason,
    at_ms: i64,
) -> Result<Pruned, sqlx::Error> {
    // Checkpoints show output that is to be dropped.
    for statement in [
        "DELETE FROM screens WHERE terminal = ?1",
        "DELETE FROM screen_keyframes WHERE terminal = ?1",
    ] {
        let query = sqlx::query(statement).bind(terminal);
        query.execute(&mut *connection).await?;
    }
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
    for statement in [
        // The new beginning of the transcript covers these gaps.
        "DELETE FROM transcript_gaps WHERE terminal = ?1 AND end_offset <= ?2",
        "UPDATE terminals SET start_offset = max(start_offset, ?2) WHERE id = ?1",
    ] {
        let query = sqlx::query(statement).bind(terminal).bind(to);
        query.execute(&mut *connection).await?;
    }
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

/// Records what is to be dropped, and moves the anchor, from which the trigger and the verifier know
/// where the chain begins. Only old records at the beginning are dropped: a gap would break the chain.
async fn move_anchor(
    connection: &mut SqliteConnection,
    before_ms: i64,
    at_ms: i64,
    head: &Head,
) -> Result<Option<Head>, sqlx::Error> {
    let anchor = chain::anchor(&mut *connection).await?;
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
    let detail = [
        ("from", Value::from(anchor.seq + 1)),
        ("through", Value::from(through)),
        ("hash", Value::from(hash.as_str())),
    ];
    let entry = AuditEntry::own(at_ms, AuditAction::AuditPruned, detail);
    let head = chain::append(&mut *connection, head, &entry).await?;
    sqlx::query("UPDATE audit_anchor SET seq = ?1, hash = ?2")
        .bind(through)
        .bind(hash)
        .execute(connection)
        .await?;
    Ok(Some(head))
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
    Ok(Pruned::more(dropped >= u64::from(RECORDS_A_STEP)))
}

async fn free_pages(connection: &mut SqliteConnection) -> Result<Pruned, sqlx::Error> {
    let free: i64 = sqlx::query_scalar("PRAGMA freelist_count")
        .fetch_one(&mut *connection)
        .await?;
    if free <= MIN_FREE_PAGES {
        return Ok(Pruned::All);
    }
    // A pragma takes no parameters; the number is PAGES_A_STEP.
    sqlx::query("PRAGMA incremental_vacuum(256)")
        .fetch_all(connection)
        .await?;
    Ok(Pruned::more(free - PAGES_A_STEP > MIN_FREE_PAGES))
}

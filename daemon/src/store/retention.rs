//! Retention: which transcripts and audit records are too old or too many, and the pass that drops
//! them by the writer's steps.
//!
//! A pass that is cut short leaves a good database, and the next one goes on. The transcript of a
//! running terminal is never dropped.

use sqlx::sqlite::SqliteConnection;
use termd_proto::TerminalId;
use tokio::sync::{mpsc, oneshot};

use super::Store;
use super::error::StoreError;
use super::transcript::usage::transcript_bytes;
use super::writer::prune::{Pruned, Reason, Step};
use super::writer::queue::Urgent;

/// What is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retention {
    /// The age at which transcripts of ended terminals are dropped, in milliseconds.
    pub transcript_age_ms: i64,
    /// Bytes, as stored, that all transcripts together may take. Beyond them the transcripts of ended
    /// terminals are dropped, oldest first.
    pub transcript_bytes: u64,
    /// The age at which audit records are dropped, in milliseconds.
    pub audit_age_ms: i64,
}

impl Store {
    /// Drops what is past retention, records it, and returns the terminals whose transcripts were
    /// dropped. Cancel safe: the next pass goes on.
    pub async fn apply_retention(
        &self,
        retention: &Retention,
        now_ms: i64,
    ) -> Result<Vec<String>, StoreError> {
        let dropped = self.drop_transcripts(retention, now_ms).await?;
        let before_ms = now_ms.saturating_sub(retention.audit_age_ms);
        drop_records(&self.urgent, before_ms, now_ms).await?;
        free_pages(&self.urgent).await?;
        Ok(dropped)
    }

    /// Drops the transcripts of ended terminals, oldest first, until all together take no more than
    /// `bytes` as stored. Records it, and returns the terminals.
    pub async fn shrink_transcripts(
        &self,
        bytes: u64,
        now_ms: i64,
    ) -> Result<Vec<String>, StoreError> {
        let retention = Retention {
            transcript_age_ms: i64::MAX,
            transcript_bytes: bytes,
            audit_age_ms: i64::MAX,
        };
        let dropped = self.drop_transcripts(&retention, now_ms).await?;
        free_pages(&self.urgent).await?;
        Ok(dropped)
    }

    /// Deletes a closed terminal's output, screen, argv, directory and commands' texts, and overwrites
    /// the pages that held them.
    pub async fn erase_transcript(&self, id: &TerminalId, at_ms: i64) -> Result<(), StoreError> {
        erase_transcript(&self.urgent, id.to_string(), at_ms).await?;
        free_pages(&self.urgent).await
    }

    async fn drop_transcripts(
        &self,
        retention: &Retention,
        now_ms: i64,
    ) -> Result<Vec<String>, StoreError> {
        let expired = expired(&mut *self.reader().await?, retention, now_ms).await?;
        drop_transcripts(&self.urgent, expired, now_ms).await
    }
}

/// A transcript that is to be dropped.
#[derive(Debug)]
pub(super) struct Expired {
    terminal: String,
    /// Where it begins.
    from: i64,
    reason: Reason,
}

/// The transcripts of ended terminals that are past retention, oldest first.
pub(super) async fn expired(
    connection: &mut SqliteConnection,
    retention: &Retention,
    now_ms: i64,
) -> Result<Vec<Expired>, StoreError> {
    let mut left = transcript_bytes(&mut *connection).await?;
    let ended: Vec<(String, i64, i64, u64)> = sqlx::query_as(
        "SELECT t.id, t.start_offset, coalesce(t.imported_at_ms, t.exited_at_ms) AS since_ms, \
         sum(octet_length(b.data)) \
         FROM terminals t JOIN transcript_blocks b ON b.terminal = t.id \
         WHERE t.exited_at_ms IS NOT NULL GROUP BY t.id ORDER BY since_ms, t.seq",
    )
    .fetch_all(connection)
    .await?;
    let too_old = now_ms.saturating_sub(retention.transcript_age_ms);
    let mut expired = Vec::new();
    for (terminal, from, exited_at_ms, bytes) in ended {
        let reason = if exited_at_ms < too_old {
            Reason::Age
        } else if left > retention.transcript_bytes {
            Reason::Size
        } else {
            break;
        };
        left = left.saturating_sub(bytes);
        expired.push(Expired {
            terminal,
            from,
            reason,
        });
    }
    Ok(expired)
}

/// Drops these transcripts; returns their terminals.
pub(super) async fn drop_transcripts(
    writer: &mpsc::Sender<Urgent>,
    expired: Vec<Expired>,
    at_ms: i64,
) -> Result<Vec<String>, StoreError> {
    let mut dropped = Vec::new();
    for expired in expired {
        let step = Step::Blocks {
            terminal: expired.terminal.clone(),
            from: expired.from,
            reason: expired.reason,
            at_ms,
        };
        run(writer, step).await?;
        dropped.push(expired.terminal);
    }
    Ok(dropped)
}

/// Erases a closed terminal's transcript, from the log, too.
pub(super) async fn erase_transcript(
    writer: &mpsc::Sender<Urgent>,
    terminal: String,
    at_ms: i64,
) -> Result<(), StoreError> {
    run(writer, Step::Erase { terminal, at_ms }).await?;
    let (done, emptied) = oneshot::channel();
    writer.send(Urgent::EmptyLog(done)).await?;
    emptied.await?
}

/// Drops the audit records written before a time.
pub(super) async fn drop_records(
    writer: &mpsc::Sender<Urgent>,
    before_ms: i64,
    at_ms: i64,
) -> Result<(), StoreError> {
    run(writer, Step::Anchor { before_ms, at_ms }).await?;
    run(writer, Step::Records).await
}

/// Gives free pages back to the file system.
pub(super) async fn free_pages(writer: &mpsc::Sender<Urgent>) -> Result<(), StoreError> {
    run(writer, Step::Pages).await
}

/// Repeats a step until there is nothing left for it.
async fn run(writer: &mpsc::Sender<Urgent>, step: Step) -> Result<(), StoreError> {
    loop {
        let (done, pruned) = oneshot::channel();
        writer.send(Urgent::Prune(step.clone(), done)).await?;
        if pruned.await?? == Pruned::All {
            return Ok(());
        }
    }
}

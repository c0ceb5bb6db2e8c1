//! The one writer: a task that owns the one writing connection.
//!
//! Urgent messages (audit records, steps of retention) are served at once; blocks and rows are
//! collected into batches. A block is never dropped while the disk may still take it: it waits here,
//! the queue fills, and the spool absorbs the output.

mod audit_writer;
mod batch;
mod erase;
mod packing;
pub(super) mod prune;
pub(super) mod queue;
pub(super) mod reserve;
pub(super) mod stall;
mod unrecorded;

use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

pub(super) use self::audit_writer::AuditWriter;
use self::batch::Batch;
pub(super) use self::packing::start_packing;
use self::queue::{AuditRequest, ImportRequest, PackedWrite, Reply, Urgent};
use self::stall::Stall;
use super::error::StoreError;

/// The pause before another attempt to write a batch that could not be written.
const RETRY_PAUSE: Duration = Duration::from_millis(500);

/// Serves the queues until the store is closed or dropped.
pub(super) struct Writer {
    audits: AuditWriter,
    urgent: mpsc::Receiver<Urgent>,
    writes: mpsc::Receiver<PackedWrite>,
    /// Cancelled when the store is being closed: a disk that takes nothing is then not waited for.
    closing: CancellationToken,
    batch: Batch,
    /// Why the last batch could not be written.
    failure: Option<Stall>,
    /// Receives what keeps writes from the disk.
    stalled: watch::Sender<Option<Stall>>,
    /// The caller that waits for the database to be closed.
    closed: Option<Reply<()>>,
}

/// What the writer does next.
enum Next {
    Serve(Urgent),
    Collect(PackedWrite),
    CatchUp,
    WriteBatch,
    End,
}

impl Writer {
    pub(super) fn new(
        audits: AuditWriter,
        urgent: mpsc::Receiver<Urgent>,
        writes: mpsc::Receiver<PackedWrite>,
        closing: CancellationToken,
        stalled: watch::Sender<Option<Stall>>,
    ) -> Self {
        Self {
            audits,
            urgent,
            writes,
            closing,
            batch: Batch::default(),
            failure: None,
            stalled,
            closed: None,
        }
    }

    /// Runs until the store is closed or all its clones are dropped.
    pub(super) async fn run(mut self) {
        let outcome = self.work().await;
        self.finish(outcome).await;
    }

    async fn work(&mut self) -> Result<(), StoreError> {
        while self.closed.is_none() {
            match self.next().await {
                Next::Serve(urgent) => self.serve(urgent).await,
                Next::Collect(write) => {
                    if self.batch.push(write) && self.failure.is_none() {
                        self.batch.due = Some(Instant::now());
                    }
                }
                Next::CatchUp => self.audits.catch_up().await,
                Next::WriteBatch => self.write_batch().await?,
                Next::End => {
                    self.closing.cancel();
                    return self.write_batch().await;
                }
            }
            self.publish_stall();
        }
        Ok(())
    }

    fn publish_stall(&self) {
        let full = self.audits.is_full().then_some(Stall::Full);
        let stall = full.or(self.failure);
        self.stalled
            .send_if_modified(|before| std::mem::replace(before, stall) != stall);
    }

    async fn next(&mut self) -> Next {
        tokio::select! {
            biased;
            Some(urgent) = self.urgent.recv() => Next::Serve(urgent),
            () = self.closing.cancelled(), if self.failure.is_some() => Next::WriteBatch,
            () = sleep_until(self.audits.catch_up_at()) => Next::CatchUp,
            () = sleep_until(self.batch.due) => Next::WriteBatch,
            write = self.writes.recv(), if !self.batch.is_full() => {
                write.map_or(Next::End, Next::Collect)
            }
        }
    }

    /// Serves a message; an audit record together with those that wait behind it.
    async fn serve(&mut self, mut urgent: Urgent) {
        if let Urgent::Audit(first) = urgent {
            let (mut audits, other) = self.waiting_audits();
            audits.insert(0, first);
            self.audits.write(audits).await;
            let Some(other) = other else { return };
            urgent = other;
        }
        match urgent {
            Urgent::Audit(request) => self.audits.write_alone(request).await,
            Urgent::Prune(step, done) => {
                let _ = done.send(self.audits.prune(step).await);
            }
            Urgent::Import(request) => {
                let ImportRequest {
                    terminal,
                    entry,
                    done,
                } = *request;
                let _ = done.send(self.audits.import(&terminal, &entry).await);
            }
            Urgent::FindForged(done) => {
                let _ = done.send(self.audits.find_forged().await.map_err(StoreError::from));
            }
            Urgent::EmptyLog(done) => {
                let _ = done.send(self.audits.empty_log().await);
            }
            #[cfg(test)]
            Urgent::LimitPages(pages, done) => {
                let pragma = sqlx::AssertSqlSafe(format!("PRAGMA max_page_count = {pages}"));
                let limited = sqlx::query(pragma).execute(self.audits.connection()).await;
                let _ = done.send(limited.map(|_| ()).map_err(StoreError::from));
            }
        }
    }

    /// The audit records that wait now, and the message behind them.
    fn waiting_audits(&mut self) -> (Vec<AuditRequest>, Option<Urgent>) {
        let mut audits = Vec::new();
        while let Ok(next) = self.urgent.try_recv() {
            if let Urgent::Audit(request) = next {
                audits.push(request);
            } else {
                return (audits, Some(next));
            }
        }
        (audits, None)
    }

    /// Writes the batch; what the disk does not take stays in it. Fails only where the store is being
    /// closed and the rest cannot be written.
    async fn write_batch(&mut self) -> Result<(), StoreError> {
        while !self.batch.is_empty() {
            if let Err(error) = self.write_transaction().await {
                if self.failure.is_none() {
                    tracing::error!(%error, "transcripts cannot be written; they wait");
                }
                self.failure = Some(Stall::of(&error));
                if self.closing.is_cancelled() {
                    return Err(error);
                }
                self.batch.due = Some(Instant::now() + RETRY_PAUSE);
                return Ok(());
            }
            if self.failure.take().is_some() {
                tracing::info!("transcripts are written again");
            }
            while let Ok(urgent) = self.urgent.try_recv() {
                self.serve(urgent).await;
            }
        }
        self.batch.due = None;
        Ok(())
    }

    /// Writes the batch up to the next urgent message, and the audit records that wait, in one
    /// transaction.
    async fn write_transaction(&mut self) -> Result<(), StoreError> {
        self.audits.begin().await?;
        let urgent = &self.urgent;
        let has_urgent = || !urgent.is_empty();
        let written = self.batch.write(self.audits.connection(), has_urgent);
        let written = match written.await {
            Ok(written) => written,
            Err(error) => {
                self.audits.roll_back().await;
                return Err(error.into());
            }
        };
        let (audits, other) = self.waiting_audits();
        let result = match self.audits.commit(&audits).await {
            Ok(head) => {
                self.audits.publish_and_answer(head, audits);
                let close = self.batch.settle(&written);
                self.closed = close.or_else(|| self.closed.take());
                Ok(())
            }
            Err(error) => {
                self.audits.roll_back().await;
                // What keeps the blocks off the disk need not keep a record off it.
                for request in audits {
                    self.audits.write_alone(request).await;
                }
                Err(error)
            }
        };
        if let Some(urgent) = other {
            self.serve(urgent).await;
        }
        result
    }

    /// Serves the urgent messages that still wait, empties the log into the database and closes it.
    async fn finish(mut self, mut outcome: Result<(), StoreError>) {
        self.urgent.close();
        while let Ok(urgent) = self.urgent.try_recv() {
            self.serve(urgent).await;
        }
        if self.audits.catch_up_at().is_some() {
            self.audits.catch_up().await;
        }
        for caller in self.batch.into_callers() {
            let _ = caller.send(std::mem::replace(&mut outcome, Err(StoreError::Closed)));
        }
        // The next server takes the end of the chain as it finds it.
        if let Err(error) = self.audits.find_forged().await {
            tracing::error!(%error, "the end of the audit chain was not checked");
        }
        let closed = self.audits.close().await;
        if let Err(error) = &closed {
            tracing::error!(%error, "the database was not closed cleanly");
        }
        if let Some(done) = self.closed {
            let _ = done.send(closed.map_err(StoreError::from));
        }
    }
}

async fn sleep_until(due: Option<Instant>) {
    match due {
        Some(due) => tokio::time::sleep_until(due).await,
        None => std::future::pending().await,
    }
}

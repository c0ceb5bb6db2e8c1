//! What a terminal's task hands to the store, and what it lets go: blocks, gaps, the memory of what is
//! stored, and the record of the end.

use std::sync::Arc;
use std::time::{Duration, Instant};

use termd_proto::event::TerminalEvent;
use termd_proto::terminal::ReachedLimit;

use super::Actor;
use crate::clock::now_ms;
use crate::store::{AuditEntry, BLOCK_BYTES, Block, BlockPermit, GapWrite, StoreError, own_actor};
use crate::terminal::output::disk::{Reached, Step};
use crate::terminal::output::flow::Due;

/// Wait after the database refused an audit record of an exit, before it is tried again.
const EXIT_RECORD_RETRY: Duration = Duration::from_secs(1);

impl Actor {
    pub(super) fn store_block(&mut self, due: Due, permit: BlockPermit) {
        let length = usize::try_from(due.end.since(due.start)).unwrap_or(BLOCK_BYTES);
        let transcript = &self.terminal.transcript;
        let spool = transcript.spool();
        let read = spool.map_or(Ok(None), |spool| spool.read(due.start, length));
        let read =
            read.and_then(|read| Ok((read, transcript.origins_of_block(due.start, length)?)));
        self.flow.queued(due, Instant::now());
        match read {
            Ok((Some(bytes), origins)) => permit.send(Block {
                terminal: self.terminal.id().clone(),
                start: due.start,
                bytes,
                origins,
                committed: self.committed.clone(),
            }),
            failed => {
                // Trying again would fail again, and for ever.
                tracing::error!(
                    terminal = %self.terminal.id(), start = %due.start, end = %due.end,
                    error = ?failed.err(), "output cannot be read from the spool and is not stored"
                );
                self.flow.committed(due.end);
            }
        }
    }

    /// Some output goes, or its screen is kept before that.
    pub(super) fn let_go(&mut self, step: Step, permit: BlockPermit) {
        let now = Instant::now();
        let terminal = Arc::clone(&self.terminal);
        let gap = match step {
            Step::Screen => {
                self.reading.feed_all(self.keyboard.queue());
                let screen = self.checkpoints.take(&terminal, self.reading.fed());
                if let Some(screen) = screen {
                    permit.send_screen(terminal.id().clone(), screen);
                }
                self.disk.has_screen_for(&self.flow);
                return;
            }
            Step::Gap(gap) => gap,
        };
        let was_stored = gap.end <= self.flow.stored();
        let (gap, reached) = self.disk.let_go(&terminal, gap);
        let committed = (!was_stored).then(|| {
            self.flow.give_up(gap.end, now);
            self.committed.clone()
        });
        permit.send_gap(GapWrite {
            terminal: terminal.id().clone(),
            gap,
            at_ms: now_ms(),
            committed,
        });
        if let Some(reached) = reached {
            self.tell_of_disk(reached);
        }
    }

    /// Says that output is not kept, once for each limit. The record comes when it can: the output
    /// that it tells of is not kept either way, and its gap is recorded with it.
    fn tell_of_disk(&self, reached: Reached) {
        let Reached { limit, value } = reached;
        let id = self.terminal.id().clone();
        tracing::info!(terminal = %id, limit = limit.as_str(), value, "output is not kept");
        let _ = self.around.events.send(TerminalEvent::LimitReached {
            id: id.clone(),
            limit: ReachedLimit::Disk(limit),
            value,
        });
        let entry = AuditEntry {
            at_ms: now_ms(),
            action: "limit.reached",
            outcome: "ok".to_owned(),
            actor: own_actor(),
            detail: serde_json::Map::from_iter([
                ("limit".to_owned(), limit.as_str().into()),
                ("value".to_owned(), value.into()),
                ("output_bytes".to_owned(), self.terminal.end().0.into()),
            ]),
            terminal: Some(id.clone()),
        };
        let store = self.around.store.clone();
        tokio::spawn(async move {
            if let Err(error) = store.audit(entry).await {
                tracing::error!(terminal = %id, %error, "cannot record that a limit was reached");
            }
        });
    }

    pub(super) fn give_back_memory(&mut self) {
        self.backlog.set(self.flow.unstored());
        self.terminal.set_unstored(self.flow.unstored());
        let transcript = &self.terminal.transcript;
        // The screen may be behind: it reads from the spool alone.
        let expendable = self.flow.expendable().min(self.reading.fed());
        if let Err(error) = transcript.give_back_before(expendable) {
            tracing::warn!(terminal = %self.terminal.id(), %error, "cannot shrink the spool");
        }
    }

    /// The exit's row and audit record, and then the keeper may let go. A server that dies before
    /// that leaves it to the next one, which finds the terminal in the inventory again.
    pub(super) async fn record_exit(&self) {
        let terminal = &self.terminal;
        let progress = terminal.progress();
        let (store, fed) = (&self.around.store, self.reading.fed());
        let kept = self.checkpoints.finish(terminal, store, fed).await;
        if kept.is_err() {
            return;
        }
        let mut detail = serde_json::Map::new();
        let status = progress.exit.as_ref().and_then(|exit| exit.status.as_ref());
        detail.insert(
            "exit_code".to_owned(),
            status.and_then(|s| s.exit_code).into(),
        );
        detail.insert(
            "signal".to_owned(),
            status.and_then(|s| s.signal.clone()).into(),
        );
        detail.insert("output_bytes".to_owned(), progress.end.0.into());
        if !self.disk.gaps().is_empty() {
            let gaps = serde_json::to_value(self.disk.gaps()).unwrap_or_default();
            detail.insert("gaps".to_owned(), gaps);
        }
        if let Some(cause) = progress.end_cause {
            detail.insert("limit".to_owned(), cause.as_str().into());
        }
        let entry = AuditEntry {
            at_ms: now_ms(),
            action: "terminal.exit",
            outcome: "ok".to_owned(),
            actor: terminal.record.owner.clone(),
            terminal: Some(terminal.id().clone()),
            detail,
        };
        loop {
            match self.store_exit(entry.clone()).await {
                Ok(()) => break,
                Err(StoreError::Closed) => return,
                Err(error) => {
                    tracing::error!(terminal = %terminal.id(), %error, "cannot record an exit");
                    tokio::time::sleep(EXIT_RECORD_RETRY).await;
                }
            }
        }
        if let Err(error) = self.around.keeper.release(terminal.id()).await {
            tracing::debug!(terminal = %terminal.id(), %error, "the keeper did not release it");
        }
    }

    async fn store_exit(&self, entry: AuditEntry) -> Result<(), StoreError> {
        self.around.store.put_terminal(self.terminal.row()).await?;
        self.around.store.audit(entry).await?;
        self.around.store.flush().await
    }
}

//! Indexes what terminals have printed, while the daemon is idle.
//!
//! The work is done on a thread of its own, which gives way to all others. Niceness alone does not keep it
//! from a command's way: the kernel shares processors between sessions before it looks at niceness. So the
//! indexer also stands back while a terminal prints without end.

use std::collections::HashMap;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use termd_proto::event::TerminalEvent;
use termd_proto::{Offset, TerminalId};
use termd_vt::plain::PlainSize;
use tokio::runtime::Handle;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::{Instant, sleep, timeout_at};
use tokio_util::sync::CancellationToken;

use super::document::{DOCUMENT_BYTES, Document, DocumentReader};
use super::numbers;
use super::trigrams::fold;
use crate::clock::now_ms;
use crate::service::registry::Registry;
use crate::store::{INDEX_NICENESS, NewDocument, SearchIndex, Store, StoreError, TerminalRow};
use crate::terminal::output::flood_turn::FloodTurns;
use crate::terminal::output::transcript::{Transcript, TranscriptError};

/// How long after a terminal's end its output is indexed: with that of the others that end with it.
const AFTER_EXIT: Duration = Duration::from_secs(2);
/// How often running terminals are looked at. What they have printed since is searched directly.
const PERIOD: Duration = Duration::from_mins(1);
/// How often all terminals are looked at: retention has dropped what was indexed.
const SWEEP: Duration = Duration::from_hours(1);
/// The pause before the first look: a server's start has better to do.
const FIRST: Duration = Duration::from_secs(5);
/// How long it stands back while a terminal prints without end, or output waits to be written.
const STAND_BACK: Duration = Duration::from_millis(250);
/// Documents written in one transaction: each has to be merged with what is there. A flood that begins
/// meanwhile waits for its end.
const BATCH: usize = 16;
/// Terminals read from the database at a time.
const PAGE: u32 = 200;
/// How long a terminal must have ended before what is left of it is indexed as its last part: its task may
/// still store output.
const SETTLED_MS: i64 = 1_000;

/// Why a terminal was not indexed.
#[derive(Debug, thiserror::Error)]
pub(super) enum IndexError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Transcript(#[from] TranscriptError),
}

/// Indexes terminals until the daemon stops.
#[derive(Debug)]
pub(crate) struct Indexer {
    store: Store,
    registry: Arc<Registry>,
    index: Arc<SearchIndex>,
    events: broadcast::Receiver<TerminalEvent>,
    stopping: CancellationToken,
    flood_turns: FloodTurns,
    /// How many turns of floods had begun at the last look.
    turns_begun: u64,
    /// How far the running terminals were when they were last looked at.
    seen: HashMap<TerminalId, Offset>,
    /// When all terminals were last looked at.
    swept: Instant,
}

/// What is looked at next.
enum Look {
    /// Each terminal that is known.
    All,
    /// These.
    Some(Vec<TerminalId>),
}

impl Indexer {
    pub(crate) fn new(
        store: Store,
        registry: Arc<Registry>,
        index: Arc<SearchIndex>,
        events: broadcast::Receiver<TerminalEvent>,
        stopping: CancellationToken,
        flood_turns: FloodTurns,
    ) -> Self {
        Self {
            store,
            registry,
            index,
            events,
            stopping,
            turns_begun: flood_turns.begun(),
            flood_turns,
            seen: HashMap::new(),
            swept: Instant::now(),
        }
    }

    /// Starts the indexer's thread. Must be called inside the runtime, whose timers it uses.
    pub(crate) fn start(self) {
        let runtime = Handle::current();
        let started = thread::Builder::new()
            .name("termd-resolve".to_owned())
            .spawn(move || {
                // A refused niceness changes only the order.
                let _ = rustix::process::setpriority_process(None, INDEX_NICENESS);
                runtime.block_on(self.run());
            });
        if let Err(error) = started {
            tracing::warn!(%error, "nothing is indexed for the search");
        }
    }

    async fn run(mut self) {
        let stopping = self.stopping.clone();
        let work = async {
            sleep(FIRST).await;
            let mut look = Look::All;
            loop {
                if let Err(error) = self.pass(look).await {
                    // It is searched directly then.
                    tracing::warn!(%error, "the index of the search cannot be written");
                }
                look = self.wait().await;
            }
        };
        tokio::select! {
            biased;
            () = stopping.cancelled() => {}
            () = work => {}
        }
    }

    /// Waits for terminals' ends, or for the next look at those that run.
    async fn wait(&mut self) -> Look {
        let mut ended = Vec::new();
        let mut until = Instant::now() + PERIOD;
        loop {
            match timeout_at(until, self.events.recv()).await {
                Ok(Ok(TerminalEvent::Exited { id, .. } | TerminalEvent::Closed { id })) => {
                    until = until.min(Instant::now() + AFTER_EXIT);
                    ended.push(id);
                }
                Ok(Ok(_)) => {}
                Ok(Err(RecvError::Lagged(_))) => return Look::All,
                Ok(Err(RecvError::Closed)) => std::future::pending().await,
                Err(_) if self.swept.elapsed() > SWEEP => return Look::All,
                Err(_) => break,
            }
        }
        if ended.is_empty() {
            ended.extend(self.grown());
        }
        ended.dedup();
        Look::Some(ended)
    }

    /// The terminals that have printed enough for a document since they were last looked at.
    fn grown(&mut self) -> Vec<TerminalId> {
        let terminals = self.registry.all();
        let seen = std::mem::take(&mut self.seen);
        let mut grown = Vec::new();
        for terminal in terminals {
            let (id, end) = (terminal.id(), terminal.end());
            let mut seen = seen.get(id).copied().unwrap_or_default();
            if end.since(seen) >= DOCUMENT_BYTES as u64 {
                grown.push(id.clone());
                seen = end;
            }
            self.seen.insert(id.clone(), seen);
        }
        grown
    }

    async fn pass(&mut self, look: Look) -> Result<(), IndexError> {
        match look {
            Look::All => {
                self.swept = Instant::now();
                self.sweep().await
            }
            Look::Some(ids) => {
                for id in ids {
                    if let Some((number, row)) = self.store.numbered_terminal(&id).await? {
                        self.terminal(number, &row).await?;
                    }
                }
                Ok(())
            }
        }
    }

    /// Indexes what is not indexed, and forgets what is not kept.
    pub(super) async fn sweep(&mut self) -> Result<(), IndexError> {
        let mut newest = i64::MAX;
        let mut known = self.index.terminals();
        loop {
            let page = self.store.newest_terminals(newest, PAGE).await?;
            for (number, row) in &page {
                known.retain(|known| known != number);
                self.terminal(*number, row).await?;
            }
            match page.last() {
                Some((number, _)) if page.len() == PAGE as usize => newest = number - 1,
                _ => break,
            }
        }
        for gone in known {
            self.index.forget(gone).await?;
        }
        Ok(())
    }

    async fn terminal(&mut self, number: i64, row: &TerminalRow) -> Result<(), IndexError> {
        let progress = self.index.progress(number);
        let is_gone = row.start >= row.end;
        if is_gone {
            if progress.is_some() {
                self.index.forget(number).await?;
            }
            return Ok(());
        }
        let mut indexed = progress.map_or(row.start, |progress| progress.next);
        if progress.is_some_and(|progress| progress.is_done) {
            if indexed == row.end {
                return Ok(());
            }
            // More came than was thought.
            self.index.forget(number).await?;
            indexed = row.start;
        }
        if indexed > row.end {
            self.index.forget(number).await?;
            indexed = row.start;
        }
        let ended = row.exited_at_ms.or(row.closed_at_ms);
        let has_ended = ended.is_some_and(|at_ms| at_ms + SETTLED_MS < now_ms());
        if !has_ended && row.end.since(indexed) < DOCUMENT_BYTES as u64 {
            return Ok(());
        }
        let live = self.registry.get(&row.id);
        let stored = Transcript::stored(row.id.clone(), self.store.clone());
        let transcript = live.as_ref().map_or(&stored, |live| &live.transcript);
        let state = self.index.state(number).await?;
        let resumed = state.and_then(|(_, state)| DocumentReader::resume(transcript, &state));
        let mut reader = if let Some(reader) = resumed {
            reader
        } else {
            self.index.forget(number).await?;
            DocumentReader::new(transcript, size_of(row), row.start)
        };
        loop {
            self.stand_back().await;
            let mut batch = Vec::new();
            while batch.len() < BATCH
                && let Some(document) = reader.next(row.end).await?
            {
                batch.push(new_document(document));
            }
            let is_last = batch.len() < BATCH;
            if is_last && has_ended {
                let last = reader.finish();
                let end = last.end.max(row.end);
                batch.push(new_document(Document { end, ..last }));
            }
            let is_done = is_last && has_ended;
            (self.index)
                .put(number, &batch, reader.state(), is_done)
                .await?;
            if is_last {
                return Ok(());
            }
        }
    }

    /// Waits while much output comes, or the disk takes nothing.
    pub(super) async fn stand_back(&mut self) {
        loop {
            let before = std::mem::replace(&mut self.turns_begun, self.flood_turns.begun());
            let floods = self.turns_begun != before;
            if !floods && !self.store.is_busy() && self.store.stall().is_none() {
                return;
            }
            sleep(STAND_BACK).await;
        }
    }
}

fn new_document(document: Document) -> NewDocument {
    let text = fold(&document.output.text);
    NewDocument {
        range: (document.start, document.end),
        is_ended: document.is_ended,
        numbers: numbers::parts(&text),
        text,
        state: document.state,
    }
}

/// The size that a terminal's text is resolved for: its last one, as `session.read` does.
pub(super) fn size_of(row: &TerminalRow) -> PlainSize {
    PlainSize {
        cols: row.cols,
        rows: row.rows,
    }
}

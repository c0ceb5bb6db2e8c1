//! Importing recordings that were made elsewhere, each as a closed terminal.
//!
//! A recording is packed in memory as it comes, and stored by one transaction once it is whole. What a
//! client does not finish is gone with its connection, and nothing of it was stored.

mod recording;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Map;
use termd_proto::TerminalId;
use termd_proto::import::{BeginImport, FinishImport, ImportEvent, MAX_IMPORTS};
use termd_proto::terminal::{Owner, TerminalInfo};
use tokio_util::sync::{CancellationToken, DropGuard};

use self::recording::Recording;
use super::audit_log::AuditLog;
use super::disk::Disk;
use super::namer::refuse_token;
use super::random::random_bits;
use super::registry::stored_terminal;
use crate::clock::now_ms;
use crate::store::{AuditAction, AuditOutcome, Store, StoreError};
use crate::terminal::error::TerminalError;

/// Which import: an id, and the connection that has begun it.
type ImportKey = (TerminalId, u64);

/// Imports recordings.
#[derive(Debug)]
pub(crate) struct Importer {
    store: Store,
    disk: Arc<Disk>,
    /// Those that are not finished.
    unfinished: Mutex<HashMap<ImportKey, Unfinished>>,
}

/// An import that is not finished.
#[derive(Debug)]
struct Unfinished {
    recording: Arc<Mutex<Recording>>,
    /// Ends the watch for the connection's end.
    _watch: DropGuard,
}

impl Importer {
    pub(crate) fn new(store: Store, disk: Arc<Disk>) -> Self {
        Self {
            store,
            disk,
            unfinished: Mutex::default(),
        }
    }

    /// Begins an import, which lives until it is finished or its connection is closed. `None`: there are
    /// [`MAX_IMPORTS`].
    pub(crate) fn begin(
        self: &Arc<Self>,
        params: BeginImport,
        connection: u64,
        closed: CancellationToken,
    ) -> Result<Option<TerminalId>, TerminalError> {
        if let Some(label) = &params.label {
            refuse_token("label", label.as_str())?;
        }
        self.disk.check_room()?;
        let id = TerminalId::from_random(random_bits()?);
        let recording = Recording::begin(id.clone(), params, self.disk.terminal_quota())?;
        let mut unfinished = self.unfinished();
        if unfinished.len() >= MAX_IMPORTS {
            return Ok(None);
        }
        let (key, done) = ((id.clone(), connection), CancellationToken::new());
        let (this, is_done, dropped) = (Arc::clone(self), done.clone(), key.clone());
        tokio::spawn(async move {
            tokio::select! {
                () = closed.cancelled() => drop(this.unfinished().remove(&dropped)),
                () = is_done.cancelled() => {}
            }
        });
        let import = Unfinished {
            recording: Arc::new(Mutex::new(recording)),
            _watch: done.drop_guard(),
        };
        unfinished.insert(key, import);
        Ok(Some(id))
    }

    /// Adds what happened next.
    pub(crate) async fn add(
        &self,
        id: TerminalId,
        connection: u64,
        events: Vec<ImportEvent>,
    ) -> Result<(), TerminalError> {
        let recording = {
            let unfinished = self.unfinished();
            let found = unfinished.get(&(id, connection)).ok_or_else(unknown)?;
            Arc::clone(&found.recording)
        };
        let added = tokio::task::spawn_blocking(move || {
            let mut recording = recording.lock().unwrap_or_else(PoisonError::into_inner);
            (events.into_iter()).try_for_each(|event| recording.add(event))
        });
        added.await.map_err(|_| TerminalError::Stopping)?
    }

    /// Stores the recording with the record of that. Must not be dropped half-way: run it in a task.
    pub(crate) async fn finish(
        &self,
        params: FinishImport,
        connection: u64,
        actor: Owner,
    ) -> Result<TerminalInfo, TerminalError> {
        let found = self.unfinished().remove(&(params.id.clone(), connection));
        let recording = found.and_then(|found| Arc::into_inner(found.recording));
        let recording = recording.ok_or_else(unknown)?;
        let recording = (recording.into_inner()).unwrap_or_else(PoisonError::into_inner);
        self.disk.check_room()?;
        let imported_at_ms = now_ms();
        let terminal = recording.finish(&params, actor, imported_at_ms)?;
        let row = &terminal.row;
        let detail = Map::from_iter([
            ("argv".to_owned(), row.argv.clone().into()),
            (
                "label".to_owned(),
                row.label.as_ref().map(ToString::to_string).into(),
            ),
            ("started_at_ms".to_owned(), row.created_at_ms.into()),
            ("bytes".to_owned(), terminal.output.end().0.into()),
        ]);
        let (action, outcome) = (AuditAction::TerminalImport, AuditOutcome::Ok);
        let entry = AuditLog::entry(action, outcome, &row.owner, Some(&row.id), detail);
        match self.store.import(terminal, entry).await {
            Err(StoreError::DiskFull) => return Err(self.disk.full()),
            stored => stored?,
        }
        let row = self.store.terminal(&params.id).await?;
        let row = row.ok_or_else(|| TerminalError::NotFound(params.id.to_string()))?;
        Ok(stored_terminal(&row, &self.store).info())
    }

    fn unfinished(&self) -> MutexGuard<'_, HashMap<ImportKey, Unfinished>> {
        self.unfinished
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

fn unknown() -> TerminalError {
    TerminalError::Invalid {
        field: "id",
        problem: "is of no import that this connection has begun and not finished".to_owned(),
    }
}

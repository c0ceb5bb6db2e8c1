//! Deleting what a closed terminal has printed, for good.

use std::sync::Arc;

use serde_json::Map;
use termd_proto::terminal::{DeletedTranscript, Owner, TerminalState};

use super::audit_log::AuditLog;
use super::registry::Registry;
use crate::clock::now_ms;
use crate::store::{AuditAction, AuditOutcome, SearchIndex, Store};
use crate::terminal::error::TerminalError;
use crate::terminal::handle::Terminal;

/// Deletes transcripts. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct TranscriptEraser {
    pub(crate) registry: Arc<Registry>,
    pub(crate) audit: AuditLog,
    pub(crate) store: Store,
    pub(crate) index: Option<Arc<SearchIndex>>,
}

impl TranscriptEraser {
    /// Deletes the output, the screen, the argv, the directory and the shell's command lines of a closed
    /// terminal. Its row stays without them, and its audit records stay as they are. Must not be dropped half-way: run it in a task.
    pub(crate) async fn erase(
        &self,
        terminal: &Terminal,
        actor: &Owner,
    ) -> Result<DeletedTranscript, TerminalError> {
        let id = terminal.id();
        if actor.agent().is_some() && !terminal.is_opened_by(actor) {
            return Err(TerminalError::NotOwn(id.clone()));
        }
        if terminal.state() != TerminalState::Closed {
            return Err(TerminalError::StillOpen(id.clone()));
        }
        // The task of a terminal that was closed a moment ago may still store output.
        terminal.task_has_ended().await;
        self.store.flush().await?;
        let bytes = self.store.transcript_length(id).await?;
        let detail = Map::from_iter([("bytes".to_owned(), bytes.into())]);
        let (action, outcome) = (AuditAction::TerminalDelete, AuditOutcome::Ok);
        self.audit
            .record(action, outcome, actor, Some(id), detail)
            .await?;
        self.store.erase_transcript(id, now_ms()).await?;
        if let (Some(index), Some((number, _))) =
            (&self.index, self.store.numbered_terminal(id).await?)
        {
            index.forget(number).await?;
            index.purge().await?;
        }
        self.registry.discard_output(&[id.to_string()]).await;
        Ok(DeletedTranscript { bytes })
    }
}

//! What the audit chain says of typing: who types, and how much.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Map;
use termd_proto::terminal::{Owner, TerminalState};
use tokio_util::sync::CancellationToken;

use super::control_keys::ControlKeys;
use crate::service::audit_log::AuditLog;
use crate::store::{AuditAction, AuditOutcome};
use crate::terminal::error::TerminalError;
use crate::terminal::handle::Terminal;
use crate::terminal::input::input_audit::{AuditedInput, InputAudit};

/// The pause between two records of what a connection types.
const PERIOD: Duration = Duration::from_secs(1);

/// Records typing. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct InputRecorder {
    audit: AuditLog,
    stopping: CancellationToken,
}

impl InputRecorder {
    pub(crate) fn new(audit: AuditLog, stopping: CancellationToken) -> Self {
        Self { audit, stopping }
    }

    /// Before a connection types: records that it does, and what was typed before, where that could
    /// not be recorded at its time.
    pub(super) async fn begin(
        &self,
        terminal: &Arc<Terminal>,
        actor: &Owner,
        connection: u64,
    ) -> Result<(), TerminalError> {
        self.record_typist(terminal, actor, connection).await?;
        self.catch_up(terminal).await
    }

    /// Records that a connection types into a terminal, once for each connection, and never what it
    /// types.
    async fn record_typist(
        &self,
        terminal: &Terminal,
        actor: &Owner,
        connection: u64,
    ) -> Result<(), TerminalError> {
        if terminal.connections.is_typist(connection) {
            return Ok(());
        }
        let (action, id) = (AuditAction::TerminalInput, Some(terminal.id()));
        self.audit
            .record(action, AuditOutcome::Ok, actor, id, Map::new())
            .await?;
        terminal.connections.add_typist(connection);
        Ok(())
    }

    /// Records control keys that are typed although what was typed before cannot be recorded.
    pub(super) async fn record_interrupt(
        &self,
        terminal: &Terminal,
        actor: &Owner,
        keys: &ControlKeys,
    ) -> Result<(), TerminalError> {
        let (action, id) = (AuditAction::TerminalInterrupt, Some(terminal.id()));
        let detail = Map::from_iter([("keys".to_owned(), keys.names().into())]);
        self.audit
            .record(action, AuditOutcome::Ok, actor, id, detail)
            .await
    }

    /// Waits for the records of what was typed before, where they could not be written at their
    /// time: nothing more is typed until they are. Returns at once otherwise.
    async fn catch_up(&self, terminal: &Arc<Terminal>) -> Result<(), TerminalError> {
        if !terminal.input_audit(|tallies| tallies.is_behind()) {
            return Ok(());
        }
        // In a task of its own: a client that goes away must not take the sums with it.
        let (this, terminal) = (self.clone(), Arc::clone(terminal));
        let recorded = tokio::spawn(async move { this.record_sums(&terminal).await });
        recorded.await.map_err(|_| TerminalError::Stopping)?
    }

    /// Counts what is being typed, and records it in a second's time.
    pub(super) fn count(
        &self,
        terminal: &Arc<Terminal>,
        actor: &Owner,
        connection: u64,
        piece: AuditedInput,
    ) {
        if !terminal.input_audit(|tallies| tallies.add(connection, actor, piece)) {
            return;
        }
        let (this, terminal) = (self.clone(), Arc::clone(terminal));
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(PERIOD).await;
                if let Err(error) = this.record_sums(&terminal).await {
                    if this.stopping.is_cancelled() {
                        return;
                    }
                    tracing::error!(terminal = %terminal.id(), %error, "cannot record what was typed");
                }
                if terminal.input_audit(InputAudit::is_done) {
                    return;
                }
            }
        });
    }

    /// Records what was typed since the last time.
    async fn record_sums(&self, terminal: &Terminal) -> Result<(), TerminalError> {
        let is_last = terminal.state() != TerminalState::Running;
        let mut sums = terminal.input_audit(|tallies| tallies.take(is_last));
        while let Some(sum) = sums.front() {
            let (action, id) = (AuditAction::TerminalTyped, Some(terminal.id()));
            let (actor, detail) = (&sum.actor, sum.detail.clone());
            let recorded = self
                .audit
                .record(action, AuditOutcome::Ok, actor, id, detail);
            if let Err(error) = recorded.await {
                terminal.input_audit(|tallies| tallies.put_back(sums));
                return Err(error);
            }
            sums.pop_front();
        }
        Ok(())
    }

    /// Records what was typed into these terminals, for this server's end.
    pub(crate) async fn flush(&self, terminals: &[Arc<Terminal>]) {
        for terminal in terminals {
            if let Err(error) = self.record_sums(terminal).await {
                tracing::error!(terminal = %terminal.id(), %error, "cannot record what was typed");
            }
        }
    }
}

//! Connections that watch a terminal, or type into it too, and say so.

use std::sync::Arc;
use std::time::Instant;

use serde_json::{Map, Value};
use termd_proto::terminal::{AttachMode, Owner};

use super::audit_log::AuditLog;
use crate::store::{AuditAction, AuditOutcome};
use crate::terminal::error::TerminalError;
use crate::terminal::handle::Terminal;

/// Records attaching and detaching. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Attachments {
    audit: AuditLog,
}

impl Attachments {
    pub(crate) fn new(audit: AuditLog) -> Self {
        Self { audit }
    }

    /// Attaches a connection until it detaches or `ended` resolves. Does nothing where it is
    /// attached already.
    pub(crate) async fn attach(
        &self,
        terminal: &Arc<Terminal>,
        actor: Owner,
        connection: u64,
        mode: AttachMode,
        ended: impl Future<Output = ()> + Send + 'static,
    ) -> Result<(), TerminalError> {
        let Some(detached) = terminal.connections.attach(connection) else {
            return Ok(());
        };
        let (outcome, id) = (AuditOutcome::Ok, Some(terminal.id()));
        let detail = Map::from_iter([("mode".to_owned(), mode.as_str().into())]);
        let recorded = self
            .audit
            .record(AuditAction::TerminalAttach, outcome, &actor, id, detail);
        if let Err(error) = recorded.await {
            terminal.connections.detach(connection);
            return Err(error);
        }
        let (audit, terminal) = (self.audit.clone(), Arc::clone(terminal));
        let since = Instant::now();
        tokio::spawn(async move {
            tokio::select! {
                () = detached.cancelled() => {}
                () = ended => {}
            }
            terminal.connections.detach(connection);
            let ms = u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX);
            let detail = Map::from_iter([("ms".to_owned(), Value::from(ms))]);
            let (action, id) = (AuditAction::TerminalDetach, Some(terminal.id()));
            let recorded = audit.record(action, AuditOutcome::Ok, &actor, id, detail);
            if let Err(error) = recorded.await {
                tracing::error!(%error, "cannot record that somebody detached");
            }
        });
        Ok(())
    }
}

//! Connections that watch a terminal, or type into it too, and say so. The terminal has the size of the
//! one that typed or gave a size last.

use std::sync::Arc;
use std::time::Instant;

use serde_json::{Map, Value};
use termd_proto::terminal::{AttachMode, Owner};
use tokio_util::sync::CancellationToken;

use super::audit_log::AuditLog;
use super::screens::Screens;
use crate::store::{AuditAction, AuditOutcome};
use crate::terminal::error::TerminalError;
use crate::terminal::handle::Terminal;
use crate::terminal::screen::size::Size;

/// Records attaching and detaching. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Attachments {
    audit: AuditLog,
    screens: Screens,
    /// This server ends: its viewers come again to the next one.
    stopping: CancellationToken,
}

impl Attachments {
    pub(crate) fn new(audit: AuditLog, screens: Screens, stopping: CancellationToken) -> Self {
        Self {
            audit,
            screens,
            stopping,
        }
    }

    /// Attaches a connection until it detaches or `ended` resolves. Where it is attached
    /// already, only its size is new.
    pub(crate) async fn attach(
        &self,
        terminal: &Arc<Terminal>,
        actor: Owner,
        connection: u64,
        mode: AttachMode,
        size: Option<Size>,
        ended: impl Future<Output = ()> + Send + 'static,
    ) -> Result<(), TerminalError> {
        // Who only watches gives no size.
        let size = size.filter(|_| mode == AttachMode::Type);
        // Before the connection is attached: what detaches it counts the person out.
        let is_person = is_person(&actor);
        if is_person {
            terminal.attention.person_came();
        }
        let Some(detached) = terminal.connections.attach(connection, &actor, mode, size) else {
            if is_person {
                terminal.attention.person_left();
            }
            return Ok(());
        };
        let (outcome, id) = (AuditOutcome::Ok, Some(terminal.id()));
        let detail = Map::from_iter([("mode".to_owned(), mode.as_str().into())]);
        let recorded = self
            .audit
            .record(AuditAction::TerminalAttach, outcome, &actor, id, detail);
        if let Err(error) = recorded.await {
            self.detach(terminal, connection).await;
            return Err(error);
        }
        let (own, terminal) = (self.clone(), Arc::clone(terminal));
        let since = Instant::now();
        tokio::spawn(async move {
            tokio::select! {
                () = detached.cancelled() => {}
                () = ended => if !own.stopping.is_cancelled() {
                    own.detach(&terminal, connection).await;
                },
            }
            let ms = u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX);
            let detail = Map::from_iter([("ms".to_owned(), Value::from(ms))]);
            let (action, id) = (AuditAction::TerminalDetach, Some(terminal.id()));
            let recorded = own
                .audit
                .record(action, AuditOutcome::Ok, &actor, id, detail);
            if let Err(error) = recorded.await {
                tracing::error!(%error, "cannot record that somebody detached");
            }
        });
        Ok(())
    }

    /// Detaches a connection. The terminal takes the size of who is left.
    pub(crate) async fn detach(&self, terminal: &Terminal, connection: u64) {
        let current = terminal.progress().size;
        let Some(left) = terminal.connections.detach(connection, current) else {
            return;
        };
        if is_person(&left.by) {
            terminal.attention.person_left();
        }
        if let Some(size) = left.leaves_size {
            self.screens.follow(terminal, size).await;
        }
    }
}

fn is_person(owner: &Owner) -> bool {
    owner.agent().is_none()
}

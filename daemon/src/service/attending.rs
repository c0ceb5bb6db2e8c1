//! Who is at a terminal: attaching, detaching, and what was typed, as the audit has it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Map, Value};
use termd_proto::terminal::{AttachMode, Owner, TerminalState};

use super::Terminals;
use crate::terminal::error::TerminalError;
use crate::terminal::handle::Terminal;
use crate::terminal::input::input_audit::{AuditedInput, InputAudit};

/// Between two records of what a connection types.
const TYPED_PERIOD: Duration = Duration::from_secs(1);

impl Terminals {
    /// Somebody watches a terminal from now on, or types into it too, until they say otherwise or
    /// `ended` resolves. Again from the same connection: nothing new.
    pub async fn attach(
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
        let detail = Map::from_iter([("mode".to_owned(), mode.as_str().into())]);
        let id = Some(terminal.id());
        if let Err(error) = self
            .audit("terminal.attach", "ok", &actor, id, detail)
            .await
        {
            terminal.connections.detach(connection);
            return Err(error);
        }
        let (terminals, terminal) = (self.clone(), Arc::clone(terminal));
        let since = Instant::now();
        tokio::spawn(async move {
            tokio::select! {
                () = detached.cancelled() => {}
                () = ended => {}
            }
            terminal.connections.detach(connection);
            let ms = u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX);
            let detail = Map::from_iter([("ms".to_owned(), Value::from(ms))]);
            let id = Some(terminal.id());
            if let Err(error) = terminals
                .audit("terminal.detach", "ok", &actor, id, detail)
                .await
            {
                tracing::error!(%error, "cannot record that somebody detached");
            }
        });
        Ok(())
    }

    /// Counts what is on its way, and sees to its record. Never waits for one, unless the last ones
    /// could not be written: then nothing more is typed until they are.
    pub(super) async fn is_recorded(&self, terminal: &Arc<Terminal>) -> Result<(), TerminalError> {
        if !terminal.input_audit(|audit| audit.is_behind()) {
            return Ok(());
        }
        // In a task of its own: a client that goes away must not take the sums with it.
        let (terminals, terminal) = (self.clone(), Arc::clone(terminal));
        let recorded = tokio::spawn(async move { terminals.record_typed(&terminal).await });
        recorded.await.map_err(|_| TerminalError::Stopping)?
    }

    pub(super) fn count_typed(
        &self,
        terminal: &Arc<Terminal>,
        actor: &Owner,
        connection: u64,
        piece: AuditedInput,
    ) {
        if !terminal.input_audit(|audit| audit.add(connection, actor, piece)) {
            return;
        }
        let (terminals, terminal) = (self.clone(), Arc::clone(terminal));
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(TYPED_PERIOD).await;
                if let Err(error) = terminals.record_typed(&terminal).await {
                    if terminals.is_refusing() {
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
    async fn record_typed(&self, terminal: &Terminal) -> Result<(), TerminalError> {
        let last = terminal.state() != TerminalState::Running;
        let mut sums = terminal.input_audit(|audit| audit.take(last));
        while let Some(sum) = sums.front() {
            let detail = sum.detail.clone();
            let id = Some(terminal.id());
            let recorded = self
                .audit("terminal.typed", "ok", &sum.actor, id, detail)
                .await;
            if let Err(error) = recorded {
                terminal.input_audit(|audit| audit.put_back(sums));
                return Err(error);
            }
            sums.pop_front();
        }
        Ok(())
    }

    /// Records what was typed into all terminals, for this server's end.
    pub async fn record_all_typed(&self) {
        let terminals: Vec<_> = self.index().by_id.values().cloned().collect();
        for terminal in terminals {
            if let Err(error) = self.record_typed(&terminal).await {
                tracing::error!(terminal = %terminal.id(), %error, "cannot record what was typed");
            }
        }
    }
}

//! Giving a terminal another label.

use std::sync::Arc;

use serde_json::Map;
use termd_proto::Label;
use termd_proto::terminal::{Owner, TerminalState};

use super::audit_log::AuditLog;
use super::registry::Registry;
use crate::keeper_client::KeeperClient;
use crate::store::{AuditAction, AuditOutcome, Store};
use crate::terminal::error::TerminalError;
use crate::terminal::handle::Terminal;

/// Gives terminals other labels. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Renamer {
    pub(crate) registry: Arc<Registry>,
    pub(crate) audit: AuditLog,
    pub(crate) keeper: KeeperClient,
    pub(crate) store: Store,
}

impl Renamer {
    /// Gives an open terminal a label that no other open terminal has, or none. Must not be dropped
    /// half-way: run it in a task.
    pub(crate) async fn rename(
        &self,
        terminal: &Terminal,
        label: Option<Label>,
        actor: &Owner,
    ) -> Result<(), TerminalError> {
        if terminal.state() == TerminalState::Closed {
            return Err(TerminalError::Invalid {
                field: "id",
                problem: "is that of a closed terminal, which keeps its label".to_owned(),
            });
        }
        if let Some(label) = &label {
            self.registry.take_label(label, terminal)?;
        }
        let word = |label: Option<&Label>| label.map(Label::as_str).into();
        let before = terminal.label();
        let detail = Map::from_iter([
            ("before".to_owned(), word(before.as_ref())),
            ("label".to_owned(), word(label.as_ref())),
        ]);
        let (action, outcome, id) = (
            AuditAction::TerminalRename,
            AuditOutcome::Ok,
            Some(terminal.id()),
        );
        let recorded = self.audit.record(action, outcome, actor, id, detail);
        if let Err(error) = recorded.await {
            if let Some(label) = &label {
                self.registry.give_back_label(label, terminal);
            }
            return Err(error);
        }
        self.registry.relabel(terminal, label);
        self.keeper
            .set_notes(terminal.id(), terminal.notes())
            .await?;
        self.store.put_terminal(terminal.row()).await?;
        self.store.flush().await?;
        Ok(())
    }
}

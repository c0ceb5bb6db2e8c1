//! Giving a terminal another label, or other tags.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use termd_policy::secrets::tokens::holds_token;
use termd_proto::event::TerminalEvent;
use termd_proto::tag::TooManyTags;
use termd_proto::terminal::{Owner, TerminalState};
use termd_proto::{Label, Tags};
use tokio::sync::broadcast;

use super::audit_log::AuditLog;
use super::registry::Registry;
use crate::keeper_client::KeeperClient;
use crate::store::{AuditAction, AuditOutcome, Store};
use crate::terminal::error::TerminalError;
use crate::terminal::handle::Terminal;

/// Changes what terminals are called by. Cheap to clone. Its methods must not be dropped half-way: run them in
/// a task.
#[derive(Debug, Clone)]
pub(crate) struct Namer {
    pub(crate) registry: Arc<Registry>,
    pub(crate) audit: AuditLog,
    pub(crate) keeper: KeeperClient,
    pub(crate) store: Store,
    pub(crate) events: broadcast::Sender<TerminalEvent>,
}

impl Namer {
    /// Gives an open terminal a label that no other open terminal has, or none.
    pub(crate) async fn rename(
        &self,
        terminal: &Terminal,
        label: Option<Label>,
        actor: &Owner,
    ) -> Result<(), TerminalError> {
        refuse_closed(terminal, "its label")?;
        if let Some(label) = &label {
            refuse_token("label", label.as_str())?;
            self.registry.take_label(label, terminal)?;
        }
        let detail = [("before", json!(terminal.label())), ("label", json!(label))];
        let recorded = self.record(AuditAction::TerminalRename, terminal, actor, detail);
        if let Err(error) = recorded.await {
            if let Some(label) = &label {
                self.registry.give_back_label(label, terminal);
            }
            return Err(error);
        }
        self.registry.relabel(terminal, label);
        self.keep(terminal).await
    }

    /// Gives an open terminal some tags, and takes others away.
    pub(crate) async fn tag(
        &self,
        terminal: &Terminal,
        add: &Tags,
        remove: &Tags,
        actor: &Owner,
    ) -> Result<(), TerminalError> {
        refuse_closed(terminal, "its tags")?;
        refuse_tokens("add", add)?;
        let changed = |tags: &Tags| tags.without(remove).and(&add.without(remove));
        let before = terminal.tags();
        let tags = changed(&before).map_err(too_many)?;
        let detail = [("before", json!(before)), ("tags", json!(tags))];
        self.record(AuditAction::TerminalTag, terminal, actor, detail)
            .await?;
        // Of the tags now: another call may have changed them meanwhile.
        terminal.change_tags(changed).map_err(too_many)?;
        self.keep(terminal).await
    }

    async fn record(
        &self,
        action: AuditAction,
        terminal: &Terminal,
        actor: &Owner,
        detail: [(&str, Value); 2],
    ) -> Result<(), TerminalError> {
        let detail = detail.map(|(name, value)| (name.to_owned(), value));
        let (outcome, detail) = (AuditOutcome::Ok, Map::from_iter(detail));
        self.audit
            .record(action, outcome, actor, Some(terminal.id()), detail)
            .await
    }

    /// Keeps what the terminal is called by now, and says it.
    async fn keep(&self, terminal: &Terminal) -> Result<(), TerminalError> {
        // Without a subscriber the event is dropped.
        let _ = self.events.send(TerminalEvent::Named {
            id: terminal.id().clone(),
            label: terminal.label(),
            tags: terminal.tags(),
        });
        self.keeper
            .set_notes(terminal.id(), terminal.notes())
            .await?;
        self.store.put_terminal(terminal.row()).await?;
        self.store.flush().await?;
        Ok(())
    }
}

/// Refuses tags of which one holds a token.
pub(super) fn refuse_tokens(field: &'static str, tags: &Tags) -> Result<(), TerminalError> {
    tags.iter()
        .try_for_each(|tag| refuse_token(field, tag.as_str()))
}

/// Refuses a name that holds a token of a known service. Names are stored as they are, and the audit keeps
/// them for good.
pub(super) fn refuse_token(field: &'static str, name: &str) -> Result<(), TerminalError> {
    if holds_token(name) {
        return Err(TerminalError::Invalid {
            field,
            problem: "holds a token, and would be stored with it: choose another name".to_owned(),
        });
    }
    Ok(())
}

fn refuse_closed(terminal: &Terminal, what: &str) -> Result<(), TerminalError> {
    if terminal.state() == TerminalState::Closed {
        return Err(TerminalError::Invalid {
            field: "id",
            problem: format!("is that of a closed terminal, which keeps {what}"),
        });
    }
    Ok(())
}

fn too_many(error: TooManyTags) -> TerminalError {
    TerminalError::Invalid {
        field: "add",
        problem: format!("gives too many: {error}"),
    }
}

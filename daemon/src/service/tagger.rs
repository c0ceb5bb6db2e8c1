//! Changing a terminal's tags.

use serde_json::{Map, json};
use termd_proto::Tags;
use termd_proto::tag::TooManyTags;
use termd_proto::terminal::{Owner, TerminalState};

use super::audit_log::AuditLog;
use crate::keeper_client::KeeperClient;
use crate::store::{AuditAction, AuditOutcome, Store};
use crate::terminal::error::TerminalError;
use crate::terminal::handle::Terminal;

/// Changes the tags of terminals. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Tagger {
    pub(crate) audit: AuditLog,
    pub(crate) keeper: KeeperClient,
    pub(crate) store: Store,
}

impl Tagger {
    /// Gives an open terminal some tags, and takes others away. Must not be dropped half-way: run it in a
    /// task.
    pub(crate) async fn tag(
        &self,
        terminal: &Terminal,
        add: &Tags,
        remove: &Tags,
        actor: &Owner,
    ) -> Result<(), TerminalError> {
        if terminal.state() == TerminalState::Closed {
            return Err(TerminalError::Invalid {
                field: "id",
                problem: "is that of a closed terminal, which keeps its tags".to_owned(),
            });
        }
        let changed = |tags: &Tags| tags.without(remove).and(&add.without(remove));
        let before = terminal.tags();
        let tags = changed(&before).map_err(too_many)?;
        let detail = Map::from_iter([
            ("before".to_owned(), json!(before)),
            ("tags".to_owned(), json!(tags)),
        ]);
        let (action, outcome, id) = (
            AuditAction::TerminalTag,
            AuditOutcome::Ok,
            Some(terminal.id()),
        );
        self.audit
            .record(action, outcome, actor, id, detail)
            .await?;
        // Of the tags now: another call may have changed them meanwhile.
        terminal.change_tags(changed).map_err(too_many)?;
        self.keeper
            .set_notes(terminal.id(), terminal.notes())
            .await?;
        self.store.put_terminal(terminal.row()).await?;
        self.store.flush().await?;
        Ok(())
    }
}

fn too_many(error: TooManyTags) -> TerminalError {
    TerminalError::Invalid {
        field: "add",
        problem: format!("gives too many: {error}"),
    }
}

//! One call of a tool, as its function sees it.

use std::sync::Arc;

use termd_client::ClientError;
use termd_proto::interact::{TypeInput, TypedInput};
use termd_proto::terminal::SendResult;
use termd_proto::{TerminalId, TerminalRef};

use super::progress::Progress;
use super::task::TaskOffer;
use crate::backend::Backend;
use crate::shared::Shared;
use crate::turns::Turn;

/// How long a program may take to take what is typed: 100,000 characters into a slow line editor.
const TYPING_TIMEOUT_MS: u64 = 30_000;

/// Input whose lines are given one after the other, for a caller that waits for what comes of them.
pub(crate) fn line_by_line(input: TypedInput) -> TypedInput {
    let has_lines = |text: &String| text.contains(['\n', '\r']);
    TypedInput {
        // A daemon of 0.1.0 takes no such input.
        line_by_line: input.text.as_ref().is_some_and(has_lines),
        ..input
    }
}

/// One call of a tool.
#[derive(Clone)]
pub(crate) struct Call {
    pub(crate) shared: Arc<Shared>,
    /// Tells the client how the call goes, where the client wants to know.
    pub(crate) progress: Progress,
    /// That a task may answer it, where the client follows tasks and the tool has them.
    pub(crate) tasks: Option<TaskOffer>,
}

impl Call {
    pub(crate) fn backend(&self) -> &Backend {
        &self.shared.backend
    }

    /// Waits for this call's turn to type into a terminal and wait for what comes of it.
    pub(crate) async fn turn(&self, id: &TerminalId) -> Turn {
        let taking = self.shared.turns.take(id);
        self.progress
            .during(self.backend(), &id.into(), taking)
            .await
    }

    /// Types, once, and remembers where the output ended then.
    pub(crate) async fn type_once(
        &self,
        id: &TerminalId,
        input: TypedInput,
        confirmed: bool,
    ) -> Result<SendResult, ClientError> {
        let request = TypeInput {
            id: TerminalRef::from(id),
            input,
            confirmed: Some(confirmed),
            timeout_ms: Some(TYPING_TIMEOUT_MS),
        };
        let sent = self.backend().pool().once(&request).await?;
        self.shared.cursors.set_sent(id, sent.offset);
        Ok(sent)
    }
}

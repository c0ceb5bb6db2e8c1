//! The terminal of one call: a one-shot, which is no session of the client.

use std::sync::Arc;

use termd_client::ClientError;
use termd_proto::TerminalRef;
use termd_proto::terminal::{CloseTerminal, CreateTerminal, TerminalInfo, WaitResult};

use super::answer::ToolError;
use super::facts::to_milliseconds;
use crate::settings::ExecTimeout;
use crate::shared::Shared;

/// A terminal that is closed when its call is over, however the call ends, unless it is left to go on.
pub(crate) struct TemporaryTerminal {
    shared: Arc<Shared>,
    pub(crate) info: TerminalInfo,
    /// Whether it is closed with its call.
    is_ours: bool,
}

impl TemporaryTerminal {
    /// Creates it in a task of its own, so that a call that is cancelled meanwhile leaves no terminal.
    /// Where one-shots go on past their time it outlives the client and is closed when idle, like a
    /// session.
    pub(crate) async fn create(
        shared: &Arc<Shared>,
        request: CreateTerminal,
    ) -> Result<Result<Self, ClientError>, ToolError> {
        let shared = Arc::clone(shared);
        let request = CreateTerminal {
            one_shot: true,
            close_on_disconnect: shared.settings.exec_timeout == ExecTimeout::End,
            idle_timeout_ms: shared.settings.idle_timeout.map(to_milliseconds),
            ..request
        };
        let creating = tokio::spawn(async move {
            let info = shared.backend.pool().once(&request).await?;
            Ok(Self {
                shared,
                info,
                is_ours: true,
            })
        });
        Ok(creating.await?)
    }

    /// Leaves it open: it has outlived the time of its call.
    pub(crate) fn leave_running(mut self) -> TerminalInfo {
        self.is_ours = false;
        self.info.clone()
    }

    /// Closes it. Its program may first end by itself at its end of file, within `eof_ms`.
    pub(crate) async fn close(mut self, eof_ms: Option<u64>) -> Result<WaitResult, ClientError> {
        let closed = close(&self.shared, &self.info, eof_ms).await;
        self.is_ours = false;
        closed
    }
}

impl Drop for TemporaryTerminal {
    fn drop(&mut self) {
        if self.is_ours {
            let (shared, info) = (Arc::clone(&self.shared), self.info.clone());
            // No call is left that needs the outcome.
            tokio::spawn(async move { drop(close(&shared, &info, None).await) });
        }
    }
}

async fn close(
    shared: &Shared,
    info: &TerminalInfo,
    eof_ms: Option<u64>,
) -> Result<WaitResult, ClientError> {
    let close = CloseTerminal {
        id: TerminalRef::from(&info.id),
        eof_ms,
    };
    // Closing a closed terminal is no error.
    shared.backend.pool().repeat(&close).await
}

//! The terminal of one call.

use std::sync::Arc;

use termd_client::ClientError;
use termd_proto::TerminalRef;
use termd_proto::terminal::{CloseTerminal, CreateTerminal, TerminalInfo, WaitResult};

use super::answer::ToolError;
use crate::shared::Shared;

/// A terminal that is closed when its call is over, however the call ends.
pub(crate) struct TemporaryTerminal {
    shared: Arc<Shared>,
    pub(crate) info: TerminalInfo,
    is_open: bool,
}

impl TemporaryTerminal {
    /// Creates it in a task of its own, so that a call that is cancelled meanwhile leaves no terminal.
    pub(crate) async fn create(
        shared: &Arc<Shared>,
        request: CreateTerminal,
    ) -> Result<Result<Self, ClientError>, ToolError> {
        let shared = Arc::clone(shared);
        let creating = tokio::spawn(async move {
            let info = shared.backend.pool().once(&request).await?;
            Ok(Self {
                shared,
                info,
                is_open: true,
            })
        });
        Ok(creating.await?)
    }

    /// Closes it. Its program may first end by itself at its end of file, within `eof_ms`.
    pub(crate) async fn close(mut self, eof_ms: Option<u64>) -> Result<WaitResult, ClientError> {
        let closed = close(&self.shared, &self.info, eof_ms).await;
        self.is_open = false;
        closed
    }
}

impl Drop for TemporaryTerminal {
    fn drop(&mut self) {
        if self.is_open {
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

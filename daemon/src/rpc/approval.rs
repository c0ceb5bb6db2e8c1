//! `approval.*`: what the gate wants a person to agree to.

use std::time::Duration;

use jsonrpsee::Extensions;
use jsonrpsee::core::{RpcResult, async_trait};
use termd_proto::approval::{ApprovalId, ApprovalInfo, ApprovalList, ApprovalsServer, Decision};
use termd_proto::terminal::MAX_WAIT_MS;
use tokio::time::Instant;

use super::caller::{connection, native_owner};
use super::error::invalid_params;
use crate::service::Terminals;
use crate::terminal::TerminalError;

/// How long `approval.wait` waits where nothing is said.
const DEFAULT_WAIT_MS: u64 = 30_000;

/// Serves `approval.*`.
#[derive(Debug)]
pub struct ApprovalHandler {
    terminals: Terminals,
}

impl ApprovalHandler {
    /// The questions of these terminals' gate.
    pub fn new(terminals: Terminals) -> Self {
        Self { terminals }
    }
}

fn deadline(field: &'static str, ms: u64) -> Result<Instant, jsonrpsee::types::ErrorObjectOwned> {
    if ms > MAX_WAIT_MS {
        return Err(invalid_params(field, "may be a day at the most"));
    }
    Ok(Instant::now() + Duration::from_millis(ms))
}

#[async_trait]
impl ApprovalsServer for ApprovalHandler {
    async fn list(&self, after: Option<u64>, wait_ms: Option<u64>) -> RpcResult<ApprovalList> {
        let deadline = deadline("wait_ms", wait_ms.unwrap_or(0))?;
        Ok(self.terminals.approvals().list(after, deadline).await)
    }

    async fn wait(&self, id: ApprovalId, timeout_ms: Option<u64>) -> RpcResult<ApprovalInfo> {
        let deadline = deadline("timeout_ms", timeout_ms.unwrap_or(DEFAULT_WAIT_MS))?;
        let waited = self.terminals.approvals().wait(&id, deadline).await;
        Ok(waited.ok_or(TerminalError::NoQuestion(id))?)
    }

    async fn answer(
        &self,
        ext: &Extensions,
        id: ApprovalId,
        decision: Decision,
    ) -> RpcResult<ApprovalInfo> {
        let by = native_owner(&*connection(ext)?);
        let terminals = self.terminals.clone();
        // In a task of its own: what is recorded is then done, also for a client that goes away.
        let answered = tokio::spawn(async move { terminals.answer(&id, decision, &by).await });
        Ok(answered.await.map_err(|_| TerminalError::Stopping)??)
    }
}

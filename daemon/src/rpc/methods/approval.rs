//! `approval.*`: what the gate wants a person to agree to.

use std::sync::Arc;
use std::time::Duration;

use termd_proto::approval::{
    AnswerApproval, ApprovalInfo, ApprovalList, ListApprovals, WaitForApproval,
};
use termd_proto::terminal::MAX_WAIT_MS;
use tokio::time::Instant;

use crate::approval::{Approvals, Reach};
use crate::rpc::api::Api;
use crate::rpc::context::ConnectionContext;
use crate::rpc::error::{RpcError, RpcResult};
use crate::service::{Answerer, Approver};
use crate::terminal::TerminalError;

/// How long `approval.wait` waits where nothing is said.
const DEFAULT_WAIT_MS: u64 = 30_000;

/// Serves `approval.*`.
#[derive(Debug)]
pub struct ApprovalHandler {
    pub(crate) approvals: Approvals,
    pub(crate) approver: Arc<Approver>,
}

impl ApprovalHandler {
    /// Serves its methods.
    pub fn register(self, api: &mut Api) {
        let handler = Arc::new(self);
        api.method(&handler, Self::list);
        api.method(&handler, Self::wait);
        api.method(&handler, Self::answer);
    }
}

fn deadline(field: &'static str, ms: u64) -> Result<Instant, RpcError> {
    if ms > MAX_WAIT_MS {
        return Err(RpcError::invalid_params(field, "may be a day at the most"));
    }
    Ok(Instant::now() + Duration::from_millis(ms))
}

impl ApprovalHandler {
    async fn list(
        self: Arc<Self>,
        params: ListApprovals,
        context: Arc<ConnectionContext>,
    ) -> RpcResult<ApprovalList> {
        let ListApprovals { after, wait_ms } = params;
        if after.is_some() && context.native_owner().agent.is_none() {
            context.reach(&self.approvals, Reach::Watch);
        }
        let deadline = deadline("wait_ms", wait_ms.unwrap_or(0))?;
        Ok(self.approvals.list(after, deadline).await)
    }

    async fn wait(
        self: Arc<Self>,
        params: WaitForApproval,
        _: Arc<ConnectionContext>,
    ) -> RpcResult<ApprovalInfo> {
        let WaitForApproval { id, timeout_ms } = params;
        let deadline = deadline("timeout_ms", timeout_ms.unwrap_or(DEFAULT_WAIT_MS))?;
        let waited = self.approvals.wait(&id, deadline).await;
        Ok(waited.ok_or(TerminalError::NoQuestion(id))?)
    }

    async fn answer(
        self: Arc<Self>,
        params: AnswerApproval,
        context: Arc<ConnectionContext>,
    ) -> RpcResult<ApprovalInfo> {
        let AnswerApproval { id, decision, way } = params;
        let by = Answerer {
            owner: context.native_owner(),
            way: way.unwrap_or_default(),
            speaks_for_person: context.speaks_for_person(),
        };
        let approver = Arc::clone(&self.approver);
        // In a task of its own: what is recorded is then done, also for a client that goes away.
        let answered = tokio::spawn(async move { approver.answer(&id, decision, &by).await });
        Ok(answered.await.map_err(|_| TerminalError::Stopping)??)
    }
}

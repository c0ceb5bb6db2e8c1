//! `attention.*`: what agents say of themselves by their hooks.

use std::sync::Arc;

use termd_proto::attention::{Attention, MAX_TEXT_BYTES, ReportAttention};

use crate::approval::Approvals;
use crate::clock::now_ms;
use crate::rpc::api::Api;
use crate::rpc::context::ConnectionContext;
use crate::rpc::error::RpcResult;
use crate::service::one_line;

/// Serves `attention.*`.
#[derive(Debug)]
pub struct AttentionHandler {
    pub(crate) approvals: Approvals,
}

impl AttentionHandler {
    /// Serves its methods.
    pub fn register(self, api: &mut Api) {
        api.method(&Arc::new(self), Self::report);
    }

    #[expect(clippy::unused_async, reason = "the table of methods takes futures")]
    async fn report(
        self: Arc<Self>,
        params: ReportAttention,
        context: Arc<ConnectionContext>,
    ) -> RpcResult<()> {
        let ReportAttention { state, text } = params;
        self.approvals.attend(Attention {
            number: 0,
            state,
            text: one_line(&text.unwrap_or_default(), MAX_TEXT_BYTES),
            of: context.native_owner(),
            at_ms: now_ms(),
        });
        Ok(())
    }
}

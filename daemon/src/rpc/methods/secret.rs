//! `secret.*`: secrets that programs of agents ask a person for.

use std::sync::Arc;

use termd_proto::secret::{AnswerSecret, AskSecret, AskedSecret};

use crate::rpc::api::Api;
use crate::rpc::context::ConnectionContext;
use crate::rpc::error::RpcResult;
use crate::service::{SecretDesk, parent_program};
use crate::terminal::TerminalError;

/// Serves `secret.*`.
#[derive(Debug)]
pub struct SecretHandler {
    pub(crate) desk: SecretDesk,
}

impl SecretHandler {
    /// Serves its methods.
    pub fn register(self, api: &mut Api) {
        let handler = Arc::new(self);
        api.method(&handler, Self::ask);
        api.method(&handler, Self::answer);
    }

    async fn ask(
        self: Arc<Self>,
        params: AskSecret,
        context: Arc<ConnectionContext>,
    ) -> RpcResult<AskedSecret> {
        let program = context.peer.pid.and_then(parent_program);
        let asked = self
            .desk
            .ask(&params.prompt, program, context.native_owner());
        tokio::select! {
            asked = asked => Ok(asked?),
            // Dropped, the question is withdrawn.
            () = context.closed.cancelled() => Err(TerminalError::Stopping.into()),
        }
    }

    #[expect(clippy::unused_async, reason = "the table of methods takes futures")]
    async fn answer(
        self: Arc<Self>,
        params: AnswerSecret,
        context: Arc<ConnectionContext>,
    ) -> RpcResult<()> {
        let AnswerSecret { id, secret } = params;
        Ok(self.desk.answer(&id, secret, &context.native_owner())?)
    }
}

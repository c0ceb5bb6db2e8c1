//! `secret.*`: secrets that programs of agents ask a person for.

use std::sync::Arc;

use termd_proto::secret::{AnswerSecret, AskSecret, AskedSecret};

use crate::rpc::api::Api;
use crate::rpc::context::ConnectionContext;
use crate::rpc::error::RpcResult;
use crate::service::{SecretDesk, reading_parent};
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
        let program = context.peer.pid.and_then(reading_parent);
        let (desk, owner) = (self.desk.clone(), context.native_owner());
        let gone = context.closed.clone().cancelled_owned();
        // In a task of its own: what became of the question is recorded also where the asker goes away.
        let asked =
            tokio::spawn(async move { desk.ask(&params.prompt, program, owner, gone).await });
        Ok(asked.await.map_err(|_| TerminalError::Stopping)??)
    }

    async fn answer(
        self: Arc<Self>,
        params: AnswerSecret,
        context: Arc<ConnectionContext>,
    ) -> RpcResult<()> {
        let AnswerSecret { id, secret } = params;
        let (desk, owner) = (self.desk.clone(), context.native_owner());
        let answered = tokio::spawn(async move { desk.answer(&id, secret, &owner).await });
        Ok(answered.await.map_err(|_| TerminalError::Stopping)??)
    }
}

//! `session.type`, `session.wait_for`, `session.interact`, `session.activity` on one side,
//! [`Terminals`] on the other.

use jsonrpsee::Extensions;
use jsonrpsee::core::{RpcResult, async_trait};
use termd_proto::interact::{Activity, InteractionsServer, TypedInput, Until, WaitForResult};
use termd_proto::terminal::SendResult;
use termd_proto::{Offset, TerminalRef};

use super::caller::{connection, native_owner};
use super::session::{DEFAULT_SEND_MS, check_wait};
use crate::terminal::{TerminalError, Terminals, Typist};

/// Serves typing and waiting.
#[derive(Debug)]
pub struct InteractHandler {
    terminals: Terminals,
}

impl InteractHandler {
    /// Over these terminals.
    pub fn new(terminals: Terminals) -> Self {
        Self { terminals }
    }
}

#[async_trait]
impl InteractionsServer for InteractHandler {
    async fn type_input(
        &self,
        ext: &Extensions,
        id: TerminalRef,
        input: TypedInput,
        confirmed: Option<bool>,
        timeout_ms: Option<u64>,
    ) -> RpcResult<SendResult> {
        let longest = check_wait("timeout_ms", Some(timeout_ms.unwrap_or(DEFAULT_SEND_MS)))?;
        let terminal = self.terminals.find(&id).await?;
        let context = connection(ext)?;
        let typist = Typist {
            actor: &native_owner(&context),
            connection: context.id.0 as u64,
            gate: &context.introduction().settings.gate,
            confirmed: confirmed.unwrap_or(false),
        };
        let typed = self
            .terminals
            .type_input(&terminal, &input, &typist, longest);
        Ok(typed.await?)
    }

    async fn wait_for(
        &self,
        id: TerminalRef,
        _since: Option<Offset>,
        _until: Until,
        _timeout_ms: Option<u64>,
    ) -> RpcResult<WaitForResult> {
        self.terminals.find(&id).await?;
        Err(TerminalError::Stopping.into())
    }

    async fn interact(
        &self,
        _ext: &Extensions,
        id: TerminalRef,
        _input: TypedInput,
        _until: Until,
        _confirmed: Option<bool>,
        _timeout_ms: Option<u64>,
    ) -> RpcResult<WaitForResult> {
        self.terminals.find(&id).await?;
        Err(TerminalError::Stopping.into())
    }

    async fn activity(&self, id: TerminalRef) -> RpcResult<Activity> {
        self.terminals.find(&id).await?;
        Err(TerminalError::Stopping.into())
    }
}

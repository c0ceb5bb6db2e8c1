//! `session.type`, `session.wait_for`, `session.interact`, `session.activity` on one side,
//! [`Terminals`] on the other.

use jsonrpsee::Extensions;
use jsonrpsee::core::{RpcResult, async_trait};
use termd_proto::interact::{Activity, InteractionsServer, TypedInput, Until, WaitForResult};
use termd_proto::terminal::SendResult;
use termd_proto::{Offset, TerminalRef};

use crate::terminal::{TerminalError, Terminals};

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
        _ext: &Extensions,
        id: TerminalRef,
        _input: TypedInput,
        _confirmed: Option<bool>,
        _timeout_ms: Option<u64>,
    ) -> RpcResult<SendResult> {
        self.terminals.find(&id).await?;
        Err(TerminalError::Stopping.into())
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

//! `session.type`, `session.wait_for`, `session.interact`, `session.activity` on one side,
//! [`Terminals`] on the other.

use std::time::{Duration, Instant};

use jsonrpsee::Extensions;
use jsonrpsee::core::{RpcResult, async_trait};
use termd_proto::interact::{
    Activity, DEFAULT_WAIT_FOR_MS, InteractionsServer, TypedInput, Until, WaitForResult,
};
use termd_proto::terminal::{MAX_WAIT_MS, SendResult};
use termd_proto::{Offset, TerminalRef};

use super::caller::{connection, native_owner};
use super::error::invalid_params;
use super::session::{DEFAULT_SEND_MS, check_wait};
use crate::service::{Terminals, Typist};
use crate::terminal::waiting::{self, Typing, Wait};

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

/// What a call waits for, and how long.
fn checked(until: &Until, timeout_ms: Option<u64>) -> RpcResult<(Wait, Duration)> {
    let timeout_ms = timeout_ms.unwrap_or(DEFAULT_WAIT_FOR_MS);
    let longest = check_wait("timeout_ms", Some(timeout_ms))?;
    if until
        .settle_ms
        .is_some_and(|settle_ms| settle_ms > MAX_WAIT_MS)
    {
        let problem = format!("may be {MAX_WAIT_MS} at the most");
        return Err(invalid_params("until.settle_ms", &problem));
    }
    Ok((Wait::new(until)?, longest))
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
            gate: &context.gate(),
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
        since: Option<Offset>,
        until: Until,
        timeout_ms: Option<u64>,
    ) -> RpcResult<WaitForResult> {
        let (wait, longest) = checked(&until, timeout_ms)?;
        let deadline = Instant::now() + longest;
        let terminal = self.terminals.find(&id).await?;
        let end = terminal.end();
        let since = since.unwrap_or(end);
        if since > end {
            let problem = format!("is past the end of the output, which is {end}");
            return Err(invalid_params("since", &problem));
        }
        let waited = waiting::wait_for(&self.terminals, &terminal, since, &wait, None, deadline);
        Ok(waited.await?)
    }

    async fn interact(
        &self,
        ext: &Extensions,
        id: TerminalRef,
        input: TypedInput,
        until: Until,
        confirmed: Option<bool>,
        timeout_ms: Option<u64>,
    ) -> RpcResult<WaitForResult> {
        let (wait, longest) = checked(&until, timeout_ms)?;
        let deadline = Instant::now() + longest;
        let terminal = self.terminals.find(&id).await?;
        let typing = Typing::before(&terminal, &input);
        let since = terminal.end();
        let patience = u64::try_from(longest.as_millis()).unwrap_or(MAX_WAIT_MS);
        let patience = Some(patience.min(DEFAULT_SEND_MS));
        let sent = self.type_input(ext, id, input, confirmed, patience).await?;
        let waited = waiting::wait_for(
            &self.terminals,
            &terminal,
            since,
            &wait,
            Some(typing),
            deadline,
        );
        Ok(WaitForResult {
            sent: Some(sent),
            ..waited.await?
        })
    }

    async fn activity(&self, id: TerminalRef) -> RpcResult<Activity> {
        let terminal = self.terminals.find(&id).await?;
        Ok(waiting::activity(&self.terminals, &terminal).await?)
    }
}

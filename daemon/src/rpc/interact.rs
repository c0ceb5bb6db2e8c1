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
use super::session::check_wait;
use crate::terminal::Terminals;
use crate::terminal::handle::LineDiscipline;
use crate::terminal::typed::Typed;
use crate::terminal::waiting::{self, Wait};

/// How long typing waits for the terminal to take it, unless asked otherwise.
const DEFAULT_TYPE_MS: u64 = 5_000;

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
        _confirmed: Option<bool>,
        timeout_ms: Option<u64>,
    ) -> RpcResult<SendResult> {
        // A placeholder, until typing is there: text and Enter.
        let longest = check_wait("timeout_ms", Some(timeout_ms.unwrap_or(DEFAULT_TYPE_MS)))?;
        let terminal = self.terminals.find(&id).await?;
        let context = connection(ext)?;
        let actor = native_owner(&context);
        self.terminals
            .audit_input(&terminal, &actor, context.id.0 as u64)
            .await?;
        let mut text = input.text.unwrap_or_default().replace("\r\n", "\n");
        if input.enter {
            text.push('\n');
        }
        let tty = terminal.line_discipline().await.unwrap_or(LineDiscipline {
            echo: false,
            canonical: true,
        });
        if tty.echo || !tty.canonical {
            terminal.remember_typed(Typed {
                offset: terminal.end(),
                text: text.clone(),
                tty,
            });
        }
        Ok(terminal
            .send(text.replace('\n', "\r").into_bytes(), longest)
            .await?)
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
        let home = waiting::program_typed_to(&terminal);
        let since = terminal.end();
        let patience = u64::try_from(longest.as_millis()).unwrap_or(MAX_WAIT_MS);
        let patience = Some(patience.min(DEFAULT_TYPE_MS));
        let sent = self.type_input(ext, id, input, confirmed, patience).await?;
        let waited = waiting::wait_for(&self.terminals, &terminal, since, &wait, home, deadline);
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

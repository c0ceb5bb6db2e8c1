//! `session.type`, `session.wait_for`, `session.interact`, `session.activity` on one side,
//! the services on the other.

use std::sync::Arc;
use std::time::{Duration, Instant};

use termd_proto::Offset;
use termd_proto::interact::{
    Activity, DEFAULT_WAIT_FOR_MS, GetActivity, Interact, TypeInput, Until, WaitFor, WaitForResult,
};
use termd_proto::terminal::{MAX_WAIT_MS, SendResult};

use super::session::{DEFAULT_SEND_MS, check_wait};
use crate::rpc::api::Api;
use crate::rpc::context::ConnectionContext;
use crate::rpc::error::{RpcError, RpcResult};
use crate::service::{Catalog, InputSender, OutputSecrets, Typist};
use crate::store::Store;
use crate::terminal::read::unfiltered::Unfiltered;
use crate::terminal::wait::pattern::Secrets;
use crate::terminal::wait::{self, OwnInput, WaitCondition};
use crate::terminal::{Terminal, TerminalError};

/// Serves typing and waiting.
#[derive(Debug)]
pub struct InteractHandler {
    pub(crate) catalog: Catalog,
    pub(crate) input: Arc<InputSender>,
    pub(crate) store: Store,
    pub(crate) output_secrets: OutputSecrets,
}

impl InteractHandler {
    /// Serves its methods.
    pub fn register(self, api: &mut Api) {
        let handler = Arc::new(self);
        api.method(&handler, Self::type_input);
        api.method(&handler, Self::wait_for);
        api.method(&handler, Self::interact);
        api.method(&handler, Self::activity);
    }
}

/// What a call waits for, and how long.
fn checked(until: &Until, timeout_ms: Option<u64>) -> RpcResult<(WaitCondition, Duration)> {
    let timeout_ms = timeout_ms.unwrap_or(DEFAULT_WAIT_FOR_MS);
    let longest = check_wait("timeout_ms", Some(timeout_ms))?;
    if until
        .settle_ms
        .is_some_and(|settle_ms| settle_ms > MAX_WAIT_MS)
    {
        let problem = format!("may be {MAX_WAIT_MS} at the most");
        return Err(RpcError::invalid_params("until.settle_ms", &problem));
    }
    Ok((WaitCondition::new(until)?, longest))
}

impl InteractHandler {
    async fn secrets_of(
        &self,
        context: &ConnectionContext,
        terminal: &Arc<Terminal>,
        since: Offset,
    ) -> RpcResult<Option<Secrets>> {
        let finder = (self.output_secrets).finder(context.reader(), terminal, since);
        Ok(finder.await.map_err(TerminalError::from)?)
    }

    async fn hide_secrets(
        &self,
        context: &ConnectionContext,
        terminal: &Terminal,
        result: Unfiltered<WaitForResult>,
    ) -> RpcResult<WaitForResult> {
        let hidden = (self.output_secrets).hide_in_wait(context.reader(), terminal, result);
        Ok(hidden.await.map_err(TerminalError::from)?)
    }

    async fn type_input(
        self: Arc<Self>,
        params: TypeInput,
        context: Arc<ConnectionContext>,
    ) -> RpcResult<SendResult> {
        let TypeInput {
            id,
            input,
            confirmed,
            timeout_ms,
        } = params;
        let longest = check_wait("timeout_ms", Some(timeout_ms.unwrap_or(DEFAULT_SEND_MS)))?;
        let owner = context.native_owner();
        let terminal = self.catalog.find_for(&id, &owner).await?;
        let typist = Typist {
            actor: &owner,
            connection: context.id.0,
            gate: &context.gate(),
            confirmed: confirmed.unwrap_or(false),
            asks: context.asks(),
        };
        let typed = self.input.type_input(&terminal, &input, &typist, longest);
        Ok(typed.await?)
    }

    async fn wait_for(
        self: Arc<Self>,
        params: WaitFor,
        context: Arc<ConnectionContext>,
    ) -> RpcResult<WaitForResult> {
        let WaitFor {
            id,
            since,
            until,
            timeout_ms,
        } = params;
        let (condition, longest) = checked(&until, timeout_ms)?;
        let deadline = Instant::now() + longest;
        let terminal = self.catalog.find(&id).await?;
        let end = terminal.end();
        let since = since.unwrap_or(end);
        if since > end {
            let problem = format!("is past the end of the output, which is {end}");
            return Err(RpcError::invalid_params("since", &problem));
        }
        let secrets = self.secrets_of(&context, &terminal, since).await?;
        let condition = condition.hiding(secrets);
        let waited = wait::wait_for(&self.store, &terminal, since, &condition, None, deadline);
        self.hide_secrets(&context, &terminal, waited.await?).await
    }

    async fn interact(
        self: Arc<Self>,
        params: Interact,
        context: Arc<ConnectionContext>,
    ) -> RpcResult<WaitForResult> {
        let Interact {
            id,
            input,
            until,
            confirmed,
            timeout_ms,
        } = params;
        let (condition, longest) = checked(&until, timeout_ms)?;
        let deadline = Instant::now() + longest;
        let terminal = self.catalog.find(&id).await?;
        let own_input = OwnInput::of(&input);
        let since = terminal.end();
        let secrets = self.secrets_of(&context, &terminal, since).await?;
        let condition = condition.hiding(secrets);
        let patience = u64::try_from(longest.as_millis()).unwrap_or(MAX_WAIT_MS);
        let typing_params = TypeInput {
            id,
            input,
            confirmed,
            timeout_ms: Some(patience.min(DEFAULT_SEND_MS)),
        };
        let sent = Arc::clone(&self)
            .type_input(typing_params, Arc::clone(&context))
            .await?;
        let waited = wait::wait_for(
            &self.store,
            &terminal,
            since,
            &condition,
            Some(own_input),
            deadline,
        );
        let result = waited.await?.map(|result| WaitForResult {
            sent: Some(sent),
            ..result
        });
        self.hide_secrets(&context, &terminal, result).await
    }

    async fn activity(
        self: Arc<Self>,
        params: GetActivity,
        context: Arc<ConnectionContext>,
    ) -> RpcResult<Activity> {
        let terminal = self.catalog.find(&params.id).await?;
        terminal.touch();
        let activity = wait::activity(&self.store, &terminal).await?;
        Ok((self.output_secrets).activity(context.reader(), &terminal, activity))
    }
}

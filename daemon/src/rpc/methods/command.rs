//! `command.*`: what was run in terminals.

use std::sync::Arc;

use termd_proto::command::{
    CommandInfo, CommandPage, ListCommands, MAX_QUERY_BYTES, ReadCommand, ShowCommand,
};
use termd_proto::terminal::{Encoding, ReadResult};

use crate::rpc::api::Api;
use crate::rpc::context::ConnectionContext;
use crate::rpc::error::{RpcError, RpcResult};
use crate::service::{Catalog, OutputSecrets};
use crate::store::{CommandQuery, Store};
use crate::terminal::read::command_output::read_command;
use crate::terminal::read::times::with_times;
use crate::terminal::{Terminal, TerminalError};

const DEFAULT_PAGE: u32 = 100;
const MAX_PAGE: u32 = 1_000;

/// Serves `command.*`.
#[derive(Debug)]
pub struct CommandHandler {
    pub(crate) catalog: Catalog,
    pub(crate) store: Store,
    pub(crate) output_secrets: OutputSecrets,
}

impl CommandHandler {
    /// Serves its methods.
    pub fn register(self, api: &mut Api) {
        let handler = Arc::new(self);
        api.method(&handler, Self::list);
        api.method(&handler, Self::show);
        api.method(&handler, Self::read);
    }

    /// What has just begun or ended may still be in the store's queue.
    async fn settle(&self) -> Result<(), RpcError> {
        Ok(self.store.settle().await?)
    }

    async fn command(&self, terminal: &Terminal, number: i64) -> Result<CommandInfo, RpcError> {
        self.settle().await?;
        let store = &self.store;
        let command = store.command(terminal.id(), number).await?;
        let mut command =
            command.ok_or_else(|| RpcError::command_not_found(terminal.id(), number))?;
        terminal.shell(|log| log.add_end(&mut command));
        Ok(command)
    }
}

impl CommandHandler {
    async fn list(
        self: Arc<Self>,
        params: ListCommands,
        _: Arc<ConnectionContext>,
    ) -> RpcResult<CommandPage> {
        let ListCommands {
            filter,
            cursor,
            limit,
        } = params;
        let limit = limit.unwrap_or(DEFAULT_PAGE);
        if !(1..=MAX_PAGE).contains(&limit) {
            return Err(RpcError::invalid_params("limit", "must be 1 to 1,000"));
        }
        let filter = filter.unwrap_or_default();
        let text = filter.query;
        if text
            .as_ref()
            .is_some_and(|text| text.len() > MAX_QUERY_BYTES)
        {
            return Err(RpcError::invalid_params(
                "filter.query",
                "may be 1,024 bytes long at the most",
            ));
        }
        let terminal = match &filter.terminal {
            Some(reference) => Some(self.catalog.find(reference).await?.id().clone()),
            None => None,
        };
        let query = CommandQuery {
            terminal,
            tags: filter.tags,
            text,
            exit_code: filter.exit_code,
            failed: filter.failed,
            since_ms: filter.since_ms,
            until_ms: filter.until_ms,
        };
        self.settle().await?;
        let store = &self.store;
        let page = store.list_commands(&query, cursor.as_deref(), limit).await;
        Ok(page?)
    }

    async fn show(
        self: Arc<Self>,
        params: ShowCommand,
        _: Arc<ConnectionContext>,
    ) -> RpcResult<CommandInfo> {
        let terminal = self.catalog.find(&params.id).await?;
        self.command(&terminal, params.number).await
    }

    async fn read(
        self: Arc<Self>,
        params: ReadCommand,
        context: Arc<ConnectionContext>,
    ) -> RpcResult<ReadResult> {
        let ReadCommand {
            id,
            number,
            since,
            max_bytes,
            encoding,
            times,
        } = params;
        let terminal = self.catalog.find(&id).await?;
        let command = self.command(&terminal, number).await?;
        let encoding = encoding.unwrap_or_default();
        if encoding == Encoding::Pipe {
            drop(context.take_fds());
            let problem = "`pipe` is for session.read alone";
            return Err(RpcError::invalid_params("encoding", problem));
        }
        let mut page = read_command(&terminal, &command, since, max_bytes, encoding).await?;
        if times == Some(true) {
            page = with_times(&terminal, page).await?;
        }
        let reader = context.reader();
        terminal.attention.read_through(reader);
        let hidden = (self.output_secrets).hide(reader, &terminal, (page, encoding));
        let page = hidden.await.map_err(TerminalError::from)?;
        Ok(page.into_answer())
    }
}

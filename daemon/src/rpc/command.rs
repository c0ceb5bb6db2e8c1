//! `command.*`: what was run in terminals.

use jsonrpsee::core::{RpcResult, async_trait};
use jsonrpsee::types::ErrorObjectOwned;
use termd_proto::command::{
    CommandFilter, CommandInfo, CommandPage, CommandsServer, MAX_QUERY_BYTES,
};
use termd_proto::terminal::{Encoding, ReadResult};
use termd_proto::{Offset, TerminalRef};

use super::error::{command_not_found, invalid_params, store_error};
use crate::service::Terminals;
use crate::store::CommandQuery;
use crate::terminal::Terminal;
use crate::terminal::command_output::read_command;

const DEFAULT_PAGE: u32 = 100;
const MAX_PAGE: u32 = 1_000;

/// Serves `command.*`.
#[derive(Debug)]
pub struct CommandHandler {
    terminals: Terminals,
}

impl CommandHandler {
    /// Over these terminals.
    pub fn new(terminals: Terminals) -> Self {
        Self { terminals }
    }

    /// What has just begun or ended may still be in the store's queue.
    async fn settle(&self) -> Result<(), ErrorObjectOwned> {
        self.terminals.store().flush().await.map_err(store_error)
    }

    async fn command(
        &self,
        terminal: &Terminal,
        number: i64,
    ) -> Result<CommandInfo, ErrorObjectOwned> {
        self.settle().await?;
        let store = self.terminals.store();
        let command = store.command(terminal.id(), number).await;
        command
            .map_err(store_error)?
            .ok_or_else(|| command_not_found(terminal.id(), number))
    }
}

#[async_trait]
impl CommandsServer for CommandHandler {
    async fn list(
        &self,
        filter: Option<CommandFilter>,
        cursor: Option<String>,
        limit: Option<u32>,
    ) -> RpcResult<CommandPage> {
        let limit = limit.unwrap_or(DEFAULT_PAGE);
        if !(1..=MAX_PAGE).contains(&limit) {
            return Err(invalid_params("limit", "must be 1 to 1,000"));
        }
        let filter = filter.unwrap_or_default();
        let text = filter.query;
        if text
            .as_ref()
            .is_some_and(|text| text.len() > MAX_QUERY_BYTES)
        {
            return Err(invalid_params(
                "filter.query",
                "may be 1,024 bytes long at the most",
            ));
        }
        let terminal = match &filter.terminal {
            Some(reference) => Some(self.terminals.find(reference).await?.id().clone()),
            None => None,
        };
        let query = CommandQuery {
            terminal,
            text,
            exit_code: filter.exit_code,
            failed: filter.failed,
            since_ms: filter.since_ms,
            until_ms: filter.until_ms,
        };
        self.settle().await?;
        let store = self.terminals.store();
        let page = store.list_commands(&query, cursor.as_deref(), limit).await;
        page.map_err(store_error)
    }

    async fn show(&self, id: TerminalRef, number: i64) -> RpcResult<CommandInfo> {
        let terminal = self.terminals.find(&id).await?;
        Ok(self.command(&terminal, number).await?)
    }

    async fn read(
        &self,
        id: TerminalRef,
        number: i64,
        since: Option<Offset>,
        max_bytes: Option<u64>,
        encoding: Option<Encoding>,
    ) -> RpcResult<ReadResult> {
        let terminal = self.terminals.find(&id).await?;
        let command = self.command(&terminal, number).await?;
        let encoding = encoding.unwrap_or_default();
        Ok(read_command(&terminal, &command, since, max_bytes, encoding).await?)
    }
}

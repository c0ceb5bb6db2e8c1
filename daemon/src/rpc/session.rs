//! `session.*`: the native API on one side, [`Terminals`] on the other.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use jsonrpsee::core::{RpcResult, SubscriptionResult, async_trait};
use jsonrpsee::{Extensions, PendingSubscriptionSink};
use termd_proto::acp::Meta;
use termd_proto::terminal::{
    AttachMode, Encoding, ListScope, MAX_SEND_BYTES, MAX_WAIT_MS, OutputStream, ReadFrom,
    ReadOptions, ReadResult, SendResult, SessionsServer, Stdio, TerminalInfo, TerminalPage,
    WaitResult,
};
use termd_proto::{Label, Offset, TerminalRef};

use super::caller::{connection, native_owner};
use super::error::invalid_params;
use super::subscription;
use crate::service::{CreateRequest, Terminals, Typist};
use crate::terminal::reading::read;
use crate::terminal::record::Size;
use crate::terminal::{Terminal, TerminalError};

/// How long `session.send` waits for the terminal to take the input, unless asked otherwise.
pub(super) const DEFAULT_SEND_MS: u64 = 5_000;
/// How long `session.wait` waits, unless asked otherwise: below the minute after which MCP
/// clients give a call up.
const DEFAULT_WAIT_MS: u64 = 30_000;
/// The longest that `session.close` waits for a command to go at the end of its input: whoever
/// closes wants it gone.
const MAX_EOF_MS: u64 = 10_000;
const DEFAULT_PAGE: u32 = 100;
const MAX_PAGE: u32 = 1_000;

/// Serves `session.*`.
#[derive(Debug)]
pub struct SessionHandler {
    terminals: Terminals,
}

impl SessionHandler {
    /// Over these terminals.
    pub fn new(terminals: Terminals) -> Self {
        Self { terminals }
    }

    async fn find(&self, id: &TerminalRef) -> Result<Arc<Terminal>, TerminalError> {
        self.terminals.find(id).await
    }
}

#[async_trait]
impl SessionsServer for SessionHandler {
    async fn create(
        &self,
        ext: &Extensions,
        command: Option<String>,
        args: Option<Vec<String>>,
        env: Option<BTreeMap<String, String>>,
        base_env: Option<BTreeMap<String, String>>,
        cwd: Option<String>,
        label: Option<Label>,
        cols: Option<u16>,
        rows: Option<u16>,
        output_byte_limit: Option<u64>,
        close_on_disconnect: Option<bool>,
        stdio: Option<Stdio>,
        idle_timeout_ms: Option<u64>,
        scrollback_lines: Option<u32>,
        confirmed: Option<bool>,
        meta: Option<Meta>,
    ) -> RpcResult<TerminalInfo> {
        let context = connection(ext)?;
        let args = args.unwrap_or_default();
        if command.is_none() && !args.is_empty() {
            return Err(invalid_params("args", "need a command"));
        }
        let owner = native_owner(&context);
        let close_on_disconnect = close_on_disconnect.unwrap_or_default();
        let request = CreateRequest {
            owner: owner.clone(),
            command,
            args,
            env: env.unwrap_or_default(),
            base_env,
            cwd: cwd
                .or_else(|| context.introduction().cwd.clone())
                .map(PathBuf::from),
            label,
            cols,
            rows,
            output_byte_limit,
            close_on_disconnect,
            stdio: stdio.unwrap_or_default(),
            idle_timeout_ms,
            scrollback_lines,
            max_running: context.introduction().settings.max_running,
            confirmed: confirmed.unwrap_or_default(),
            gate: context.gate(),
            meta,
        };
        let terminals = self.terminals.clone();
        // In a task of its own: a client that goes away half-way leaves a terminal, not half of one.
        let created = tokio::spawn(async move {
            let terminal = terminals.create(request).await?;
            if close_on_disconnect {
                terminals.hold(&terminal, owner, context.closed.clone().cancelled_owned());
            }
            Ok::<_, TerminalError>(terminal)
        });
        let terminal = created.await.map_err(|_| TerminalError::Stopping)??;
        Ok(terminal.info())
    }

    async fn hold(&self, ext: &Extensions, id: TerminalRef) -> RpcResult<()> {
        let terminal = self.find(&id).await?;
        let context = connection(ext)?;
        let ended = context.closed.clone().cancelled_owned();
        self.terminals
            .hold(&terminal, native_owner(&context), ended);
        Ok(())
    }

    async fn list(
        &self,
        scope: Option<ListScope>,
        cursor: Option<String>,
        limit: Option<u32>,
    ) -> RpcResult<TerminalPage> {
        let limit = page_size(limit)?;
        Ok(self
            .terminals
            .list(scope.unwrap_or_default(), cursor.as_deref(), limit)
            .await?)
    }

    async fn show(&self, id: TerminalRef) -> RpcResult<TerminalInfo> {
        let terminal = self.find(&id).await?;
        Ok(self.terminals.info(&terminal).await?)
    }

    async fn read(
        &self,
        id: TerminalRef,
        since: Option<Offset>,
        tail_bytes: Option<u64>,
        tail_lines: Option<u64>,
        max_bytes: Option<u64>,
        max_lines: Option<u64>,
        encoding: Option<Encoding>,
        wait_ms: Option<u64>,
        until: Option<Offset>,
        stream: Option<OutputStream>,
    ) -> RpcResult<ReadResult> {
        let from = match (since, tail_bytes, tail_lines) {
            (since, None, None) => ReadFrom::Offset(since.unwrap_or_default()),
            (None, Some(bytes), None) => ReadFrom::TailBytes(bytes),
            (None, None, Some(lines)) => ReadFrom::TailLines(lines),
            _ => {
                let problem = "goes without tail_bytes and tail_lines, and those one at a time";
                return Err(invalid_params("since", problem));
            }
        };
        check_wait("wait_ms", wait_ms)?;
        let encoding = encoding.unwrap_or_default();
        let options = ReadOptions {
            from,
            until,
            stream,
            max_bytes,
            max_lines,
            encoding,
            wait_ms,
        };
        let terminal = self.find(&id).await?;
        Ok(read(&terminal, &options).await?)
    }

    async fn send(
        &self,
        ext: &Extensions,
        id: TerminalRef,
        text: Option<String>,
        data: Option<String>,
        confirmed: Option<bool>,
        timeout_ms: Option<u64>,
    ) -> RpcResult<SendResult> {
        let bytes = match (text, data) {
            (Some(text), None) => text.into_bytes(),
            (None, Some(data)) => BASE64
                .decode(data)
                .map_err(|_| invalid_params("data", "is not base64"))?,
            _ => {
                return Err(invalid_params(
                    "text",
                    "or `data` must be given, and not both",
                ));
            }
        };
        if bytes.len() > MAX_SEND_BYTES {
            return Err(invalid_params(
                "text",
                "may be 1,048,576 bytes long at the most",
            ));
        }
        let longest = check_wait("timeout_ms", Some(timeout_ms.unwrap_or(DEFAULT_SEND_MS)))?;
        let terminal = self.find(&id).await?;
        let context = connection(ext)?;
        let typist = Typist {
            actor: &native_owner(&context),
            connection: context.id.0 as u64,
            gate: &context.gate(),
            confirmed: confirmed.unwrap_or_default(),
        };
        let sent = self.terminals.send(&terminal, bytes, &typist, longest);
        Ok(sent.await?)
    }

    async fn resize(&self, id: TerminalRef, cols: u16, rows: u16) -> RpcResult<()> {
        let terminal = self.find(&id).await?;
        let size: Size = Terminals::checked_size(Some(cols), Some(rows))?;
        self.terminals.resize(&terminal, size).await;
        Ok(())
    }

    async fn kill(
        &self,
        ext: &Extensions,
        id: TerminalRef,
        signal: Option<String>,
    ) -> RpcResult<WaitResult> {
        let terminal = self.find(&id).await?;
        let actor = native_owner(&*connection(ext)?);
        let terminals = self.terminals.clone();
        let killed = tokio::spawn(async move {
            match signal {
                Some(signal) => terminals.signal(&terminal, &actor, &signal).await,
                None => terminals.kill(&terminal, &actor).await,
            }
        });
        Ok(killed.await.map_err(|_| TerminalError::Stopping)??)
    }

    async fn attach(
        &self,
        ext: &Extensions,
        id: TerminalRef,
        mode: Option<AttachMode>,
    ) -> RpcResult<()> {
        let terminal = self.find(&id).await?;
        let context = connection(ext)?;
        let ended = context.closed.clone().cancelled_owned();
        let (actor, number) = (native_owner(&context), context.id.0 as u64);
        let attaching =
            self.terminals
                .attach(&terminal, actor, number, mode.unwrap_or_default(), ended);
        Ok(attaching.await?)
    }

    async fn detach(&self, ext: &Extensions, id: TerminalRef) -> RpcResult<()> {
        let terminal = self.find(&id).await?;
        terminal.detach(connection(ext)?.id.0 as u64);
        Ok(())
    }

    async fn wait(&self, id: TerminalRef, timeout_ms: Option<u64>) -> RpcResult<WaitResult> {
        let longest = check_wait("timeout_ms", Some(timeout_ms.unwrap_or(DEFAULT_WAIT_MS)))?;
        let terminal = self.find(&id).await?;
        // The timeout is an answer, too: what there is by then.
        if let Ok(waited) = tokio::time::timeout(longest, terminal.wait_for_exit()).await {
            waited?;
        }
        Ok(Terminals::wait_result(&terminal))
    }

    async fn close(
        &self,
        ext: &Extensions,
        id: TerminalRef,
        eof_ms: Option<u64>,
    ) -> RpcResult<WaitResult> {
        if eof_ms.is_some_and(|eof_ms| eof_ms > MAX_EOF_MS) {
            return Err(invalid_params("eof_ms", "may be 10,000 at the most"));
        }
        let terminal = self.find(&id).await?;
        let actor = native_owner(&*connection(ext)?);
        let terminals = self.terminals.clone();
        let closed = tokio::spawn(async move {
            match eof_ms.map(Duration::from_millis) {
                Some(longest) => terminals.close_by_eof(&terminal, &actor, longest).await,
                None => terminals.close(&terminal, &actor).await,
            }
        });
        Ok(closed.await.map_err(|_| TerminalError::Stopping)??)
    }

    async fn subscribe_events(
        &self,
        pending: PendingSubscriptionSink,
        id: Option<TerminalRef>,
    ) -> SubscriptionResult {
        let only = match id {
            Some(reference) => match self.find(&reference).await {
                Ok(terminal) => Some(terminal),
                Err(error) => {
                    pending.reject(error).await;
                    return Ok(());
                }
            },
            None => None,
        };
        let events = self.terminals.events();
        let sink = pending.accept().await?;
        subscription::forward(events, only, sink).await;
        Ok(())
    }
}

fn page_size(limit: Option<u32>) -> Result<u32, jsonrpsee::types::ErrorObjectOwned> {
    let limit = limit.unwrap_or(DEFAULT_PAGE);
    if (1..=MAX_PAGE).contains(&limit) {
        Ok(limit)
    } else {
        Err(invalid_params("limit", "must be 1 to 1,000"))
    }
}

pub(super) fn check_wait(
    field: &str,
    wait_ms: Option<u64>,
) -> Result<Duration, jsonrpsee::types::ErrorObjectOwned> {
    let wait_ms = wait_ms.unwrap_or(0);
    if wait_ms > MAX_WAIT_MS {
        return Err(invalid_params(
            field,
            "may be 86,400,000 (one day) at the most",
        ));
    }
    Ok(Duration::from_millis(wait_ms))
}

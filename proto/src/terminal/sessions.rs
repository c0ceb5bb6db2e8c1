//! `session.*` itself.

use std::collections::BTreeMap;

use jsonrpsee::core::{RpcResult, SubscriptionResult};
use jsonrpsee::proc_macros::rpc;

use super::{
    AttachMode, CreateTerminal, Encoding, ListScope, OutputStream, ReadFrom, ReadOptions,
    ReadResult, SendResult, Stdio, TerminalInfo, TerminalPage, WaitResult,
};
use crate::acp::Meta;
use crate::event::TerminalEvent;
use crate::id::{Label, Offset, TerminalRef};

/// `session.*`: terminals for `termctl` and for every front of our own.
#[rpc(server, client, namespace = "session", namespace_separator = ".")]
pub trait Sessions {
    /// Starts a command in a new terminal; [`CreateTerminal`] says what each param means.
    #[method(name = "create", param_kind = map, with_extensions)]
    async fn create(
        &self,
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
        #[argument(rename = "_meta")] meta: Option<Meta>,
    ) -> RpcResult<TerminalInfo>;

    /// Ties a terminal to this connection: it is closed when the connection ends.
    /// `close_on_disconnect` on create does the same; a client says it again when it reconnects.
    #[method(name = "hold", param_kind = map, with_extensions)]
    async fn hold(&self, id: TerminalRef) -> RpcResult<()>;

    /// Lists terminals, oldest first, `limit` a page (default 100, at the most 1,000).
    #[method(name = "list", param_kind = map)]
    async fn list(
        &self,
        scope: Option<ListScope>,
        cursor: Option<String>,
        limit: Option<u32>,
    ) -> RpcResult<TerminalPage>;

    /// All that is known of one terminal, closed ones included.
    #[method(name = "show", param_kind = map)]
    async fn show(&self, id: TerminalRef) -> RpcResult<TerminalInfo>;

    /// Reads output from an offset; [`ReadOptions`] says what each param means. It never skips in
    /// silence: `start` says where the answer begins.
    #[method(name = "read", param_kind = map)]
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
    ) -> RpcResult<ReadResult>;

    /// Types into a terminal: `text`, or `data` (base64), not both. Answers when the terminal has
    /// taken all of it, or after `timeout_ms` (default 5,000) with what is still queued. What
    /// completes a line is judged by the gate first: `confirmed` says that somebody has agreed to it.
    #[method(name = "send", param_kind = map, with_extensions)]
    async fn send(
        &self,
        id: TerminalRef,
        text: Option<String>,
        data: Option<String>,
        confirmed: Option<bool>,
        timeout_ms: Option<u64>,
    ) -> RpcResult<SendResult>;

    /// Sets the size and tells the program by SIGWINCH. On an exited terminal: no error.
    #[method(name = "resize", param_kind = map)]
    async fn resize(&self, id: TerminalRef, cols: u16, rows: u16) -> RpcResult<()>;

    /// Without `signal`: ends the command and all that it started (SIGTERM, grace, SIGKILL), and
    /// answers when it has ended. With one, such as `SIGINT`: sends it to all of them, once.
    #[method(name = "kill", param_kind = map, with_extensions)]
    async fn kill(&self, id: TerminalRef, signal: Option<String>) -> RpcResult<WaitResult>;

    /// Says that whoever is connected watches a terminal, or types into it, from now until
    /// `session.detach` or the connection's end: for the audit. Again: nothing new.
    #[method(name = "attach", param_kind = map, with_extensions)]
    async fn attach(&self, id: TerminalRef, mode: Option<AttachMode>) -> RpcResult<()>;

    /// Says that it is no more so.
    #[method(name = "detach", param_kind = map, with_extensions)]
    async fn detach(&self, id: TerminalRef) -> RpcResult<()>;

    /// Waits for the exit, `timeout_ms` at the longest (default 30,000).
    #[method(name = "wait", param_kind = map)]
    async fn wait(&self, id: TerminalRef, timeout_ms: Option<u64>) -> RpcResult<WaitResult>;

    /// Ends the terminal (SIGHUP, grace, SIGKILL) and takes it off the list; record and
    /// transcript stay. Closing a closed one is no error. `eof_ms`: first type the tty's end-of-file
    /// character where its program reads lines, and wait so many milliseconds for it to go by itself.
    #[method(name = "close", param_kind = map, with_extensions)]
    async fn close(&self, id: TerminalRef, eof_ms: Option<u64>) -> RpcResult<WaitResult>;

    /// Events of one terminal, or of all, from now on. A subscriber that reads too slowly gets
    /// [`TerminalEvent::Lagged`] in place of what it missed.
    #[subscription(name = "subscribe" => "event", unsubscribe = "unsubscribe", item = TerminalEvent, param_kind = map)]
    async fn subscribe_events(&self, id: Option<TerminalRef>) -> SubscriptionResult;
}

/// `session.create` with its params in one value.
pub async fn create_terminal<C: SessionsClient + Sync>(
    client: &C,
    request: CreateTerminal,
) -> Result<TerminalInfo, jsonrpsee::core::ClientError> {
    client
        .create(
            request.command,
            Some(request.args),
            Some(request.env),
            request.base_env,
            request.cwd,
            request.label,
            request.cols,
            request.rows,
            request.output_byte_limit,
            Some(request.close_on_disconnect),
            Some(request.stdio),
            request.idle_timeout_ms,
            request.scrollback_lines,
            Some(request.confirmed),
            request.meta,
        )
        .await
}

/// `session.read` with its params in one value.
pub async fn read_terminal<C: SessionsClient + Sync>(
    client: &C,
    id: TerminalRef,
    options: ReadOptions,
) -> Result<ReadResult, jsonrpsee::core::ClientError> {
    let (since, tail_bytes, tail_lines) = match options.from {
        ReadFrom::Offset(offset) => (Some(offset), None, None),
        ReadFrom::TailBytes(bytes) => (None, Some(bytes), None),
        ReadFrom::TailLines(lines) => (None, None, Some(lines)),
    };
    let encoding = Some(options.encoding);
    client
        .read(
            id,
            since,
            tail_bytes,
            tail_lines,
            options.max_bytes,
            options.max_lines,
            encoding,
            options.wait_ms,
            options.until,
            options.stream,
        )
        .await
}

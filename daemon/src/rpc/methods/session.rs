//! `session.*`: the native API on one side, the services on the other.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use termd_proto::event::TerminalEvent;
use termd_proto::terminal::{
    AttachMode, AttachTerminal, CloseTerminal, CreateTerminal, DeleteTranscript, DeletedTranscript,
    DetachTerminal, Encoding, Front, HoldTerminal, KillTerminal, ListTerminals, MAX_SEND_BYTES,
    MAX_WAIT_MS, ReadResult, ReadTerminal, RenameTerminal, ResizeTerminal, SendInput, SendResult,
    ShowTerminal, SubscribeEvents, TagTerminal, TerminalInfo, TerminalPage, WaitForExit,
    WaitResult,
};
use termd_proto::{Label, TerminalRef};

use tokio::sync::broadcast;

use super::creation;
use super::terminal_events;
use crate::rpc::api::Api;
use crate::rpc::context::ConnectionContext;
use crate::rpc::error::{RpcError, RpcResult};
use crate::rpc::page_pipe::PagePipe;
use crate::rpc::subscription::EventSink;
use crate::service::{
    Asker, Attachments, Catalog, ConnectionBinding, Creator, Ender, Gate, InPlace, InputSender,
    Namer, OutputSecrets, Screens, TerminalUse, TranscriptEraser, Typist, VacateLabel,
    checked_size, wait_result,
};
use crate::terminal::input::PipePosition;
use crate::terminal::read::options::ReadOptions;
use crate::terminal::read::read;
use crate::terminal::read::times::with_times;
use crate::terminal::screen::size::Size;
use crate::terminal::{Terminal, TerminalError};

/// How long `session.send` waits for the terminal to take the input, unless asked otherwise.
pub(super) const DEFAULT_SEND_MS: u64 = 5_000;
/// How long `session.wait` waits, unless asked otherwise: below the minute after which MCP
/// clients give a call up.
const DEFAULT_WAIT_MS: u64 = 30_000;
/// The longest that `session.close` waits for a command to go at the end of its input: a client that
/// closes wants it gone.
const MAX_EOF_MS: u64 = 10_000;
/// How long an agent's shell waits for a person's answer: less than the two minutes after which agents give
/// a command up.
const SHELL_QUESTION_MS: u64 = 90_000;
/// How soon after a signal a command ends by it, as far as its sender has seen the end then.
const ENDS_WITHIN: Duration = Duration::from_secs(2);
const DEFAULT_PAGE: u32 = 100;
const MAX_PAGE: u32 = 1_000;

/// Serves `session.*`.
#[derive(Debug)]
pub struct SessionHandler {
    pub(crate) catalog: Catalog,
    pub(crate) creator: Arc<Creator>,
    pub(crate) in_place: InPlace,
    pub(crate) output_secrets: OutputSecrets,
    pub(crate) ender: Arc<Ender>,
    pub(crate) binding: ConnectionBinding,
    pub(crate) attachments: Attachments,
    pub(crate) gate: Arc<Gate>,
    pub(crate) input: Arc<InputSender>,
    pub(crate) screens: Screens,
    pub(crate) namer: Namer,
    pub(crate) eraser: TranscriptEraser,
    pub(crate) events: broadcast::Sender<TerminalEvent>,
}

impl SessionHandler {
    /// Serves its methods.
    pub fn register(self, api: &mut Api) {
        let handler = Arc::new(self);
        api.method(&handler, Self::create);
        api.method(&handler, Self::hold);
        api.method(&handler, Self::list);
        api.method(&handler, Self::show);
        api.method(&handler, Self::read);
        api.method(&handler, Self::send);
        api.method(&handler, Self::rename);
        api.method(&handler, Self::tag);
        api.method(&handler, Self::resize);
        api.method(&handler, Self::kill);
        api.method(&handler, Self::attach);
        api.method(&handler, Self::detach);
        api.method(&handler, Self::wait);
        api.method(&handler, Self::close);
        api.method(&handler, Self::delete);
        api.subscription(&handler, Self::subscribe);
    }

    async fn find(&self, id: &TerminalRef) -> Result<Arc<Terminal>, TerminalError> {
        self.catalog.find(id).await
    }

    /// The terminal, for a caller that changes something about it.
    async fn find_to_use(
        &self,
        id: &TerminalRef,
        usage: TerminalUse,
        context: &ConnectionContext,
    ) -> Result<Arc<Terminal>, TerminalError> {
        let owner = context.native_owner();
        let terminal = self.catalog.find_for(id, &owner).await?;
        let asker = Asker {
            owner: &owner,
            confirmed: false,
            asks: context.asks(),
        };
        self.gate.check_use(&terminal, usage, asker).await?;
        Ok(terminal)
    }
}

impl SessionHandler {
    async fn create(
        self: Arc<Self>,
        params: CreateTerminal,
        context: Arc<ConnectionContext>,
    ) -> RpcResult<TerminalInfo> {
        if params.command.is_none() && !params.args.is_empty() {
            return Err(RpcError::invalid_params("args", "need a command"));
        }
        let label = params.label.clone().filter(|_| params.replace);
        let vacate = label.map(|label| -> VacateLabel {
            let (this, context) = (Arc::clone(&self), Arc::clone(&context));
            Box::pin(async move { this.close_holder(&label, &context).await })
        });
        let (owner, creator) = (context.native_owner(), &self.creator);
        if owner.front == Front::Shell {
            let placement = context.peer_placement();
            self.in_place.check(&owner, &placement, &params).await?;
        }
        let is_shell = owner.front == Front::Shell;
        let closed = context.closed.clone();
        let created = creation::create(creator, &self.binding, params, owner, context, vacate);
        match created.await {
            Err(TerminalError::ConfirmationRequired(refusal)) if is_shell => {
                let waiting = self.gate.wait_as_asker(&refusal);
                let error = RpcError::from(TerminalError::ConfirmationRequired(refusal));
                // A shell waits only for somebody who sees the question.
                let Some(waiting) = waiting else {
                    return Err(error);
                };
                tokio::spawn(async move {
                    closed.cancelled().await;
                    drop(waiting);
                });
                Err(error.with("wait_ms", SHELL_QUESTION_MS))
            }
            created => Ok(created?.info()),
        }
    }

    /// Closes the terminal that has a label, for one that replaces it.
    async fn close_holder(
        &self,
        label: &Label,
        context: &ConnectionContext,
    ) -> Result<(), TerminalError> {
        let id = TerminalRef(label.as_str().to_owned());
        let holder = self.find_to_use(&id, TerminalUse::Control, context).await?;
        let (ender, actor) = (Arc::clone(&self.ender), context.native_owner());
        let closed = tokio::spawn(async move { ender.close(&holder, &actor, None).await });
        closed.await.map_err(|_| TerminalError::Stopping)??;
        Ok(())
    }

    async fn rename(
        self: Arc<Self>,
        params: RenameTerminal,
        context: Arc<ConnectionContext>,
    ) -> RpcResult<TerminalInfo> {
        let RenameTerminal { id, label } = params;
        let terminal = self
            .find_to_use(&id, TerminalUse::Control, &context)
            .await?;
        let (namer, actor) = (self.namer.clone(), context.native_owner());
        let renamed = {
            let terminal = Arc::clone(&terminal);
            tokio::spawn(async move { namer.rename(&terminal, label, &actor).await })
        };
        renamed.await.map_err(|_| TerminalError::Stopping)??;
        Ok(terminal.info())
    }

    async fn tag(
        self: Arc<Self>,
        params: TagTerminal,
        context: Arc<ConnectionContext>,
    ) -> RpcResult<TerminalInfo> {
        let TagTerminal { id, add, remove } = params;
        let terminal = self
            .find_to_use(&id, TerminalUse::Control, &context)
            .await?;
        let (namer, actor) = (self.namer.clone(), context.native_owner());
        let tagged = {
            let terminal = Arc::clone(&terminal);
            tokio::spawn(async move { namer.tag(&terminal, &add, &remove, &actor).await })
        };
        tagged.await.map_err(|_| TerminalError::Stopping)??;
        Ok(terminal.info())
    }

    async fn hold(
        self: Arc<Self>,
        params: HoldTerminal,
        context: Arc<ConnectionContext>,
    ) -> RpcResult<()> {
        let terminal = self
            .find_to_use(&params.id, TerminalUse::Control, &context)
            .await?;
        let ended = context.closed.clone().cancelled_owned();
        self.binding
            .bind_to_connection(&terminal, context.native_owner(), ended);
        Ok(())
    }

    async fn list(
        self: Arc<Self>,
        params: ListTerminals,
        _: Arc<ConnectionContext>,
    ) -> RpcResult<TerminalPage> {
        let ListTerminals {
            scope,
            tags,
            cursor,
            limit,
        } = params;
        let (scope, limit) = (scope.unwrap_or_default(), page_size(limit)?);
        let page = self.catalog.list(scope, &tags, cursor.as_deref(), limit);
        Ok(page.await?)
    }

    async fn show(
        self: Arc<Self>,
        params: ShowTerminal,
        context: Arc<ConnectionContext>,
    ) -> RpcResult<TerminalInfo> {
        let owner = context.native_owner();
        let terminal = self.catalog.find_for(&params.id, &owner).await?;
        Ok(self.catalog.info(&terminal).await?)
    }

    async fn read(
        self: Arc<Self>,
        params: ReadTerminal,
        context: Arc<ConnectionContext>,
    ) -> RpcResult<ReadResult> {
        let pipe = match params.encoding {
            // That of this line, before another one is read.
            Some(Encoding::Pipe) => Some(PagePipe::try_from(context.take_fds())?),
            _ => None,
        };
        let mut options = ReadOptions::try_from(&params)?;
        if let Some(pipe) = &pipe {
            options.max_bytes = Some(pipe.bound(options.max_bytes));
        }
        check_wait("wait_ms", params.wait_ms)?;
        let terminal = self.find(&params.id).await?;
        let mut page = read(&terminal, &options).await?;
        if params.times == Some(true) {
            page = with_times(&terminal, page).await?;
        }
        let reader = context.reader();
        terminal.attention.read_through(reader);
        let read = (page, options.encoding);
        let hidden = self.output_secrets.hide(reader, &terminal, read);
        let page = hidden.await.map_err(TerminalError::from)?;
        match pipe {
            Some(pipe) => pipe.answer(page),
            None => Ok(page.into_answer()),
        }
    }

    async fn send(
        self: Arc<Self>,
        params: SendInput,
        context: Arc<ConnectionContext>,
    ) -> RpcResult<SendResult> {
        let SendInput {
            id,
            text,
            data,
            eof,
            input_offset,
            confirmed,
            timeout_ms,
        } = params;
        let position = PipePosition {
            offset: input_offset,
            is_last: eof.unwrap_or_default(),
        };
        let bytes = match (text, data) {
            (None, None) if position.is_last => Vec::new(),
            (Some(text), None) => text.into_bytes(),
            (None, Some(data)) => BASE64
                .decode(data)
                .map_err(|_| RpcError::invalid_params("data", "is not base64"))?,
            _ => {
                return Err(RpcError::invalid_params(
                    "text",
                    "or `data` must be given, and not both",
                ));
            }
        };
        if bytes.len() > MAX_SEND_BYTES {
            return Err(RpcError::invalid_params(
                "text",
                "may be 1,048,576 bytes long at the most",
            ));
        }
        let longest = check_wait("timeout_ms", Some(timeout_ms.unwrap_or(DEFAULT_SEND_MS)))?;
        let owner = context.native_owner();
        let terminal = self.catalog.find_for(&id, &owner).await?;
        let typist = Typist {
            actor: &owner,
            connection: context.id.0,
            gate: &context.gate(),
            confirmed: confirmed.unwrap_or_default(),
            asks: context.asks(),
        };
        let sent = self
            .input
            .send(&terminal, bytes, position, &typist, longest);
        Ok(sent.await?)
    }

    async fn resize(
        self: Arc<Self>,
        params: ResizeTerminal,
        context: Arc<ConnectionContext>,
    ) -> RpcResult<()> {
        let ResizeTerminal { id, cols, rows } = params;
        let size: Size = checked_size(Some(cols), Some(rows))?;
        let terminal = self
            .find_to_use(&id, TerminalUse::Control, &context)
            .await?;
        self.screens.resize(&terminal, size).await;
        Ok(())
    }

    async fn kill(
        self: Arc<Self>,
        params: KillTerminal,
        context: Arc<ConnectionContext>,
    ) -> RpcResult<WaitResult> {
        let KillTerminal { id, signal } = params;
        let terminal = self
            .find_to_use(&id, TerminalUse::Control, &context)
            .await?;
        let reader = context.reader();
        let actor = context.native_owner();
        let ender = Arc::clone(&self.ender);
        let killed = tokio::spawn(async move {
            let is_persons = !reader.is_agents();
            let Some(signal) = signal else {
                // Who ends it has seen its end.
                let _looks = is_persons.then(|| terminal.attention.look_on());
                return ender.kill(&terminal, &actor).await;
            };
            if is_persons {
                see_end(Arc::clone(&terminal));
            }
            ender.signal(&terminal, &actor, &signal).await
        });
        Ok(killed.await.map_err(|_| TerminalError::Stopping)??)
    }

    async fn attach(
        self: Arc<Self>,
        params: AttachTerminal,
        context: Arc<ConnectionContext>,
    ) -> RpcResult<()> {
        let AttachTerminal {
            id,
            mode,
            cols,
            rows,
        } = params;
        let size = match (cols, rows) {
            (None, None) => None,
            given => Some(checked_size(given.0, given.1)?),
        };
        let mode = mode.unwrap_or_default();
        let terminal = match mode {
            AttachMode::Watch => self.find(&id).await?,
            AttachMode::Type => self.find_to_use(&id, TerminalUse::Input, &context).await?,
        };
        let ended = context.closed.clone().cancelled_owned();
        let (actor, number) = (context.native_owner(), context.id.0);
        let attaching = self
            .attachments
            .attach(&terminal, actor, number, mode, size, ended);
        Ok(attaching.await?)
    }

    async fn detach(
        self: Arc<Self>,
        params: DetachTerminal,
        context: Arc<ConnectionContext>,
    ) -> RpcResult<()> {
        let terminal = self.find(&params.id).await?;
        self.attachments.detach(&terminal, context.id.0).await;
        Ok(())
    }

    async fn wait(
        self: Arc<Self>,
        params: WaitForExit,
        context: Arc<ConnectionContext>,
    ) -> RpcResult<WaitResult> {
        let WaitForExit { id, timeout_ms } = params;
        let longest = check_wait("timeout_ms", Some(timeout_ms.unwrap_or(DEFAULT_WAIT_MS)))?;
        let terminal = self.find(&id).await?;
        // The timeout is an answer, too: what there is by then.
        if let Ok(waited) = tokio::time::timeout(longest, terminal.wait_for_exit()).await {
            waited?;
            terminal.attention.read_through(context.reader());
        }
        Ok(wait_result(&terminal))
    }

    async fn close(
        self: Arc<Self>,
        params: CloseTerminal,
        context: Arc<ConnectionContext>,
    ) -> RpcResult<WaitResult> {
        let CloseTerminal { id, eof_ms } = params;
        if eof_ms.is_some_and(|eof_ms| eof_ms > MAX_EOF_MS) {
            return Err(RpcError::invalid_params(
                "eof_ms",
                "may be 10,000 at the most",
            ));
        }
        let terminal = self
            .find_to_use(&id, TerminalUse::Control, &context)
            .await?;
        let actor = context.native_owner();
        let ender = Arc::clone(&self.ender);
        let eof = eof_ms.map(Duration::from_millis);
        let closed = tokio::spawn(async move { ender.close(&terminal, &actor, eof).await });
        Ok(closed.await.map_err(|_| TerminalError::Stopping)??)
    }

    async fn delete(
        self: Arc<Self>,
        params: DeleteTranscript,
        context: Arc<ConnectionContext>,
    ) -> RpcResult<DeletedTranscript> {
        let actor = context.native_owner();
        let terminal = self.catalog.find_for(&params.id, &actor).await?;
        let eraser = self.eraser.clone();
        let deleted = tokio::spawn(async move { eraser.erase(&terminal, &actor).await });
        Ok(deleted.await.map_err(|_| TerminalError::Stopping)??)
    }

    async fn subscribe(
        self: Arc<Self>,
        params: SubscribeEvents,
        sink: EventSink<TerminalEvent>,
    ) -> RpcResult<impl Future<Output = ()> + Send> {
        let only = match params.id {
            Some(reference) => Some(self.find(&reference).await?),
            None => None,
        };
        Ok(terminal_events::forward(
            self.events.subscribe(),
            only,
            sink,
        ))
    }
}

fn page_size(limit: Option<u32>) -> Result<u32, RpcError> {
    let limit = limit.unwrap_or(DEFAULT_PAGE);
    if (1..=MAX_PAGE).contains(&limit) {
        Ok(limit)
    } else {
        Err(RpcError::invalid_params("limit", "must be 1 to 1,000"))
    }
}

pub(super) fn check_wait(field: &str, wait_ms: Option<u64>) -> Result<Duration, RpcError> {
    let wait_ms = wait_ms.unwrap_or(0);
    if wait_ms > MAX_WAIT_MS {
        return Err(RpcError::invalid_params(
            field,
            "may be 86,400,000 (one day) at the most",
        ));
    }
    Ok(Duration::from_millis(wait_ms))
}

/// Who sends a signal has seen the end that comes of it.
fn see_end(terminal: Arc<Terminal>) {
    tokio::spawn(async move {
        let _looks = terminal.attention.look_on();
        let _ = tokio::time::timeout(ENDS_WITHIN, terminal.wait_for_exit()).await;
    });
}

//! Forwards the lines of both directions in order, and hands those that the proxy handles to their
//! module.

use std::io;
use std::sync::Arc;

use jsonrpsee::types::ErrorObjectOwned;
use jsonrpsee::types::error::{INTERNAL_ERROR_CODE, INVALID_REQUEST_CODE};
use serde_json::value::RawValue;
use termd_proto::Tags;
use tokio::io::AsyncRead;
use tokio::task::JoinHandle;

use crate::display::{Display, Outcome};
use crate::methods;
use crate::shared::Shared;
use crate::stderr_log::{log, log_foreign_line};
use crate::wire::MAX_LINE_BYTES;
use crate::wire::cut_message::CutMessage;
use crate::wire::line_reader::{LineReader, Read};
use crate::wire::line_writer::LineWriter;
use crate::wire::message::{Message, NotJson, RequestId};

/// What becomes of a line.
#[derive(Debug)]
enum Route {
    Unchanged,
    /// This text is forwarded in place of the line.
    Changed(String),
    /// The proxy answered or forwarded the line already.
    Handled,
}

/// A sender of lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Party {
    Client,
    Agent,
}

impl Party {
    fn name(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Agent => "agent",
        }
    }

    fn other(self) -> Self {
        match self {
            Self::Client => Self::Agent,
            Self::Agent => Self::Client,
        }
    }

    fn writer(self, shared: &Shared) -> &LineWriter {
        match self {
            Self::Client => &shared.client,
            Self::Agent => &shared.agent,
        }
    }
}

/// Routes lines between client and agent.
#[derive(Debug)]
pub(crate) struct Proxy {
    pub(crate) shared: Arc<Shared>,
    display: Display,
}

impl Proxy {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self {
            shared,
            display: Display::default(),
        }
    }

    /// Forwards the sender's lines until its stream ends, or the receiver's is closed.
    pub(crate) async fn forward<R: AsyncRead + Unpin>(
        self: &Arc<Self>,
        sender: Party,
        from: R,
    ) -> io::Result<()> {
        let shared = &self.shared;
        let to = sender.other().writer(shared);
        let mut lines = LineReader::new(from);
        let mut refusals = Refusals::default();
        loop {
            match lines.next().await {
                Read::End => return Ok(()),
                Read::TooLong(head) => {
                    log(&format!(
                        "the {} sent a message of more than 64 MiB; it was dropped",
                        sender.name()
                    ));
                    match CutMessage::read(head) {
                        CutMessage::Request(id) => refusals.refuse(shared, sender, id).await,
                        CutMessage::Response(id) => {
                            if !self.answer_was_lost(sender, &id) {
                                to.answer(&id, Err(&lost_answer())).await?;
                            }
                        }
                        CutMessage::Unknown => {}
                    }
                }
                Read::Line(line) => {
                    let route = match sender {
                        Party::Client => self.route_of_client(line),
                        Party::Agent => self.route_of_agent(line).await?,
                    };
                    match route {
                        Route::Unchanged => to.line(line).await?,
                        Route::Changed(changed) => to.text(changed).await?,
                        Route::Handled => {}
                    }
                    shared.busy_poll.after_message(line.len());
                }
            }
        }
    }

    /// Treats a dropped answer as an error. Returns whether the request was the proxy's own, so that
    /// the other side does not wait for an answer.
    fn answer_was_lost(self: &Arc<Self>, sender: Party, id: &RequestId) -> bool {
        match sender {
            Party::Client => self.shared.client_requests.answered(id, None),
            Party::Agent => {
                self.take_answer_of_agent(id, None);
                false
            }
        }
    }

    fn route_of_client(&self, line: &[u8]) -> Route {
        // The agent judges what a client sends, invalid text too.
        let Ok(text) = std::str::from_utf8(line) else {
            return Route::Unchanged;
        };
        let shared = &self.shared;
        let changed = match Message::read(text) {
            Ok(Message::Request { id, method, params }) => {
                if method == "initialize" {
                    let capabilities = &shared.capabilities;
                    capabilities.requested(&shared.options, &id, text, params)
                } else if shared.sessions.requested(&id, &method, params)
                    && shared.options.session_mcp
                {
                    shared.session_mcp.added(&shared.capabilities, text)
                } else {
                    None
                }
            }
            Ok(Message::Response { id, result }) => {
                if shared.client_requests.answered(&id, result) {
                    return Route::Handled;
                }
                None
            }
            Ok(Message::Notification { .. } | Message::Other) | Err(NotJson) => None,
        };
        changed.map_or(Route::Unchanged, Route::Changed)
    }

    async fn route_of_agent(self: &Arc<Self>, line: &[u8]) -> io::Result<Route> {
        let shared = &self.shared;
        let Ok(text) = std::str::from_utf8(line) else {
            log_foreign_line(&String::from_utf8_lossy(line)).await;
            return Ok(Route::Handled);
        };
        match Message::read(text) {
            Err(NotJson) => {
                log_foreign_line(text).await;
                Ok(Route::Handled)
            }
            Ok(Message::Other) => Ok(Route::Unchanged),
            Ok(Message::Response { id, result }) => {
                self.take_answer_of_agent(&id, result);
                Ok(Route::Unchanged)
            }
            Ok(Message::Request { id, method, params }) => {
                if method.starts_with("terminal/") && shared.capabilities.answers_terminals() {
                    methods::answer(shared, id, &method, params).await?;
                    return Ok(Route::Handled);
                }
                if method == "session/request_permission" {
                    return self.show(text, params).await;
                }
                Ok(Route::Unchanged)
            }
            Ok(Message::Notification { method, params }) => match method.as_str() {
                "session/update" => self.show(text, params).await,
                "$/cancel_request" if methods::cancel(shared, params) => Ok(Route::Handled),
                _ => Ok(Route::Unchanged),
            },
        }
    }

    /// Takes an answer of the agent, which may complete `initialize` or end a session.
    fn take_answer_of_agent(self: &Arc<Self>, id: &RequestId, result: Option<&RawValue>) {
        let shared = &self.shared;
        if let Some(parties) = shared.capabilities.answered(&shared.options, id, result) {
            shared.pool.introduce_as(&parties.name());
            // Each session has a directory of its own.
            let tags = Tags::of_agent(parties.agent.as_deref(), None);
            shared.pool.set_tags(tags);
            if shared.capabilities.answers_terminals() {
                // Starts the daemon, so that the first terminal/create does not wait for it.
                let shared = Arc::clone(shared);
                tokio::spawn(async move { shared.pool.connect().await });
            }
        }
        if let Some(session) = shared.sessions.answered(id, result) {
            let proxy = Arc::clone(self);
            tokio::spawn(async move {
                methods::release_session(&proxy.shared, &session).await;
                proxy.display.forget(&session);
            });
        }
    }

    /// Forwards a line about a tool call as the client can show it.
    async fn show(&self, text: &str, params: Option<&RawValue>) -> io::Result<Route> {
        if !self.shared.capabilities.answers_terminals() {
            return Ok(Route::Unchanged);
        }
        Ok(match self.display.show(&self.shared, text, params).await? {
            Outcome::Unchanged => Route::Unchanged,
            Outcome::Sent => Route::Handled,
        })
    }
}

/// Refuses requests that were dropped, in a task of its own: a sender that does not read meanwhile
/// would otherwise block the proxy, and the proxy the sender.
#[derive(Debug, Default)]
struct Refusals(Option<JoinHandle<()>>);

impl Refusals {
    async fn refuse(&mut self, shared: &Arc<Shared>, sender: Party, id: RequestId) {
        if let Some(previous) = self.0.take() {
            // The previous refusal was written, or its sender is gone.
            let _ = previous.await;
        }
        let shared = Arc::clone(shared);
        self.0 = Some(tokio::spawn(async move {
            let why = format!("the message is longer than {MAX_LINE_BYTES} bytes");
            let refusal = ErrorObjectOwned::owned(INVALID_REQUEST_CODE, why, None::<()>);
            // The sender may be gone.
            let _ = sender.writer(&shared).answer(&id, Err(&refusal)).await;
        }));
    }
}

/// The error in place of an answer that was dropped.
fn lost_answer() -> ErrorObjectOwned {
    let why = format!("the answer was longer than {MAX_LINE_BYTES} bytes, and was dropped");
    ErrorObjectOwned::owned(INTERNAL_ERROR_CODE, why, None::<()>)
}

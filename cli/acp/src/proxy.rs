//! Both directions: each line in its order, on to the other side, or to whom it is for.

use std::io;
use std::sync::Arc;

use jsonrpsee::types::ErrorObjectOwned;
use jsonrpsee::types::error::{INTERNAL_ERROR_CODE, INVALID_REQUEST_CODE};
use tokio::io::AsyncRead;
use tokio::task::JoinHandle;

use super::Shared;
use super::display::Passed;
use super::stray::log_stray;
use super::wire::MAX_LINE_BYTES;
use super::wire::cut_message::CutMessage;
use super::wire::line_reader::{LineReader, Read};
use super::wire::line_writer::LineWriter;
use super::wire::message::{Message, NotJson, RequestId};
use serde_json::value::RawValue;

pub(super) use super::stray::log;

/// What becomes of a line.
#[derive(Debug)]
enum Route {
    /// It goes on as it came.
    On,
    /// It goes on changed: this stands in its place, without a line's end.
    Changed(String),
    /// It was for us, or has been passed on.
    Taken,
}

/// Who sends lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Party {
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

    /// Where what this one reads is written.
    fn outlet(self, shared: &Shared) -> &LineWriter {
        match self {
            Self::Client => &shared.client,
            Self::Agent => &shared.agent,
        }
    }
}

/// Takes the sender's lines until there are no more, or the other side takes none.
pub(super) async fn pass<R: AsyncRead + Unpin>(
    shared: &Arc<Shared>,
    sender: Party,
    from: R,
) -> io::Result<()> {
    let to = sender.other().outlet(shared);
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
                        if !tell_of_lost_answer(shared, sender, &id) {
                            to.answer(&id, Err(&lost())).await?;
                        }
                    }
                    CutMessage::Unknown => {}
                }
            }
            Read::Line(line) => {
                let route = match sender {
                    Party::Client => of_client(shared, line),
                    Party::Agent => of_agent(shared, line).await?,
                };
                match route {
                    Route::On => to.line(line).await?,
                    Route::Changed(changed) => to.line(&ended(changed)).await?,
                    Route::Taken => {}
                }
                shared.awake.stir(line.len());
            }
        }
    }
}

/// An answer was dropped: whoever here waits for it hears so. Whether the question was ours alone, so
/// that the other side waits for nothing.
fn tell_of_lost_answer(shared: &Arc<Shared>, sender: Party, id: &RequestId) -> bool {
    match sender {
        Party::Client => shared.requests.answered(id, None),
        Party::Agent => {
            shared.agreed.answered(shared, id, None);
            shared.sessions.answered(shared, id, None);
            false
        }
    }
}

/// Refusals of requests that were dropped: one on its way at a time. Not waited for before the next
/// line: whoever sends, and reads nothing meanwhile, would wait for us, and we for them.
#[derive(Debug, Default)]
struct Refusals(Option<JoinHandle<()>>);

impl Refusals {
    async fn refuse(&mut self, shared: &Arc<Shared>, sender: Party, id: RequestId) {
        if let Some(before) = self.0.take() {
            // It wrote, or nobody reads any more.
            let _ = before.await;
        }
        let shared = Arc::clone(shared);
        self.0 = Some(tokio::spawn(async move {
            let why = format!("the message is longer than {MAX_LINE_BYTES} bytes");
            let refusal = ErrorObjectOwned::owned(INVALID_REQUEST_CODE, why, None::<()>);
            // A sender that is gone needs no answer.
            let _ = sender.outlet(&shared).answer(&id, Err(&refusal)).await;
        }));
    }
}

/// What stands in the place of an answer that was dropped.
fn lost() -> ErrorObjectOwned {
    let why = format!("the answer was longer than {MAX_LINE_BYTES} bytes, and was dropped");
    ErrorObjectOwned::owned(INTERNAL_ERROR_CODE, why, None::<()>)
}

fn of_client(shared: &Arc<Shared>, line: &[u8]) -> Route {
    // What the client sends is the agent's to judge, nonsense too.
    let Ok(text) = std::str::from_utf8(line) else {
        return Route::On;
    };
    let changed = match Message::read(text) {
        Ok(Message::Request { id, method, params }) => match method.as_str() {
            "initialize" => shared.agreed.asked(&shared.options, &id, text, params),
            _ => shared.sessions.asked(shared, &id, &method, text, params),
        },
        Ok(Message::Response { id, result }) => {
            if shared.requests.answered(&id, result) {
                return Route::Taken;
            }
            None
        }
        Ok(Message::Notification { .. } | Message::Other) | Err(NotJson) => None,
    };
    changed.map_or(Route::On, Route::Changed)
}

async fn of_agent(shared: &Arc<Shared>, line: &[u8]) -> io::Result<Route> {
    let Ok(text) = std::str::from_utf8(line) else {
        log_stray(&String::from_utf8_lossy(line)).await;
        return Ok(Route::Taken);
    };
    match Message::read(text) {
        Err(NotJson) => {
            log_stray(text).await;
            Ok(Route::Taken)
        }
        Ok(Message::Other) => Ok(Route::On),
        Ok(Message::Response { id, result }) => {
            shared.agreed.answered(shared, &id, result);
            shared.sessions.answered(shared, &id, result);
            Ok(Route::On)
        }
        Ok(Message::Request { id, method, params }) => {
            if method.starts_with("terminal/") && shared.agreed.answers_terminals() {
                shared.terminals.take(shared, id, &method, params).await?;
                return Ok(Route::Taken);
            }
            if method == "session/request_permission" {
                return shown(shared, text, params).await;
            }
            Ok(Route::On)
        }
        Ok(Message::Notification { method, params }) => match method.as_str() {
            "session/update" => shown(shared, text, params).await,
            "$/cancel_request" if shared.terminals.cancel(params) => Ok(Route::Taken),
            _ => Ok(Route::On),
        },
    }
}

/// What tells of a tool call goes on as the client can show it.
async fn shown(shared: &Arc<Shared>, text: &str, params: Option<&RawValue>) -> io::Result<Route> {
    if !shared.agreed.answers_terminals() {
        return Ok(Route::On);
    }
    Ok(match shared.display.pass(shared, text, params).await? {
        Passed::AsItIs => Route::On,
        Passed::Sent => Route::Taken,
    })
}

fn ended(mut line: String) -> Vec<u8> {
    if !line.ends_with('\n') {
        line.push('\n');
    }
    line.into_bytes()
}

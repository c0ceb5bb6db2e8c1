//! Both directions: each line in its order, on to the other side, or to whom it is for.

use std::io;
use std::sync::Arc;

use tokio::io::AsyncRead;

use super::Shared;
use super::display::Passed;
use super::wire::lines::{Lines, Read};
use super::wire::message::{Message, NotJson};
use crate::escape::escaped;

/// Most bytes that are logged of a line that is no message.
const LOGGED_BYTES: usize = 1_024;

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

/// Takes the client's lines until there are no more, or the agent takes none.
pub(super) async fn from_client<R: AsyncRead + Unpin>(
    shared: &Arc<Shared>,
    from: R,
) -> io::Result<()> {
    let mut lines = Lines::of(from);
    loop {
        match lines.next().await {
            Read::End => return Ok(()),
            Read::TooLong(_) => {
                log("the client sent a message of more than 64 MiB; it was dropped")
            }
            Read::Line(line) => match of_client(shared, line) {
                Route::On => shared.agent.line(line).await?,
                Route::Changed(changed) => shared.agent.line(&ended(changed)).await?,
                Route::Taken => {}
            },
        }
    }
}

/// Takes the agent's lines until there are no more, or the client takes none.
pub(super) async fn from_agent<R: AsyncRead + Unpin>(
    shared: &Arc<Shared>,
    from: R,
) -> io::Result<()> {
    let mut lines = Lines::of(from);
    loop {
        match lines.next().await {
            Read::End => return Ok(()),
            Read::TooLong(_) => log("the agent sent a message of more than 64 MiB; it was dropped"),
            Read::Line(line) => match of_agent(shared, line).await? {
                Route::On => shared.client.line(line).await?,
                Route::Changed(changed) => shared.client.line(&ended(changed)).await?,
                Route::Taken => {}
            },
        }
    }
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
        log_stray(&String::from_utf8_lossy(line));
        return Ok(Route::Taken);
    };
    match Message::read(text) {
        Err(NotJson) => {
            log_stray(text);
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
async fn shown(
    shared: &Arc<Shared>,
    text: &str,
    params: Option<&serde_json::value::RawValue>,
) -> io::Result<Route> {
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

/// What an agent prints on its standard output that is no message: for whoever looks for it.
fn log_stray(line: &str) {
    let line = line.trim();
    if line.is_empty() {
        return;
    }
    let end = line.floor_char_boundary(LOGGED_BYTES);
    let shown = escaped(line.get(..end).unwrap_or_default());
    log(&format!(
        "not a message on the agent's standard output: {shown}"
    ));
}

/// A line on standard error, which a client logs beside the agent's own.
#[allow(clippy::print_stderr)]
pub(super) fn log(line: &str) {
    eprintln!("termctl acp: {line}");
}

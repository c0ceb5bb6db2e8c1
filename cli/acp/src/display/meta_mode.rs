//! Shows terminals by `_meta`: `terminal_info` announces each on a tool call that embeds it, its
//! output follows as `terminal_output`, line by line and each line once, and `terminal_exit` ends it.
//!
//! That is the convention of Zed and of the agents written for it. Such a client creates a terminal
//! of `terminal_info` only within a `tool_call`, fails on content that embeds an unknown terminal, and
//! creates a new, empty terminal if one is announced twice. So if a terminal first appears in a
//! `tool_call_update`, the proxy repeats the `tool_call` before it, with the `terminal_info` and what
//! the agent has said of it. To such a client a `tool_call` with a known id is a change. Other clients
//! do not get this message.

use std::io;
use std::sync::Arc;

use serde_json::{Value, json};
use termd_proto::Offset;
use termd_proto::terminal::{ReadResult, TerminalState};
use tokio::time::{Instant, sleep};

use super::round::Round;
use super::stream::{Progress, Stream};
use super::text_block::timed_out;
use super::tool_call_update::{Kind, Outcome, Status, ToolCallUpdate, update_line};
use super::tool_calls::{CallState, INTERVAL, RETRY_PAUSE, ToolCall};
use crate::shared::Shared;
use crate::terminals::reader::{READ_DEADLINE, WaitError};
use crate::terminals::terminal::EndCause;
use crate::terminals::view::Life;
use crate::wire::edit;

/// Most output in one message, in bytes.
const CHUNK_BYTES: u64 = 64 << 10;
/// Output that a client may be behind before the proxy skips some, in bytes: some seconds of
/// [`CHUNK_BYTES`] ten times a second, and more than a person scrolls back over.
const MAX_BEHIND_BYTES: u64 = 256 << 10;

/// Takes an update of a tool call, whose content embeds the streams.
pub(super) async fn show(
    shared: &Arc<Shared>,
    call: &Arc<ToolCall>,
    line: &str,
    update: &ToolCallUpdate<'_>,
    streams: Vec<Arc<Stream>>,
) -> io::Result<Outcome> {
    let mut state = call.state.lock().await;
    call.take_status(update);
    let is_over = call.is_over();
    state.fields.take(update);
    if update.content.is_none() && !is_over && update.kind != Kind::Call {
        return Ok(Outcome::Unchanged);
    }
    let round = call.rounds.next();
    let edits = announce(shared, call, &state, line, update, &streams).await?;
    let before = std::mem::take(&mut state.streams);
    if is_over {
        let deadline = Instant::now() + READ_DEADLINE;
        for stream in &before {
            flush(shared, call, stream, deadline).await?;
        }
        for stream in &streams {
            flush(shared, call, stream, deadline).await?;
        }
    }
    if streams.is_empty() {
        return Ok(Outcome::Unchanged);
    }
    shared.client.text(edit::apply(line, edits)).await?;
    if is_over {
        return Ok(Outcome::Sent);
    }
    state.next_at = Instant::now();
    for stream in &streams {
        if !stream.reader.is_live() {
            flush(shared, call, stream, Instant::now() + READ_DEADLINE).await?;
            continue;
        }
        let mut progress = stream.progress.lock().await;
        if progress.exit_sent || progress.is_carried() {
            continue;
        }
        progress.carrier = Some(round.clone());
        let follower = Follower {
            stream: Arc::clone(stream),
            round: round.clone(),
        };
        tokio::spawn(follower.run(Arc::clone(shared), Arc::clone(call)));
    }
    state.streams = streams;
    Ok(Outcome::Sent)
}

/// Announces the terminals that the client does not know. The first one is announced in the line
/// itself if possible: then the changes to the line are returned.
async fn announce(
    shared: &Shared,
    call: &ToolCall,
    state: &CallState,
    line: &str,
    update: &ToolCallUpdate<'_>,
    streams: &[Arc<Stream>],
) -> io::Result<Vec<edit::Edit>> {
    let meta = update.members.object("_meta");
    let mut is_free = meta.is_none_or(|meta| meta.get("terminal_info").is_none());
    let mut edits = Vec::new();
    for stream in streams {
        let mut progress = stream.progress.lock().await;
        if std::mem::replace(&mut progress.announced, true) {
            continue;
        }
        let info = json!({ "terminal_id": stream.id(), "cwd": stream.reader.cwd });
        // Output is sent before a line that completes the call, and needs a terminal before that.
        let is_enough = update.kind == Kind::Call && !call.is_over();
        if !(is_free && is_enough) {
            let mut meta = state.fields.meta();
            meta.insert("terminal_info".to_owned(), info.clone());
            let meta = Value::Object(meta).to_string();
            let mut members = state.fields.members(&stream.reader.command);
            if update.status == Some(Status::Over) {
                // The line itself ends the tool call.
                members.retain(|(name, _)| *name != "status");
                members.push(("status", "\"in_progress\"".to_owned()));
            }
            let members = members.iter().map(|(name, raw)| (*name, raw.as_str()));
            let members = members.chain([("_meta", meta.as_str())]);
            let line = update_line(&call.session, "tool_call", &call.id, members);
            shared.client.line(&line).await?;
        }
        // A `tool_call` that repeats the announcement would create another terminal.
        if is_free && (is_enough || update.kind != Kind::Call) {
            let [outer, inner] = update.kind.path();
            let path = [outer, inner, "_meta", "terminal_info"];
            edits.extend(edit::set(line, &path, &info));
            is_free = false;
        }
    }
    Ok(edits)
}

/// Sends the output until now and the exit, unless another tool call carries them.
async fn flush(
    shared: &Shared,
    call: &ToolCall,
    stream: &Stream,
    deadline: Instant,
) -> io::Result<()> {
    let mut progress = stream.progress.lock().await;
    if progress.is_carried() {
        return Ok(());
    }
    catch_up(shared, call, stream, &mut progress, deadline).await
}

async fn catch_up(
    shared: &Shared,
    call: &ToolCall,
    stream: &Stream,
    progress: &mut Progress,
    deadline: Instant,
) -> io::Result<()> {
    while !progress.exit_sent && Instant::now() < deadline {
        let next = progress.next;
        let Some((read, life)) = stream.reader.since(&shared.pool, next, CHUNK_BYTES).await else {
            return Ok(());
        };
        send_output(shared, call, stream, progress, &read).await?;
        if read.at_end {
            return send_exit(shared, call, stream, progress, life).await;
        }
        if progress.next == next {
            return Ok(());
        }
    }
    Ok(())
}

/// Sends the output of a read, and skips some if the client is too far behind.
async fn send_output(
    shared: &Shared,
    call: &ToolCall,
    stream: &Stream,
    progress: &mut Progress,
    read: &ReadResult,
) -> io::Result<()> {
    let mut data = String::new();
    if read.start > progress.next {
        data.push_str(&left_out(read.start.since(progress.next)));
    }
    let text = read.text.as_deref().unwrap_or_default();
    data.push_str(if std::mem::take(&mut progress.within_line) {
        text.split_once('\n').map_or(text, |(_, rest)| rest)
    } else {
        text
    });
    progress.next = read.end;
    if !read.at_end
        && let Some(start) = stream
            .reader
            .tail_start(&shared.pool, MAX_BEHIND_BYTES)
            .await
        && start > read.end
    {
        data.push_str(&left_out(start.since(read.end)));
        progress.next = start;
        progress.within_line = true;
    }
    if data.is_empty() {
        return Ok(());
    }
    let output = json!({ "terminal_id": stream.id(), "data": data });
    send(shared, call, "terminal_output", &output).await
}

fn left_out(bytes: u64) -> String {
    format!("\n[{bytes} bytes of output are left out]\n")
}

/// Sends the exit, if there is one.
async fn send_exit(
    shared: &Shared,
    call: &ToolCall,
    stream: &Stream,
    progress: &mut Progress,
    life: Life,
) -> io::Result<()> {
    let Life::Over(exit) = life else {
        return Ok(());
    };
    progress.exit_sent = true;
    let cause = exit.as_ref().and_then(|exit| exit.cause);
    if let Some(EndCause::TimedOut(limit)) = cause {
        let data = format!("\n{}\n", timed_out(limit));
        let output = json!({ "terminal_id": stream.id(), "data": data });
        send(shared, call, "terminal_output", &output).await?;
    }
    let status = exit.map(|exit| exit.status);
    let exit = json!({
        "terminal_id": stream.id(),
        "exit_code": status.as_ref().and_then(|status| status.exit_code),
        "signal": status.as_ref().and_then(|status| status.signal.clone()),
    });
    send(shared, call, "terminal_exit", &exit).await
}

async fn send(shared: &Shared, call: &ToolCall, key: &str, value: &Value) -> io::Result<()> {
    let meta = json!({ key: value }).to_string();
    let members = [("_meta", meta.as_str())];
    let line = update_line(&call.session, "tool_call_update", &call.id, members);
    shared.client.line(&line).await
}

/// Follows a terminal for the tool call that carries it.
struct Follower {
    stream: Arc<Stream>,
    round: Round,
}

impl Follower {
    /// Sends the output until the exit is sent or the round ends.
    async fn run(mut self, shared: Arc<Shared>, call: Arc<ToolCall>) {
        loop {
            let since = self.stream.progress.lock().await.next;
            let reader = &self.stream.reader;
            let waited = tokio::select! {
                biased;
                () = self.round.ended() => return,
                waited = reader.wait_for_lines(&shared.pool, since, CHUNK_BYTES) => waited,
            };
            match waited {
                Ok(read) => match self.update(&shared, &call, since, &read).await {
                    Ok(true) => {}
                    // The client is gone, or the exit was sent.
                    Ok(false) | Err(_) => return,
                },
                Err(WaitError::NotFound) => return,
                Err(WaitError::Unreachable) => tokio::select! {
                    biased;
                    () = self.round.ended() => return,
                    () = sleep(RETRY_PAUSE) => {}
                },
            }
        }
    }

    /// Returns whether there is more to follow. Not cancel safe: half a line would be written.
    async fn update(
        &mut self,
        shared: &Shared,
        call: &ToolCall,
        since: Offset,
        read: &ReadResult,
    ) -> io::Result<bool> {
        let Some(mut state) = call.turn(&mut self.round).await else {
            return Ok(false);
        };
        let mut progress = self.stream.progress.lock().await;
        if progress.exit_sent {
            return Ok(false);
        }
        if progress.next != since {
            // Another task has sent this output meanwhile.
            return Ok(true);
        }
        if read.state == TerminalState::Running {
            send_output(shared, call, &self.stream, &mut progress, read).await?;
        } else {
            let deadline = Instant::now() + READ_DEADLINE;
            catch_up(shared, call, &self.stream, &mut progress, deadline).await?;
        }
        state.next_at = Instant::now() + INTERVAL;
        Ok(!progress.exit_sent)
    }
}

//! Terminals by `_meta`: each is announced by `terminal_info` on a tool call that embeds it, what it
//! prints follows as `terminal_output`, line by line and each once, and its end as `terminal_exit`.
//!
//! That is the convention of Zed and of the agents that were written for it. A client that follows
//! it makes a terminal of `terminal_info` only where that stands in a `tool_call`, fails on content
//! that embeds a terminal it does not know, and makes a new, empty one where it is announced twice.
//! So where a terminal first appears in a `tool_call_update`, the `tool_call` is said again before
//! that, with what the agent has said of it and the `terminal_info`: to a client that follows the
//! convention a known `toolCallId` is that tool call, changed. Nobody else gets such a message.

use std::io;
use std::sync::Arc;

use serde_json::{Value, json};
use termd_proto::Offset;
use termd_proto::terminal::{ReadResult, TerminalState};
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep};

use super::Passed;
use super::block::{Life, timed_out};
use super::calls::{Call, CallState, INTERVAL, Round};
use super::live::AWAY_PAUSE;
use super::source::{Lost, READ_DEADLINE, Source};
use super::told::{By, Status, Told, update_line};
use crate::Shared;
use crate::terminals::EndCause;
use crate::wire::edit;

/// Most output in one message, in bytes.
const CHUNK_BYTES: u64 = 64 << 10;
/// A client that is further behind than this is not told what lies between: some seconds of
/// [`CHUNK_BYTES`] ten times a second, and more lines than a person scrolls back over.
const MAX_BEHIND_BYTES: u64 = 256 << 10;

/// What a client has been told of a terminal.
#[derive(Debug)]
pub(super) struct Stream {
    source: Arc<Source>,
    told: Mutex<Progress>,
}

#[derive(Debug, Default)]
struct Progress {
    announced: bool,
    /// Output before this has been told of.
    next: Offset,
    /// It begins within a line of which the beginning is left out.
    within_line: bool,
    exit_told: bool,
    /// The tool call that its output goes to, while that embeds it.
    carrier: Option<Round>,
}

impl Stream {
    /// Of a terminal that no client has heard of.
    pub(super) fn of(source: Arc<Source>) -> Self {
        Self {
            source,
            told: Mutex::default(),
        }
    }

    fn id(&self) -> &str {
        self.source.id.as_str()
    }
}

/// What a line tells of a tool call; the streams are those of its content.
pub(super) async fn pass(
    shared: &Arc<Shared>,
    call: &Arc<Call>,
    line: &str,
    told: &Told<'_>,
    streams: Vec<Arc<Stream>>,
) -> io::Result<Passed> {
    let mut state = call.state.lock().await;
    match (told.status, told.by) {
        (Some(status), _) => call.set_over(status == Status::Over),
        (None, By::Call) => call.set_over(false),
        (None, By::Update | By::Permission) => {}
    }
    let is_over = call.is_over();
    state.head.take(told);
    if told.content.is_none() && !is_over && told.by != By::Call {
        return Ok(Passed::AsItIs);
    }
    let round = call.next_round();
    let edits = announce(shared, call, &state, line, told, &streams).await?;
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
        return Ok(Passed::AsItIs);
    }
    let mut changed = edit::apply(line, edits).into_bytes();
    if !changed.ends_with(b"\n") {
        changed.push(b'\n');
    }
    shared.client.line(&changed).await?;
    if is_over {
        return Ok(Passed::Sent);
    }
    state.next_at = Instant::now();
    for stream in &streams {
        if !stream.source.is_live() {
            flush(shared, call, stream, Instant::now() + READ_DEADLINE).await?;
            continue;
        }
        let mut progress = stream.told.lock().await;
        if progress.exit_told || progress.is_carried() {
            continue;
        }
        progress.carrier = Some(round.clone());
        let following = Following {
            stream: Arc::clone(stream),
            round: round.clone(),
        };
        tokio::spawn(following.run(Arc::clone(shared), Arc::clone(call)));
    }
    state.streams = streams;
    Ok(Passed::Sent)
}

impl Progress {
    /// Whether a tool call embeds it that its output goes to.
    fn is_carried(&self) -> bool {
        self.carrier.as_ref().is_some_and(Round::goes_on)
    }
}

/// Announces the terminals that the client has not heard of: the first one in the line itself,
/// by the changes that are returned, as far as that can be.
async fn announce(
    shared: &Shared,
    call: &Call,
    state: &CallState,
    line: &str,
    told: &Told<'_>,
    streams: &[Arc<Stream>],
) -> io::Result<Vec<edit::Edit>> {
    let meta = told.members.object("_meta");
    let mut is_free = meta.is_none_or(|meta| meta.get("terminal_info").is_none());
    let mut edits = Vec::new();
    for stream in streams {
        let mut progress = stream.told.lock().await;
        if std::mem::replace(&mut progress.announced, true) {
            continue;
        }
        let info = json!({ "terminal_id": stream.id(), "cwd": stream.source.cwd });
        // Output that goes before the line needs a terminal before the line.
        let is_enough = told.by == By::Call && !call.is_over();
        if !(is_free && is_enough) {
            let mut meta = state.head.meta();
            meta.insert("terminal_info".to_owned(), info.clone());
            let meta = Value::Object(meta).to_string();
            let mut members = state.head.members(&stream.source.command);
            if told.status == Some(Status::Over) {
                // It is over when the line says so, and not before.
                members.retain(|(name, _)| *name != "status");
                members.push(("status", "\"in_progress\"".to_owned()));
            }
            let members = members.iter().map(|(name, raw)| (*name, raw.as_str()));
            let members = members.chain([("_meta", meta.as_str())]);
            let line = update_line(&call.session, "tool_call", &call.id, members);
            shared.client.line(&line).await?;
        }
        // A `tool_call` that announces it again would make it a new one.
        if is_free && (is_enough || told.by != By::Call) {
            let [outer, inner] = told.by.path();
            let path = [outer, inner, "_meta", "terminal_info"];
            edits.extend(edit::set(line, &path, &info));
            is_free = false;
        }
    }
    Ok(edits)
}

/// Tells what has been printed until now, and the exit; unless another tool call carries it.
async fn flush(shared: &Shared, call: &Call, stream: &Stream, deadline: Instant) -> io::Result<()> {
    let mut progress = stream.told.lock().await;
    if progress.is_carried() {
        return Ok(());
    }
    catch_up(shared, call, stream, &mut progress, deadline).await
}

async fn catch_up(
    shared: &Shared,
    call: &Call,
    stream: &Stream,
    progress: &mut Progress,
    deadline: Instant,
) -> io::Result<()> {
    while !progress.exit_told && Instant::now() < deadline {
        let next = progress.next;
        let Some((read, life)) = stream.source.since(shared, next, CHUNK_BYTES).await else {
            return Ok(());
        };
        tell(shared, call, stream, progress, &read).await?;
        if read.at_end {
            return exit(shared, call, stream, progress, life).await;
        }
        if progress.next == next {
            return Ok(());
        }
    }
    Ok(())
}

/// Tells what was read; and of what is left out after it, where the client is too far behind.
async fn tell(
    shared: &Shared,
    call: &Call,
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
        && let Some(start) = stream.source.tail_start(shared, MAX_BEHIND_BYTES).await
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

/// Tells the end, once there is one.
async fn exit(
    shared: &Shared,
    call: &Call,
    stream: &Stream,
    progress: &mut Progress,
    life: Life,
) -> io::Result<()> {
    let Life::Over(ended) = life else {
        return Ok(());
    };
    progress.exit_told = true;
    let cause = ended.as_ref().and_then(|ended| ended.cause);
    if let Some(EndCause::TimedOut(limit)) = cause {
        let data = format!("\n{}\n", timed_out(limit));
        let output = json!({ "terminal_id": stream.id(), "data": data });
        send(shared, call, "terminal_output", &output).await?;
    }
    let status = ended.map(|ended| ended.status);
    let exit = json!({
        "terminal_id": stream.id(),
        "exit_code": status.as_ref().and_then(|status| status.exit_code),
        "signal": status.as_ref().and_then(|status| status.signal.clone()),
    });
    send(shared, call, "terminal_exit", &exit).await
}

async fn send(shared: &Shared, call: &Call, key: &str, value: &Value) -> io::Result<()> {
    let meta = json!({ key: value }).to_string();
    let members = [("_meta", meta.as_str())];
    let line = update_line(&call.session, "tool_call_update", &call.id, members);
    shared.client.line(&line).await
}

/// Follows a terminal for the tool call that carries it.
struct Following {
    stream: Arc<Stream>,
    round: Round,
}

impl Following {
    /// Tells what it prints until its exit is told, or the tool call shows something else.
    async fn run(mut self, shared: Arc<Shared>, call: Arc<Call>) {
        loop {
            let since = self.stream.told.lock().await.next;
            let source = &self.stream.source;
            let waited = tokio::select! {
                biased;
                () = self.round.ended() => return,
                waited = source.wait_for_lines(&shared, since, CHUNK_BYTES) => waited,
            };
            match waited {
                Ok(read) => match self.update(&shared, &call, since, &read).await {
                    Ok(true) => {}
                    // The client is gone, or there is no more.
                    Ok(false) | Err(_) => return,
                },
                Err(Lost::Gone) => return,
                Err(Lost::Away) => tokio::select! {
                    biased;
                    () = self.round.ended() => return,
                    () = sleep(AWAY_PAUSE) => {}
                },
            }
        }
    }

    /// Whether there is more to follow. Not cancelled: half a line would be written.
    async fn update(
        &mut self,
        shared: &Shared,
        call: &Call,
        since: Offset,
        read: &ReadResult,
    ) -> io::Result<bool> {
        let Some(mut state) = call.turn(&mut self.round).await else {
            return Ok(false);
        };
        let mut progress = self.stream.told.lock().await;
        if progress.exit_told {
            return Ok(false);
        }
        if progress.next != since {
            // It has been told meanwhile.
            return Ok(true);
        }
        if read.state == TerminalState::Running {
            tell(shared, call, &self.stream, &mut progress, read).await?;
        } else {
            let deadline = Instant::now() + READ_DEADLINE;
            catch_up(shared, call, &self.stream, &mut progress, deadline).await?;
        }
        state.next_at = Instant::now() + INTERVAL;
        Ok(!progress.exit_told)
    }
}

//! Shows terminals as text: each one that a tool call's content embeds is replaced by its text, and
//! the whole content is sent again when the text changes.
//!
//! What the terminals have printed is sent before the line that completes the tool call, and nothing
//! is sent after that line.

use std::io;
use std::sync::Arc;

use futures_util::future::join_all;
use termd_proto::Offset;
use tokio::time::{Instant, sleep};

use super::content::{Content, Part, Window};
use super::round::Round;
use super::tool_call_update::{Kind, Outcome, ToolCallUpdate, update_line, with_entries};
use super::tool_calls::{INTERVAL, RETRY_PAUSE, ToolCall};
use crate::shared::Shared;
use crate::terminals::reader::{TerminalReader, WaitError};
use crate::terminals::view::{Life, View};

/// Most content beside the terminals that is kept, in bytes. A tool call with more is shown once and
/// not updated.
const MAX_CONTENT_BYTES: usize = 1 << 20;

/// Takes an update of a tool call. `readers` has an item for each entry of the content.
pub(super) async fn show(
    shared: &Arc<Shared>,
    call: &Arc<ToolCall>,
    line: &str,
    update: &ToolCallUpdate<'_>,
    readers: Vec<Option<Arc<TerminalReader>>>,
) -> io::Result<Outcome> {
    let mut state = call.state.lock().await;
    call.take_status(update);
    let Some(entries) = &update.content else {
        if update.kind == Kind::Call {
            state.content = None;
            call.rounds.next();
        }
        if call.is_over()
            && let Some(mut content) = state.content.take()
        {
            call.rounds.next();
            let windows = content.windows_mut();
            join_all(windows.map(|window| window.refresh(&shared.pool))).await;
            send(shared, call, &mut content).await?;
        }
        return Ok(Outcome::Unchanged);
    };
    let round = call.rounds.next();
    let previous = state.content.take();
    if readers.iter().all(Option::is_none) {
        return Ok(Outcome::Unchanged);
    }
    let windows = entries.iter().zip(readers).map(|(entry, reader)| {
        let previous = previous.as_ref();
        async move {
            let meta = entry.terminal.as_ref()?.meta;
            let meta = meta.map(|meta| meta.get().to_owned());
            Some(window(shared, call, reader?, meta, previous).await)
        }
    });
    let windows = join_all(windows).await;
    let texts = windows
        .iter()
        .map(|window| window.as_ref().map(Window::entry));
    let changed = with_entries(line, entries, texts);
    shared.client.text(changed).await?;
    state.next_at = Instant::now() + INTERVAL;
    let others = entries
        .iter()
        .zip(&windows)
        .filter(|(_, window)| window.is_none());
    let size: usize = others.map(|(entry, _)| entry.raw.get().len()).sum();
    if call.is_over() || size > MAX_CONTENT_BYTES {
        return Ok(Outcome::Sent);
    }
    follow(shared, call, &round, windows.iter().flatten());
    let parts = entries
        .iter()
        .zip(windows)
        .map(|(entry, window)| match window {
            Some(window) => Part::Terminal(Box::new(window)),
            None => Part::Raw(entry.raw.get().to_owned()),
        });
    state.content = Some(Content::sent(parts.collect()));
    Ok(Outcome::Sent)
}

/// Sends the content again, if it has changed.
async fn send(shared: &Shared, call: &ToolCall, content: &mut Content) -> io::Result<()> {
    let Some(content) = content.take_unsent() else {
        return Ok(());
    };
    let members = [("content", content)];
    let line = update_line(&call.session, "tool_call_update", &call.id, members);
    shared.client.line(&line).await
}

/// Reads a terminal. If the daemon does not answer, returns what was shown last.
async fn window(
    shared: &Shared,
    call: &ToolCall,
    reader: Arc<TerminalReader>,
    meta: Option<String>,
    previous: Option<&Content>,
) -> Window {
    if let Some((view, seen)) = reader.view(&shared.pool).await {
        return Window {
            reader,
            meta,
            view,
            seen,
        };
    }
    let mut shown = previous.into_iter().flat_map(Content::windows);
    let (view, seen) = if let Some(window) = shown.find(|window| window.reader.id == reader.id) {
        (window.view.clone(), window.seen)
    } else {
        let last = shared
            .terminals
            .last_view(&call.session, reader.id.as_str());
        let empty = || View::of(String::new(), 0, Life::Running);
        (last.unwrap_or_else(empty), Offset::ZERO)
    };
    Window {
        reader,
        meta,
        view,
        seen,
    }
}

/// Starts a task for each running terminal.
fn follow<'a>(
    shared: &Arc<Shared>,
    call: &Arc<ToolCall>,
    round: &Round,
    windows: impl Iterator<Item = &'a Window>,
) {
    let mut followed: Vec<Arc<TerminalReader>> = Vec::new();
    for window in windows {
        let reader = &window.reader;
        let is_new = !followed.iter().any(|other| other.id == reader.id);
        if is_new && reader.is_live() && window.view.life == Life::Running {
            followed.push(Arc::clone(reader));
            let follower = Follower {
                reader: Arc::clone(reader),
                seen: window.seen,
                round: round.clone(),
            };
            tokio::spawn(follower.run(Arc::clone(shared), Arc::clone(call)));
        }
    }
}

/// Follows one terminal of a tool call.
struct Follower {
    reader: Arc<TerminalReader>,
    seen: Offset,
    round: Round,
}

/// The result of an update.
enum Updated {
    Running,
    /// The daemon did not answer.
    Unreachable,
    Over,
}

impl Follower {
    /// Sends the content after each output of the terminal, until the command or the round ends.
    async fn run(mut self, shared: Arc<Shared>, call: Arc<ToolCall>) {
        loop {
            let waited = tokio::select! {
                biased;
                () = self.round.ended() => return,
                waited = self.reader.wait_for_output(&shared.pool, self.seen) => waited,
            };
            let updated = match waited {
                Ok(()) => self.update(&shared, &call).await,
                Err(WaitError::Unreachable) => Updated::Unreachable,
                Err(WaitError::NotFound) => Updated::Over,
            };
            match updated {
                Updated::Running => {}
                Updated::Over => return,
                Updated::Unreachable => tokio::select! {
                    biased;
                    () = self.round.ended() => return,
                    () = sleep(RETRY_PAUSE) => {}
                },
            }
        }
    }

    /// Not cancel safe: half a line would be written.
    async fn update(&mut self, shared: &Shared, call: &ToolCall) -> Updated {
        let Some(mut state) = call.turn(&mut self.round).await else {
            return Updated::Over;
        };
        let Some(content) = state.content.as_mut() else {
            return Updated::Over;
        };
        let mut updated = Updated::Over;
        for window in content.windows_mut() {
            if window.reader.id != self.reader.id {
                continue;
            }
            if !window.refresh(&shared.pool).await {
                return Updated::Unreachable;
            }
            self.seen = window.seen;
            updated = match window.view.life {
                Life::Running => Updated::Running,
                Life::Over(_) => Updated::Over,
            };
        }
        if send(shared, call, content).await.is_err() {
            return Updated::Over;
        }
        state.next_at = Instant::now() + INTERVAL;
        updated
    }
}

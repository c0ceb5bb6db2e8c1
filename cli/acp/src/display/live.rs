//! Terminals as text: in place of each that a tool call's content embeds stands what it shows, and
//! the whole content is sent again when that changes.
//!
//! It promises: what goes out of a tool call is in order; nothing is sent of one after it was
//! completed or has failed, and what its terminals have printed until then is sent before that.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use termd_proto::Offset;
use tokio::time::{Instant, sleep};

use super::Passed;
use super::block::{Life, View, block};
use super::calls::{Call, INTERVAL, Round};
use super::source::{Lost, Source};
use super::told::{By, Status, Told, text_entry, update_line, with_entries};
use crate::Shared;

/// Most content beside the terminals that is kept to be sent again, in bytes. A tool call that has
/// more is shown as it was when the agent told of it.
const MAX_CONTENT_BYTES: usize = 1 << 20;
/// How long to wait for a daemon that is away before it is asked again.
pub(super) const AWAY_PAUSE: Duration = Duration::from_secs(1);

/// A tool call's content, as the agent last gave it.
#[derive(Debug)]
pub(super) struct Shown {
    parts: Vec<Part>,
    /// What the client was last sent: a JSON array.
    sent: String,
}

#[derive(Debug)]
enum Part {
    /// An element as it came.
    AsItIs(String),
    /// A terminal.
    Terminal(Box<Window>),
}

/// A terminal in a tool call.
#[derive(Debug, Clone)]
struct Window {
    source: Arc<Source>,
    /// The entry's `_meta`, raw.
    meta: Option<String>,
    view: View,
    /// Where the output ended that the view was made of.
    seen: Offset,
}

impl Window {
    /// An element of the content.
    fn entry(&self) -> String {
        text_entry(
            &block(&self.source.command, &self.view),
            self.meta.as_deref(),
        )
    }

    /// Looks again, unless nothing can have changed; whether it could.
    async fn refresh(&mut self, shared: &Shared) -> bool {
        if self.view.life != Life::Running {
            return true;
        }
        let Some((view, seen)) = self.source.view(shared).await else {
            return false;
        };
        (self.view, self.seen) = (view, seen);
        true
    }
}

impl Shown {
    fn windows(&mut self) -> impl Iterator<Item = &mut Window> {
        self.parts.iter_mut().filter_map(|part| match part {
            Part::AsItIs(_) => None,
            Part::Terminal(window) => Some(&mut **window),
        })
    }

    /// The content that is to be sent, unless it was.
    fn unsent(&mut self) -> Option<&str> {
        let mut content = "[".to_owned();
        for (position, part) in self.parts.iter().enumerate() {
            if position > 0 {
                content.push(',');
            }
            match part {
                Part::AsItIs(raw) => content.push_str(raw),
                Part::Terminal(window) => content.push_str(&window.entry()),
            }
        }
        content.push(']');
        if content == self.sent {
            return None;
        }
        self.sent = content;
        Some(&self.sent)
    }

    async fn send(&mut self, shared: &Shared, call: &Call) -> io::Result<()> {
        let Some(content) = self.unsent() else {
            return Ok(());
        };
        let members = [("content", content)];
        let line = update_line(&call.session, "tool_call_update", &call.id, members);
        shared.client.line(&line).await
    }
}

/// What a line tells of a tool call; the sources are those of its content, each in its place.
pub(super) async fn pass(
    shared: &Arc<Shared>,
    call: &Arc<Call>,
    line: &str,
    told: &Told<'_>,
    sources: Vec<Option<Arc<Source>>>,
) -> io::Result<Passed> {
    let mut state = call.state.lock().await;
    match (told.status, told.by) {
        (Some(status), _) => call.set_over(status == Status::Over),
        (None, By::Call) => call.set_over(false),
        (None, By::Update | By::Permission) => {}
    }
    let Some(entries) = &told.content else {
        if told.by == By::Call {
            state.shown = None;
            call.next_round();
        }
        if call.is_over()
            && let Some(mut shown) = state.shown.take()
        {
            call.next_round();
            join_all(shown.windows().map(|window| window.refresh(shared))).await;
            shown.send(shared, call).await?;
        }
        return Ok(Passed::AsItIs);
    };
    let round = call.next_round();
    let before = state.shown.take();
    if sources.iter().all(Option::is_none) {
        return Ok(Passed::AsItIs);
    }
    let windows = entries.iter().zip(sources).map(|(entry, source)| {
        let before = before.as_ref();
        async move {
            let source = source?;
            let meta = entry
                .terminal
                .as_ref()?
                .meta
                .map(|meta| meta.get().to_owned());
            Some(window(shared, call, source, meta, before).await)
        }
    });
    let windows = join_all(windows).await;
    let texts = windows
        .iter()
        .map(|window| window.as_ref().map(Window::entry));
    let mut changed = with_entries(line, entries, texts).into_bytes();
    if !changed.ends_with(b"\n") {
        changed.push(b'\n');
    }
    shared.client.line(&changed).await?;
    state.next_at = Instant::now() + INTERVAL;
    let others = entries
        .iter()
        .zip(&windows)
        .filter(|(_, window)| window.is_none());
    let size: usize = others.map(|(entry, _)| entry.raw.get().len()).sum();
    if call.is_over() || size > MAX_CONTENT_BYTES {
        return Ok(Passed::Sent);
    }
    let mut followed: Vec<Arc<Source>> = Vec::new();
    for window in windows.iter().flatten() {
        let source = &window.source;
        let is_new = !followed.iter().any(|other| other.id == source.id);
        if is_new && source.is_live() && window.view.life == Life::Running {
            followed.push(Arc::clone(source));
            let (shared, call) = (Arc::clone(shared), Arc::clone(call));
            let following = Following {
                source: Arc::clone(source),
                seen: window.seen,
                round: round.clone(),
            };
            tokio::spawn(following.run(shared, call));
        }
    }
    let parts = entries
        .iter()
        .zip(windows)
        .map(|(entry, window)| match window {
            Some(window) => Part::Terminal(Box::new(window)),
            None => Part::AsItIs(entry.raw.get().to_owned()),
        });
    let mut shown = Shown {
        parts: parts.collect(),
        sent: String::new(),
    };
    // It was sent within the agent's line.
    shown.unsent();
    state.shown = Some(shown);
    Ok(Passed::Sent)
}

/// A terminal as it is now; where the daemon does not say, as it was last seen.
async fn window(
    shared: &Shared,
    call: &Call,
    source: Arc<Source>,
    meta: Option<String>,
    before: Option<&Shown>,
) -> Window {
    if let Some((view, seen)) = source.view(shared).await {
        return Window {
            source,
            meta,
            view,
            seen,
        };
    }
    let parts = before.iter().flat_map(|before| &before.parts);
    let mut seen_before = parts.filter_map(|part| match part {
        Part::Terminal(window) if window.source.id == source.id => Some(&**window),
        Part::Terminal(_) | Part::AsItIs(_) => None,
    });
    let (view, seen) = if let Some(window) = seen_before.next() {
        (window.view.clone(), window.seen)
    } else {
        let kept = shared.display.kept_view(&call.session, &source.id);
        let nothing = || View::of(String::new(), 0, Life::Running);
        (kept.unwrap_or_else(nothing), Offset::ZERO)
    };
    Window {
        source,
        meta,
        view,
        seen,
    }
}

/// Follows one terminal of a tool call.
struct Following {
    source: Arc<Source>,
    seen: Offset,
    round: Round,
}

impl Following {
    /// Sends the tool call's content whenever the terminal has printed something, until its command
    /// has ended, or the tool call shows something else.
    async fn run(mut self, shared: Arc<Shared>, call: Arc<Call>) {
        loop {
            let waited = tokio::select! {
                biased;
                () = self.round.ended() => return,
                waited = self.source.wait_for_output(&shared, self.seen) => waited,
            };
            let is_there = match waited {
                Ok(()) => match self.update(&shared, &call).await {
                    Updated::Running => true,
                    Updated::Away => false,
                    Updated::Over => return,
                },
                Err(Lost::Away) => false,
                Err(Lost::Gone) => return,
            };
            if !is_there {
                tokio::select! {
                    biased;
                    () = self.round.ended() => return,
                    () = sleep(AWAY_PAUSE) => {}
                }
            }
        }
    }

    /// Not cancelled once it has begun: half a line would be written.
    async fn update(&mut self, shared: &Shared, call: &Call) -> Updated {
        let Some(mut state) = call.turn(&mut self.round).await else {
            return Updated::Over;
        };
        let Some(shown) = state.shown.as_mut() else {
            return Updated::Over;
        };
        let mut updated = Updated::Over;
        for window in shown.windows() {
            if window.source.id != self.source.id {
                continue;
            }
            if !window.refresh(shared).await {
                return Updated::Away;
            }
            self.seen = window.seen;
            updated = match window.view.life {
                Life::Running => Updated::Running,
                Life::Over(_) => Updated::Over,
            };
        }
        if shown.send(shared, call).await.is_err() {
            return Updated::Over;
        }
        state.next_at = Instant::now() + INTERVAL;
        updated
    }
}

/// How an update went.
enum Updated {
    /// There is more to follow.
    Running,
    /// The daemon did not answer.
    Away,
    /// There is not.
    Over,
}

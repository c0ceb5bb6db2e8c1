//! Tool calls that embed a terminal of ours, as the client can show them.
//!
//! - [`told`] reads what a line tells of a tool call, and writes our own lines.
//! - [`calls`] remembers tool calls: what each shows, and when; [`head`] what each is called.
//! - [`source`] is a terminal, read from the daemon.
//! - [`live`] shows terminals as text, made by [`block`].
//! - [`stream`] shows them by `_meta`.
//!
//! It promises: a line that embeds no terminal of ours goes on as it is, and costs no call of the
//! daemon; what goes out of one tool call is in order, ten times a second at the most; after
//! `completed` or `failed` nothing is said of a tool call that the agent does not say. What is
//! remembered is bounded.
//!
//! It must not know how terminals are made and ended.

mod block;
mod calls;
mod head;
mod live;
mod source;
mod stream;
mod told;

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::value::RawValue;
use termd_proto::TerminalId;

use super::Shared;
use super::terminals::Tracked;
use crate::options::DisplayMode;

use block::View;
use calls::Calls;
use source::Source;
use stream::Stream;
use told::{Embedded, Told};

/// Most released terminals of which the text is kept, in case that the daemon does not give it any
/// more; each is 64 KiB at the most.
const MAX_KEPT: usize = 64;
/// Most terminals of which it is remembered what the client was told, or what runs in them.
const MAX_REMEMBERED: usize = 1_024;

/// What the client is shown.
#[derive(Debug, Default)]
pub(super) struct Display {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    calls: Calls,
    /// Released terminals, as they were last seen.
    kept: Bounded<View, MAX_KEPT>,
    /// Terminals of earlier connections.
    recorded: Bounded<Arc<Source>, MAX_REMEMBERED>,
    /// What the client was told by `_meta`.
    streams: Bounded<Arc<Stream>, MAX_REMEMBERED>,
}

/// Something of some terminals; the oldest is forgotten first.
#[derive(Debug)]
struct Bounded<T, const MOST: usize>(VecDeque<OfTerminal<T>>);

#[derive(Debug)]
struct OfTerminal<T> {
    session: String,
    id: String,
    what: T,
}

/// What has become of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Passed {
    /// Nothing: it is to go on as it came.
    AsItIs,
    /// It was sent on, changed or after something else.
    Sent,
}

impl Display {
    /// A `session/update` or `session/request_permission` of the agent's. Until it is done, nothing
    /// of ours goes out of the same tool call.
    pub(super) async fn pass(
        &self,
        shared: &Arc<Shared>,
        line: &str,
        params: Option<&RawValue>,
    ) -> io::Result<Passed> {
        let display = shared.agreed.display();
        if display == DisplayMode::Off {
            return Ok(Passed::AsItIs);
        }
        let Some(told) = params.and_then(Told::read) else {
            return Ok(Passed::AsItIs);
        };
        let mut sources = Vec::new();
        if told.embeds() {
            for entry in told.content.iter().flatten() {
                sources.push(match &entry.terminal {
                    Some(terminal) => self.source(shared, &told.session, terminal).await,
                    None => None,
                });
            }
        }
        let call = self.lock().calls.of(&told.session, &told.call);
        if display == DisplayMode::Text {
            return live::pass(shared, &call, line, &told, sources).await;
        }
        let mut streams: Vec<Arc<Stream>> = Vec::new();
        for source in sources.into_iter().flatten() {
            let stream = self.stream(&told.session, source);
            if !streams.iter().any(|other| Arc::ptr_eq(other, &stream)) {
                streams.push(stream);
            }
        }
        stream::pass(shared, &call, line, &told, streams).await
    }

    /// A terminal is about to be released: what it shows is kept.
    pub(super) async fn keep(&self, shared: &Arc<Shared>, terminal: &Arc<Tracked>) {
        if shared.agreed.display() != DisplayMode::Text {
            return;
        }
        let source = Source::tracked(Arc::clone(terminal));
        if let Some((view, _)) = source.view(shared).await {
            let mut state = self.lock();
            state
                .kept
                .put(&terminal.session, terminal.id.as_str(), view);
        }
    }

    /// A session has ended: nothing of it is shown any more.
    pub(super) fn forget(&self, session: &str) {
        let mut state = self.lock();
        state.calls.forget(session);
        state.kept.forget(session);
        state.recorded.forget(session);
        state.streams.forget(session);
    }

    /// What a released terminal showed.
    fn kept_view(&self, session: &str, id: &TerminalId) -> Option<View> {
        self.lock().kept.get(session, id.as_str()).cloned()
    }

    /// A terminal that is ours, of this connection or an earlier one.
    async fn source(
        &self,
        shared: &Shared,
        session: &str,
        terminal: &Embedded<'_>,
    ) -> Option<Arc<Source>> {
        if let Some(tracked) = shared.terminals.tracked(session, &terminal.id) {
            return Some(Arc::new(Source::tracked(tracked)));
        }
        if let Some(known) = self.lock().recorded.get(session, &terminal.id) {
            return Some(Arc::clone(known));
        }
        let source = Arc::new(Source::recorded(shared, session, &terminal.id).await?);
        let mut state = self.lock();
        state
            .recorded
            .put(session, &terminal.id, Arc::clone(&source));
        Some(source)
    }

    /// What the client was told of a terminal.
    fn stream(&self, session: &str, source: Arc<Source>) -> Arc<Stream> {
        let mut state = self.lock();
        let id = source.id.clone();
        if let Some(known) = state.streams.get(session, id.as_str()) {
            return Arc::clone(known);
        }
        let stream = Arc::new(Stream::of(source));
        state.streams.put(session, id.as_str(), Arc::clone(&stream));
        stream
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T, const MOST: usize> Default for Bounded<T, MOST> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}

impl<T, const MOST: usize> Bounded<T, MOST> {
    fn get(&self, session: &str, id: &str) -> Option<&T> {
        let mut all = self.0.iter();
        let found = all.find(|of| of.session == session && of.id == id);
        found.map(|of| &of.what)
    }

    fn put(&mut self, session: &str, id: &str, what: T) {
        self.0.retain(|of| of.session != session || of.id != id);
        if self.0.len() >= MOST {
            self.0.pop_front();
        }
        self.0.push_back(OfTerminal {
            session: session.to_owned(),
            id: id.to_owned(),
            what,
        });
    }

    fn forget(&mut self, session: &str) {
        self.0.retain(|of| of.session != session);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_bounded_and_goes_with_its_session() {
        let mut kept = Bounded::<u32, 2>::default();
        kept.put("s", "a", 1);
        kept.put("t", "a", 2);
        kept.put("s", "a", 3);
        assert_eq!(
            (kept.get("s", "a"), kept.get("t", "a")),
            (Some(&3), Some(&2))
        );
        kept.put("s", "b", 4);
        assert_eq!((kept.get("t", "a"), kept.get("s", "b")), (None, Some(&4)));
        kept.forget("s");
        assert!(kept.0.is_empty());
    }
}

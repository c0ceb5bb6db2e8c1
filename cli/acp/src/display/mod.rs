//! Rewrites tool calls that embed a terminal into what the client can show.
//!
//! [`text_mode`] shows terminals as text, [`meta_mode`] by `_meta`. [`tool_call_update`] reads what a
//! line says of a tool call, and [`tool_calls`] remembers the tool calls.
//!
//! Invariants: a line that embeds no terminal of the proxy is forwarded unchanged, and costs no call
//! of the daemon. The messages of a tool call are in order, ten a second at most. After `completed` or
//! `failed` the proxy adds nothing to a tool call. All that is remembered is bounded.

mod content;
mod known_fields;
mod meta_mode;
mod round;
mod stream;
mod text_block;
mod text_mode;
mod tool_call_update;
mod tool_calls;

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::value::RawValue;

use crate::options::DisplayMode;
use crate::shared::Shared;
use crate::terminals::per_terminal::PerTerminal;
use crate::terminals::reader::TerminalReader;

use stream::Stream;
use tool_call_update::ToolCallUpdate;
use tool_calls::ToolCalls;

pub(crate) use tool_call_update::Outcome;

/// Most terminals of earlier connections, and most streams, that are remembered.
const MAX_REMEMBERED: usize = 1_024;

/// What the client is shown.
#[derive(Debug, Default)]
pub(crate) struct Display {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    calls: ToolCalls,
    /// Terminals of earlier connections.
    readers: PerTerminal<Arc<TerminalReader>, MAX_REMEMBERED>,
    streams: PerTerminal<Arc<Stream>, MAX_REMEMBERED>,
}

impl Display {
    /// Takes a `session/update` or `session/request_permission` of the agent. Until this returns, the
    /// proxy sends nothing else of the same tool call.
    pub(crate) async fn show(
        &self,
        shared: &Arc<Shared>,
        line: &str,
        params: Option<&RawValue>,
    ) -> io::Result<Outcome> {
        let mode = shared.capabilities.display();
        if mode == DisplayMode::Off {
            return Ok(Outcome::Unchanged);
        }
        let Some(update) = params.and_then(ToolCallUpdate::read) else {
            return Ok(Outcome::Unchanged);
        };
        let mut readers = Vec::new();
        if update.embeds_terminal() {
            for entry in update.content.iter().flatten() {
                readers.push(match &entry.terminal {
                    Some(terminal) => self.reader(shared, &update.session, &terminal.id).await,
                    None => None,
                });
            }
        }
        let call = self.lock().calls.get_or_add(&update.session, &update.call);
        if mode == DisplayMode::Text {
            return text_mode::show(shared, &call, line, &update, readers).await;
        }
        let mut streams: Vec<Arc<Stream>> = Vec::new();
        for reader in readers.into_iter().flatten() {
            let stream = self.stream(&update.session, reader);
            if !streams.iter().any(|other| Arc::ptr_eq(other, &stream)) {
                streams.push(stream);
            }
        }
        meta_mode::show(shared, &call, line, &update, streams).await
    }

    /// Forgets the tool calls and terminals of a session.
    pub(crate) fn forget(&self, session: &str) {
        let mut state = self.lock();
        state.calls.forget(session);
        state.readers.forget(session);
        state.streams.forget(session);
    }

    /// Finds a terminal of this session, of this connection or an earlier one.
    async fn reader(
        &self,
        shared: &Shared,
        session: &str,
        id: &str,
    ) -> Option<Arc<TerminalReader>> {
        if let Some(terminal) = shared.terminals.table.any(session, id) {
            return Some(Arc::new(TerminalReader::new(terminal)));
        }
        if let Some(known) = self.lock().readers.get(session, id) {
            return Some(Arc::clone(known));
        }
        let reader = Arc::new(TerminalReader::find(&shared.pool, session, id).await?);
        let mut state = self.lock();
        state.readers.put(session, id, Arc::clone(&reader));
        Some(reader)
    }

    fn stream(&self, session: &str, reader: Arc<TerminalReader>) -> Arc<Stream> {
        let mut state = self.lock();
        let id = reader.id.clone();
        if let Some(known) = state.streams.get(session, id.as_str()) {
            return Arc::clone(known);
        }
        let stream = Arc::new(Stream::new(reader));
        state.streams.put(session, id.as_str(), Arc::clone(&stream));
        stream
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

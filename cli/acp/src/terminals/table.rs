//! The terminals by session and id: the open ones, and the last ones that were released.

use std::collections::{HashMap, VecDeque};
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::json;
use termd_proto::TerminalId;

use super::terminal::Terminal;
use crate::rpc_errors::{self, ErrorObjectOwned};

/// Most open terminals. An agent that never releases gets an error.
const MAX_OPEN: usize = 4_096;
/// Most released terminals that are kept. A tool call may show its terminal for a while after the
/// release.
const MAX_RELEASED: usize = 256;

/// The open and the released terminals.
#[derive(Debug, Default)]
pub(crate) struct Table(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    open: HashMap<TerminalId, Arc<Terminal>>,
    released: VecDeque<Arc<Terminal>>,
    /// The number of creates in flight, by session.
    creating: HashMap<String, usize>,
}

impl State {
    fn end_create(&mut self, session: &str) {
        if let Some(count) = self.creating.get_mut(session) {
            *count -= 1;
            if *count == 0 {
                self.creating.remove(session);
            }
        }
    }
}

/// A place in the table for a terminal that is being created.
#[derive(Debug)]
pub(crate) struct Reservation {
    table: Arc<Table>,
    session: String,
    filled: bool,
}

impl Reservation {
    /// Puts the terminal into the table.
    pub(crate) fn fill(mut self, terminal: &Arc<Terminal>) {
        let mut state = self.table.lock();
        state.end_create(&self.session);
        let id = terminal.id.clone();
        state.open.insert(id, Arc::clone(terminal));
        drop(state);
        self.filled = true;
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if !self.filled {
            self.table.lock().end_create(&self.session);
        }
    }
}

impl Table {
    /// Reserves a place for one more terminal of a session, if `--max-terminals` admits it.
    pub(crate) fn reserve(
        self: &Arc<Self>,
        session: &str,
        max_running: Option<NonZeroU32>,
    ) -> Result<Reservation, ErrorObjectOwned> {
        let mut state = self.lock();
        let creating: usize = state.creating.values().sum();
        if state.open.len() + creating >= MAX_OPEN {
            let message = format!(
                "there are {MAX_OPEN} terminals already: end those that are done with by \
                 terminal/release"
            );
            return Err(rpc_errors::overloaded(
                "terminals",
                message,
                json!({ "terminals": MAX_OPEN }),
            ));
        }
        if let Some(max) = max_running {
            let of_session = state
                .open
                .values()
                .filter(|terminal| terminal.session == session);
            let running = of_session.filter(|terminal| terminal.is_running()).count()
                + state.creating.get(session).copied().unwrap_or_default();
            if running >= max.get() as usize {
                let message = format!(
                    "{running} commands run in this session's terminals, and --max-terminals \
                     allows {max}: wait for one to exit (terminal/wait_for_exit), or end one \
                     (terminal/kill, terminal/release), then create again"
                );
                let more = json!({ "max_terminals": max, "running": running });
                return Err(rpc_errors::overloaded("max_terminals", message, more));
            }
        }
        *state.creating.entry(session.to_owned()).or_default() += 1;
        Ok(Reservation {
            table: Arc::clone(self),
            session: session.to_owned(),
            filled: false,
        })
    }

    /// Finds an open terminal of a session.
    pub(crate) fn open(&self, session: &str, id: &str) -> Option<Arc<Terminal>> {
        let id: TerminalId = id.parse().ok()?;
        let state = self.lock();
        let terminal = state.open.get(&id)?;
        (terminal.session == session).then(|| Arc::clone(terminal))
    }

    /// Finds a terminal of a session, released or not.
    pub(crate) fn any(&self, session: &str, id: &str) -> Option<Arc<Terminal>> {
        self.open(session, id).or_else(|| {
            let state = self.lock();
            let mut released = state.released.iter().rev();
            released
                .find(|terminal| terminal.session == session && terminal.id.as_str() == id)
                .cloned()
        })
    }

    /// Lists the open terminals of one session, or of all.
    pub(crate) fn all_open(&self, session: Option<&str>) -> Vec<Arc<Terminal>> {
        let state = self.lock();
        let matches = |terminal: &&Arc<Terminal>| session.is_none_or(|of| terminal.session == of);
        state.open.values().filter(matches).cloned().collect()
    }

    /// Moves a terminal to the released ones.
    pub(crate) fn release(&self, terminal: &Terminal) {
        let mut state = self.lock();
        let Some(terminal) = state.open.remove(&terminal.id) else {
            return;
        };
        if state.released.len() >= MAX_RELEASED {
            state.released.pop_front();
        }
        state.released.push_back(terminal);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::super::terminal::UNKNOWN;
    use super::*;

    fn terminal(session: &str, number: u64) -> Arc<Terminal> {
        let id = TerminalId::from_random(number);
        let session = session.to_owned();
        Arc::new(Terminal::new(id, session, "true".to_owned(), None, None))
    }

    #[test]
    fn what_runs_and_what_is_being_created_count_for_their_session() {
        let table = Arc::new(Table::default());
        let max = NonZeroU32::new(2);
        let first = terminal("a", 1);
        table.reserve("a", max).unwrap().fill(&first);
        let creating = table.reserve("a", max).unwrap();
        let refused = table.reserve("a", max).unwrap_err();
        assert_eq!(refused.code(), termd_proto::code::OVERLOADED);
        let data = rpc_errors::data_of(&refused);
        assert_eq!(data["limit"], "max_terminals");
        assert_eq!(data["max_terminals"], 2);
        assert!(table.reserve("b", max).is_ok());
        drop(creating);
        table.reserve("a", max).unwrap().fill(&terminal("a", 2));
        assert!(table.reserve("a", max).is_err());
        first.record_exit(UNKNOWN);
        assert!(table.reserve("a", max).is_ok(), "one has ended");
        assert!(table.reserve("a", None).is_ok());
    }

    #[test]
    fn a_terminal_is_its_sessions_alone_and_known_after_its_release() {
        let table = Arc::new(Table::default());
        let one = terminal("a", 1);
        let id = one.id.to_string();
        table.reserve("a", None).unwrap().fill(&one);
        assert!(table.open("a", &id).is_some());
        assert!(table.open("b", &id).is_none() && table.any("b", &id).is_none());
        assert!(table.open("a", "term_").is_none());
        table.release(&one);
        table.release(&one);
        assert!(table.open("a", &id).is_none());
        assert!(table.any("a", &id).is_some());
        assert!(table.all_open(None).is_empty());
    }

    #[test]
    fn released_ones_are_kept_for_a_while_and_open_ones_have_a_bound() {
        let table = Arc::new(Table::default());
        let all: Vec<_> = (0..MAX_OPEN as u64)
            .map(|number| terminal("a", number))
            .collect();
        for terminal in &all {
            table.reserve("a", None).unwrap().fill(terminal);
        }
        let refused = table.reserve("b", None).unwrap_err();
        assert_eq!(rpc_errors::data_of(&refused)["limit"], "terminals");
        for terminal in &all {
            table.release(terminal);
        }
        assert!(table.reserve("b", None).is_ok());
        assert!(table.any("a", all[0].id.as_str()).is_none());
        let oldest_kept = &all[MAX_OPEN - MAX_RELEASED];
        assert!(table.any("a", oldest_kept.id.as_str()).is_some());
        assert_eq!(table.lock().released.len(), MAX_RELEASED);
    }
}

//! The terminals by session and id: those that are open, and the last ones that were released.

use std::collections::{HashMap, VecDeque};
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jsonrpsee::types::ErrorObjectOwned;
use serde_json::json;
use termd_proto::TerminalId;

use super::errors;
use super::tracked::Entry;

/// Most terminals that are not released: an agent that never releases is told so.
const MAX_OPEN: usize = 4_096;
/// Released terminals that are kept: a tool call embeds its terminal before the release, and what is
/// shown of it is told for a while after.
const MAX_RELEASED: usize = 256;

/// The terminals.
#[derive(Debug, Default)]
pub(super) struct Table(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    open: HashMap<TerminalId, Arc<Entry>>,
    released: VecDeque<Arc<Entry>>,
    /// Creates under way, by their session.
    creating: HashMap<String, usize>,
}

impl State {
    fn is_created(&mut self, session: &str) {
        if let Some(count) = self.creating.get_mut(session) {
            *count -= 1;
            if *count == 0 {
                self.creating.remove(session);
            }
        }
    }
}

/// A terminal's place, until it is there or is not to be.
#[derive(Debug)]
pub(super) struct Reservation {
    table: Arc<Table>,
    session: String,
    filled: bool,
}

impl Reservation {
    /// The terminal takes its place.
    pub(super) fn fill(mut self, entry: &Arc<Entry>) {
        let mut state = self.table.lock();
        state.is_created(&self.session);
        let id = entry.tracked.id.clone();
        state.open.insert(id, Arc::clone(entry));
        drop(state);
        self.filled = true;
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if !self.filled {
            self.table.lock().is_created(&self.session);
        }
    }
}

impl Table {
    /// A place for one more of this session, if `--max-terminals` has one.
    pub(super) fn reserve(
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
            return Err(errors::overloaded(
                "terminals",
                message,
                json!({ "terminals": MAX_OPEN }),
            ));
        }
        if let Some(max) = max_running {
            let of_session = state
                .open
                .values()
                .filter(|entry| entry.tracked.session == session);
            let running = of_session.filter(|entry| entry.is_running()).count()
                + state.creating.get(session).copied().unwrap_or_default();
            if running >= max.get() as usize {
                let message = format!(
                    "{running} commands run in this session's terminals, and --max-terminals \
                     allows {max}: wait for one to exit (terminal/wait_for_exit), or end one \
                     (terminal/kill, terminal/release), then create again"
                );
                let more = json!({ "max_terminals": max, "running": running });
                return Err(errors::overloaded("max_terminals", message, more));
            }
        }
        *state.creating.entry(session.to_owned()).or_default() += 1;
        Ok(Reservation {
            table: Arc::clone(self),
            session: session.to_owned(),
            filled: false,
        })
    }

    /// One of this session that is not released.
    pub(super) fn open(&self, session: &str, id: &str) -> Option<Arc<Entry>> {
        let id: TerminalId = id.parse().ok()?;
        let state = self.lock();
        let entry = state.open.get(&id)?;
        (entry.tracked.session == session).then(|| Arc::clone(entry))
    }

    /// One of this session, released or not.
    pub(super) fn any(&self, session: &str, id: &str) -> Option<Arc<Entry>> {
        self.open(session, id).or_else(|| {
            let state = self.lock();
            let mut released = state.released.iter().rev();
            released
                .find(|entry| entry.tracked.session == session && entry.tracked.id.as_str() == id)
                .cloned()
        })
    }

    /// All that are not released: of this session, or at all.
    pub(super) fn all_open(&self, session: Option<&str>) -> Vec<Arc<Entry>> {
        let state = self.lock();
        let of_it = |entry: &&Arc<Entry>| session.is_none_or(|it| entry.tracked.session == it);
        state.open.values().filter(of_it).cloned().collect()
    }

    /// It was released.
    pub(super) fn release(&self, entry: &Entry) {
        let mut state = self.lock();
        let Some(entry) = state.open.remove(&entry.tracked.id) else {
            return;
        };
        if state.released.len() >= MAX_RELEASED {
            state.released.pop_front();
        }
        state.released.push_back(entry);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tracked::UNKNOWN;
    use super::*;

    fn entry(session: &str, number: u64) -> Arc<Entry> {
        let id = TerminalId::from_random(number);
        let session = session.to_owned();
        Arc::new(Entry::new(id, session, "true".to_owned(), None, None))
    }

    #[test]
    fn what_runs_and_what_is_being_created_count_for_their_session() {
        let table = Arc::new(Table::default());
        let max = NonZeroU32::new(2);
        let first = entry("a", 1);
        table.reserve("a", max).unwrap().fill(&first);
        let creating = table.reserve("a", max).unwrap();
        let refused = table.reserve("a", max).unwrap_err();
        assert_eq!(refused.code(), termd_proto::code::OVERLOADED);
        let data = errors::data_of(&refused);
        assert_eq!(data["limit"], "max_terminals");
        assert_eq!(data["max_terminals"], 2);
        assert!(table.reserve("b", max).is_ok());
        drop(creating);
        table.reserve("a", max).unwrap().fill(&entry("a", 2));
        assert!(table.reserve("a", max).is_err());
        first.learn(UNKNOWN);
        assert!(table.reserve("a", max).is_ok(), "one has ended");
        assert!(table.reserve("a", None).is_ok());
    }

    #[test]
    fn a_terminal_is_its_sessions_alone_and_known_after_its_release() {
        let table = Arc::new(Table::default());
        let one = entry("a", 1);
        let id = one.tracked.id.to_string();
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
            .map(|number| entry("a", number))
            .collect();
        for entry in &all {
            table.reserve("a", None).unwrap().fill(entry);
        }
        let refused = table.reserve("b", None).unwrap_err();
        assert_eq!(errors::data_of(&refused)["limit"], "terminals");
        for entry in &all {
            table.release(entry);
        }
        assert!(table.reserve("b", None).is_ok());
        assert!(table.any("a", all[0].tracked.id.as_str()).is_none());
        let oldest_kept = &all[MAX_OPEN - MAX_RELEASED];
        assert!(table.any("a", oldest_kept.tracked.id.as_str()).is_some());
        assert_eq!(table.lock().released.len(), MAX_RELEASED);
    }
}

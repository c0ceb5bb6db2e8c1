//! Whether a person can be asked now, or could a short while ago.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use termd_policy::Pids;
use tokio::sync::watch;

/// How long a person who has left, or has answered, counts as there. A process of an agent's can end
/// the program that asks the person.
const PRESENT_FOR: Duration = Duration::from_mins(10);

/// How a connection reaches a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// It watches the questions, such as `termctl approvals --watch` and `--notify`.
    Watch,
    /// It is a front that asks its own person.
    Front,
}

/// The connections of one kind.
#[derive(Debug, Default)]
struct Presence {
    connections: usize,
    left_at: Option<Instant>,
}

impl Presence {
    fn is_near(&self, now: Instant) -> bool {
        self.connections > 0 || is_recent(self.left_at, now)
    }
}

#[derive(Debug, Default)]
struct State {
    watches: Presence,
    fronts: Presence,
    answered_at: Option<Instant>,
}

impl State {
    fn presence(&mut self, reach: Reach) -> &mut Presence {
        match reach {
            Reach::Watch => &mut self.watches,
            Reach::Front => &mut self.fronts,
        }
    }
}

/// The connections that reach a person, and when the last ones ended.
#[derive(Debug, Default)]
pub(super) struct People {
    state: Mutex<State>,
    /// Whether a connection watches the questions now.
    watched: watch::Sender<bool>,
    /// The processes of those that do, which an agent does not end unasked.
    watchers: Pids,
}

impl People {
    /// `watchers` has the processes of those that watch the questions.
    pub(super) fn new(watchers: Pids) -> Self {
        Self {
            watchers,
            ..Self::default()
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether such a connection is there, or was there within ten minutes.
    pub(super) fn has(&self, reach: Reach, now: Instant) -> bool {
        self.state().presence(reach).is_near(now)
    }

    /// Whether a person has answered within ten minutes.
    pub(super) fn has_answered(&self, now: Instant) -> bool {
        is_recent(self.state().answered_at, now)
    }

    /// Notes an answer of a person.
    pub(super) fn note_answer(&self, at: Instant) {
        let mut state = self.state();
        state.answered_at = state.answered_at.max(Some(at));
    }

    /// Notes that a connection to an earlier server reached a person until then.
    pub(super) fn note_left(&self, reach: Reach, at: Instant) {
        let mut state = self.state();
        let presence = state.presence(reach);
        presence.left_at = presence.left_at.max(Some(at));
    }

    /// Whether a connection watches the questions, and each change of that.
    pub(super) fn watched(&self) -> watch::Receiver<bool> {
        self.watched.subscribe()
    }

    /// Counts a connection of this process until the value is dropped.
    pub(super) fn join(self: &Arc<Self>, reach: Reach, pid: Option<i32>) -> PersonInReach {
        self.change(reach, |presence| presence.connections += 1);
        let watcher = pid.filter(|_| reach == Reach::Watch);
        if let Some(pid) = watcher {
            self.watchers.add(pid);
        }
        PersonInReach {
            people: Arc::clone(self),
            reach,
            watcher,
        }
    }

    fn change(&self, reach: Reach, change: impl FnOnce(&mut Presence)) {
        let mut state = self.state();
        change(state.presence(reach));
        // Under the lock: the last value sent is the last one that was true.
        let is_watched = state.watches.connections > 0;
        self.watched.send_if_modified(|watched| {
            let was = std::mem::replace(watched, is_watched);
            was != is_watched
        });
    }
}

fn is_recent(at: Option<Instant>, now: Instant) -> bool {
    at.is_some_and(|at| now.saturating_duration_since(at) < PRESENT_FOR)
}

/// Counts one connection until it is dropped.
#[derive(Debug)]
pub struct PersonInReach {
    people: Arc<People>,
    reach: Reach,
    watcher: Option<i32>,
}

impl PersonInReach {
    /// The way to the person.
    pub fn reach(&self) -> Reach {
        self.reach
    }
}

impl Drop for PersonInReach {
    fn drop(&mut self) {
        if let Some(pid) = self.watcher {
            self.people.watchers.remove(pid);
        }
        self.people.change(self.reach, |presence| {
            presence.connections = presence.connections.saturating_sub(1);
            presence.left_at = Some(Instant::now());
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_has_left_counts_for_ten_minutes() {
        let people = Arc::new(People::default());
        let mut watched = people.watched();
        for reach in [Reach::Watch, Reach::Front] {
            assert!(!people.has(reach, Instant::now()));
            let (one, other) = (people.join(reach, Some(1)), people.join(reach, Some(1)));
            drop(one);
            assert_eq!(people.watchers.contains(1), reach == Reach::Watch);
            let later = Instant::now() + PRESENT_FOR;
            assert!(people.has(reach, later), "another one is there");
            drop(other);
            assert!(!people.watchers.contains(1));
            assert!(people.has(reach, Instant::now()));
            assert!(!people.has(reach, Instant::now() + PRESENT_FOR));
        }
        assert!(watched.has_changed().unwrap());
        assert!(!*watched.borrow_and_update());
    }

    #[test]
    fn who_was_there_before_counts_for_the_rest_of_ten_minutes() {
        let people = People::default();
        let now = Instant::now();
        people.note_answer(now);
        people.note_answer(now.checked_sub(Duration::from_secs(1)).unwrap());
        people.note_left(Reach::Watch, now);
        let last = now + PRESENT_FOR.saturating_sub(Duration::from_millis(1));
        assert!(people.has_answered(last) && people.has(Reach::Watch, last));
        let over = now + PRESENT_FOR;
        assert!(!people.has_answered(over) && !people.has(Reach::Watch, over));
    }
}

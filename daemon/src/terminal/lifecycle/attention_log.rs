//! What a terminal's programs have said of themselves, when a person last saw the terminal, and what it
//! wants of a person now.
//!
//! What was said holds until a person has seen it, something is typed, or the shell runs its next command.

use std::sync::{Mutex, MutexGuard, PoisonError};

use termd_proto::Offset;
use termd_proto::attention::{Attention, ReportedState};
use termd_proto::terminal::{Front, Owner};
use tokio::sync::watch;

use crate::clock::now_ms;

/// How long before its typing a person has looked, in milliseconds. When something changed is known to a
/// millisecond, and told as the earlier one.
const BEFORE_TYPING_MS: i64 = 2;

/// What a program has said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) state: ReportedState,
    pub(crate) text: String,
    pub(crate) at_ms: i64,
}

impl From<Said> for Attention {
    fn from(said: Said) -> Self {
        Self {
            state: said.state.into(),
            why: said.text,
            since_ms: said.at_ms,
            said: true,
            seen: false,
        }
    }
}

/// One terminal's.
#[derive(Debug)]
pub(crate) struct AttentionLog {
    inner: Mutex<Inner>,
    /// Counts what was said, seen and typed.
    notes: watch::Sender<u64>,
    /// Where the output ends at which the tty awaits a secret; `None`: it awaits none.
    awaits_secret: watch::Sender<Option<Offset>>,
}

#[derive(Debug, Default)]
struct Inner {
    said: Option<Said>,
    /// When a person last looked, in milliseconds since the epoch.
    seen_at_ms: i64,
    /// People who are attached: they see everything.
    viewers: usize,
    /// The last end that was seen, in milliseconds since the epoch.
    seen_end_ms: Option<i64>,
    /// What it wants, once that was looked at.
    now: Option<Attention>,
}

impl Default for AttentionLog {
    fn default() -> Self {
        Self {
            inner: Mutex::default(),
            notes: watch::Sender::new(0),
            awaits_secret: watch::Sender::new(None),
        }
    }
}

/// A person who looks on, until the value is dropped.
#[derive(Debug)]
pub(crate) struct PersonLooking<'a>(&'a AttentionLog);

impl Drop for PersonLooking<'_> {
    fn drop(&mut self) {
        self.0.person_left();
    }
}

impl AttentionLog {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, change: impl FnOnce(&mut Inner)) {
        change(&mut self.inner());
        self.notes.send_modify(|count| *count += 1);
    }

    /// Watches what is said, seen and typed.
    pub(crate) fn watch(&self) -> watch::Receiver<u64> {
        self.notes.subscribe()
    }

    /// Watches whether the tty awaits a secret, by the end of the output that has asked for it: another
    /// prompt has another one.
    pub(crate) fn watch_secrets(&self) -> watch::Receiver<Option<Offset>> {
        self.awaits_secret.subscribe()
    }

    pub(crate) fn set_awaits_secret(&self, at: Option<Offset>) {
        self.awaits_secret.send_if_modified(|before| {
            let is_new = *before != at;
            *before = at;
            is_new
        });
    }

    /// A program says something of itself.
    pub(crate) fn say(&self, said: Said) {
        self.note(|inner| inner.said = Some(said));
    }

    /// What was said is answered: something is typed, or the next command runs.
    pub(crate) fn answered(&self) {
        if self.inner().said.is_some() {
            self.note(|inner| inner.said = None);
        }
    }

    /// Something was typed, which may change what the program awaits.
    pub(crate) fn typed(&self) {
        self.note(|_| {});
    }

    /// A caller types. A person who does has seen what there was, and not what comes of it at once.
    pub(crate) fn seen_by(&self, typist: &Owner) {
        if typist.agent().is_none() {
            self.seen(now_ms() - BEFORE_TYPING_MS);
        }
    }

    /// What the terminal shows is read through a front. Through a person's, a person has seen it.
    pub(crate) fn read_through(&self, front: Front) {
        if !front.is_agents() {
            self.seen(now_ms());
        }
    }

    /// A person looks at the terminal.
    fn seen(&self, now_ms: i64) {
        let mut inner = self.inner();
        inner.seen_at_ms = inner.seen_at_ms.max(now_ms);
        let is_new = |now: &Attention| now.state.is_waiting() && !now.seen;
        let is_news = inner.said.take().is_some() || inner.now.as_ref().is_some_and(is_new);
        drop(inner);
        if is_news {
            self.notes.send_modify(|count| *count += 1);
        }
    }

    /// Counts a person as looking until the value is dropped.
    pub(crate) fn look_on(&self) -> PersonLooking<'_> {
        self.person_came();
        PersonLooking(self)
    }

    /// A person looks on, as who is attached does, until one has left.
    pub(crate) fn person_came(&self) {
        self.note(|inner| inner.viewers += 1);
    }

    /// A person who looked on does so no longer.
    pub(crate) fn person_left(&self) {
        self.note(|inner| {
            inner.viewers = inner.viewers.saturating_sub(1);
            inner.seen_at_ms = now_ms();
        });
    }

    /// What was said last, where no person has seen it.
    pub(crate) fn said(&self) -> Option<Said> {
        let inner = self.inner();
        inner.said.clone().filter(|_| inner.viewers == 0)
    }

    /// Whether a person has looked since a point in time. Who is attached looks now.
    pub(crate) fn was_seen_since(&self, ms: i64) -> bool {
        self.inner().was_seen_since(ms)
    }

    /// When a person last looked, in milliseconds since the epoch; `None`: never.
    pub(crate) fn seen_at_ms(&self) -> Option<i64> {
        let inner = self.inner();
        match (inner.viewers, inner.seen_at_ms) {
            (0, 0) => None,
            (0, at_ms) => Some(at_ms),
            _ => Some(now_ms()),
        }
    }

    /// Notes that an end was seen. False: it was noted before.
    pub(crate) fn saw_end(&self, ended_at_ms: i64) -> bool {
        self.inner().seen_end_ms.replace(ended_at_ms) != Some(ended_at_ms)
    }

    /// Takes what an earlier server knew of that.
    pub(crate) fn was_last_seen_at(&self, ms: Option<i64>) {
        self.inner().seen_at_ms = ms.unwrap_or_default();
    }

    /// What the terminal wants now; `None` before the first look.
    pub(crate) fn now(&self) -> Option<Attention> {
        self.inner().now.clone()
    }

    /// Sets what the terminal wants, and whether a person has seen that. Returns it where it is something
    /// else than before; otherwise it goes on since then.
    pub(crate) fn set(&self, mut now: Attention) -> Option<Attention> {
        let mut inner = self.inner();
        let is_same = |before: &&Attention| {
            (before.state, &before.why, before.said) == (now.state, &now.why, now.said)
        };
        if let Some(before) = inner.now.as_ref().filter(is_same) {
            now.since_ms = before.since_ms;
        }
        now.seen = now.state.is_waiting() && inner.was_seen_since(now.since_ms);
        if inner.now.as_ref() == Some(&now) {
            return None;
        }
        inner.now = Some(now.clone());
        Some(now)
    }
}

impl Inner {
    fn was_seen_since(&self, ms: i64) -> bool {
        self.viewers > 0 || self.seen_at_ms >= ms
    }
}

#[cfg(test)]
mod tests {
    use termd_proto::attention::AttentionState;

    use super::*;

    fn said(text: &str) -> Said {
        Said {
            state: ReportedState::Input,
            text: text.to_owned(),
            at_ms: 5,
        }
    }

    #[test]
    fn what_was_said_holds_until_it_is_seen_or_answered() {
        let log = AttentionLog::default();
        log.say(said("a"));
        assert_eq!(log.said(), Some(said("a")));
        log.answered();
        assert_eq!(log.said(), None);
        log.say(said("b"));
        log.seen(9);
        assert_eq!(log.said(), None);
        assert!(log.was_seen_since(9) && !log.was_seen_since(10));
    }

    #[test]
    fn what_goes_on_is_seen_once() {
        let log = AttentionLog::default();
        let asks = |since_ms| Attention {
            state: AttentionState::Input,
            why: "Name:".to_owned(),
            since_ms,
            said: false,
            seen: false,
        };
        assert_eq!(log.set(asks(5)), Some(asks(5)));
        assert_eq!(log.set(asks(6)), None);
        log.seen(7);
        let seen = Attention {
            seen: true,
            ..asks(5)
        };
        assert_eq!(log.set(asks(9)), Some(seen.clone()));
        assert_eq!(log.set(asks(9)), None);
        let other = Attention {
            why: "Age:".to_owned(),
            ..asks(9)
        };
        assert_eq!(log.set(other.clone()), Some(other));
    }

    #[test]
    fn who_is_attached_sees_everything_until_they_leave() {
        let log = AttentionLog::default();
        let person = log.look_on();
        log.say(said("a"));
        assert_eq!(log.said(), None);
        assert!(log.was_seen_since(i64::MAX) && log.seen_at_ms().is_some());
        drop(person);
        assert!(log.was_seen_since(1) && !log.was_seen_since(i64::MAX));
    }
}

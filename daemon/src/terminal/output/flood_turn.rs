//! Turns of terminals that print without end.
//!
//! A program whose PTY is full waits, and takes no processor time. So of several floods one is read at
//! a time, and the others leave the processors to everything else. While somebody acts (types, begins,
//! ends) all floods rest most of the time. A terminal that prints less than [`FREE_BYTES`] in a
//! [`WINDOW`] never waits.

use std::future::{pending, poll_fn};
use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::sleep;
use tokio_util::sync::PollSemaphore;

/// What a terminal may print in a window without a turn: more than a person reads, and some screens.
const FREE_BYTES: u64 = 64 << 10;
const WINDOW: Duration = Duration::from_millis(100);
/// How long a turn lasts: long beside the change of processes, short for a person who watches a flood.
const TURN: Duration = Duration::from_millis(20);
/// How long nobody has the turn after one in which somebody acted. Twice a turn: most of the steps of
/// an act then find the processors free.
const REST: Duration = Duration::from_millis(40);

/// The turns of one daemon's terminals.
#[derive(Debug, Clone)]
pub struct FloodTurns {
    turn: Arc<Semaphore>,
    /// How often somebody has acted.
    acts: Arc<AtomicU64>,
    /// How many turns have begun.
    begun: Arc<AtomicU64>,
}

impl Default for FloodTurns {
    fn default() -> Self {
        Self {
            turn: Arc::new(Semaphore::new(1)),
            acts: Arc::default(),
            begun: Arc::default(),
        }
    }
}

impl FloodTurns {
    /// Somebody does something: after this turn the floods rest.
    pub(crate) fn somebody_acts(&self) {
        self.acts.fetch_add(1, Ordering::Relaxed);
    }

    /// How many turns have begun. While it grows, some terminal prints without end.
    pub(crate) fn begun(&self) -> u64 {
        self.begun.load(Ordering::Relaxed)
    }

    fn acts(&self) -> u64 {
        self.acts.load(Ordering::Relaxed)
    }
}

/// The turn of one terminal.
#[derive(Debug)]
pub(crate) struct FloodTurn {
    turns: FloodTurns,
    state: State,
    window: Instant,
    /// Bytes that were read in this window.
    read: u64,
}

#[derive(Debug)]
enum State {
    /// It needs no turn.
    Free,
    /// It is not read before it has one. The place in the queue outlives a wait that is given up.
    Queued(PollSemaphore),
    Held {
        permit: OwnedSemaphorePermit,
        until: Instant,
        /// How often somebody had acted when it began.
        acts: u64,
    },
}

impl FloodTurn {
    /// For a terminal that has printed nothing yet.
    pub(crate) fn new(turns: FloodTurns, now: Instant) -> Self {
        Self {
            turns,
            state: State::Free,
            window: now,
            read: 0,
        }
    }

    /// Whether the terminal may be read now.
    pub(crate) fn may_read(&self) -> bool {
        !matches!(self.state, State::Queued(_))
    }

    /// When [`FloodTurn::expire`] is due.
    pub(crate) fn ends_at(&self) -> Option<Instant> {
        match self.state {
            State::Held { until, .. } => Some(until),
            State::Free | State::Queued(_) => None,
        }
    }

    /// Counts what was read of the terminal. One that has printed much needs a turn for more.
    pub(crate) fn add(&mut self, bytes: u64, now: Instant) {
        if now.duration_since(self.window) > WINDOW {
            self.window = now;
            self.read = 0;
        }
        self.read += bytes;
        self.expire(now);
        if self.read >= FREE_BYTES && matches!(self.state, State::Free) {
            self.state = State::Queued(PollSemaphore::new(Arc::clone(&self.turns.turn)));
        }
    }

    /// Ends a turn whose time is over. Must be called inside the runtime.
    pub(crate) fn expire(&mut self, now: Instant) {
        if self.ends_at().is_none_or(|until| until > now) {
            return;
        }
        if let State::Held { permit, acts, .. } = mem::replace(&mut self.state, State::Free)
            && self.turns.acts() != acts
        {
            tokio::spawn(async move {
                sleep(REST).await;
                drop(permit);
            });
        }
    }

    /// Gives up the turn, or the wait for it: a turn of a terminal that is not read holds up the others.
    pub(crate) fn leave(&mut self) {
        self.state = State::Free;
    }

    /// Resolves once a terminal that has to wait has its turn; never for others.
    pub(crate) async fn turn(&mut self) {
        let State::Queued(turns) = &mut self.state else {
            return pending().await;
        };
        // The semaphore is never closed.
        let Some(permit) = poll_fn(|context| turns.poll_acquire(context)).await else {
            return pending().await;
        };
        self.turns.begun.fetch_add(1, Ordering::Relaxed);
        self.state = State::Held {
            permit,
            until: Instant::now() + TURN,
            acts: self.turns.acts(),
        };
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::timeout;

    use super::*;

    /// Longer than anything here takes, and far shorter than a turn that never ends.
    const LIMIT: Duration = Duration::from_secs(10);

    fn flooding(turns: &FloodTurns, now: Instant) -> FloodTurn {
        let mut turn = FloodTurn::new(turns.clone(), now);
        turn.add(FREE_BYTES, now);
        turn
    }

    /// Whether the turn is there at once.
    async fn is_there(turn: &mut FloodTurn) -> bool {
        tokio::select! {
            biased;
            () = turn.turn() => true,
            () = std::future::ready(()) => false,
        }
    }

    #[tokio::test]
    async fn little_output_needs_no_turn() {
        let turns = FloodTurns::default();
        let now = Instant::now();
        let mut flood = flooding(&turns, now);
        assert!(is_there(&mut flood).await);
        let mut quiet = FloodTurn::new(turns, now);
        for step in 0..100 {
            quiet.add(FREE_BYTES / 2, now + step * (WINDOW + TURN));
            assert!(quiet.may_read());
        }
    }

    #[tokio::test]
    async fn floods_are_read_one_after_the_other() {
        let turns = FloodTurns::default();
        let now = Instant::now();
        let (mut first, mut second) = (flooding(&turns, now), flooding(&turns, now));
        assert!(!first.may_read() && !second.may_read());
        assert!(is_there(&mut first).await && first.may_read());
        assert!(!is_there(&mut second).await && !second.may_read());
        assert_eq!(turns.begun(), 1);
        let end = first.ends_at().unwrap();
        first.add(1, end);
        assert!(!first.may_read(), "its time is over, and it floods");
        // The first in the queue is served first, although each wait was given up.
        assert!(!is_there(&mut first).await);
        timeout(LIMIT, second.turn()).await.unwrap();
        assert!(second.may_read() && !is_there(&mut first).await);
    }

    #[tokio::test]
    async fn floods_rest_after_a_turn_in_which_somebody_acted() {
        let turns = FloodTurns::default();
        let now = Instant::now();
        let (mut first, mut second) = (flooding(&turns, now), flooding(&turns, now));
        turns.somebody_acts();
        assert!(is_there(&mut first).await);
        first.expire(first.ends_at().unwrap());
        assert!(is_there(&mut second).await, "that was before the turn");
        turns.somebody_acts();
        let begun = Instant::now();
        second.expire(second.ends_at().unwrap());
        let mut third = flooding(&turns, now);
        timeout(LIMIT, third.turn()).await.unwrap();
        assert!(begun.elapsed() >= REST, "{:?}", begun.elapsed());
    }

    #[tokio::test]
    async fn a_terminal_that_leaves_holds_no_other_up() {
        let turns = FloodTurns::default();
        let now = Instant::now();
        let mut holder = flooding(&turns, now);
        let mut queued = flooding(&turns, now);
        let mut last = flooding(&turns, now);
        assert!(is_there(&mut holder).await);
        assert!(!is_there(&mut queued).await && !is_there(&mut last).await);
        holder.leave();
        // It has been given the turn by now, and does not look.
        queued.leave();
        timeout(LIMIT, last.turn()).await.unwrap();
        let end = last.ends_at().unwrap();
        last.expire(end);
        assert!(last.may_read() && last.ends_at().is_none());
        assert!(is_there(&mut flooding(&turns, now)).await);
    }
}

//! `terminal/*` from the agent, answered by the daemon.
//!
//! - [`flights`] are the agent's calls under way, which it may cancel.
//! - [`calls`] and [`create`] turn each into the daemon's, by [`daemon`].
//! - [`table`] knows the terminals, [`tracked`] one of them, and [`watch`] learns its exit.
//!
//! It promises: each call is answered once, with the daemon's words where the daemon was asked; a
//! terminal that was created here, and no other, is this agent's; none is left when its session has
//! ended, nor when this process has, in whatever way.
//! It must not know how a client is shown terminals, nor how its person is asked.

mod calls;
mod create;
mod daemon;
mod errors;
mod flights;
mod table;
mod tracked;
mod watch;

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use serde_json::json;

use super::Shared;
use super::permission::Remembered;
use super::wire::message::{Members, RequestId};
use serde_json::value::RawValue;

use calls::Named;
use create::Asked;
use daemon::Refused;
use flights::{Flights, MAX_FLIGHTS, Purpose, Underway, Work};
use table::Table;

pub(super) use tracked::{EndCause, Ended, Tracked};

/// A wait for an exit is as long as the command runs: this is for ever.
pub(super) const LONGEST_CALL: Duration = Duration::from_hours(24 * 365);

/// How long a sweep takes at the longest: the daemon's grace before SIGKILL, and time to spare. What
/// is left then ends with this process's connections.
const SWEEP_DEADLINE: Duration = Duration::from_secs(5);

/// What the agent is answered.
type Answer = Result<Box<RawValue>, Refused>;

/// The methods.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Method {
    Create,
    Output,
    WaitForExit,
    Kill,
    Release,
}

impl Method {
    const ALL: [Self; 5] = [
        Self::Create,
        Self::Output,
        Self::WaitForExit,
        Self::Kill,
        Self::Release,
    ];

    fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.name() == name)
    }

    fn name(self) -> &'static str {
        match self {
            Self::Create => "terminal/create",
            Self::Output => "terminal/output",
            Self::WaitForExit => "terminal/wait_for_exit",
            Self::Kill => "terminal/kill",
            Self::Release => "terminal/release",
        }
    }
}

/// A call that has been read.
#[derive(Debug)]
enum Call {
    Create(Asked),
    Named(Named),
}

impl Call {
    fn read(shared: &Shared, method: Method, params: &str) -> Result<Self, Refused> {
        if method != Method::Create {
            return Named::read(shared, method, params).map(Self::Named);
        }
        if shared.terminals.is_ending.load(Ordering::Acquire) {
            return Err(errors::ending());
        }
        Asked::read(shared, params).map(Self::Create)
    }

    fn purpose(&self) -> Purpose {
        match self {
            Self::Create(asked) => Purpose::Create(asked.session().to_owned()),
            Self::Named(named) if named.method() == Method::WaitForExit => Purpose::Wait,
            Self::Named(_) => Purpose::Short,
        }
    }

    async fn answer(self, shared: &Arc<Shared>) -> Answer {
        match self {
            Self::Create(asked) => asked.answer(shared).await,
            Self::Named(named) => named.answer(shared).await,
        }
    }
}

/// The agent's terminals.
#[derive(Debug, Default)]
pub(super) struct Terminals {
    table: Arc<Table>,
    flights: Arc<Flights>,
    underway: Underway,
    /// What the person has allowed.
    remembered: Remembered,
    /// A task keeps the connection that terminals are tied to.
    stays: AtomicBool,
    /// Nothing is created any more.
    is_ending: AtomicBool,
}

impl Terminals {
    /// A `terminal/*` request of the agent's: it is answered, now or later. The future is done when
    /// the next line may be taken.
    pub(super) async fn take(
        &self,
        shared: &Arc<Shared>,
        id: RequestId,
        method: &str,
        params: Option<&RawValue>,
    ) -> io::Result<()> {
        let read = match Method::of(method) {
            None => Err(errors::unknown_method(method)),
            Some(method) => Call::read(shared, method, params.map_or("{}", RawValue::get)),
        };
        let call = match read {
            Ok(call) => call,
            Err(refused) => return shared.agent.answer(&id, Err(&refused)).await,
        };
        let Some((flight, cancelled)) = self.flights.begin(&id, call.purpose()) else {
            let message = format!(
                "{MAX_FLIGHTS} such terminal/* calls are under way: wait for one to be answered, or \
                 cancel one ($/cancel_request)"
            );
            let more = json!({ "calls_in_flight": MAX_FLIGHTS });
            let refused = errors::overloaded("calls_in_flight", message, more);
            return shared.agent.answer(&id, Err(&refused)).await;
        };
        let shared = Arc::clone(shared);
        tokio::spawn(async move {
            let answer = tokio::select! {
                biased;
                _ = cancelled => Err(errors::cancelled()),
                answer = call.answer(&shared) => answer,
            };
            // An agent that is gone takes no answer.
            let _ = shared.agent.answer(&id, answer.as_deref()).await;
            drop(flight);
        });
        Ok(())
    }

    /// `$/cancel_request` from the agent: whether it was about one of its `terminal/*`.
    pub(super) fn cancel(&self, params: Option<&RawValue>) -> bool {
        let params = params.and_then(|params| Members::of(params.get()));
        let id = params.and_then(|params| params.get("requestId").map(RequestId::of));
        id.is_some_and(|id| self.flights.cancel(&id))
    }

    /// A terminal of this ACP session, released ones too.
    pub(super) fn tracked(&self, session: &str, id: &str) -> Option<Arc<Tracked>> {
        let entry = self.table.any(session, id)?;
        Some(Arc::clone(&entry.tracked))
    }

    /// Releases what a session has left, and withdraws what its person is asked.
    pub(super) async fn sweep_session(&self, shared: &Arc<Shared>, session: &str) {
        self.flights.cancel_creates(Some(session));
        self.remembered.forget(session);
        let released = self.release_all(shared, Some(session));
        // What is left ends with the connection.
        let _ = tokio::time::timeout(SWEEP_DEADLINE, released).await;
    }

    /// Releases what all sessions have left. Nothing is created any more.
    pub(super) async fn sweep(&self, shared: &Arc<Shared>) {
        self.is_ending.store(true, Ordering::Release);
        self.flights.cancel_creates(None);
        let swept = async {
            self.release_all(shared, None).await;
            self.underway.is_over().await;
        };
        // What is left ends with this process.
        let _ = tokio::time::timeout(SWEEP_DEADLINE, swept).await;
    }

    async fn release_all(&self, shared: &Arc<Shared>, session: Option<&str>) {
        let mut releases: FuturesUnordered<_> = (self.table.all_open(session).into_iter())
            .map(|entry| {
                let shared = Arc::clone(shared);
                let work = self.underway();
                // It writes lines to the client: not to be dropped half-way.
                tokio::spawn(async move {
                    create::release_logged(&shared, &entry).await;
                    drop(work);
                })
            })
            .collect();
        while releases.next().await.is_some() {}
    }

    /// Work begins that the sweep of all waits for.
    pub(super) fn underway(&self) -> Work {
        self.underway.begin()
    }

    /// From now on the connection that terminals are tied to is made anew as soon as it breaks: the
    /// daemon's next server ends what nobody holds after a while.
    fn stay(&self, shared: &Arc<Shared>) {
        if self.stays.swap(true, Ordering::AcqRel) {
            return;
        }
        let shared = Arc::clone(shared);
        tokio::spawn(async move {
            // It comes to an end where the daemon stays away.
            let _ = shared.pool.stay().await;
            shared.terminals.stays.store(false, Ordering::Release);
        });
    }
}

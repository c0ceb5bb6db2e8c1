//! Answers the agent's `terminal/*` calls by the daemon.
//!
//! [`create`] and [`terminal_call`] turn each call into one of the daemon, which [`daemon`] makes.
//! [`watch`] learns the exit of a terminal, and [`release`] ends it.
//!
//! Invariants: each call is answered once, with the daemon's own answer if the daemon was called. A
//! terminal is open to the agent that created it here, and to no other. No terminal is left after its session,
//! nor after this process, however they end.

mod answer_meta;
mod create;
mod daemon;
mod method;
mod release;
mod terminal_call;
mod watch;

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::json;
use serde_json::value::RawValue;

use crate::rpc_errors::{self, ErrorObjectOwned};
use crate::shared::Shared;
use crate::terminals::in_flight::{MAX_IN_FLIGHT, Purpose};
use crate::wire::message::{Members, RequestId};

use create::CreateCall;
use method::{Answer, Method};
use terminal_call::TerminalCall;

pub(crate) use release::{release_all, release_session};

/// Longest call: a wait for an exit takes as long as the command.
pub(crate) const MAX_CALL: Duration = Duration::from_hours(24 * 365);

/// A call whose params were read.
#[derive(Debug)]
enum Call {
    Create(CreateCall),
    Terminal(TerminalCall),
}

impl Call {
    fn read(shared: &Shared, method: Method, params: &str) -> Result<Self, ErrorObjectOwned> {
        if method != Method::Create {
            return TerminalCall::read(shared, method, params).map(Self::Terminal);
        }
        if shared.terminals.is_ending.load(Ordering::Acquire) {
            return Err(rpc_errors::ending());
        }
        CreateCall::read(shared, params).map(Self::Create)
    }

    fn purpose(&self) -> Purpose {
        match self {
            Self::Create(create) => Purpose::Create(create.session().to_owned()),
            Self::Terminal(call) if call.method() == Method::WaitForExit => Purpose::Wait,
            Self::Terminal(_) => Purpose::Short,
        }
    }

    async fn answer(self, shared: &Arc<Shared>) -> Answer {
        match self {
            Self::Create(create) => create.answer(shared).await,
            Self::Terminal(call) => call.answer(shared).await,
        }
    }
}

/// Answers a `terminal/*` request of the agent, now or in a task. The next line may be taken when
/// this returns.
pub(crate) async fn answer(
    shared: &Arc<Shared>,
    id: RequestId,
    method: &str,
    params: Option<&RawValue>,
) -> io::Result<()> {
    let read = match Method::of(method) {
        None => Err(rpc_errors::unknown_method(method)),
        Some(method) => Call::read(shared, method, params.map_or("{}", RawValue::get)),
    };
    let call = match read {
        Ok(call) => call,
        Err(refused) => return shared.agent.answer(&id, Err(&refused)).await,
    };
    let in_flight = shared.terminals.in_flight.begin(&id, call.purpose());
    let Some((guard, cancelled)) = in_flight else {
        let message = format!(
            "{MAX_IN_FLIGHT} such terminal/* calls are under way: wait for one to be answered, or \
             cancel one ($/cancel_request)"
        );
        let more = json!({ "calls_in_flight": MAX_IN_FLIGHT });
        let refused = rpc_errors::overloaded("calls_in_flight", message, more);
        return shared.agent.answer(&id, Err(&refused)).await;
    };
    let shared = Arc::clone(shared);
    tokio::spawn(async move {
        let answer = tokio::select! {
            biased;
            _ = cancelled => Err(rpc_errors::cancelled()),
            answer = call.answer(&shared) => answer,
        };
        // The agent may be gone.
        let _ = shared.agent.answer(&id, answer.as_deref()).await;
        drop(guard);
    });
    Ok(())
}

/// Takes `$/cancel_request` of the agent. Returns whether it names a `terminal/*` call in flight.
pub(crate) fn cancel(shared: &Shared, params: Option<&RawValue>) -> bool {
    let params = params.and_then(|params| Members::of(params.get()));
    let id = params.and_then(|params| params.get("requestId").map(RequestId::of));
    id.is_some_and(|id| shared.terminals.in_flight.cancel(&id))
}

//! `terminal/release`, called by the agent or by the proxy for what a session has left.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use serde_json::{Map, json};
use termd_client::ClientError;
use termd_client::escape::escaped;
use termd_client::refusal::kind_of;
use termd_proto::{ErrorKind, code};

use super::answer_meta::with_meta_of;
use super::daemon::{self, CallKind, Params};
use super::method::{Answer, Method};
use crate::options::DisplayMode;
use crate::rpc_errors::{self, ErrorObjectOwned};
use crate::shared::Shared;
use crate::stderr_log::log;
use crate::terminals::terminal::Terminal;

/// Longest release of all terminals: the daemon's grace before SIGKILL, and time to spare. The
/// daemon releases the others when the connections end.
const RELEASE_DEADLINE: Duration = Duration::from_secs(5);

/// Releases the terminals that a session has left, and withdraws the questions to its person.
pub(crate) async fn release_session(shared: &Arc<Shared>, session: &str) {
    shared.terminals.in_flight.cancel_creates(Some(session));
    shared.terminals.allowed.forget(session);
    let released = release_open(shared, Some(session));
    let _ = tokio::time::timeout(RELEASE_DEADLINE, released).await;
    shared.terminals.forget_views(session);
}

/// Releases the terminals of all sessions. From here on nothing is created.
pub(crate) async fn release_all(shared: &Arc<Shared>) {
    shared.terminals.is_ending.store(true, Ordering::Release);
    shared.terminals.in_flight.cancel_creates(None);
    let released = async {
        release_open(shared, None).await;
        shared.terminals.background.finished().await;
    };
    let _ = tokio::time::timeout(RELEASE_DEADLINE, released).await;
}

async fn release_open(shared: &Arc<Shared>, session: Option<&str>) {
    let open = shared.terminals.table.all_open(session);
    let mut releases: FuturesUnordered<_> = (open.into_iter())
        .map(|terminal| tokio::spawn(release_in_background(shared, terminal)))
        .collect();
    while releases.next().await.is_some() {}
}

/// Releases a terminal that the agent does not ask about, and logs a failure. Run it in a task, since
/// writing lines is not cancel safe.
pub(super) fn release_in_background(
    shared: &Arc<Shared>,
    terminal: Arc<Terminal>,
) -> impl Future<Output = ()> + use<> {
    let shared = Arc::clone(shared);
    let task = shared.terminals.background.begin();
    async move {
        let released = match params_of(&terminal) {
            Ok(params) => release(&shared, &terminal, &params).await.map(drop),
            Err(refused) => Err(refused),
        };
        if let Err(refused) = released
            && refused.code() != code::RESOURCE_NOT_FOUND
        {
            let message = escaped(refused.message());
            log(&format!("cannot release {}: {message}", terminal.id));
        }
        drop(task);
    }
}

/// Releases a terminal, after keeping its last view.
pub(super) async fn release(
    shared: &Arc<Shared>,
    terminal: &Arc<Terminal>,
    params: &Params,
) -> Answer {
    if shared.capabilities.display() == DisplayMode::Text {
        shared.terminals.keep_view(&shared.pool, terminal).await;
    }
    let method = Method::Release.name();
    let mut released = daemon::call(&shared.pool, CallKind::Once, method, params).await;
    if matches!(released, Err(ClientError::InDoubt)) {
        released = daemon::call(&shared.pool, CallKind::Once, method, params).await;
        if matches!(&released, Err(ClientError::Refused(refusal)) if is_not_found(refusal)) {
            // The first call was carried out.
            released = with_meta_of(params, Map::new()).map_err(ClientError::Refused);
        }
    }
    let is_gone = match &released {
        Ok(_) => true,
        Err(ClientError::Refused(refusal)) => is_not_found(refusal),
        Err(_) => false,
    };
    if is_gone {
        shared.terminals.table.release(terminal);
        // Without a connection there is no binding to undo.
        let _ = shared.pool.stop_holding(&terminal.id);
    }
    released.map_err(rpc_errors::of_daemon)
}

/// The params that name a terminal.
pub(super) fn params_of(terminal: &Terminal) -> Result<Params, ErrorObjectOwned> {
    let params = json!({ "sessionId": terminal.session, "terminalId": terminal.id });
    Params::of(params.to_string())
}

pub(super) fn is_not_found(refusal: &ErrorObjectOwned) -> bool {
    refusal.code() == code::RESOURCE_NOT_FOUND
        && kind_of(refusal) == Some(ErrorKind::TerminalNotFound)
}

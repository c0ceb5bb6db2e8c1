//! Learning a terminal's exit, and ending what runs too long.

use std::sync::Arc;

use serde_json::json;
use termd_client::ClientError;
use termd_proto::TerminalRef;
use termd_proto::acp::WaitForTerminalExitRequest;
use termd_proto::terminal::{ExitStatus, ShowTerminal, TerminalInfo, TerminalState};

use super::super::{Shared, proxy};
use super::daemon::{self, How, Params};
use super::tracked::{Entry, UNKNOWN};

/// Watches one terminal until its command has ended; then whoever waits for `ended` knows. It is
/// one wait in the daemon, and goes on with the next server.
pub(super) fn start(shared: &Arc<Shared>, entry: &Arc<Entry>) {
    let (shared, entry) = (Arc::clone(shared), Arc::clone(entry));
    tokio::spawn(async move {
        let exit = async {
            let status = exit(&shared, &entry).await;
            entry.learn(status);
        };
        tokio::pin!(exit);
        match entry.timeout {
            None => exit.await,
            Some(timeout) => {
                if tokio::time::timeout(timeout, &mut exit).await.is_err() {
                    // The wait goes on beside it: a kill takes its grace.
                    tokio::join!(end_overdue(&shared, &entry), exit);
                }
            }
        }
    });
}

/// How it has ended, however long that takes.
async fn exit(shared: &Shared, entry: &Entry) -> ExitStatus {
    let (session, id) = (&entry.tracked.session, &entry.tracked.id);
    let waited = shared
        .pool
        .wait(&WaitForTerminalExitRequest {
            session_id: session.clone(),
            terminal_id: id.to_string(),
            meta: None,
        })
        .await;
    match waited {
        Ok(exited) => ExitStatus {
            exit_code: exited.status.exit_code,
            signal: exited.status.signal,
        },
        // Released, or closed by a person, before this wait got there: its record says how.
        Err(ClientError::Refused(_)) => {
            let shown = show(shared, entry).await;
            shown
                .ok()
                .and_then(|info| info.exit_status)
                .unwrap_or(UNKNOWN)
        }
        // The daemon is gone, and what it ran with it.
        Err(_) => UNKNOWN,
    }
}

/// The terminal as the daemon knows it, also once it is closed.
pub(super) async fn show(shared: &Shared, entry: &Entry) -> Result<TerminalInfo, ClientError> {
    let id = &entry.tracked.id;
    shared
        .pool
        .repeat(&ShowTerminal {
            id: TerminalRef::from(id),
        })
        .await
}

async fn end_overdue(shared: &Shared, entry: &Entry) {
    // One that has ended by itself meanwhile was not ended by us.
    let shown = show(shared, entry).await;
    if shown.is_ok_and(|info| info.state != TerminalState::Running) {
        return;
    }
    entry.time_is_over();
    let named = json!({ "sessionId": entry.tracked.session, "terminalId": entry.tracked.id });
    let Ok(params) = Params::of(named.to_string()) else {
        return;
    };
    if let Err(error) = daemon::call(&shared.pool, How::Repeat, "terminal/kill", &params).await {
        let id = &entry.tracked.id;
        proxy::log(&format!("cannot end {id}, which has run too long: {error}"));
    }
}

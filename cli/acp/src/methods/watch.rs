//! Learns the exit of a terminal, and ends a command that runs too long.

use std::sync::Arc;

use termd_client::ClientError;
use termd_proto::TerminalRef;
use termd_proto::acp::WaitForTerminalExitRequest;
use termd_proto::terminal::{ExitStatus, ShowTerminal, TerminalInfo, TerminalState};

use super::daemon::{self, CallKind};
use super::method::Method;
use super::release::params_of;
use crate::shared::Shared;
use crate::stderr_log::log;
use crate::terminals::terminal::{Terminal, UNKNOWN};

/// Watches a terminal until its command has ended, by one wait in the daemon. The wait survives a
/// replaced server.
pub(super) fn start(shared: &Arc<Shared>, terminal: &Arc<Terminal>) {
    let (shared, terminal) = (Arc::clone(shared), Arc::clone(terminal));
    tokio::spawn(async move {
        let exit = async {
            let status = exit_status(&shared, &terminal).await;
            terminal.record_exit(status);
        };
        tokio::pin!(exit);
        match terminal.timeout {
            None => exit.await,
            Some(timeout) => {
                if tokio::time::timeout(timeout, &mut exit).await.is_err() {
                    // A kill takes its grace: the wait goes on beside it.
                    tokio::join!(end_overdue(&shared, &terminal), exit);
                }
            }
        }
    });
}

/// Waits for the exit status, however long that takes.
async fn exit_status(shared: &Shared, terminal: &Terminal) -> ExitStatus {
    let waited = shared
        .pool
        .wait(&WaitForTerminalExitRequest {
            session_id: terminal.session.clone(),
            terminal_id: terminal.id.to_string(),
            meta: None,
        })
        .await;
    match waited {
        Ok(exited) => ExitStatus {
            exit_code: exited.status.exit_code,
            signal: exited.status.signal,
        },
        // Released, or closed by a person, before the wait began: the record has the status.
        Err(ClientError::Refused(_)) => {
            let shown = show(shared, terminal).await;
            shown
                .ok()
                .and_then(|info| info.exit_status)
                .unwrap_or(UNKNOWN)
        }
        // The daemon is gone with everything that it ran.
        Err(_) => UNKNOWN,
    }
}

/// Reads the daemon's record of a terminal, which it has after a close as well.
pub(super) async fn show(
    shared: &Shared,
    terminal: &Terminal,
) -> Result<TerminalInfo, ClientError> {
    shared
        .pool
        .repeat(&ShowTerminal {
            id: TerminalRef::from(&terminal.id),
        })
        .await
}

async fn end_overdue(shared: &Shared, terminal: &Terminal) {
    // The command may have ended by itself meanwhile.
    let shown = show(shared, terminal).await;
    if shown.is_ok_and(|info| info.state != TerminalState::Running) {
        return;
    }
    terminal.mark_timed_out();
    let Ok(params) = params_of(terminal) else {
        return;
    };
    let method = Method::Kill.name();
    if let Err(error) = daemon::call(&shared.pool, CallKind::Repeat, method, &params).await {
        let id = &terminal.id;
        log(&format!("cannot end {id}, which has run too long: {error}"));
    }
}

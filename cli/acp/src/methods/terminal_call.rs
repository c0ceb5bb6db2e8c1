//! `terminal/output`, `wait_for_exit`, `kill` and `release` for terminals that were created here.

use std::sync::Arc;
use std::time::Duration;

use serde_json::value::RawValue;
use serde_json::{Map, json};
use termd_client::ClientError;
use termd_proto::terminal::ExitStatus;

use super::answer_meta::{with_cause, with_limit, with_meta_of};
use super::daemon::{self, CallKind, Params};
use super::method::{Answer, Method};
use super::release::{is_not_found, release};
use super::watch::show;
use crate::rpc_errors::{self, ErrorObjectOwned};
use crate::shared::Shared;
use crate::terminals::terminal::Terminal;
use crate::wire::message::Members;

/// The params that these methods have.
const PARAMS: [&str; 3] = ["sessionId", "terminalId", "_meta"];
/// Longest wait for the exit that a kill has brought about.
const EXIT_DEADLINE: Duration = Duration::from_secs(1);

/// A call about one terminal. The terminal is found when the call is read, so a later call cannot
/// overtake it.
#[derive(Debug)]
pub(super) struct TerminalCall {
    method: Method,
    params: Params,
    /// Absent if the params name none; the daemon then describes the error.
    terminal: Option<Arc<Terminal>>,
}

impl TerminalCall {
    pub(super) fn method(&self) -> Method {
        self.method
    }

    /// Reads the params and finds the terminal.
    pub(super) fn read(
        shared: &Shared,
        method: Method,
        params: &str,
    ) -> Result<Self, ErrorObjectOwned> {
        let members = Members::of(params).unwrap_or_default();
        let (session, id) = (members.string("sessionId"), members.string("terminalId"));
        let terminal = match (session, id) {
            (Some(session), Some(id)) => {
                let found = shared.terminals.table.open(&session, &id);
                Some(found.ok_or_else(|| rpc_errors::not_found(&id))?)
            }
            _ => None,
        };
        Ok(Self {
            method,
            params: Params::known(&members, &PARAMS)?,
            terminal,
        })
    }

    /// Calls the daemon, and completes its answer for the agent.
    pub(super) async fn answer(self, shared: &Arc<Shared>) -> Answer {
        let call = || {
            let method = self.method.name();
            daemon::answer(&shared.pool, CallKind::Repeat, method, &self.params)
        };
        let Some(terminal) = &self.terminal else {
            return call().await;
        };
        match self.method {
            Method::WaitForExit => wait(shared, terminal, &self.params).await,
            Method::Kill => {
                let killed = call().await?;
                // After the answer the terminal no longer counts for --max-terminals.
                let _ = tokio::time::timeout(EXIT_DEADLINE, terminal.exit_status()).await;
                Ok(killed)
            }
            Method::Release => {
                let (shared, terminal) = (Arc::clone(shared), Arc::clone(terminal));
                let task = shared.terminals.background.begin();
                // A task of its own: a release that has begun is finished even if the agent cancels.
                let released = tokio::spawn(async move {
                    let answer = release(&shared, &terminal, &self.params).await;
                    drop(task);
                    answer
                });
                released.await.unwrap_or_else(|_| Err(rpc_errors::ending()))
            }
            Method::Output | Method::Create => {
                let output = call().await?;
                let members = Members::of(output.get()).unwrap_or_default();
                let Some(status) = members.object("exitStatus") else {
                    return Ok(output);
                };
                terminal.record_exit(status_of(&status));
                Ok(with_cause(output, terminal))
            }
        }
    }
}

async fn wait(shared: &Shared, terminal: &Terminal, params: &Params) -> Answer {
    let method = Method::WaitForExit.name();
    let exit = match daemon::call(&shared.pool, CallKind::Wait, method, params).await {
        Ok(exit) => exit,
        // The terminal was open when the call was read: a release has overtaken the wait.
        Err(ClientError::Refused(refusal)) if is_not_found(&refusal) => {
            let status = terminal.exit_status().await;
            let mut exit = Map::new();
            exit.insert("exitCode".to_owned(), json!(status.exit_code));
            exit.insert("signal".to_owned(), json!(status.signal));
            let shown = show(shared, terminal).await.ok();
            with_limit(
                with_meta_of(params, exit)?,
                shown.and_then(|info| info.end_cause),
            )
        }
        Err(error) => return Err(rpc_errors::of_daemon(error)),
    };
    terminal.record_exit(status_of(&Members::of(exit.get()).unwrap_or_default()));
    Ok(with_cause(exit, terminal))
}

fn status_of(members: &Members<'_>) -> ExitStatus {
    let read = |name: &str| members.get(name).map_or("null", RawValue::get);
    ExitStatus {
        exit_code: serde_json::from_str(read("exitCode")).unwrap_or_default(),
        signal: members.string("signal"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_are_read() {
        let table = [
            (r#"{"exitCode":3,"signal":null}"#, (Some(3), None)),
            (
                r#"{"exitCode":null,"signal":"SIGKILL"}"#,
                (None, Some("SIGKILL")),
            ),
            ("{}", (None, None)),
        ];
        for (text, (exit_code, signal)) in table {
            let got = status_of(&Members::of(text).unwrap());
            let signal = signal.map(str::to_owned);
            assert_eq!(got, ExitStatus { exit_code, signal });
        }
    }
}

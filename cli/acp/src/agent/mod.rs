//! Starts the agent, and ends it with everything that it started.
//!
//! ```text
//! Forwarding ─ the client sends no more, ──────▶ Leaving ─ 2 s ─▶ Ending ─ nothing is left ─▶ Over
//!    │         the agent sends or reads no more     │             ▲
//!    ├──────── a signal; the client reads no more ──┼─────────────┘
//!    └──────── the agent and its children ended ────┴──────────────────────────────────────▶ Over
//! ```
//!
//! In each state the agent's lines are forwarded as long as the client reads them. The [`supervisor`]
//! ends the processes, even if this process is killed.

mod process_tree;
mod signals;
pub(crate) mod supervisor;

use std::ffi::OsString;
use std::future::Future;
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::pin::{Pin, pin};
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tokio::io::AsyncRead;
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

use crate::error::AcpError;
use crate::exit_code::AgentExitCode;
use crate::methods;
use crate::proxy::{Party, Proxy};
use crate::stderr_log::log;

use signals::EndSignals;

/// Time for the agent to end by itself after the client's end. Clients kill after about 2 s.
const LEAVE: Duration = Duration::from_secs(2);
/// The supervisor ends within this, whatever the agent has started.
const ENDING_LIMIT: Duration = Duration::from_secs(8);
/// Longest forwarding of the rest of the pipe after the end. A slow client gets the rest. A client that
/// never reads, or a daemon that inherited the pipe, does not delay the exit for ever.
const DRAIN_LIMIT: Duration = Duration::from_secs(5);
/// Longest release of the terminals that are left: the daemon's grace, and a little more.
const RELEASE_LIMIT: Duration = Duration::from_secs(5);

/// The agent, behind its supervisor.
#[derive(Debug)]
pub(crate) struct Agent {
    supervisor: Child,
}

/// Why forwarding in both directions has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cause {
    /// One side sends no more, or the agent reads no more. The agent may end by itself.
    Closed,
    /// A signal came, or the client reads no more. Nothing is waited for.
    Interrupted,
    /// The agent has ended with everything that it started.
    Over(AgentExitCode),
}

/// Forwards lines from the agent to the client until they end.
struct AgentLines<F> {
    forward: Pin<Box<F>>,
    is_over: bool,
}

impl<F: Future<Output = io::Result<()>>> AgentLines<F> {
    fn new(forward: F) -> Self {
        Self {
            forward: Box::pin(forward),
            is_over: false,
        }
    }

    /// Forwards lines until they end; after that it never returns.
    async fn next_end(&mut self) -> Cause {
        if self.is_over {
            return std::future::pending().await;
        }
        let result = self.forward.as_mut().await;
        self.is_over = true;
        match result {
            Ok(()) => Cause::Closed,
            Err(_) => Cause::Interrupted,
        }
    }

    /// Forwards lines while another future runs.
    async fn beside<T>(&mut self, other: impl Future<Output = T>) -> T {
        let mut other = pin!(other);
        loop {
            tokio::select! {
                biased;
                result = &mut other => return result,
                _ = self.next_end() => {}
            }
        }
    }
}

impl Agent {
    /// Starts the agent, which shares the standard error of this process.
    pub(crate) fn start(argv: &[OsString]) -> Result<(Self, ChildStdout, ChildStdin), AcpError> {
        // PR_SET_PDEATHSIG reports the end of the thread that started a child, so this must run on the
        // main thread.
        let mut supervisor =
            Command::new(std::env::current_exe().map_err(AcpError::SupervisorStart)?)
                .arg("acp-agent")
                .arg("--parent")
                .arg(std::process::id().to_string())
                .arg("--")
                .args(argv)
                // The supervisor outlives this process, so a signal to the group must not reach it.
                .process_group(0)
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .map_err(AcpError::SupervisorStart)?;
        let from = supervisor
            .stdout
            .take()
            .ok_or(AcpError::Unpiped("output"))?;
        let to = supervisor.stdin.take().ok_or(AcpError::Unpiped("input"))?;
        Ok((Self { supervisor }, from, to))
    }

    /// Forwards lines until the agent has ended; returns its exit code.
    pub(crate) async fn serve<R: AsyncRead + Unpin>(
        mut self,
        proxy: &Arc<Proxy>,
        from_client: R,
        from_agent: ChildStdout,
    ) -> Result<AgentExitCode, AcpError> {
        let mut signals = EndSignals::listen()?;
        let mut lines = AgentLines::new(proxy.forward(Party::Agent, from_agent));
        let mut cause = tokio::select! {
            // Ends with the client's stream or the agent's: in both cases the agent reads no more.
            _ = proxy.forward(Party::Client, from_client) => Cause::Closed,
            cause = lines.next_end() => cause,
            () = signals.next() => Cause::Interrupted,
            code = self.ended() => Cause::Over(code),
        };
        // A task of its own, since a line that is being written delays the close.
        let closing = Arc::clone(&proxy.shared);
        tokio::spawn(async move { closing.agent.close().await });
        if cause == Cause::Closed {
            cause = self.leave(&mut lines, &mut signals).await;
        }
        let release = async {
            if timeout(RELEASE_LIMIT, methods::release_all(&proxy.shared))
                .await
                .is_err()
            {
                log("the daemon did not release all terminals in time");
            }
        };
        let code = match cause {
            Cause::Over(code) => {
                lines.beside(release).await;
                code
            }
            Cause::Closed | Cause::Interrupted => {
                let ending = async { tokio::join!(self.end(), release).0 };
                lines.beside(ending).await
            }
        };
        if !lines.is_over {
            // Ends when the rest is forwarded, or the client has closed its end.
            let _ = timeout(DRAIN_LIMIT, lines.next_end()).await;
        }
        Ok(code)
    }

    /// Gives the agent time to end by itself.
    async fn leave<F: Future<Output = io::Result<()>>>(
        &mut self,
        lines: &mut AgentLines<F>,
        signals: &mut EndSignals,
    ) -> Cause {
        let mut time = pin!(tokio::time::sleep(LEAVE));
        loop {
            let cause = tokio::select! {
                code = self.ended() => return Cause::Over(code),
                () = &mut time => return Cause::Interrupted,
                () = signals.next() => return Cause::Interrupted,
                cause = lines.next_end() => cause,
            };
            if cause == Cause::Interrupted {
                return cause;
            }
        }
    }

    /// Makes the supervisor end everything.
    async fn end(&mut self) -> AgentExitCode {
        // The supervisor was not waited for yet, so its pid cannot be reused.
        let pid = self
            .supervisor
            .id()
            .and_then(|pid| Pid::from_raw(pid.cast_signed()));
        if let Some(pid) = pid {
            let _ = kill_process(pid, Signal::TERM);
        }
        timeout(ENDING_LIMIT, self.ended())
            .await
            .unwrap_or(AgentExitCode::SIGTERM)
    }

    /// Waits until everything has ended. Cancel safe.
    async fn ended(&mut self) -> AgentExitCode {
        self.supervisor
            .wait()
            .await
            .map_or(AgentExitCode::FAILED, code_of)
    }
}

/// The supervisor's exit code is the agent's.
fn code_of(status: ExitStatus) -> AgentExitCode {
    match (status.code(), status.signal()) {
        (Some(code), _) => AgentExitCode::of_exit(code),
        (None, Some(signal)) => AgentExitCode::of_signal(signal),
        (None, None) => AgentExitCode::FAILED,
    }
}

//! The agent's process: started here, and ended here with all that it started.
//!
//! ```text
//! Passing ─ the client says no more ───▶ Leaving ─ 2 s ─▶ Ending ─ nothing is left ─▶ Over
//!    │      the agent says or hears no more    │             ▲
//!    ├───── a signal; the client hears no more ┼─────────────┘
//!    └───── the agent and all of it has ended ─┴───────────────────────────────────▶ Over
//! ```
//!
//! In each of them what the agent says is passed on, as long as the client takes it. The processes
//! are the [`supervisor`]'s to end, which does so also where this process is killed.

pub(super) mod supervisor;
mod told;
mod tree;

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

use self::told::Told;
use super::Shared;
use super::proxy::{self, Party};
use crate::error::AcpError;
use crate::exit_code::AgentExitCode;

/// After the client's last word the agent may go on so long: clients kill about 2 s after it.
const LEAVE: Duration = Duration::from_secs(2);
/// Between SIGTERM and SIGKILL: what the daemon gives terminals, too.
const GRACE: Duration = Duration::from_millis(1_500);
/// SIGKILL takes effect at once, but for a process in the kernel's depths: given up after this.
const KILL_LIMIT: Duration = Duration::from_secs(5);
/// The supervisor is done by then, whatever the agent has started.
const ENDING_LIMIT: Duration = Duration::from_secs(8);
/// When all has ended, what is in the pipe is passed on for so long: a client that is slow gets it,
/// and one that never reads, or a daemon that has inherited the pipe, holds up nobody for ever.
const DRAIN_LIMIT: Duration = Duration::from_secs(5);
/// For the terminals that sessions have left: ending one takes the daemon its grace and a little.
const SWEEP_LIMIT: Duration = Duration::from_secs(5);

/// The agent, by its supervisor.
#[derive(Debug)]
pub(super) struct Agent {
    supervisor: Child,
}

/// Why lines are not passed both ways any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cause {
    /// One side says no more, or the agent hears no more: it may go by itself.
    Parting,
    /// We are to end, or the client hears no more: nothing is waited for.
    Told,
    /// The agent has ended, and all that it started.
    Over(AgentExitCode),
}

/// Lines from the agent to the client, for as long as there are any.
struct Saying<F> {
    lines: Pin<Box<F>>,
    /// How it ended.
    over: Option<io::Result<()>>,
}

impl<F: Future<Output = io::Result<()>>> Saying<F> {
    fn new(lines: F) -> Self {
        Self {
            lines: Box::pin(lines),
            over: None,
        }
    }

    /// Passes lines on until there are no more; for ever, where that has been told before.
    async fn next_end(&mut self) -> Cause {
        if self.over.is_some() {
            return std::future::pending().await;
        }
        let over = self.lines.as_mut().await;
        let cause = match over {
            Ok(()) => Cause::Parting,
            Err(_) => Cause::Told,
        };
        self.over = Some(over);
        cause
    }

    /// Passes lines on while something else is under way.
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
    /// Starts it, its standard error being ours.
    pub(super) fn start(argv: &[OsString]) -> Result<(Self, ChildStdout, ChildStdin), AcpError> {
        // From this thread, the first one: the kernel tells a child of the end of the thread that
        // started it (PR_SET_PDEATHSIG).
        let mut supervisor =
            Command::new(std::env::current_exe().map_err(AcpError::SupervisorStart)?)
                .arg("acp-agent")
                .arg("--parent")
                .arg(std::process::id().to_string())
                .arg("--")
                .args(argv)
                // A signal to our group is ours: the supervisor has to outlive us.
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

    /// Passes lines on until the agent has ended; its exit code.
    pub(super) async fn serve<R: AsyncRead + Unpin>(
        mut self,
        shared: &Arc<Shared>,
        from_client: R,
        from_agent: ChildStdout,
    ) -> Result<AgentExitCode, AcpError> {
        let mut told = Told::listen()?;
        let mut saying = Saying::new(proxy::pass(shared, Party::Agent, from_agent));
        let mut cause = tokio::select! {
            // Neither what the client asks for nor what the agent takes is told apart: in both
            // cases the agent hears no more.
            _ = proxy::pass(shared, Party::Client, from_client) => Cause::Parting,
            cause = saying.next_end() => cause,
            () = told.next() => Cause::Told,
            code = self.ended() => Cause::Over(code),
        };
        // A line that is being written holds this up, and that must hold up nothing else.
        let closing = Arc::clone(shared);
        tokio::spawn(async move { closing.agent.close().await });
        if cause == Cause::Parting {
            cause = self.leave(&mut saying, &mut told).await;
        }
        let sweep = async {
            if timeout(SWEEP_LIMIT, shared.terminals.sweep(shared))
                .await
                .is_err()
            {
                proxy::log("the daemon did not release all terminals in time");
            }
        };
        let code = match cause {
            Cause::Over(code) => {
                saying.beside(sweep).await;
                code
            }
            Cause::Parting | Cause::Told => {
                let ending = async { tokio::join!(self.end(), sweep).0 };
                saying.beside(ending).await
            }
        };
        if saying.over.is_none() {
            // Either it is all passed on, or nobody takes it.
            let _ = timeout(DRAIN_LIMIT, saying.next_end()).await;
        }
        Ok(code)
    }

    /// Gives it time to go by itself.
    async fn leave<F: Future<Output = io::Result<()>>>(
        &mut self,
        saying: &mut Saying<F>,
        told: &mut Told,
    ) -> Cause {
        let mut time = pin!(tokio::time::sleep(LEAVE));
        loop {
            let cause = tokio::select! {
                code = self.ended() => return Cause::Over(code),
                () = &mut time => return Cause::Told,
                () = told.next() => return Cause::Told,
                cause = saying.next_end() => cause,
            };
            if cause == Cause::Told {
                return cause;
            }
        }
    }

    /// Has all of it ended, by the supervisor.
    async fn end(&mut self) -> AgentExitCode {
        // Not waited for yet, so the number is still its own.
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

    /// Waits until all of it has ended. May be dropped, and asked again.
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

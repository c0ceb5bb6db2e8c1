//! `termctl acp-agent`: the process between the proxy and the agent. However either ends, it ends
//! everything that the agent has started.
//!
//! ```text
//! termctl acp ◀─ pipes ─▶ agent        no byte passes here
//!      └─ termctl acp-agent (subreaper)
//!            └─ agent ─ … its children; orphans become children of the subreaper
//! ```
//!
//! The kernel reports the proxy's death (`PR_SET_PDEATHSIG`). After that, or after the agent's end or
//! SIGTERM, everything below gets SIGTERM, a grace, and SIGKILL until nothing is left. Processes that
//! left the agent's group or session, or lost their parent, are included. Exempt is a termd that the
//! agent started through `termctl`, with everything below it, since others use it too. The supervisor
//! neither reads nor writes the agent's input and output.

use std::collections::HashSet;
use std::io::ErrorKind;
use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitOptions, WaitStatus, getpid, getppid, set_child_subreaper,
    set_parent_process_death_signal, wait,
};
use termd_client::escape::escaped;
use termd_client::socket_path;
use tokio::net::UnixStream;
use tokio::time::{Instant, sleep, timeout};

use super::process_tree::ProcessTree;
use super::signals::{ChildSignals, EndSignals};
use crate::error::AcpError;
use crate::exit_code::AgentExitCode;
use crate::options::SupervisorOptions;
use crate::stderr_log::log;

/// Time between SIGTERM and SIGKILL; the daemon gives terminals the same.
const GRACE: Duration = Duration::from_millis(1_500);
/// Time for SIGKILL to take effect. A process within the kernel may take longer, and is given up.
const KILL_LIMIT: Duration = Duration::from_secs(5);

/// Interval of reading `/proc`: only the end of a child is signalled, not that of its children.
const READ_INTERVAL: Duration = Duration::from_millis(10);
/// Reads of `/proc` in a row that must find nothing. One read may miss a process whose parent ends
/// meanwhile.
const EMPTY_READS: u32 = 3;
/// Longest wait for a daemon whose backlog is full.
const KEEPER_LIMIT: Duration = Duration::from_millis(500);

/// The agent and its exit status.
#[derive(Debug)]
struct Supervisor {
    agent: Pid,
    ended: Option<WaitStatus>,
}

/// Whether there are children left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Left {
    Some,
    /// Orphans become children of the subreaper, so there are no further descendants either.
    None,
}

/// Starts the agent, waits for its end or a signal, and ends everything that it started. Returns the
/// agent's exit code.
pub(crate) async fn supervise(args: &SupervisorOptions) -> Result<AgentExitCode, AcpError> {
    // First, so that no signal is missed.
    let mut signals = EndSignals::listen()?;
    let mut children = ChildSignals::listen()?;
    let system = |what| move |error: Errno| AcpError::SupervisorSetup(what, error.into());
    set_child_subreaper(Some(getpid())).map_err(system("cannot become a subreaper"))?;
    set_parent_process_death_signal(Some(Signal::TERM))
        .map_err(system("cannot be told of the parent's end"))?;
    if getppid().map(Pid::as_raw_pid) != Some(args.parent) {
        // The parent ended before its death signal was requested.
        return Ok(AgentExitCode::SIGTERM);
    }
    let mut supervisor = match start(&args.agent) {
        Ok(agent) => Supervisor { agent, ended: None },
        Err(code) => return Ok(code),
    };
    // The agent alone keeps the pipes, so that each side sees when the other closes its end.
    let null = std::fs::File::open("/dev/null")
        .map_err(|error| AcpError::SupervisorSetup("cannot open /dev/null", error))?;
    rustix::stdio::dup2_stdin(&null).map_err(system("cannot let go of standard input"))?;
    rustix::stdio::dup2_stdout(&null).map_err(system("cannot let go of standard output"))?;

    let mut is_signalled = false;
    while supervisor.ended.is_none() && !is_signalled {
        tokio::select! {
            () = children.changed() => { supervisor.reap(); }
            () = signals.next() => is_signalled = true,
        }
    }
    let was_ended_here = supervisor.ended.is_none();
    supervisor.end_all(&mut children).await;
    Ok(match supervisor.ended {
        Some(status) => code_of(status, was_ended_here),
        None => AgentExitCode::SIGTERM,
    })
}

/// Starts the agent in a process group of its own. execve(2) resets handled signals, so the agent
/// starts with the defaults.
fn start(argv: &[std::ffi::OsString]) -> Result<Pid, AgentExitCode> {
    let (program, arguments) = argv.split_first().ok_or(AgentExitCode::USAGE)?;
    let started = Command::new(program)
        .args(arguments)
        .process_group(0)
        .spawn();
    let error = match started {
        Ok(child) => match Pid::from_raw(child.id().cast_signed()) {
            // `child` is not waited for: `reap` reaps every child, orphans too.
            Some(pid) => return Ok(pid),
            None => return Err(AgentExitCode::FAILED),
        },
        Err(error) => error,
    };
    let shown = escaped(&program.to_string_lossy());
    log(&format!("cannot start {shown}: {error}"));
    Err(if error.kind() == ErrorKind::NotFound {
        AgentExitCode::NOT_FOUND
    } else {
        AgentExitCode::NOT_EXECUTABLE
    })
}

impl Supervisor {
    /// Reaps all children that have ended.
    fn reap(&mut self) -> Left {
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) if pid == self.agent => self.ended = Some(status),
                Ok(Some(_)) | Err(Errno::INTR) => {}
                Ok(None) => return Left::Some,
                Err(_) => return Left::None,
            }
        }
    }

    /// Ends all descendants, until none is left or SIGKILL has no effect.
    async fn end_all(&mut self, children: &mut ChildSignals) {
        let begun = Instant::now();
        let own = getpid().as_raw_pid();
        let mut signalled = HashSet::new();
        let mut empty_reads = 0;
        while self.reap() == Left::Some && empty_reads < EMPTY_READS {
            let processes = ProcessTree::read();
            let mut found = processes.below(own, None);
            if !found.is_empty() {
                found = processes.below(own, keeper().await);
            }
            if found.is_empty() {
                empty_reads += 1;
                // A child may have become a zombie since the last reaping.
                tokio::task::yield_now().await;
                continue;
            }
            empty_reads = 0;
            let since = begun.elapsed();
            if since > GRACE + KILL_LIMIT {
                let count = found.len();
                log(&format!("{count} of the agent's processes cannot be ended"));
                return;
            }
            for process in found {
                if since >= GRACE {
                    process.signal(&[Signal::KILL]);
                } else if signalled.insert(process) {
                    // A stopped process handles SIGTERM only after SIGCONT.
                    process.signal(&[Signal::TERM, Signal::CONT]);
                }
            }
            tokio::select! {
                () = children.changed() => {}
                () = sleep(READ_INTERVAL) => {}
            }
        }
    }
}

/// The pid of this user's keeper, if one listens. A connection's `SO_PEERCRED` is the process that
/// called listen(2) (unix(7)), and that is the keeper.
async fn keeper() -> Option<i32> {
    let socket = socket_path::socket_path().ok()?;
    let begun = Instant::now();
    loop {
        match timeout(KEEPER_LIMIT, UnixStream::connect(&socket))
            .await
            .ok()?
        {
            Ok(stream) => return stream.peer_cred().ok()?.pid(),
            Err(error)
                if error.kind() == ErrorKind::WouldBlock && begun.elapsed() < KEEPER_LIMIT =>
            {
                sleep(READ_INTERVAL).await;
            }
            Err(_) => return None,
        }
    }
}

/// The agent's exit code as a shell shows it. An agent that was ended here counts as ended by SIGTERM,
/// even if it took SIGKILL.
fn code_of(status: WaitStatus, was_ended_here: bool) -> AgentExitCode {
    if let Some(code) = status.exit_status() {
        return AgentExitCode::of_exit(code);
    }
    let signal = status.terminating_signal().unwrap_or_default();
    if was_ended_here && signal == Signal::KILL.as_raw() {
        return AgentExitCode::SIGTERM;
    }
    AgentExitCode::of_signal(signal)
}

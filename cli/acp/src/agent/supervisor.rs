//! `termctl acp-agent`: the process between the proxy and the agent, which ends all that the agent
//! has started, in whatever way the proxy or the agent ends.
//!
//! ```text
//! termctl acp ◀─ pipes ─▶ agent        no byte passes here
//!      └─ termctl acp-agent (subreaper)
//!            └─ agent ─ … what it starts; what loses its parent comes here
//! ```
//!
//! It promises: the proxy's death is told by the kernel (`PR_SET_PDEATHSIG`), however it died; then,
//! or at the agent's end, or on SIGTERM, everything below gets SIGTERM, a grace, and SIGKILL, until
//! nothing is left: what has left the agent's group or session, or lost its parent, too. Exempt is
//! a termd that the agent has started by way of `termctl`, with all below it: it must outlive whoever
//! needed it first. It must not read or write a byte of the agent's input and output.

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

use super::told::{Children, Told};
use super::tree::Processes;
use super::{GRACE, KILL_LIMIT};
use crate::error::AcpError;
use crate::exit_code::AgentExitCode;
use crate::options::SupervisorOptions;
use crate::proxy::log;

/// A process that is no child of ours ends without our being told: looked at again this often.
const LOOK_AGAIN: Duration = Duration::from_millis(10);
/// So many looks in a row that find nothing are believed: a process whose parent ends during a look
/// may be missed by one.
const LOOKS: u32 = 3;
/// How long a daemon whose backlog is full is asked who it is.
const KEEPER_LIMIT: Duration = Duration::from_millis(500);

/// What is known of the agent.
#[derive(Debug)]
struct Held {
    agent: Pid,
    ended: Option<WaitStatus>,
}

/// Whether there are children yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Left {
    /// There are some.
    Some,
    /// There are none; as orphans come here, nothing is below either.
    None,
}

/// Starts the agent, waits for its end or ours, and ends all that it started; its exit code.
pub(crate) async fn hold(args: &SupervisorOptions) -> Result<AgentExitCode, AcpError> {
    // In this order: nothing that is told from now on is missed.
    let mut told = Told::listen()?;
    let mut children = Children::listen()?;
    let system = |what| move |error: Errno| AcpError::SupervisorSetup(what, error.into());
    set_child_subreaper(Some(getpid())).map_err(system("cannot become a subreaper"))?;
    set_parent_process_death_signal(Some(Signal::TERM))
        .map_err(system("cannot be told of the parent's end"))?;
    if getppid().map(Pid::as_raw_pid) != Some(args.parent) {
        // It has ended before the kernel was asked to tell.
        return Ok(AgentExitCode::SIGTERM);
    }
    let mut held = match start(&args.agent) {
        Ok(agent) => Held { agent, ended: None },
        Err(code) => return Ok(code),
    };
    // The ends of the pipes are the agent's alone: each side is to see when the other closes.
    let null = std::fs::File::open("/dev/null")
        .map_err(|error| AcpError::SupervisorSetup("cannot open /dev/null", error))?;
    rustix::stdio::dup2_stdin(&null).map_err(system("cannot let go of standard input"))?;
    rustix::stdio::dup2_stdout(&null).map_err(system("cannot let go of standard output"))?;

    let mut is_told = false;
    while held.ended.is_none() && !is_told {
        tokio::select! {
            () = children.changed() => { held.reap(); }
            () = told.next() => is_told = true,
        }
    }
    let was_ended_here = held.ended.is_none();
    held.end_all(&mut children).await;
    Ok(match held.ended {
        Some(status) => code_of(status, was_ended_here),
        None => AgentExitCode::SIGTERM,
    })
}

/// Starts the agent in a process group of its own. Signals that are ignored here have handlers by
/// now, and what has a handler is default again in what is started (execve(2)).
fn start(argv: &[std::ffi::OsString]) -> Result<Pid, AgentExitCode> {
    let (program, arguments) = argv.split_first().ok_or(AgentExitCode::USAGE)?;
    let started = Command::new(program)
        .args(arguments)
        .process_group(0)
        .spawn();
    let error = match started {
        Ok(child) => match Pid::from_raw(child.id().cast_signed()) {
            // Not waited for through `child`: one place reaps, and it reaps orphans too.
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

impl Held {
    /// Reaps whatever has ended.
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

    /// Ends everything below, until nothing is left or no signal helps.
    async fn end_all(&mut self, children: &mut Children) {
        let begun = Instant::now();
        let own = getpid().as_raw_pid();
        let mut asked = HashSet::new();
        let mut nothing_found = 0;
        while self.reap() == Left::Some && nothing_found < LOOKS {
            let processes = Processes::look();
            let mut found = processes.below(own, None);
            if !found.is_empty() {
                found = processes.below(own, keeper().await);
            }
            if found.is_empty() {
                nothing_found += 1;
                // The last reaping of zombies may have been overtaken.
                tokio::task::yield_now().await;
                continue;
            }
            nothing_found = 0;
            let since = begun.elapsed();
            if since > GRACE + KILL_LIMIT {
                let count = found.len();
                log(&format!("{count} of the agent's processes cannot be ended"));
                return;
            }
            for process in found {
                if since >= GRACE {
                    process.signal(&[Signal::KILL]);
                } else if asked.insert(process) {
                    // One that is stopped sees the first only after the second.
                    process.signal(&[Signal::TERM, Signal::CONT]);
                }
            }
            tokio::select! {
                () = children.changed() => {}
                () = sleep(LOOK_AGAIN) => {}
            }
        }
    }
}

/// The termd of this user, where one listens: unix(7) has it that a connection's `SO_PEERCRED` is
/// who called listen(2), and that is the keeper.
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
                sleep(LOOK_AGAIN).await;
            }
            Err(_) => return None,
        }
    }
}

/// The agent's exit code, as a shell shows it. Where it was ended from here, it was by SIGTERM to
/// whoever asks, also if it took SIGKILL.
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

//! The program that starts a client: the agent behind `termctl mcp`.
//!
//! Between the two there may be wrappers (`sh -c`, `npx`, `env`, a proxy), and the agent may be a
//! program of several processes. Whatever these start is the agent's.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;

use termd_policy::program::is_shell;

use super::process::{ProcessId, Stat};

/// Most processes of a program and its wrappers that are looked at.
const MAX_PROCESSES: usize = 64;

/// The process itself, where it can be an agent.
pub(super) fn agent_itself(named: ProcessId, keeper: i32) -> Option<ProcessId> {
    (!is_outside(named, keeper)).then_some(named)
}

/// The first process of the program to which `named` belongs; `None` where `named` is no agent's: a
/// service manager, or the shell of a person's terminal.
///
/// A process whose standard input and output are both pipes or sockets speaks with the one that has
/// started it, so it is a wrapper, or the server of another program. The first ancestor that is none
/// is the agent, with the processes above it that run the same program in the same session.
pub(super) fn program_of(named: ProcessId, keeper: i32) -> Option<ProcessId> {
    let mut first = agent_itself(named, keeper)?;
    let mut is_wrapper = true;
    for _ in 0..MAX_PROCESSES {
        let parent = parent(first).filter(|parent| !is_outside(*parent, keeper));
        let Some(parent) = parent else { break };
        is_wrapper = is_wrapper && has_pipes(first);
        if !is_wrapper && !is_same_program(first, parent) {
            break;
        }
        first = parent;
    }
    Some(first)
}

fn parent(process: ProcessId) -> Option<ProcessId> {
    let stat = Stat::of(process.pid).filter(|stat| stat.started == process.started)?;
    ProcessId::of(stat.parent)
}

/// Whether a process cannot be an agent: the keeper, pid 1, another user's, a service manager, or the
/// shell at the head of a person's terminal. What these have started is more than an agent's.
fn is_outside(process: ProcessId, keeper: i32) -> bool {
    let pid = process.pid;
    let user = fs::metadata(format!("/proc/{pid}")).map(|directory| directory.uid());
    pid <= 1
        || pid == keeper
        || user.ok() != Some(rustix::process::geteuid().as_raw())
        || is_service_manager(pid)
        || is_login_shell(process)
}

/// systemd puts itself, and nothing else, into a cgroup of this name (`systemd.special(7)`).
fn is_service_manager(pid: i32) -> bool {
    let cgroups = fs::read_to_string(format!("/proc/{pid}/cgroup")).unwrap_or_default();
    cgroups.lines().any(|line| line.ends_with("/init.scope"))
}

/// Whether it is the shell that leads the session of a terminal.
fn is_login_shell(process: ProcessId) -> bool {
    let Some(stat) = Stat::of(process.pid) else {
        return false;
    };
    let name = fs::read_to_string(format!("/proc/{}/comm", process.pid)).unwrap_or_default();
    stat.has_tty && stat.session == process.pid && is_shell(name.trim_end())
}

/// Whether standard input and output are both pipes or sockets.
fn has_pipes(process: ProcessId) -> bool {
    [0, 1].iter().all(|fd| {
        let target = fs::read_link(format!("/proc/{}/fd/{fd}", process.pid));
        let target = target.unwrap_or_default();
        let name = target.to_string_lossy();
        name.starts_with("pipe:") || name.starts_with("socket:")
    })
}

fn is_same_program(one: ProcessId, other: ProcessId) -> bool {
    let facts = |process: ProcessId| -> Option<(i32, PathBuf)> {
        let program = fs::read_link(format!("/proc/{}/exe", process.pid)).ok()?;
        Some((Stat::of(process.pid)?.session, program))
    };
    facts(one).is_some_and(|one| facts(other) == Some(one))
}

//! Real processes, below a process that stands in for the keeper.

use std::fs::File;
use std::process::{Child, Command, Stdio};

use tokio::sync::broadcast;
use tokio_util::sync::CancellationToken;

use super::*;
use crate::config::LimitsConfig;

fn descent_in(keeper: i32, state_dir: &Path) -> Descent {
    let registry = Registry::new(
        LimitsConfig::default().running(),
        broadcast::Sender::new(1),
        CancellationToken::new(),
    );
    Descent {
        registry: Arc::new(registry),
        keeper,
        agents: Mutex::new(AgentTable::load(state_dir)),
    }
}

fn descent(keeper: i32) -> Descent {
    // Without this directory nothing is kept.
    descent_in(keeper, Path::new("/nonexistent"))
}

fn placed(descent: &Descent, pid: Option<i32>) -> Placement {
    descent.place(&descent.look_at(pid))
}

fn own_pid() -> i32 {
    i32::try_from(std::process::id()).unwrap()
}

fn sleeper() -> Child {
    Command::new("sleep")
        .arg("60")
        .stdin(Stdio::null())
        .spawn()
        .unwrap()
}

#[test]
fn below_the_keeper_and_in_no_terminal_is_an_agents() {
    let mut child = sleeper();
    let pid = i32::try_from(child.id()).unwrap();
    let below = placed(&descent(own_pid()), Some(pid));
    assert_eq!(below.agent.map(|agent| agent.pid), Some(pid));
    let elsewhere = placed(&descent(pid), Some(own_pid()));
    assert_eq!(elsewhere.agent, None);
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn what_has_ended_or_is_not_seen_is_an_agents() {
    let mut child = sleeper();
    let pid = i32::try_from(child.id()).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    for pid in [Some(pid), None] {
        assert!(placed(&descent(0), pid).agent.is_some(), "{pid:?}");
    }
}

#[test]
fn what_a_served_agent_has_started_is_the_agents() {
    let mut child = sleeper();
    let pid = i32::try_from(child.id()).unwrap();
    let descent = descent(0);
    let (own, childs) = (descent.look_at(Some(own_pid())), descent.look_at(Some(pid)));
    assert_eq!(descent.place(&childs).agent, None);
    // Any other process than the client's own and its parent is not believed.
    assert_eq!(descent.serve(&own, pid, Front::Mcp, None, false), None);
    let named = own_pid();
    let served = descent.serve(&own, named, Front::Mcp, Some("an agent"), true);
    let served = served.unwrap();
    assert_eq!(descent.place(&served.origin).agent, None);
    // It was looked at before the agent was known.
    let placed = descent.place(&childs);
    assert_eq!(placed.agent, descent.agent(&served));
    assert!(placed.asks);
    assert_eq!(descent.place(&own).agent, None);
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn an_agent_is_known_by_each_of_its_names() {
    let descent = descent(0);
    let own = descent.look_at(Some(own_pid()));
    for (front, name) in [
        (Front::Mcp, "one"),
        (Front::Mcp, "one"),
        (Front::Acp, "two"),
    ] {
        descent.serve(&own, own_pid(), front, Some(name), false);
    }
    let served = descent.serve(&own, own_pid(), Front::Mcp, None, false);
    let agent = descent.agent(&served.unwrap()).unwrap();
    let names = [
        (Front::Mcp, Some("one")),
        (Front::Acp, Some("two")),
        (Front::Mcp, None),
    ];
    assert_eq!(agent.names().collect::<Vec<_>>(), names);
}

#[test]
fn the_next_server_knows_the_agents_that_live() {
    let directory = tempfile::tempdir().unwrap();
    let before = descent_in(0, directory.path());
    let mut ended = sleeper();
    for pid in [own_pid(), i32::try_from(ended.id()).unwrap()] {
        let origin = before.look_at(Some(pid));
        before.serve(&origin, pid, Front::Mcp, Some("an agent"), true);
    }
    ended.kill().unwrap();
    ended.wait().unwrap();
    let mut child = sleeper();
    let pid = i32::try_from(child.id()).unwrap();
    let after = descent_in(0, directory.path());
    let placed = placed(&after, Some(pid));
    assert_eq!(placed.agent.map(|agent| agent.pid), Some(own_pid()));
    assert!(placed.asks);
    let kept = std::fs::read_to_string(directory.path().join("agents.json")).unwrap();
    // The pids and starts of another boot are other processes'.
    let (boot, _) = kept.split_once(',').unwrap();
    let other = kept.replacen(boot, "{\"boot\":\"another\"", 1);
    std::fs::write(directory.path().join("agents.json"), other).unwrap();
    let rebooted = descent_in(0, directory.path());
    assert_eq!(self::placed(&rebooted, Some(pid)).agent, None);
    child.kill().unwrap();
    child.wait().unwrap();
}

/// A process with these standard streams below a shell of the same streams.
fn below_a_shell(stdin: Stdio, stdout: Stdio) -> (Child, i32) {
    let mut shell = Command::new("sh");
    // A redirection of a builtin is one of the shell's own output for that time.
    shell.args(["-c", "sleep 60 & (echo $! >&2); wait"]);
    shell.stdin(stdin).stdout(stdout).stderr(Stdio::piped());
    let mut shell = shell.spawn().unwrap();
    let mut line = String::new();
    let mut stderr = std::io::BufReader::new(shell.stderr.take().unwrap());
    std::io::BufRead::read_line(&mut stderr, &mut line).unwrap();
    (shell, line.trim().parse().unwrap())
}

#[test]
fn a_wrapper_is_no_agent() {
    let null = File::open("/dev/null").unwrap();
    rustix::stdio::dup2_stdin(&null).unwrap();
    let program = |pid| program_of(ProcessId::of(pid).unwrap(), 0).unwrap().pid;
    for (stdin, stdout, is_wrapper) in [
        (Stdio::piped(), Stdio::piped(), true),
        (Stdio::null(), Stdio::piped(), false),
        (Stdio::piped(), Stdio::null(), false),
    ] {
        let (mut shell, sleep) = below_a_shell(stdin, stdout);
        let shells = i32::try_from(shell.id()).unwrap();
        let agent = if is_wrapper { own_pid() } else { shells };
        assert_eq!(program(shells), agent);
        rustix::process::kill_process(
            rustix::process::Pid::from_raw(sleep).unwrap(),
            rustix::process::Signal::KILL,
        )
        .unwrap();
        shell.wait().unwrap();
    }
    let manager = ProcessId::of(1).unwrap();
    assert_eq!(program_of(manager, 0), None);
}

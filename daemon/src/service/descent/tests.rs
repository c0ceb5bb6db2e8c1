//! Real processes, below a process that stands in for the keeper.

use std::process::{Child, Command, Stdio};

use tokio::sync::broadcast;
use tokio_util::sync::CancellationToken;

use super::*;
use crate::config::LimitsConfig;

fn descent(keeper: i32) -> Descent {
    let registry = Registry::new(
        LimitsConfig::default().running(),
        broadcast::Sender::new(1),
        CancellationToken::new(),
    );
    Descent {
        registry: Arc::new(registry),
        keeper,
        agents: Mutex::default(),
    }
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
    let placed = descent(own_pid()).place(Some(pid));
    assert_eq!(placed.agent.map(|agent| agent.pid), Some(pid));
    let elsewhere = descent(pid).place(Some(own_pid()));
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
        assert!(descent(0).place(pid).agent.is_some(), "{pid:?}");
    }
}

#[test]
fn what_a_served_agent_has_started_is_the_agents() {
    let mut child = sleeper();
    let pid = i32::try_from(child.id()).unwrap();
    let descent = descent(0);
    assert_eq!(descent.place(Some(pid)).agent, None);
    // Any other process than the client's own and its parent is not believed.
    assert_eq!(descent.serve(own_pid(), pid, Front::Mcp, None), None);
    let served = descent.serve(pid, own_pid(), Front::Mcp, Some("an agent".to_owned()));
    let served = served.unwrap();
    assert_eq!(served.placement.agent, None);
    let placed = descent.place(Some(pid));
    assert_eq!(placed.agent, Some(served.agent));
    assert_eq!(descent.place(Some(own_pid())).agent, None);
    child.kill().unwrap();
    child.wait().unwrap();
}

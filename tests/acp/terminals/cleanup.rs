//! What is left of an agent's terminals at the end of its session, of one side, of the proxy, or of
//! the server.

use rustix::process::Signal;
use serde_json::{Value, json};
use termd_test_support::{TestDaemon, merged, sh, wait_until};

use crate::harness::proxy::AcpProxy;
use crate::harness::proxy::{SESSION, listed, named, wait_until_nothing_is_left};

/// Waits for the end of an agent whose proxy was killed. Its supervisor ends the agent and then
/// itself.
#[track_caller]
fn agents_are_gone(daemon: &TestDaemon) {
    let is_supervisor = |pid: &i32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains("acp-agent")
    };
    wait_until("the agent is gone", || {
        !daemon.processes().iter().any(is_supervisor)
    });
}

#[test]
fn a_session_that_is_closed_takes_its_terminals_along() {
    let daemon = TestDaemon::start();
    let mut proxy = AcpProxy::with_session(&daemon, &[]);
    proxy.session("sess_2", &daemon.user_home());
    let id = proxy.script("sleep 1000");
    proxy.script("true");
    let other = merged(&sh("sleep 1000"), &json!({ "sessionId": "sess_2" }));
    let other = proxy.ok("terminal/create", &other)["terminalId"].clone();
    let waiting = proxy.agent.request("terminal/wait_for_exit", &named(&id));
    let closing = proxy
        .client
        .request("session/close", &json!({ "sessionId": SESSION }));
    let request = proxy
        .agent
        .wait("close", |line| line["method"] == "session/close");
    proxy.agent.answer(&request, &json!({}));
    proxy.client.answer_to(closing);
    let exit = proxy.agent.answer_to(waiting);
    assert!(exit["result"]["signal"].is_string(), "{exit}");
    wait_until("the other session's terminal alone is left", || {
        let open = listed(&daemon, "open");
        open.len() == 1 && open[0]["id"] == other
    });
}

/// A way to end the proxy.
type End = fn(&mut AcpProxy);

#[test]
fn nothing_is_left_when_a_side_or_the_proxy_ends() {
    let daemon = TestDaemon::start();
    let ends: [(&str, End); 4] = [
        ("the client says no more", |proxy| proxy.client.close()),
        ("the agent says no more", |proxy| proxy.agent.close()),
        ("SIGTERM", |proxy| proxy.process().signal(Signal::TERM)),
        ("SIGKILL", |proxy| proxy.process().signal(Signal::KILL)),
    ];
    for (what, end) in ends {
        let mut proxy = AcpProxy::with_session(&daemon, &[]);
        proxy.script("sleep 1000");
        proxy.script("true");
        proxy.script("trap '' TERM HUP; while :; do sleep 1; done");
        end(&mut proxy);
        if what == "the client says no more" {
            // An agent that learns of the end closes its side.
            proxy.agent.close();
        }
        proxy.wait_exit();
        eprintln!("ended: {what}");
        wait_until_nothing_is_left(&daemon);
        agents_are_gone(&daemon);
    }
}

#[test]
fn calls_go_on_with_the_next_server() {
    let daemon = TestDaemon::start();
    for replace in [
        TestDaemon::kill_server as fn(&TestDaemon),
        TestDaemon::replace_server,
    ] {
        let mut proxy = AcpProxy::with_session(&daemon, &[]);
        let id = proxy.script("while ! [ -e go ]; do sleep 0.01; done; echo done; exit 4");
        let waits: Vec<u64> = (0..3)
            .map(|_| proxy.agent.request("terminal/wait_for_exit", &named(&id)))
            .collect();
        proxy.text(&id);
        replace(&daemon);
        let go = daemon.user_home().join("go");
        std::fs::write(&go, "").unwrap();
        for wait in waits {
            let answer = proxy.agent.answer_to(wait);
            assert_eq!(answer["result"]["exitCode"], 4, "{answer}");
        }
        assert_eq!(proxy.text(&id), "done\n");
        std::fs::remove_file(go).unwrap();
        let next = proxy.script("sleep 1000");
        proxy.ok("terminal/release", &named(&next));
        proxy.ok("terminal/release", &named(&id));
    }
}

/// Otherwise the next server would end the terminals of an agent that is idle for a while.
#[test]
fn the_next_server_knows_whose_the_terminals_are_before_anything_is_asked() {
    let daemon = TestDaemon::start();
    let mut proxy = AcpProxy::with_session(&daemon, &[]);
    // An exited terminal is tied to the connection as well.
    let exited = proxy.script("true");
    proxy.exit(&exited);
    let connections = |count: u64| {
        daemon.client().ok("daemon.stats", &Value::Null)["connections"]
            .as_u64()
            .is_some_and(|now| now >= count)
    };
    daemon.replace_server();
    // One connection of the test, and the one that the terminals are tied to.
    wait_until("the proxy is connected again", || connections(2));
    proxy.process().signal(Signal::KILL);
    wait_until_nothing_is_left(&daemon);
    agents_are_gone(&daemon);
}

//! What is left of an agent's terminals when its session, one side, the proxy or the daemon's server
//! ends.

use rustix::process::Signal;
use serde_json::{Value, json};
use termd_test_support::{TestDaemon, merged, sh, wait_until};

use crate::harness::proxy::AcpProxy;
use crate::harness::proxy::{SESSION, listed, named, nothing_is_left};

/// Waits until an agent is gone whose proxy was killed: its supervisor ends it, and then itself.
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
    let mut proxied = AcpProxy::with_session(&daemon, &[]);
    proxied.session("sess_2", &daemon.user_home());
    let id = proxied.script("sleep 1000");
    proxied.script("true");
    let other = merged(&sh("sleep 1000"), &json!({ "sessionId": "sess_2" }));
    let other = proxied.ok("terminal/create", &other)["terminalId"].clone();
    let waiting = proxied.agent.request("terminal/wait_for_exit", &named(&id));
    let closing = proxied
        .client
        .request("session/close", &json!({ "sessionId": SESSION }));
    let asked = proxied
        .agent
        .wait("close", |line| line["method"] == "session/close");
    proxied.agent.answer(&asked, &json!({}));
    proxied.client.answer_to(closing);
    let exit = proxied.agent.answer_to(waiting);
    assert!(exit["result"]["signal"].is_string(), "{exit}");
    wait_until("the other session's terminal alone is left", || {
        let open = listed(&daemon, "open");
        open.len() == 1 && open[0]["id"] == other
    });
}

/// One way to end it.
type End = fn(&mut AcpProxy);

#[test]
fn nothing_is_left_when_a_side_or_the_proxy_ends() {
    let daemon = TestDaemon::start();
    let ends: [(&str, End); 4] = [
        ("the client says no more", |proxied| proxied.client.close()),
        ("the agent says no more", |proxied| proxied.agent.close()),
        ("SIGTERM", |proxied| proxied.process().signal(Signal::TERM)),
        ("SIGKILL", |proxied| proxied.process().signal(Signal::KILL)),
    ];
    for (what, end) in ends {
        let mut proxied = AcpProxy::with_session(&daemon, &[]);
        proxied.script("sleep 1000");
        proxied.script("true");
        proxied.script("trap '' TERM HUP; while :; do sleep 1; done");
        end(&mut proxied);
        if what == "the client says no more" {
            // As an agent does that hears of it.
            proxied.agent.close();
        }
        proxied.wait_exit();
        eprintln!("ended: {what}");
        nothing_is_left(&daemon);
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
        let mut proxied = AcpProxy::with_session(&daemon, &[]);
        let id = proxied.script("while ! [ -e go ]; do sleep 0.01; done; echo done; exit 4");
        let waits: Vec<u64> = (0..3)
            .map(|_| proxied.agent.request("terminal/wait_for_exit", &named(&id)))
            .collect();
        proxied.text(&id);
        replace(&daemon);
        let go = daemon.user_home().join("go");
        std::fs::write(&go, "").unwrap();
        for wait in waits {
            let answer = proxied.agent.answer_to(wait);
            assert_eq!(answer["result"]["exitCode"], 4, "{answer}");
        }
        assert_eq!(proxied.text(&id), "done\n");
        std::fs::remove_file(go).unwrap();
        let next = proxied.script("sleep 1000");
        proxied.ok("terminal/release", &named(&next));
        proxied.ok("terminal/release", &named(&id));
    }
}

/// Else the next server would end the terminals of an agent that asks for nothing for a while.
#[test]
fn the_next_server_knows_whose_the_terminals_are_before_anything_is_asked() {
    let daemon = TestDaemon::start();
    let mut proxied = AcpProxy::with_session(&daemon, &[]);
    // One whose command has ended is tied, too, and nobody waits for it.
    let exited = proxied.script("true");
    proxied.exit(&exited);
    let connections = |count: u64| {
        daemon.client().ok("daemon.stats", &Value::Null)["connections"]
            .as_u64()
            .is_some_and(|now| now >= count)
    };
    daemon.replace_server();
    // Its own, and the one that the terminal is tied to.
    wait_until("the proxy is connected again", || connections(2));
    proxied.process().signal(Signal::KILL);
    nothing_is_left(&daemon);
    agents_are_gone(&daemon);
}

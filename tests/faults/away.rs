//! While there is no server: children end, input arrives, and clients wait.

use std::fs;

use serde_json::{Value, json};
use termd_test_support::{RawClient, SESSION, TestDaemon, sh, wait_until};

use crate::{Fault, rounds};

/// The children wait for a file, which is created while there is no server.
#[test]
fn a_child_that_ended_in_the_gap_is_known_with_its_exit_and_all_it_said() {
    for round in 0..rounds() {
        let daemon = TestDaemon::start();
        let gate = daemon.path("gate");
        let mut client = daemon.client();
        let wait = format!("until [ -e '{}' ]; do sleep 0.002; done", gate.display());
        let scripts = [
            (
                format!("{wait}; printf last-words; exit 41"),
                json!({ "exit_code": 41, "signal": null }),
            ),
            (
                format!("{wait}; seq 1 3000; exit 0"),
                json!({ "exit_code": 0, "signal": null }),
            ),
            (
                format!("{wait}; kill -USR1 $$"),
                json!({ "exit_code": null, "signal": "SIGUSR1" }),
            ),
        ];
        let ids: Vec<String> = scripts
            .iter()
            .map(|(script, _)| client.create_terminal(&sh(&format!("stty -opost; {script}"))))
            .collect();
        let fault = if round % 2 == 0 {
            Fault::Kill
        } else {
            Fault::Replace
        };
        fault.strike(&daemon);
        fs::write(&gate, "").unwrap();
        let mut client = daemon.client();
        let lines: String = (1..=3000).fold(String::new(), |all, n| all + &format!("{n}\n"));
        for ((id, (_, exit)), output) in ids.iter().zip(&scripts).zip(["last-words", &lines, ""]) {
            let result = client.ok("session.wait", &json!({ "id": id }));
            assert_eq!(result["exit_status"], *exit, "round {round}");
            assert_eq!(
                String::from_utf8_lossy(&client.transcript(id)),
                output,
                "round {round}"
            );
        }
    }
}

/// The keeper is stopped, so that the gap is as long as the children need.
#[test]
fn a_child_that_ended_in_a_long_gap_is_known() {
    let daemon = TestDaemon::start();
    let gate = daemon.path("gate");
    let mut agent = daemon.agent();
    let script = format!(
        "echo \"pid $$;\"; until [ -e '{}' ]; do sleep 0.002; done; printf out; exit 42",
        gate.display()
    );
    let id = agent.script(&script);
    let child = agent.printed_processes(&id, 1).remove(0);
    let server = daemon.server();
    daemon.keeper().stop();
    server.signal(rustix::process::Signal::KILL);
    fs::write(&gate, "").unwrap();
    // The stopped keeper cannot reap the child, so its end shows as a zombie.
    wait_until("the child has ended", || {
        termd_test_support::process_state(child.pid).as_deref() == Some("Z")
    });
    daemon.signal(rustix::process::Signal::CONT);
    let mut agent = daemon.agent();
    assert_eq!(agent.wait(&id), (Some(42), None));
    assert!(agent.text(&id).ends_with("out"), "{}", agent.text(&id));
}

#[test]
fn input_sent_while_the_server_is_away_arrives() {
    let daemon = TestDaemon::start();
    let copy = daemon.path("typed");
    let mut client = daemon.client();
    let total = rounds() * 10;
    let script = format!(
        "stty raw -echo; echo ready; head -c {total} > '{}'",
        copy.display()
    );
    let id = client.create_terminal(&sh(&script));
    client.wait_for_text(&id, "ready");
    let mut expected = String::new();
    for round in 0..rounds() {
        let fault = if round % 2 == 0 {
            Fault::Kill
        } else {
            Fault::Replace
        };
        fault.strike(&daemon);
        let text = format!("{round:09};");
        // The keeper owns the socket: the connection waits in its backlog for the next server.
        let mut client: RawClient = daemon.client();
        let result = client.send_text(&id, &text);
        assert_eq!(result["sent"], 10);
        expected += &text;
    }
    daemon.client().ok("session.wait", &json!({ "id": id }));
    assert_eq!(fs::read_to_string(copy).unwrap(), expected);
}

/// Each request of an ACP conversation goes to another server, the one before it having been
/// killed. They are few, because the keeper's back-off grows with each death.
#[test]
fn every_request_of_a_conversation_survives_its_servers_death() {
    let daemon = TestDaemon::start();
    let named = |id: &str| json!({ "sessionId": SESSION, "terminalId": id });
    let ask = |method: &str, params: &Value| {
        Fault::Kill.strike(&daemon);
        daemon.client().ok(method, params)
    };
    let created = ask(
        "terminal/create",
        &json!({ "sessionId": SESSION, "command": "echo hello; sleep 1000" }),
    );
    let id = created["terminalId"].as_str().unwrap();
    daemon.client().wait_for_text(id, "hello");
    assert_eq!(ask("terminal/output", &named(id))["output"], "hello\n");
    daemon.client().ok("terminal/kill", &named(id));
    let exit = ask("terminal/wait_for_exit", &named(id));
    assert_eq!(exit, json!({ "exitCode": null, "signal": "SIGTERM" }));
    ask("terminal/release", &named(id));
    Fault::Kill.strike(&daemon);
    assert_eq!(
        daemon.client().err("terminal/output", &named(id)).code,
        -32002
    );
}

/// A server that cannot stay up is started again with pauses, and the terminals outlive it.
#[test]
fn terminals_outlive_a_row_of_deaths() {
    let daemon = TestDaemon::start();
    let mut agent = daemon.agent();
    let id = agent.script("read go; exit 7");
    for _ in 0..rounds() {
        let info = daemon.client().ok("daemon.info", &Value::Null);
        Fault::Kill.strike(&daemon);
        let next = daemon.client().ok("daemon.info", &Value::Null);
        assert_ne!(info["server_pid"], next["server_pid"]);
        assert_eq!(info["keeper_pid"], next["keeper_pid"]);
    }
    daemon.client().send_text(&id, "\n");
    assert_eq!(daemon.agent().wait(&id), (Some(7), None));
}

//! `terminal/release`: the command ends, the id is unknown to ACP, and the record stays for people.

use std::time::Duration;

use serde_json::json;
use termd_test_support::{Agent, Deadline, TestDaemon};

const METHODS: [&str; 4] = ["output", "wait_for_exit", "kill", "release"];

#[test]
fn a_released_id_is_not_found_by_any_method() {
    let daemon = TestDaemon::start();
    let mut agent = daemon.agent();
    let exited = agent.script("exit 0");
    agent.wait(&exited);
    let running = agent.create(&json!({ "command": "sleep", "args": ["1000"] }));
    for id in [exited, running] {
        agent.release(&id);
        for method in METHODS {
            let error = agent.err(&format!("terminal/{method}"), &Agent::named(&id));
            error.assert_is(-32002, "terminal_not_found");
        }
    }
}

#[test]
fn an_unknown_id_is_not_found_whatever_it_looks_like() {
    let daemon = TestDaemon::start();
    let mut agent = daemon.agent();
    for id in [
        "term_xyz789",
        "term_aaaaaaaaaaaa",
        "",
        "../../etc/passwd",
        "é",
        "%s",
        "a'b\"c\\",
    ] {
        for method in METHODS {
            let error = agent.err(&format!("terminal/{method}"), &Agent::named(id));
            error.assert_is(-32002, "terminal_not_found");
        }
    }
}

#[test]
fn release_ends_the_whole_tree() {
    let daemon = TestDaemon::start();
    let mut agent = daemon.agent();
    let script = "setsid sleep 1000 & echo \"pid $!;\"; echo \"pid $$;\"; sleep 1001";
    let id = agent.script(script);
    let processes = agent.printed_processes(&id, 2);
    agent.release(&id);
    for process in processes {
        assert!(process.ends_by(Deadline::after(Duration::from_secs(10))));
    }
}

#[test]
fn transcript_and_record_stay() {
    let daemon = TestDaemon::start();
    let mut agent = daemon.agent();
    let id = agent.script("printf 'line one\\nline two\\n'; exit 6");
    agent.wait(&id);
    agent.release(&id);
    assert_eq!(agent.transcript(&id), b"line one\r\nline two\r\n");
    let info = agent.ok("session.show", &json!({ "id": id }));
    assert_eq!(info["state"], "closed");
    assert_eq!(
        info["exit_status"],
        json!({ "exit_code": 6, "signal": null })
    );
    assert_eq!(info["argv"][0], "/bin/sh");
    assert_eq!(info["owner"]["front"], "acp");
    assert_eq!(info["owner"]["session"], termd_test_support::SESSION);
    let listed = |agent: &mut Agent, scope: &str| {
        let page = agent.ok("session.list", &json!({ "scope": scope }));
        page["terminals"]
            .as_array()
            .unwrap()
            .iter()
            .any(|entry| entry["id"] == *id)
    };
    assert!(!listed(&mut agent, "open"));
    assert!(!listed(&mut agent, "running"));
    assert!(listed(&mut agent, "all"));
}

/// The transcript holds the output of a command that the release ended, to its last byte.
#[test]
fn the_transcript_of_a_command_ended_by_release_stays() {
    let daemon = TestDaemon::start();
    let mut agent = daemon.agent();
    let id = agent
        .script("trap 'printf last; exit 0' TERM HUP; printf first; while :; do sleep 0.01; done");
    agent.wait_for_text(&id, "first");
    agent.release(&id);
    // Between the two the shell may report the end of its sleep.
    let transcript = String::from_utf8(agent.transcript(&id)).unwrap();
    assert!(
        transcript.starts_with("first") && transcript.ends_with("last"),
        "{transcript:?}"
    );
}

#[test]
fn transcript_and_record_are_there_after_a_restart() {
    let daemon = TestDaemon::start();
    let mut agent = daemon.agent();
    let script = "stty -opost; seq 1 50000";
    let released = agent.script(script);
    agent.wait(&released);
    let expected = agent.transcript(&released);
    assert_eq!(
        expected.len(),
        (1..=50_000)
            .map(|n: u32| n.to_string().len() + 1)
            .sum::<usize>()
    );
    agent.release(&released);
    let running = agent.script("echo half; sleep 1000");
    agent.wait_for_text(&running, "half");
    drop(agent);

    let daemon = TestDaemon::start_in(daemon.stop());
    let mut client = daemon.client();
    assert_eq!(client.transcript(&released), expected);
    let info = client.ok("session.show", &json!({ "id": running }));
    assert_ne!(info["state"], "running", "the stop ended it");
    assert_eq!(info["exit_status"]["signal"], "SIGHUP", "{info}");
    assert_eq!(client.transcript(&running), b"half\r\n");
    let page = client.ok("session.list", &json!({ "scope": "running" }));
    assert_eq!(page["terminals"], json!([]));
}

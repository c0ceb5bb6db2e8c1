//! What waits for a person, as `list`, `wait --attention`, `status --line` and `notify` show it.

use serde_json::json;
use termd_test_support::{TestDaemon, wait_until};

use crate::termctl::{TermctlOutput, ok, spawn, termctl};

fn waiting(daemon: &TestDaemon) -> String {
    ok(
        daemon,
        &["list", "--waiting", "--format", "{label} {attention} {why}"],
    )
}

#[test]
fn what_waits_is_listed_by_urgency_and_leaves_when_it_is_seen() {
    let daemon = TestDaemon::start();
    assert_eq!(ok(&daemon, &["status", "--line"]), "");
    let reads = ["-c", "read -p 'Name: ' x"];
    for (label, program, args) in [
        ("ends", "true", &[][..]),
        ("fails", "false", &[]),
        ("reads", "bash", &reads),
        ("runs", "sleep", &["1000"]),
    ] {
        let words = [&["create", "--label", label, "--", program][..], args].concat();
        ok(&daemon, &words);
    }
    let lines = "reads input Name:\nfails failed false\nends done true";
    wait_until("three wait", || waiting(&daemon) == lines);
    assert_eq!(
        ok(&daemon, &["status", "--line"]),
        "input 1  failed 1  done 1  running 1"
    );
    let counts = termctl(&daemon, &["--json", "status", "--line"]).json();
    assert_eq!((&counts["input"], &counts["idle"]), (&json!(1), &json!(0)));
    let table = ok(&daemon, &["list", "--waiting"]);
    assert!(table.lines().next().unwrap().contains("WAITS"), "{table}");
    assert!(table.contains("input "), "{table}");

    ok(&daemon, &["read", "fails"]);
    ok(&daemon, &["send", "reads", "me", "--enter"]);
    wait_until("what was seen leaves", || {
        let lines = waiting(&daemon);
        let labels = lines.lines().map(|line| line.split(' ').next());
        labels.collect::<Vec<_>>() == [Some("ends"), Some("reads")]
    });
}

#[test]
fn a_question_that_was_asked_from_no_terminal_counts() {
    let daemon = TestDaemon::start();
    let mut agent = daemon.client();
    agent.ok(
        "daemon.hello",
        &json!({ "client": "robot", "front": "mcp" }),
    );
    let params = json!({ "command": "rm", "args": ["-r", "/nowhere"] });
    agent.err("session.create", &params);
    assert_eq!(ok(&daemon, &["status", "--line"]), "approval 1");
    let listed = termctl(&daemon, &["list", "--waiting"]);
    assert!(listed.err.contains("1 question waits"), "{listed:?}");
    // An answered one waits no longer, also before its command has run.
    let question = daemon.client().ok("approval.list", &json!({}))["approvals"][0]["id"].clone();
    ok(&daemon, &["approve", question.as_str().unwrap()]);
    assert_eq!(ok(&daemon, &["status", "--line"]), "");
    assert_eq!(termctl(&daemon, &["list", "--waiting"]).err, "");
}

#[test]
fn a_wait_for_attention_ends_when_something_waits() {
    let daemon = TestDaemon::start();
    let id = ok(
        &daemon,
        &["create", "--", "bash", "-c", "read x; read -s y"],
    );
    let other = ok(&daemon, &["create", "--", "sleep", "1000"]);
    let line = ok(&daemon, &["wait", "--attention"]);
    assert_eq!(line, format!("{id} input bash -c 'read x; read -s y'"));
    let both = termctl(
        &daemon,
        &["wait", "--attention", "--timeout", "1", &id, &other],
    );
    assert_eq!((both.code, both.out.as_str()), (Some(124), ""));
    let either = termctl(
        &daemon,
        &["--json", "wait", "--attention", "--any", &id, &other],
    );
    assert_eq!(either.json()["attention"]["state"], "input");

    // One that waits when it is said.
    let waits = spawn(&daemon, &["wait", "--attention", &other]);
    let said = ["notify", "-t", &other, "--state", "failed", "no", "network"];
    wait_until("somebody waits", || {
        ok(&daemon, &said);
        true
    });
    let waited = TermctlOutput::wait(waits);
    assert_eq!(waited.out, format!("{other} failed no network\n"));
    let empty = termctl(&daemon, &["notify", " "]);
    assert_eq!(empty.code, Some(2), "{empty:?}");
    // One whose end somebody has seen waits for no answer, and one that is closed.
    let over = ok(&daemon, &["create", "--", "sh", "-c", "read x"]);
    ok(&daemon, &["wait", "--attention", &over]);
    ok(&daemon, &["send", &over, "-k", "enter"]);
    ok(&daemon, &["wait", &over]);
    let ended = termctl(&daemon, &["wait", "--attention", &over]);
    assert_eq!(ended.code, Some(125), "{ended:?}");
    let seen = ok(&daemon, &["create", "--", "sleep", "1000"]);
    let waits = spawn(&daemon, &["wait", "--attention", &seen]);
    ok(&daemon, &["kill", &seen]);
    let ended = TermctlOutput::wait(waits);
    let is_told = ended.out.starts_with(&seen) || ended.code == Some(125);
    assert!(is_told, "{ended:?}");
    ok(&daemon, &["send", &other, "-k", "enter"]);
    wait_until("it runs on", || !waiting(&daemon).contains("no network"));
    let waits = spawn(&daemon, &["wait", "--attention", "--any", &other]);
    ok(&daemon, &["close", &other]);
    let closed = TermctlOutput::wait(waits);
    assert_eq!(closed.code, Some(125), "{closed:?}");
    closed.assert_one_line();
    let again = termctl(&daemon, &["wait", "--attention", &other]);
    assert_eq!((again.code, &again.err), (Some(125), &closed.err));
    let missing = termctl(&daemon, &["wait", "--attention", "nope"]);
    assert_eq!(missing.code, Some(125));
    missing.assert_one_line();
}

#[test]
fn a_script_in_a_terminal_says_that_it_is_done() {
    let daemon = TestDaemon::start();
    let termctl_path = env!("CARGO_BIN_EXE_termctl");
    let script = format!("{termctl_path} notify --state done 'tests are green'; sleep 1000");
    ok(
        &daemon,
        &["create", "--label", "job", "--", "sh", "-c", &script],
    );
    wait_until("it says so", || {
        waiting(&daemon) == "job done tests are green"
    });
    let mut client = daemon.client();
    let told = client.ok("approval.list", &json!(null));
    let told = &told["attention"][0];
    assert_eq!(told["text"], "tests are green");
    let job = client.ok("session.show", &json!({ "id": "job" }));
    assert_eq!(told["terminal"], job["id"]);
}

//! `termctl approvals`, `approve` and `deny`: a person answers the gate's questions.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use serde_json::{Value, json};
use termd_test_support::{Pty, RawClient, TestDaemon, assert_members, sh};

use crate::termctl::{TermctlOutput, command, ok, spawn, termctl};

/// An agent's call that would remove a directory: its connection, the call's params, and the id of
/// the question.
fn question(daemon: &TestDaemon) -> (RawClient, Value, String) {
    let mut agent = daemon.client();
    agent.ok(
        "daemon.hello",
        &json!({ "client": "an\u{1b}[31m agent", "front": "mcp" }),
    );
    let victim = daemon.path("state").join("victim");
    std::fs::create_dir_all(&victim).unwrap();
    let params = json!({ "command": "rm", "args": ["-r", victim] });
    let error = agent.err("session.create", &params);
    let id = error.data["approval"].as_str().unwrap().to_owned();
    (agent, params, id)
}

#[test]
fn a_person_sees_questions_and_answers_them() {
    let daemon = TestDaemon::start();
    assert_eq!(ok(&daemon, &["approvals", "--json"]).trim(), "[]");
    let (mut agent, params, id) = question(&daemon);
    let shown = ok(&daemon, &["approvals"]);
    assert!(shown.contains(&id) && shown.contains("rm -r"), "{shown}");
    assert!(!shown.contains('\u{1b}'), "{shown:?}");
    let whole = ok(&daemon, &["approvals", &id]);
    for part in [
        "agent wants to run\n\n    rm -r ",
        "\nin       /",
        "\nbecause  ",
    ] {
        assert!(whole.contains(part), "{whole}");
    }
    let output = ok(&daemon, &["approve", &id]);
    assert!(
        output.starts_with(&format!("{id} approved: rm -r")),
        "{output}"
    );
    let late = termctl(&daemon, &["deny", &id]);
    assert_eq!(late.code, Some(1));
    assert!(late.err.contains("approved already"), "{late:?}");
    agent.ok("session.create", &params);
    assert_eq!(ok(&daemon, &["approvals", "--json"]).trim(), "[]");
    let all = ok(&daemon, &["approvals", "--all", "--json"]);
    let all: Value = serde_json::from_str(&all).unwrap();
    assert_eq!(all[0]["state"], "used");
}

#[test]
fn an_unknown_question_is_an_error() {
    let daemon = TestDaemon::start();
    for (id, code) in [("aaaaaa", 3), ("nonsense", 2), ("", 2), ("../etc", 2)] {
        let output = termctl(&daemon, &["deny", id]);
        assert_eq!(output.code, Some(code), "{id}: {output:?}");
    }
}

#[test]
fn a_refusal_names_the_question() {
    let daemon = TestDaemon::start();
    let output = termctl(&daemon, &["create", "--", "rm", "-r", "/nowhere/at/all"]);
    assert_eq!(output.code, Some(1));
    let listed = ok(&daemon, &["approvals", "--json"]);
    let listed: Value = serde_json::from_str(&listed).unwrap();
    let id = listed[0]["id"].as_str().unwrap();
    assert!(
        output.err.contains(&format!("termctl approve {id}")),
        "{output:?}"
    );
    ok(&daemon, &["approve", id]);
    ok(&daemon, &["create", "--", "rm", "-r", "/nowhere/at/all"]);
}

#[test]
fn a_watcher_is_told_as_it_happens() {
    let daemon = TestDaemon::start();
    let mut watcher = command(&daemon, &["approvals", "--watch", "--json"]);
    let mut watcher = watcher.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(watcher.stdout.take().unwrap()).lines();
    let (_agent, _params, id) = question(&daemon);
    let mut next = || -> Value { serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap() };
    assert_eq!(next()["state"], "pending");
    ok(&daemon, &["deny", &id]);
    let seen = next();
    assert_members(&seen, &json!({ "id": id, "state": "denied" }));
    watcher.kill().unwrap();
    watcher.wait().unwrap();
}

#[test]
fn what_runs_in_an_agents_terminal_may_not_answer() {
    let daemon = TestDaemon::start();
    let (mut agent, _params, id) = question(&daemon);
    let termctl = env!("CARGO_BIN_EXE_termctl");
    // The gate asks about a line that answers, and reads no file.
    let answer = daemon.install("answer", &format!("#!/bin/sh\n{termctl} approve {id}\n"));
    let answer = answer.display();
    // The environment names the terminal. Without the variable the process's parents do.
    for script in [
        format!("{answer}; echo code $?"),
        format!("env -u TERMD_TERMINAL {answer}; echo code $?"),
    ] {
        let mut params = sh(&script);
        params["env"] = json!({ "TERMD_SOCKET": daemon.socket() });
        let terminal = agent.create_terminal(&params);
        agent.ok(
            "session.wait",
            &json!({ "id": terminal, "timeout_ms": 20_000 }),
        );
        let read = agent.ok("session.read", &json!({ "id": terminal }));
        let text = read["text"].as_str().unwrap();
        assert!(
            text.contains("an agent's terminal") && text.contains("code 1"),
            "{text}"
        );
    }
    let listed: Value = serde_json::from_str(&ok(&daemon, &["approvals", "--json"])).unwrap();
    assert_eq!(listed[0]["state"], "pending", "{listed}");
}

#[test]
fn always_by_termctl_lets_it_run_from_then_on() {
    let daemon = TestDaemon::start();
    let (mut agent, params, id) = question(&daemon);
    let output = ok(&daemon, &["approve", "--always", &id]);
    let file = daemon.path("config/termd/approved.toml");
    assert!(
        output.contains(&format!("; always, by {}:", file.display())),
        "{output}"
    );
    let number: usize = output.rsplit(':').next().unwrap().parse().unwrap();
    let text = std::fs::read_to_string(&file).unwrap();
    assert_eq!(text.lines().nth(number - 1), Some("[[rules]]"), "{text}");
    for _ in 0..3 {
        agent.ok("session.create", &params);
    }
    // The rule is for the same command only.
    let other = json!({ "command": "rm", "args": ["-r", daemon.path("state/other")] });
    let refused = agent.err("session.create", &other);
    assert_eq!(refused.kind(), "confirmation_required", "{refused:?}");
}

#[test]
fn always_reports_where_it_can_only_approve_once() {
    let daemon = TestDaemon::configured(
        "kill_grace_ms = 300\n[[policy.rules]]\nprogram = 'true'\neffect = 'confirm'\n",
    );
    let mut agent = daemon.client();
    agent.ok(
        "daemon.hello",
        &json!({ "client": "an agent", "front": "mcp" }),
    );
    let params = json!({ "command": "true" });
    let refused = agent.err("session.create", &params);
    let id = refused.data["approval"].as_str().unwrap().to_owned();
    let output = termctl(&daemon, &["approve", "--always", &id]);
    assert_eq!(output.code, Some(0), "{output:?}");
    output.assert_one_line();
    assert!(
        output.err.contains(&format!("{id} is approved once: ")),
        "{output:?}"
    );
    assert!(!daemon.path("config/termd/approved.toml").exists());
    agent.ok("session.create", &params);
    agent.err("session.create", &params);
}

#[test]
fn the_first_answer_wins() {
    for (first, late, state) in [("approve", "deny", "approved"), ("deny", "deny", "denied")] {
        let daemon = TestDaemon::start();
        let (mut agent, params, id) = question(&daemon);
        ok(&daemon, &[first, &id]);
        let output = termctl(&daemon, &[late, &id]);
        assert_eq!(output.code, Some(1), "{output:?}");
        output.assert_one_line();
        assert!(
            output.err.contains(&format!("{state} already")),
            "{output:?}"
        );
        let ran = agent.request("session.create", &params);
        assert_eq!(ran.is_ok(), first == "approve", "{ran:?}");
    }
    // A denial holds for ten minutes, unless a person lifts it.
    let daemon = TestDaemon::start();
    let (mut agent, params, id) = question(&daemon);
    ok(&daemon, &["deny", &id]);
    let refused = agent.err("session.create", &params);
    assert_eq!(refused.kind(), "rejected", "{refused:?}");
    ok(&daemon, &["approve", &id]);
    agent.ok("session.create", &params);
    // Of several answers at once one counts, and the call ends as that one says. An approval behind a
    // denial lifts it.
    let daemon = TestDaemon::start();
    let (mut agent, params, id) = question(&daemon);
    let answers: Vec<_> = ["approve", "deny", "approve", "deny"]
        .map(|verb| {
            let child = spawn(&daemon, &[verb, &id]);
            (verb, child)
        })
        .into_iter()
        .map(|(verb, child)| (verb, TermctlOutput::wait(child)))
        .collect();
    let taken: Vec<_> = answers
        .iter()
        .filter(|(_, output)| output.code == Some(0))
        .collect();
    let approvals = taken.iter().filter(|(verb, _)| *verb == "approve").count();
    assert_eq!(approvals, 1, "{answers:?}");
    assert!(taken.len() <= 2, "{answers:?}");
    agent.ok("session.create", &params);
}

#[test]
fn what_nobody_answers_in_time_is_denied() {
    let daemon = TestDaemon::configured("kill_grace_ms = 300\napproval_timeout_ms = 1000\n");
    let mut watcher = command(&daemon, &["approvals", "--watch", "--all", "--json"]);
    let mut watcher = watcher.stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(watcher.stdout.take().unwrap()).lines();
    let (mut agent, params, id) = question(&daemon);
    let mut seen = lines.map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
    let over = seen.find(|seen| seen["state"] != "pending").unwrap();
    assert_members(&over, &json!({ "id": id, "state": "expired" }));
    assert!(over["answered_by"].is_null(), "{over}");
    let late = termctl(&daemon, &["approve", &id]);
    assert_eq!(late.code, Some(1), "{late:?}");
    assert!(late.err.contains("expired"), "{late:?}");
    // Nothing has run. The same call makes a new question.
    assert!(daemon.path("state/victim").exists());
    let refused = agent.err("session.create", &params);
    assert_eq!(refused.kind(), "confirmation_required", "{refused:?}");
    assert_ne!(refused.data["approval"], json!(id));
    watcher.kill().unwrap();
    watcher.wait().unwrap();
}

#[test]
fn a_watcher_at_a_tty_is_told_of_an_answer_by_somebody_else() {
    let daemon = TestDaemon::start();
    let (mut agent, params, id) = question(&daemon);
    let mut tty = Pty::open(200, 24);
    let mut watcher = tty.spawn(&command(&daemon, &["approvals", "--watch"]));
    tty.read_until("refused for ten minutes. May it? [y/N");
    ok(&daemon, &["approve", &id]);
    tty.read_until("answered elsewhere");
    tty.read_until(&format!("{id} approved: rm -r"));
    agent.ok("session.create", &params);
    tty.read_until(&format!("{id} used: rm -r"));
    watcher.kill().unwrap();
    watcher.wait().unwrap();
}

#[test]
fn what_was_typed_before_a_question_does_not_answer_it() {
    let daemon = TestDaemon::start();
    let mut tty = Pty::open(200, 24);
    let mut watcher = tty.spawn(&command(&daemon, &["approvals", "--watch"]));
    tty.write("y\r");
    tty.read_until("y\r\n");
    let (mut agent, params, id) = question(&daemon);
    tty.read_until("refused for ten minutes. May it? [y/N");
    tty.write("n\r");
    tty.read_until(&format!("{id} denied: rm -r"));
    let refused = agent.err("session.create", &params);
    assert_eq!(refused.kind(), "rejected", "{refused:?}");
    watcher.kill().unwrap();
    watcher.wait().unwrap();
}

#[test]
fn a_person_at_the_first_prompt_watches() {
    let daemon = TestDaemon::start();
    let (_agent, _params, _id) = question(&daemon);
    let mut tty = Pty::open(200, 24);
    let mut watcher = tty.spawn(&command(&daemon, &["approvals", "--watch"]));
    tty.read_until("refused for ten minutes. May it? [y/N");
    let mut shell = daemon.client();
    shell.ok(
        "daemon.hello",
        &json!({ "client": "an agent", "front": "shell" }),
    );
    let refused = shell.err(
        "session.create",
        &json!({ "command": "rm", "args": ["-r", "/nowhere/else"] }),
    );
    assert!(
        refused.data["wait_ms"].is_u64(),
        "the shell waits for the person: {refused:?}"
    );
    watcher.kill().unwrap();
    watcher.wait().unwrap();
    termd_test_support::wait_until("no watcher who has gone is waited for", || {
        let params = json!({ "command": "rm", "args": ["-r", "/nowhere/else"] });
        shell.err("session.create", &params).data["wait_ms"].is_null()
    });
}

#[test]
fn what_is_no_answer_is_asked_again() {
    let daemon = TestDaemon::start();
    let (_agent, _params, id) = question(&daemon);
    let mut tty = Pty::open(200, 24);
    let mut watcher = tty.spawn(&command(&daemon, &["approvals", "--watch"]));
    let asks = "refused for ten minutes. May it? [y/N";
    tty.read_until(asks);
    tty.write("a password\r");
    tty.read_until(asks);
    assert!(ok(&daemon, &["approvals", &id]).contains(" pending"));
    tty.write("no\r");
    termd_test_support::wait_until("no is no", || {
        ok(&daemon, &["approvals", &id]).contains(" denied")
    });
    watcher.kill().unwrap();
    watcher.wait().unwrap();
}

/// A shell of an agent's that waits for a person: its connection, and the id of its question.
fn waiting_shell(daemon: &TestDaemon, name: &str) -> (RawClient, String) {
    let mut shell = daemon.client();
    shell.ok(
        "daemon.hello",
        &json!({ "client": "an agent", "front": "shell" }),
    );
    let params = json!({ "command": "rm", "args": ["-r", daemon.path(name)] });
    let refused = shell.err("session.create", &params);
    assert!(refused.data["wait_ms"].is_u64(), "{refused:?}");
    let id = refused.data["approval"].as_str().unwrap().to_owned();
    (shell, id)
}

#[test]
fn a_watcher_at_a_tty_is_asked_only_what_somebody_waits_for() {
    let daemon = TestDaemon::start();
    let (_agent, _params, first) = question(&daemon);
    let mut tty = Pty::open(200, 24);
    let mut watcher = tty.spawn(&command(&daemon, &["approvals", "--watch"]));
    let asks = "refused for ten minutes. May it? [y/N";
    tty.read_until(asks);
    let (stale, stale_id) = waiting_shell(&daemon, "stale");
    tty.read_until("1 more question waits");
    tty.read_until(asks);
    let (live, _) = waiting_shell(&daemon, "live");
    tty.read_until("2 more questions wait");
    drop(stale);
    tty.read_until("1 more question waits");
    ok(&daemon, &["deny", &first]);
    let shown = tty.read_until("answered elsewhere");
    assert!(!shown.contains(&format!("{stale_id} pending")), "{shown}");
    let shown = tty.read_until(asks);
    assert!(shown.contains("/live\r\n"), "{shown}");
    assert!(!shown.contains(&format!("{stale_id} pending")), "{shown}");
    drop(live);
    tty.read_until("the caller waits for the answer no more");
    let over = termctl(&daemon, &["approve", &stale_id]);
    assert!(over.err.contains("expired"), "{over:?}");
    let (_again, again) = waiting_shell(&daemon, "again");
    tty.read_until("/again\r\n");
    tty.read_until(asks);
    // An Enter that may be of an answer to the question before is none to this one.
    tty.write("\r");
    tty.read_until(asks);
    let shown = ok(&daemon, &["approvals", &again]);
    assert!(shown.contains(" pending"), "{shown}");
    tty.write("\r");
    termd_test_support::wait_until("the next Enter is no", || {
        ok(&daemon, &["approvals", &again]).contains(" denied")
    });
    watcher.kill().unwrap();
    watcher.wait().unwrap();
}

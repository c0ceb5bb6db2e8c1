//! Several lines that one call types are judged, asked about and denied together.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use termd_test_support::{McpClient, Pty, RawClient, TestDaemon, wait_until};

use crate::Attack;
use crate::agents::client;

pub(crate) const ATTACKS: &[Attack] = &[
    (
        "lines_of_one_call_are_one_question",
        lines_of_one_call_are_one_question,
    ),
    (
        "lines_of_one_call_are_one_form_of_mcp",
        lines_of_one_call_are_one_form_of_mcp,
    ),
    (
        "lines_of_one_call_are_one_prompt_of_termctl",
        lines_of_one_call_are_one_prompt_of_termctl,
    ),
    (
        "lines_that_are_denied_stay_denied_in_another_text",
        lines_that_are_denied_stay_denied_in_another_text,
    ),
];

const TERMCTL: &str = env!("CARGO_BIN_EXE_termctl");
const LINES: &str = "rm -rf a\necho between\nrm -rf b\n";

/// A shell of the caller's in a directory that holds `a`, `b` and `sub/x`.
fn shell(daemon: &TestDaemon, client: &mut RawClient) -> String {
    let work = work(daemon);
    for name in ["a", "b", "x", "sub/x"] {
        fs::create_dir_all(work.join(name)).unwrap();
    }
    let params = json!({ "command": "bash", "args": ["--norc", "-i"], "cwd": work });
    let terminal = client.create_terminal(&params);
    client.wait_for_text(&terminal, "$");
    terminal
}

fn work(daemon: &TestDaemon) -> PathBuf {
    daemon.path("state").join("work")
}

fn wait_until_both_are_gone(work: &Path) {
    wait_until("both lines have run", || {
        !work.join("a").exists() && !work.join("b").exists()
    });
}

fn answer(person: &mut RawClient, id: &Value, decision: &str) {
    let answer = json!({ "id": id, "decision": decision });
    person.ok("approval.answer", &answer);
}

fn lines_of_one_call_are_one_question() {
    let daemon = TestDaemon::start();
    let mut agent = client(&daemon, "mcp", "an agent");
    let mut person = client(&daemon, "cli", "a person");
    let terminal = shell(&daemon, &mut agent);
    let send = json!({ "id": terminal, "text": LINES });
    let asked = agent.err("session.send", &send);
    asked.assert_is(-32011, "confirmation_required");
    let id = &asked.data["approval"];
    let listed = person.ok("approval.list", &json!({}));
    let listed = listed["approvals"].as_array().unwrap();
    assert_eq!(listed.len(), 1, "{listed:#?}");
    assert_eq!(listed[0]["command"], "rm -rf a\necho between\nrm -rf b");
    answer(&mut person, id, "approve");
    // Another call is another thing.
    let other = json!({ "id": terminal, "text": "rm -rf b\n" });
    let other = agent.err("session.send", &other);
    other.assert_is(-32011, "confirmation_required");
    agent.ok("session.send", &send);
    wait_until_both_are_gone(&work(&daemon));
    let records = person.audit_records(&json!({ "action": "terminal.input", "outcome": "ok" }));
    let ran = |line: &str| {
        let mut records = records.iter();
        records.any(|record| {
            record["detail"]["command"] == line && record["detail"]["approval"] == *id
        })
    };
    assert!(ran("rm -rf a") && ran("rm -rf b"), "{records:#?}");
    let again = agent.err("session.send", &send);
    again.assert_is(-32011, "confirmation_required");
}

fn lines_of_one_call_are_one_form_of_mcp() {
    let daemon = TestDaemon::start();
    let mut mcp = McpClient::spawn(&daemon, &["--tools", "terminal"], &[])
        .initialized(&json!({ "elicitation": {} }));
    let work = work(&daemon);
    for name in ["a", "b"] {
        fs::create_dir_all(work.join(name)).unwrap();
    }
    let terminal = mcp.call("terminal_start", &json!({ "cwd": work }))["sessionId"].clone();
    let call = mcp.begin(
        "terminal_write",
        &json!({ "sessionId": terminal, "data": LINES }),
    );
    let form = mcp.wait("a form", |message| {
        message["method"] == "elicitation/create"
    });
    let yes = json!({ "action": "accept", "content": { "confirm": true } });
    let yes = json!({ "jsonrpc": "2.0", "id": form["id"], "result": yes });
    mcp.send_line(&yes.to_string());
    let answer = mcp.answer(call)["result"].clone();
    assert_ne!(answer["isError"], true, "{answer}");
    wait_until_both_are_gone(&work);
}

fn lines_of_one_call_are_one_prompt_of_termctl() {
    let daemon = TestDaemon::start();
    let terminal = shell(&daemon, &mut daemon.client());
    let mut pty = Pty::open(80, 24);
    let mut send = daemon.command(TERMCTL);
    send.args(["send", &terminal, LINES]);
    let mut send = pty.spawn(&send);
    pty.read_until("[y/N");
    pty.write("y\r");
    assert!(pty.wait(&mut send).success());
    wait_until_both_are_gone(&work(&daemon));
}

fn lines_that_are_denied_stay_denied_in_another_text() {
    for (denied, again) in [
        ("cd sub && rm -rf x\n", "cd sub|rm -rf x\n"),
        ("cd sub\nrm -rf x\n", "cd sub|rm -rf x\n"),
        ("cd sub\nrm -rf x\n", "true; cd sub && rm -rf x\n"),
        ("rm -rf a\nrm -rf b\n", "rm -rf b\n"),
        ("rm -rf a; rm -rf b\n", "echo; rm -rf b\n"),
        ("rm -rf b\n", "true && rm -rf b\n"),
    ] {
        let daemon = TestDaemon::configured("[policy.fronts.mcp]\nconfirmed = \"always\"\n");
        let mut agent = client(&daemon, "mcp", "an agent");
        let mut person = client(&daemon, "cli", "a person");
        let terminal = shell(&daemon, &mut agent);
        let send = |text: &str| json!({ "id": terminal, "text": text });
        let asked = agent.err("session.send", &send(denied));
        answer(&mut person, &asked.data["approval"], "deny");
        daemon.replace_server();
        // Not even with the gate switched off.
        let mut agent = daemon.client();
        let hello = json!({
            "client": "another", "front": "mcp", "settings": { "gate": { "enabled": false } },
        });
        agent.ok("daemon.hello", &hello);
        let (first, last) = again.split_once('|').unwrap_or(("", again));
        if !first.is_empty() {
            agent.ok(
                "session.send",
                &send(&format!("{first} && echo in-$((6 * 7))\n")),
            );
            agent.wait_for_text(&terminal, "in-42");
        }
        let refused = agent.err("session.send", &send(last));
        refused.assert_is_in(again, -32012, "rejected");
        // What was not denied runs.
        agent.ok("session.send", &send("rm -rf ./nowhere\n"));
    }
}

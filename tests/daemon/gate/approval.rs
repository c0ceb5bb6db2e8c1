//! The gate's questions: each is asked once, answered once and used once.

use serde_json::{Value, json};
use termd_test_support::{RawClient, TestDaemon, assert_members};

/// A client with this front and name.
fn client(daemon: &TestDaemon, front: &str, name: &str) -> RawClient {
    let mut client = daemon.client();
    client.ok("daemon.hello", &json!({ "client": name, "front": front }));
    client
}

/// A command that the gate asks about.
fn removal(daemon: &TestDaemon, name: &str) -> Value {
    let victim = daemon.path("state").join(name);
    std::fs::create_dir_all(&victim).unwrap();
    json!({ "command": "rm", "args": ["-r", victim] })
}

/// The id of the question that a refused call leaves.
#[track_caller]
fn question(agent: &mut RawClient, params: &Value) -> String {
    let error = agent.err("session.create", params);
    assert_eq!(error.kind(), "confirmation_required", "{error:?}");
    error.data["approval"].as_str().unwrap().to_owned()
}

fn answer(person: &mut RawClient, id: &str, decision: &str) -> Value {
    person.ok(
        "approval.answer",
        &json!({ "id": id, "decision": decision }),
    )
}

#[test]
fn an_approved_command_runs_once() {
    let daemon = TestDaemon::start();
    let mut agent = client(&daemon, "mcp", "an agent");
    let mut person = client(&daemon, "cli", "a person");
    let params = removal(&daemon, "victim");
    let id = question(&mut agent, &params);
    assert_eq!(
        question(&mut agent, &params),
        id,
        "one question, however often it is tried"
    );

    let listed = person.ok("approval.list", &json!({}));
    let pending = &listed["approvals"][0];
    assert_members(pending, &json!({ "id": id, "state": "pending" }));
    assert_eq!(pending["asked_by"]["client"], "an agent");
    assert_eq!(answer(&mut person, &id, "approve")["state"], "approved");

    // The approval holds for this client and this command alone.
    let mut other = client(&daemon, "mcp", "another agent");
    assert_ne!(question(&mut other, &params), id);
    let mut elsewhere = params.clone();
    elsewhere["cwd"] = json!("/");
    assert_ne!(question(&mut agent, &elsewhere), id);

    let created = agent.ok("session.create", &params);
    agent.ok(
        "session.wait",
        &json!({ "id": created["id"], "timeout_ms": 20_000 }),
    );
    assert!(!daemon.path("state").join("victim").exists());
    let waited = person.ok("approval.wait", &json!({ "id": id }));
    assert_eq!(waited["state"], "used");
    assert_ne!(question(&mut agent, &params), id, "used up");

    let records = person.ok("audit.list", &json!({}));
    let records = records["records"].as_array().unwrap();
    let of = |action: &str, outcome: &str| {
        let mut records = records.iter();
        records
            .find(|record| record["action"] == action && record["outcome"] == outcome)
            .unwrap_or_else(|| panic!("no record of {action} {outcome}"))
            .clone()
    };
    let answered = of("approval.answer", "approved");
    assert_eq!(answered["actor"]["client"], "a person");
    assert_eq!(answered["detail"]["asked_by"]["client"], "an agent");
    let ran = of("terminal.create", "ok");
    assert_eq!(ran["detail"]["approval"], json!(id), "{ran}");
    assert_eq!(ran["detail"]["approved_by"]["client"], "a person");
    assert!(ran["seq"].as_i64() > answered["seq"].as_i64());
}

#[test]
fn a_denial_is_told_and_the_second_answer_is_too_late() {
    let daemon = TestDaemon::start();
    let mut agent = client(&daemon, "mcp", "an agent");
    let mut person = client(&daemon, "cli", "a person");
    let params = removal(&daemon, "victim");
    let id = question(&mut agent, &params);
    answer(&mut person, &id, "deny");
    let error = agent.err("session.create", &params);
    error.assert_is(-32012, "rejected");
    assert!(error.message.contains("a person"), "{error:?}");
    let late = person.err(
        "approval.answer",
        &json!({ "id": id, "decision": "approve", "way": "prompt" }),
    );
    assert_eq!(late.kind(), "approval_answered");
    assert_eq!(late.data["state"], "denied");
    let unknown = person.err(
        "approval.answer",
        &json!({ "id": "aaaaaa", "decision": "deny" }),
    );
    assert_eq!(unknown.kind(), "approval_not_found");
    let bad = person.err(
        "approval.answer",
        &json!({ "id": "../../", "decision": "deny" }),
    );
    assert_eq!(bad.kind(), "invalid_params");
    assert!(daemon.path("state").join("victim").exists());
}

#[test]
fn waiting_clients_get_the_question_and_the_answer() {
    let daemon = TestDaemon::start();
    let mut agent = client(&daemon, "mcp", "an agent");
    let mut watcher = client(&daemon, "cli", "a watcher");
    let mut person = client(&daemon, "cli", "a person");
    let before = watcher.ok("approval.list", &json!({}))["seq"].clone();
    let watching = watcher.send(
        "approval.list",
        &json!({ "after": before, "wait_ms": 20_000 }),
    );
    let id = question(&mut agent, &removal(&daemon, "victim"));
    let seen = watcher.answer(watching)["result"].clone();
    assert_eq!(seen["approvals"][0]["id"], json!(id));
    let waiting = agent.send("approval.wait", &json!({ "id": id, "timeout_ms": 20_000 }));
    answer(&mut person, &id, "approve");
    assert_eq!(agent.answer(waiting)["result"]["state"], "approved");
}

#[test]
fn the_front_that_asked_answers_by_confirming() {
    let daemon = TestDaemon::start();
    let mut agent = client(&daemon, "mcp", "an agent");
    let mut person = client(&daemon, "cli", "a person");
    let mut params = removal(&daemon, "victim");
    let id = question(&mut agent, &params);
    params["confirmed"] = json!(true);
    agent.ok("session.create", &params);
    let waited = person.ok("approval.wait", &json!({ "id": id }));
    assert_eq!(
        (&waited["state"], &waited["answered_by"]["client"]),
        (&json!("used"), &json!("an agent"))
    );
}

#[test]
fn a_typed_line_is_approved_for_its_terminal() {
    let daemon = TestDaemon::start();
    let mut agent = client(&daemon, "mcp", "an agent");
    let mut person = client(&daemon, "cli", "a person");
    let victim = daemon.path("state").join("victim");
    std::fs::create_dir_all(&victim).unwrap();
    let shells: Vec<String> = (0..2)
        .map(|_| {
            let id = agent
                .create_terminal(&json!({ "command": "bash", "args": ["--norc", "--noprofile"] }));
            agent.send_text(&id, "echo re''ady\r");
            agent.wait_for_text(&id, "ready\r\n");
            id
        })
        .collect();
    let line = format!("rm -r {}; echo go''ne\r", victim.display());
    let send = |id: &str| json!({ "id": id, "text": line });
    let error = agent.err("session.send", &send(&shells[0]));
    let id = error.data["approval"].as_str().unwrap().to_owned();
    answer(&mut person, &id, "approve");
    let other = agent.err("session.send", &send(&shells[1]));
    assert_eq!(
        other.kind(),
        "confirmation_required",
        "another terminal is not meant"
    );
    agent.ok("session.send", &send(&shells[0]));
    agent.wait_for_text(&shells[0], "gone\r\n");
    assert!(!victim.exists());
}

#[test]
fn an_answer_for_always_writes_a_rule_that_holds() {
    use std::os::unix::fs::PermissionsExt as _;
    let daemon = TestDaemon::start();
    let mut agent = client(&daemon, "mcp", "an agent");
    let mut person = client(&daemon, "cli", "a person");
    let params = removal(&daemon, "victim");
    let id = question(&mut agent, &params);
    let mut other_agent = client(&daemon, "mcp", "another agent");
    let refused = other_agent.err(
        "approval.answer",
        &json!({ "id": id, "decision": "always" }),
    );
    assert_eq!(refused.kind(), "approver_refused", "{refused:?}");
    let answered = answer(&mut person, &id, "always");
    assert_eq!(answered["state"], "approved", "{answered}");
    let file = answered["rule_at"][0].as_str().unwrap().to_owned();
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(
        text.contains("client = \"an agent\"") && text.contains("victim"),
        "{text}"
    );
    let mode = std::fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    // The first call uses the approval. The rule allows the others.
    for _ in 0..3 {
        agent.ok("session.create", &params);
    }
    question(&mut other_agent, &params);
    let records = person.ok("audit.list", &json!({}));
    let records = records["records"].as_array().unwrap();
    let changed = records
        .iter()
        .find(|record| record["action"] == "policy.changed");
    let changed = changed.unwrap();
    assert_eq!(changed["outcome"], "ok");
    assert_eq!(changed["actor"]["client"], "a person");
    assert!(changed["detail"]["config"].is_string(), "{changed}");
    let by_rule = records
        .iter()
        .any(|record| record["detail"]["approved_rule"] == 1);
    assert!(by_rule);
}

#[test]
fn a_link_in_the_place_of_the_file_is_not_written_through() {
    let daemon = TestDaemon::start();
    let mut agent = client(&daemon, "mcp", "an agent");
    let mut person = client(&daemon, "cli", "a person");
    let first = question(&mut agent, &removal(&daemon, "first"));
    let answered = answer(&mut person, &first, "always");
    let file = answered["rule_at"][0].as_str().unwrap().to_owned();
    let elsewhere = daemon.path("state").join("elsewhere");
    std::fs::rename(&file, &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &file).unwrap();
    let before = std::fs::read(&elsewhere).unwrap();
    let second = question(&mut agent, &removal(&daemon, "second"));
    let always = json!({ "id": second, "decision": "always" });
    let refused = person.err("approval.answer", &always);
    assert_eq!(refused.kind(), "always_refused", "{refused:?}");
    assert!(refused.message.contains("is a link"), "{refused:?}");
    assert_eq!(std::fs::read(&elsewhere).unwrap(), before);
    assert_eq!(answer(&mut person, &second, "approve")["state"], "approved");
}

//! What a person has refused does not run, whatever an agent says.

use serde_json::{Value, json};
use termd_test_support::{McpClient, Pty, RawClient, TestDaemon};

use crate::Attack;
use crate::agents::{client, question, state, victim};

pub(crate) const ATTACKS: &[Attack] = &[
    (
        "consent_is_asked_for_although_the_model_confirms",
        elicitation_before_confirmed,
    ),
    ("consent_is_a_yes_in_the_forms_content", empty_forms_are_no),
    (
        "consent_after_a_denial_is_none_for_ten_minutes",
        denied_and_confirmed,
    ),
    (
        "consent_of_the_model_counts_alone",
        confirmed_where_a_person_is_there,
    ),
    ("consent_of_the_model_by_config", confirmed_by_config),
    ("consent_to_its_own_question_is_none", own_question),
    (
        "consent_at_a_prompt_comes_too_late_after_a_denial",
        prompt_after_a_denial,
    ),
    ("consent_refused_at_a_prompt_holds", no_at_a_prompt),
];

const TERMCTL: &str = env!("CARGO_BIN_EXE_termctl");

fn forms() -> Value {
    json!({ "elicitation": {} })
}

/// Answers the client's next form.
fn reply(mcp: &mut McpClient, result: &Value) {
    let form = mcp.wait("a form", |message| {
        message["method"] == "elicitation/create"
    });
    let schema = &form["params"]["requestedSchema"];
    assert_eq!(schema["required"], json!(["confirm"]), "{schema}");
    assert_eq!(
        schema["properties"]["confirm"]["type"], "boolean",
        "{schema}"
    );
    let answer = json!({ "jsonrpc": "2.0", "id": form["id"], "result": result });
    mcp.send_line(&answer.to_string());
}

fn elicitation_before_confirmed() {
    let daemon = TestDaemon::start();
    let mut mcp = McpClient::start_with(&daemon, &[], &forms());
    let (victim, _) = victim(&daemon);
    let run = json!({ "exec": format!("rm -r {}", victim.display()), "confirmed": true });
    let call = mcp.begin("session_exec", &run);
    reply(&mut mcp, &json!({ "action": "decline" }));
    let answer = mcp.answer(call)["result"].clone();
    assert_eq!(
        answer["structuredContent"]["error"]["type"], "declined",
        "{answer}"
    );
    // The no holds: nobody is asked again.
    for _ in 0..3 {
        let (kind, message) = mcp.refused("session_exec", &run);
        assert_eq!(kind, "denied", "{message}");
    }
    assert!(victim.exists());
}

fn empty_forms_are_no() {
    let daemon = TestDaemon::start();
    let mut person = daemon.client();
    for (at, content) in [
        None,
        Some(json!({})),
        Some(json!({ "confirm": false })),
        Some(json!({ "confirm": "true" })),
        Some(json!({ "confirmed": true })),
        Some(json!([true])),
    ]
    .into_iter()
    .enumerate()
    {
        let mut mcp = McpClient::start_with(&daemon, &[], &forms());
        let victim = daemon.path("state").join(format!("victim{at}"));
        std::fs::create_dir_all(&victim).unwrap();
        let run = json!({ "exec": format!("rm -r {}", victim.display()) });
        let call = mcp.begin("session_exec", &run);
        let mut result = json!({ "action": "accept" });
        if let Some(content) = content {
            result["content"] = content;
        }
        reply(&mut mcp, &result);
        let answer = mcp.answer(call)["result"].clone();
        assert_eq!(answer["isError"], true, "{result} {answer}");
        assert!(victim.exists(), "{result}");
    }
    let mut mcp = McpClient::start_with(&daemon, &[], &forms());
    let (victim, _) = victim(&daemon);
    let call = mcp.begin(
        "session_exec",
        &json!({ "exec": format!("rm -r {}", victim.display()) }),
    );
    reply(
        &mut mcp,
        &json!({ "action": "accept", "content": { "confirm": true } }),
    );
    let answer = mcp.answer(call)["result"].clone();
    assert_eq!(answer["isError"], false, "{answer}");
    assert!(!victim.exists());
    let records = person.audit_records(&json!({}));
    let ran = records.iter().any(|record| {
        record["detail"]["agreed_by"] == "a person, by elicitation" && record["outcome"] == "ok"
    });
    assert!(ran, "{records:#?}");
}

fn denied_and_confirmed() {
    let daemon = TestDaemon::configured("[policy.fronts.mcp]\nconfirmed = \"always\"\n");
    let mut agent = client(&daemon, "mcp", "an agent");
    let mut person = client(&daemon, "cli", "a person");
    let (victim, params) = victim(&daemon);
    let id = question(&mut agent, &params);
    person.ok("approval.answer", &json!({ "id": id, "decision": "deny" }));
    let mut confirmed = params.clone();
    confirmed["confirmed"] = json!(true);
    for _ in 0..3 {
        agent
            .err("session.create", &params)
            .assert_is(-32012, "rejected");
        agent
            .err("session.create", &confirmed)
            .assert_is(-32012, "rejected");
    }
    // Nor under another name, nor through another front.
    let mut renamed = client(&daemon, "mcp", "another agent");
    renamed
        .err("session.create", &confirmed)
        .assert_is(-32012, "rejected");
    let acp = json!({
        "sessionId": "s", "command": "rm", "args": ["-r", victim],
        "_meta": { "termd": { "confirmed": true } },
    });
    agent
        .err("terminal/create", &acp)
        .assert_is(-32012, "rejected");
    assert!(victim.exists());
}

fn confirm(agent: &mut RawClient, params: &Value) -> Result<Value, String> {
    let mut confirmed = params.clone();
    confirmed["confirmed"] = json!(true);
    let answer = agent.request("session.create", &confirmed);
    answer.map_err(|error| {
        assert_eq!(error.data["needs_person"], true, "{error:?}");
        error.kind().to_owned()
    })
}

fn agreed_by(person: &mut RawClient) -> Vec<String> {
    let records = person.audit_records(&json!({}));
    let agreed = records
        .iter()
        .filter_map(|record| record["detail"]["agreed_by"].as_str());
    agreed.map(str::to_owned).collect()
}

fn confirmed_where_a_person_is_there() {
    let daemon = TestDaemon::start();
    let mut agent = client(&daemon, "mcp", "an agent");
    let (_, params) = victim(&daemon);
    let created = confirm(&mut agent, &params).unwrap();
    agent.ok(
        "session.wait",
        &json!({ "id": created["id"], "timeout_ms": 20_000 }),
    );
    let mut person = client(&daemon, "cli", "a person");
    assert_eq!(agreed_by(&mut person), ["the model's word"]);
    // `termctl approvals --watch` and `--notify` do this.
    let mut watch = client(&daemon, "cli", "a watch");
    watch.ok("approval.list", &json!({ "after": 0, "wait_ms": 0 }));
    let (victim, params) = victim(&daemon);
    let refused = confirm(&mut agent, &params).unwrap_err();
    assert_eq!(refused, "confirmation_required");
    // A client that can ask its own person asks.
    drop(watch);
    let mut asking = daemon.client();
    asking.ok(
        "daemon.hello",
        &json!({ "client": "asks", "front": "mcp", "asks": true }),
    );
    assert!(confirm(&mut asking, &params).is_err());
    // Somebody who has just answered is there.
    let id = question(
        &mut agent,
        &json!({ "command": "rm", "args": ["-r", "/nowhere"] }),
    );
    person.ok("approval.answer", &json!({ "id": id, "decision": "deny" }));
    assert!(confirm(&mut agent, &params).is_err());
    assert!(victim.exists());
}

fn confirmed_by_config() {
    for (word, counts) in [("never", false), ("always", true)] {
        let config = format!("[policy.fronts.mcp]\nconfirmed = \"{word}\"\n");
        let daemon = TestDaemon::configured(&config);
        let mut agent = client(&daemon, "mcp", "an agent");
        let mut person = client(&daemon, "cli", "a person");
        if counts {
            person.ok("approval.list", &json!({ "after": 0, "wait_ms": 0 }));
        }
        let (_, params) = victim(&daemon);
        assert_eq!(confirm(&mut agent, &params).is_ok(), counts, "{word}");
    }
}

fn own_question() {
    let daemon = TestDaemon::start();
    for front in ["mcp", "cli"] {
        let mut agent = client(&daemon, front, "an agent");
        let (victim, params) = victim(&daemon);
        let id = question(&mut agent, &params);
        for decision in ["approve", "always"] {
            let answer = json!({ "id": id, "decision": decision });
            let refused = agent.err("approval.answer", &answer);
            refused.assert_is_in(front, -32012, "approver_refused");
            // Another connection of the same process is no other person.
            let mut again = client(&daemon, front, "another name");
            again
                .err("approval.answer", &answer)
                .assert_is_in(front, -32012, "approver_refused");
        }
        let mut person = client(&daemon, "mcp", "somebody");
        assert_eq!(state(&mut person, &id), "pending");
        assert!(victim.exists());
    }
}

fn prompt_after_a_denial() {
    let daemon = TestDaemon::start();
    let mut person = client(&daemon, "cli", "a person");
    let (victim, _) = victim(&daemon);
    let mut pty = Pty::open(80, 24);
    let mut command = daemon.command(TERMCTL);
    command.args(["run", "--", "rm", "-r"]).arg(&victim);
    let mut child = pty.spawn(&command);
    pty.read_until("[y/N");
    let listed = person.ok("approval.list", &json!({}));
    let id = listed["approvals"][0]["id"].as_str().unwrap();
    person.ok("approval.answer", &json!({ "id": id, "decision": "deny" }));
    pty.write("y\r");
    assert!(!pty.wait(&mut child).success());
    let mut command = daemon.command(TERMCTL);
    command
        .args(["run", "--confirmed", "--", "rm", "-r"])
        .arg(&victim);
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("rejected"), "{said}");
    assert!(victim.exists());
}

fn no_at_a_prompt() {
    let daemon = TestDaemon::start();
    let (victim, _) = victim(&daemon);
    let run = |confirmed: &[&str]| {
        let mut command = daemon.command(TERMCTL);
        command
            .arg("run")
            .args(confirmed)
            .args(["--", "rm", "-r"])
            .arg(&victim);
        command
    };
    let mut pty = Pty::open(80, 24);
    let mut child = pty.spawn(&run(&[]));
    pty.read_until("[y/N");
    pty.write("n\r");
    assert!(!pty.wait(&mut child).success());
    let output = run(&["--confirmed"]).output().unwrap();
    assert!(!output.status.success(), "{output:?}");
    assert!(victim.exists());
}

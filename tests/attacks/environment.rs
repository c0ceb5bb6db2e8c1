//! A variable that makes a program run another one is part of what is asked.

use std::fs;

use serde_json::{Value, json};
use termd_test_support::TestDaemon;

use crate::Attack;
use crate::agents::{assert_asked_about, client, question, victim};

pub(crate) const ATTACKS: &[Attack] = &[
    ("environment_is_part_of_an_approval", approval_once),
    (
        "environment_is_part_of_an_approval_for_always",
        approval_for_always,
    ),
    (
        "variables_in_a_line_are_judged",
        variables_in_a_line_are_judged,
    ),
    (
        "environment_is_shown_without_secrets",
        question_shows_variables,
    ),
];

/// Each of these ran its command, and the gate called the line safe.
fn variables_in_a_line_are_judged() {
    assert_asked_about(&[
        "BASH_ENV='$(rm -rf x)' bash -c :",
        "env 'BASH_FUNC_echo%%=() { rm -rf x; }' bash -c 'echo hi'",
        "GIT_PAGER='rm -rf x' git -p --version",
        "export GIT_EXTERNAL_DIFF='rm -rf x'; git diff --no-index a b",
        "LD_PRELOAD=./x.so true",
        "LESS='+!rm -rf x' less /etc/passwd",
        "env NODE_OPTIONS='--require /tmp/x.js' node -v",
    ]);
}

fn with(params: &Value, env: &Value) -> Value {
    let mut params = params.clone();
    params["env"] = env.clone();
    params
}

fn approval_once() {
    let daemon = TestDaemon::start();
    let mut agent = client(&daemon, "mcp", "an agent");
    let mut person = client(&daemon, "cli", "a person");
    let (victim, params) = victim(&daemon);
    let id = question(&mut agent, &params);
    person.ok(
        "approval.answer",
        &json!({ "id": id, "decision": "approve" }),
    );
    for env in [json!({ "GIT_DIR": "/tmp/evil" }), json!({ "A": "" })] {
        assert_ne!(question(&mut agent, &with(&params, &env)), id, "{env}");
    }
    assert!(victim.exists());
    agent.ok("session.create", &params);

    let kept = with(&params, &json!({ "A": "1", "B": "2" }));
    let id = question(&mut agent, &kept);
    person.ok(
        "approval.answer",
        &json!({ "id": id, "decision": "approve" }),
    );
    for env in [
        json!({}),
        json!({ "A": "1" }),
        json!({ "A": "2", "B": "1" }),
        json!({ "A": "1", "B": "2", "LD_PRELOAD": "/tmp/evil.so" }),
    ] {
        assert_ne!(question(&mut agent, &with(&params, &env)), id, "{env}");
    }
    agent.ok("session.create", &kept);
}

fn approval_for_always() {
    let daemon = TestDaemon::start();
    let mut agent = client(&daemon, "mcp", "an agent");
    let mut person = client(&daemon, "cli", "a person");
    let (_, params) = victim(&daemon);
    let always = |person: &mut termd_test_support::RawClient, id: &str| {
        let answer = json!({ "id": id, "decision": "always" });
        person.ok("approval.answer", &answer)
    };
    let id = question(&mut agent, &params);
    always(&mut person, &id);
    for _ in 0..2 {
        agent.ok("session.create", &params);
    }
    let evil = with(&params, &json!({ "DEPTH": "/tmp/evil" }));
    let id = question(&mut agent, &evil);
    let answered = always(&mut person, &id);
    let file = answered["rule_at"][0].as_str().unwrap();
    let text = fs::read_to_string(file).unwrap();
    assert_eq!(text.matches("env_sha256 = ").count(), 1, "{text}");
    assert!(!text.contains("/tmp/evil"), "{text}");
    for _ in 0..2 {
        agent.ok("session.create", &evil);
    }
    question(
        &mut agent,
        &with(&params, &json!({ "DEPTH": "/tmp/other" })),
    );
}

fn question_shows_variables() {
    let daemon = TestDaemon::start();
    let mut agent = client(&daemon, "mcp", "an agent");
    let mut person = client(&daemon, "cli", "a person");
    let (_, params) = victim(&daemon);
    let long = "x".repeat(10_000);
    let env = json!({ "GIT_DIR": "/b/.git", "API_TOKEN": "canary-0123456789", "LONG": long });
    question(&mut agent, &with(&params, &env));
    let listed = person.ok("approval.list", &json!({}));
    let shown = listed["approvals"][0]["env"].to_string();
    assert!(shown.contains(r#"["GIT_DIR","/b/.git"]"#), "{shown}");
    assert!(!shown.contains("canary"), "{shown}");
    assert!(shown.len() < 1_000, "{shown}");
}

//! Secrets in output that agents' fronts are not to see: `[policy] hide_secrets`.

use std::fs;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value, json};
use termd_test_support::{RawClient, TestDaemon};

use crate::Attack;
use crate::agents::client;

pub(crate) const ATTACKS: &[Attack] = &[
    ("hidden_secrets_reach_no_answer", no_answer_shows_it),
    ("hidden_secrets_stay_hidden_in_part", no_part_of_it_is_shown),
];

const HIDING: &str = "[policy]\nhide_secrets = true\n";
/// Columns of the terminal: the token takes three rows.
const COLS: u16 = 20;
/// The shortest part of the token that counts as shown.
const PART_BYTES: usize = 8;

fn token() -> String {
    format!("ghp_{}", "a1B2c3D4e5F6".repeat(3))
}

/// A terminal that prints the token plainly, and again with colours that cut it.
fn terminal(daemon: &TestDaemon) -> (RawClient, String) {
    let token = token();
    let (start, end) = token.split_at(15);
    let directory = daemon.path(&token);
    fs::create_dir(&directory).unwrap();
    fs::write(
        daemon.path("tok"),
        format!("plain {token}\ncut {start}\u{1b}[1;31m{end}\u{1b}[m\ndone\n"),
    )
    .unwrap();
    let mut agent = client(daemon, "mcp", "an agent");
    let id = agent.create_terminal(&json!({
        "command": "sh", "args": ["-c", "cat ../tok; read line"],
        "cwd": directory, "cols": COLS, "rows": 10,
    }));
    let mut person = client(daemon, "cli", "a person");
    person.wait_for_text(&id, "done");
    (agent, id)
}

/// Fails where an answer has a part of the token, whatever escape sequences and rows cut it.
fn assert_hidden(what: &str, answer: &Value) {
    let mut text = answer.to_string();
    if let Some(data) = answer["data"].as_str() {
        let bytes = BASE64.decode(data).unwrap();
        text.push_str(&String::from_utf8(bytes).unwrap());
    }
    let token = token();
    let parts = token.as_bytes().windows(PART_BYTES);
    for part in parts.map(|part| std::str::from_utf8(part).unwrap()) {
        assert!(!text.contains(part), "{what}: {part} in {text}");
    }
}

fn no_answer_shows_it() {
    let daemon = TestDaemon::configured(HIDING);
    let (mut agent, id) = terminal(&daemon);
    for (method, params) in [
        ("session.read", json!({ "id": id, "since": 0 })),
        (
            "session.read",
            json!({ "id": id, "since": 0, "encoding": "base64" }),
        ),
        (
            "session.read",
            json!({ "id": id, "since": 0, "encoding": "styled" }),
        ),
        ("session.screen", json!({ "id": id })),
        ("session.screen", json!({ "id": id, "format": "text" })),
        ("session.screen", json!({ "id": id, "format": "html" })),
        ("session.screen", json!({ "id": id, "format": "ansi" })),
        (
            "session.screen",
            json!({ "id": id, "from_row": 1, "to_row": 1 }),
        ),
        (
            "session.wait_for",
            json!({ "id": id, "since": 0, "until": { "pattern": "plain .*" } }),
        ),
        ("session.show", json!({ "id": id })),
        ("session.list", json!({})),
    ] {
        let answer = agent.ok(method, &params);
        assert_hidden(&format!("{method} {params}"), &answer);
    }
    // Whether a guess matches would tell the token, character by character.
    for (guess, matched) in [("ghp_", false), ("B2c3D4", false), (r"plain \*{40}", true)] {
        let params =
            json!({ "id": id, "since": 0, "until": { "pattern": guess }, "timeout_ms": 1 });
        let answer = agent.ok("session.wait_for", &params);
        assert_eq!(answer["matched"].is_object(), matched, "{guess}: {answer}");
    }
    let attach = json!({ "id": id, "format": "attach" });
    agent
        .err("session.screen", &attach)
        .assert_invalid("format");
    // A person sees all of it.
    let mut person = client(&daemon, "cli", "a person");
    let screen = person.ok(
        "session.screen",
        &json!({ "id": id, "format": "text_joined" }),
    );
    assert!(screen["rendering"].as_str().unwrap().contains(&token()));
}

fn no_part_of_it_is_shown() {
    let daemon = TestDaemon::configured(HIDING);
    let (mut agent, id) = terminal(&daemon);
    for encoding in ["text", "styled", "raw", "base64"] {
        // In the middle of the token, from each side.
        for params in [
            json!({ "id": id, "since": 16, "encoding": encoding }),
            json!({ "id": id, "since": 0, "max_bytes": 30, "encoding": encoding }),
            json!({ "id": id, "since": 12, "max_bytes": 20, "encoding": encoding }),
        ] {
            let answer = agent.ok("session.read", &params);
            assert_hidden(&format!("session.read {params}"), &answer);
        }
    }
}

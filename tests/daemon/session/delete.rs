//! `session.delete`: a transcript goes for good, and its record stays.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use termd_test_support::TestDaemon;

/// Random to a packer, so that it stands as it is in the database's pages.
const SECRET: &str = "q7Zp-0vKx_93LmTtW4yRbN8s";

/// Whether the database or its log holds the secret.
fn is_stored(database: &Path) -> bool {
    let log = PathBuf::from(format!("{}-wal", database.display()));
    [database, &log].into_iter().any(|file| {
        let bytes = fs::read(file).unwrap_or_default();
        bytes
            .windows(SECRET.len())
            .any(|window| window == SECRET.as_bytes())
    })
}

#[test]
fn what_was_printed_and_typed_is_overwritten_and_a_record_stays() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let database = client.ok("daemon.info", &Value::Null)["database"].clone();
    let database = PathBuf::from(database.as_str().unwrap());
    let id = client.create_terminal(&json!({ "command": "bash" }));
    let until = json!({ "done": true });
    client.ok("session.wait_for", &json!({ "id": id, "until": until }));
    let input = json!({ "text": format!("echo {SECRET}"), "enter": true });
    let done = client.ok(
        "session.interact",
        &json!({ "id": id, "input": input, "until": until }),
    );
    assert_eq!(done["command"]["number"], 1, "{done}");
    let other = client.create_terminal(&json!({ "command": "echo", "args": ["stays"] }));
    client.ok("session.wait", &json!({ "id": other }));
    let open = client.err("session.delete", &json!({ "id": id }));
    assert_eq!(open.kind(), "terminal_open");
    client.ok("session.close", &json!({ "id": id }));
    let query = |text: &str| json!({ "filter": { "query": text } });
    // Answered once what is queued is in the database.
    client.ok("command.list", &query(SECRET));
    assert!(is_stored(&database), "the test finds what is there");

    let deleted = client.ok("session.delete", &json!({ "id": id }));
    let bytes = deleted["bytes"].as_u64().unwrap();
    assert!(bytes > SECRET.len() as u64, "{deleted}");
    assert!(!is_stored(&database));
    let read = client.ok("session.read", &json!({ "id": id, "since": 0 }));
    assert_eq!((&read["text"], &read["start"]), (&json!(""), &read["end"]));
    let found = client.ok("command.list", &query(SECRET));
    assert_eq!(found["commands"], json!([]));
    let found = client.ok("command.list", &query("echo stays"));
    assert_eq!(found["commands"][0]["terminal"], *other);
    let kept = client.ok("session.read", &json!({ "id": other }));
    assert_eq!(kept["text"], "stays\n");

    let records = client.audit_records(&json!({ "action": "terminal.delete" }));
    assert_eq!(records.len(), 1, "{records:?}");
    assert_eq!(records[0]["terminal"], *id);
    assert_eq!(records[0]["detail"]["bytes"], bytes);
    let again = client.ok("session.delete", &json!({ "id": id }));
    assert_eq!(again["bytes"], 0);
    let verdict = client.ok("audit.verify", &Value::Null);
    assert_eq!(verdict["database_fault"], Value::Null, "{verdict}");
}

#[test]
fn an_agent_deletes_its_own_transcripts_alone() {
    let daemon = TestDaemon::start();
    let mut person = daemon.client();
    let echo = json!({ "command": "echo", "args": ["hi"] });
    let persons = person.create_terminal(&echo);
    let mut agent = daemon.client();
    agent.ok(
        "daemon.hello",
        &json!({ "client": "agent", "front": "mcp" }),
    );
    let own = agent.create_terminal(&echo);
    for id in [&persons, &own] {
        person.ok("session.close", &json!({ "id": id }));
    }
    let error = agent.err("session.delete", &json!({ "id": persons }));
    assert_eq!(error.kind(), "foreign_terminal");
    agent.ok("session.delete", &json!({ "id": own }));
    person.ok("session.delete", &json!({ "id": persons }));
}

#[test]
fn the_terminals_own_command_line_goes_too_and_a_read_says_why() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let echo = json!({ "command": "echo", "args": [SECRET], "cwd": "/tmp" });
    let id = client.create_terminal(&echo);
    client.ok("session.close", &json!({ "id": id }));
    let query = json!({ "filter": { "query": SECRET } });
    let found = client.ok("command.list", &query);
    assert_eq!(found["commands"][0]["terminal"], *id);
    client.ok("session.delete", &json!({ "id": id }));
    let found = client.ok("command.list", &query);
    assert_eq!(found["commands"], json!([]));
    let shown = client.ok("session.show", &json!({ "id": id }));
    assert_eq!(
        (&shown["argv"], &shown["cwd"]),
        (&json!([]), &json!("")),
        "{shown}"
    );
    let command = client.ok("command.show", &json!({ "id": id, "number": 0 }));
    assert_eq!(
        (&command["text"], &command["cwd"]),
        (&json!(""), &Value::Null)
    );
    let read = client.ok("session.read", &json!({ "id": id, "since": 0 }));
    assert_eq!(read["gap"]["cause"], "deleted", "{read}");
    // The chain of the audit cannot be changed.
    let created = client.audit_records(&json!({ "action": "terminal.create", "terminal": id }));
    assert_eq!(created[0]["detail"]["argv"], json!(["echo", SECRET]));
}

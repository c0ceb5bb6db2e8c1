//! Records of people: who attaches, and who types how many bytes.

use std::time::Instant;

use serde_json::{Value, json};
use termd_test_support::{RawClient, TestDaemon, wait_until};

fn records(client: &mut RawClient, id: &str, action: &str) -> Vec<Value> {
    let filter = json!({ "terminal": id, "action": action });
    let page = client.ok(
        "audit.list",
        &json!({ "filter": filter, "order": "oldest", "limit": 1000 }),
    );
    page["records"].as_array().unwrap().clone()
}

/// Waits until at least this many bytes are recorded as typed: the records.
pub(super) fn typed(client: &mut RawClient, id: &str, bytes: u64) -> Vec<Value> {
    let mut found = Vec::new();
    wait_until("what was typed is recorded", || {
        found = records(client, id, "terminal.typed");
        let sum = |record: &Value| record["detail"]["bytes"].as_u64().unwrap_or_default();
        found.iter().map(sum).sum::<u64>() >= bytes
    });
    found
}

#[test]
fn what_is_typed_is_summed_up_by_connection_and_its_text_is_not_kept() {
    let daemon = TestDaemon::start();
    let mut agent = daemon.agent();
    let id = agent.script("echo ready; cat");
    agent.wait_for_text(&id, "ready");
    let begun = Instant::now();
    for _ in 0..300 {
        agent.send_text(&id, "x");
    }
    let seconds = begun.elapsed().as_secs();
    agent.send_text(&id, "\n");
    let found = typed(&mut agent, &id, 301);
    assert!(
        found.len() as u64 <= 2 + seconds * 2,
        "{} records in {seconds} s",
        found.len()
    );
    let sum: u64 = (found.iter())
        .map(|record| record["detail"]["inputs"].as_u64().unwrap())
        .sum();
    assert_eq!(sum, 301);
    let text = json!(found).to_string();
    assert!(
        !text.contains("xxx") && !text.contains("\"text\""),
        "{text}"
    );
    // Another connection has a sum of its own, with the hash of its input (sha256sum of `abc\n`).
    let mut other = daemon.client();
    other.ok("daemon.hello", &json!({ "client": "the other" }));
    other.send_text(&id, "abc\n");
    let found = typed(&mut agent, &id, 305);
    let last = found.last().unwrap();
    assert_eq!(last["actor"]["client"], "the other");
    assert_eq!(
        last["detail"]["sha256"],
        "edeaaff3f1774ad2888673770c6d64097e391bc362d7d6fb34982ddf0efd18cb"
    );
}

#[test]
fn what_was_typed_right_before_the_end_is_recorded() {
    let daemon = TestDaemon::start();
    let mut agent = daemon.agent();
    let id = agent.script("echo ready; read a");
    agent.wait_for_text(&id, "ready");
    agent.send_text(&id, "bye\n");
    drop(agent);
    let daemon = TestDaemon::start_in(daemon.stop());
    let found = records(&mut daemon.client(), &id, "terminal.typed");
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0]["detail"]["bytes"], 4);
}

#[test]
fn attaching_and_detaching_are_recorded_by_whom_and_once() {
    let daemon = TestDaemon::start();
    let mut agent = daemon.agent();
    let id = agent.script("sleep 1000");
    let mut person = daemon.client();
    person.ok("daemon.hello", &json!({ "client": "a person" }));
    person.ok("session.attach", &json!({ "id": id, "mode": "watch" }));
    person.ok("session.attach", &json!({ "id": id, "mode": "watch" }));
    let attached = records(&mut agent, &id, "terminal.attach");
    assert_eq!(attached.len(), 1, "{attached:?}");
    assert_eq!(attached[0]["actor"]["client"], "a person");
    assert_eq!(attached[0]["detail"]["mode"], "watch");
    person.ok("session.detach", &json!({ "id": id }));
    wait_until("the detaching is recorded", || {
        records(&mut agent, &id, "terminal.detach").len() == 1
    });
    // The end of a connection counts as a detach.
    person.ok("session.attach", &json!({ "id": id }));
    drop(person);
    wait_until("the second detaching is recorded", || {
        records(&mut agent, &id, "terminal.detach").len() == 2
    });
    let attached = records(&mut agent, &id, "terminal.attach");
    assert_eq!(attached[1]["detail"]["mode"], "type");
}

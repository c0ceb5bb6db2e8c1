//! Calls that type into one terminal at once: each waits for its turn and gives its own output.

use serde_json::{Value, json};
use termd_test_support::{McpClient, TestDaemon, assert_members};

use crate::smart_terminal::start;

fn facts(client: &mut McpClient, call: u64) -> Value {
    client.answer(call)["result"]["structuredContent"].clone()
}

#[test]
fn twenty_interacts_at_once_give_their_own_output_each() {
    let daemon = TestDaemon::start();
    let mut client = McpClient::start(&daemon);
    let id = client.create("bash");
    client.call("session_read", &json!({ "session_id": id }));
    let calls: Vec<u64> = (0..20)
        .map(|number| {
            let line = format!("sleep 0.0{}; echo n{number}; (exit {number})", number % 4);
            client.begin(
                "session_interact",
                &json!({ "session_id": id, "input": line }),
            )
        })
        .collect();
    for (number, call) in calls.into_iter().enumerate() {
        let result = facts(&mut client, call);
        let output = result["output"].as_str().unwrap();
        assert!(output.starts_with(&format!("n{number}\n")), "{result}");
        assert_eq!(output.matches('\n').count(), 1, "{result}");
        assert_eq!(result["exit_code"], number, "{result}");
        assert!(result.get("omitted").is_none(), "{result}");
    }
}

#[test]
fn twenty_execs_at_once_give_their_own_output_each() {
    let daemon = TestDaemon::start();
    let mut client = start::client(&daemon);
    let id = start::start(&mut client);
    let calls: Vec<u64> = (0..20)
        .map(|number| {
            let line = format!("sleep 0.0{}; echo n{number}; (exit {number})", number % 4);
            client.begin(
                "terminal_exec",
                &json!({ "sessionId": id, "command": line }),
            )
        })
        .collect();
    for (number, call) in calls.into_iter().enumerate() {
        let result = facts(&mut client, call);
        assert_members(
            &result,
            &json!({ "output": format!("n{number}"), "exitCode": number }),
        );
    }
}

#[test]
fn a_call_that_is_cancelled_gives_its_turn_up() {
    let daemon = TestDaemon::start();
    let mut client = McpClient::start(&daemon);
    let id = client.create("cat");
    let interact = |text: &str, wanted: &str| json!({ "session_id": id, "input": text, "wait_for": wanted, "timeout": 100 });
    let first = client.begin("session_interact", &interact("one", "never"));
    daemon.client().wait_for_text(&id, "one");
    let queued = client.begin("session_interact", &interact("queued", "never"));
    let last = client.begin("session_interact", &interact("three", "three"));
    // Reads, waits and keys do not queue.
    let read = client.call("session_read", &json!({ "session_id": id, "timeout": 0 }));
    assert!(
        read["output"].as_str().unwrap().starts_with("one"),
        "{read}"
    );
    let wait = client.call(
        "session_wait_for",
        &json!({ "session_id": id, "pattern": "one", "offset": 0 }),
    );
    assert_eq!(wait["matched"], true, "{wait}");
    let key = json!({ "session_id": id, "key": "x", "wait_for": "never", "timeout": 0.2 });
    assert_eq!(client.call("session_interact", &key)["bytes_sent"], 1);
    for call in [queued, first] {
        client.notify("notifications/cancelled", &json!({ "requestId": call }));
    }
    assert_eq!(facts(&mut client, last)["matched"], true);
    let all = client.call(
        "session_read",
        &json!({ "session_id": id, "offset": 0, "timeout": 0 }),
    );
    assert!(!all["output"].as_str().unwrap().contains("queued"), "{all}");
}

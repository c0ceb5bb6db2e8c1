//! The limit that ended a program: each tool that reports an exit names it by the same member.

use serde_json::{Value, json};
use termd_test_support::resource_limits::{OVER_CPU_TIME, OVER_FILE_BYTES, daemon_with_limits};
use termd_test_support::{McpClient, assert_members};

use crate::smart_terminal::start::{client as terminal_client, exec, start};

/// Checks that the output schema of each of these tools has the member.
#[track_caller]
fn assert_listed(client: &mut McpClient, name: &str, tools: &[&str]) {
    let listed = client.ask("tools/list", &json!({}));
    let listed = listed["result"]["tools"].as_array().unwrap().clone();
    for wanted in tools {
        let tool = listed.iter().find(|tool| tool["name"] == *wanted);
        let member = &tool.unwrap()["outputSchema"]["properties"][name];
        assert_eq!(member["type"], "string", "{wanted}: {member}");
        let says = member["description"].as_str().unwrap();
        assert!(says.contains("cpu_time"), "{wanted}: {says}");
    }
}

/// The entry of a list with this id.
fn entry(listed: &Value, key: &str, id: &str) -> Value {
    let mut all = listed["sessions"].as_array().unwrap().iter();
    all.find(|entry| entry[key] == id).unwrap().clone()
}

#[test]
fn sessions_tell_which_limit_ended_them() {
    let daemon = daemon_with_limits("mcp");
    let mut client = McpClient::start(&daemon);
    let tools = [
        "session_exec",
        "session_read",
        "session_close",
        "session_wait_for",
        "session_interact",
    ];
    assert_listed(&mut client, "end_cause", &tools);
    for (script, cause, code, signal) in [
        (OVER_FILE_BYTES, "file_bytes", json!(153), Value::Null),
        (OVER_CPU_TIME, "cpu_time", Value::Null, json!("SIGXCPU")),
    ] {
        // A second of processor time takes long on a busy machine.
        let result = client.call("session_exec", &json!({ "exec": script, "timeout": 50 }));
        assert_eq!(result["end_cause"], cause, "{result}");
        assert_eq!(
            (&result["exit_code"], &result["signal"]),
            (&code, &signal),
            "{result}"
        );
        // The record of the closed terminal still names the limit.
        let closed = json!({ "session_id": result["session_id"] });
        let read = client.call("session_read", &closed);
        assert_eq!(read["end_cause"], cause, "{read}");
        let closed = client.call("session_close", &closed);
        assert_eq!(closed["end_cause"], cause, "{closed}");
    }
    let id = client.create("bash --norc --noprofile");
    let result = client.call(
        "session_interact",
        &json!({ "session_id": id, "input": format!("exec bash -c '{OVER_FILE_BYTES}'"), "wait_for": "never" }),
    );
    assert_eq!(result["end_cause"], "file_bytes", "{result}");
    let listed = client.call("session_list", &json!({}));
    let listed = entry(&listed, "session_id", &id);
    assert_eq!(listed["end_cause"], "file_bytes", "{listed}");
    for tool in ["session_read", "session_close"] {
        let result = client.call(tool, &json!({ "session_id": id }));
        assert_eq!(result["end_cause"], "file_bytes", "{tool}: {result}");
    }
    // Without a limit there is no cause.
    let result = client.call("session_exec", &json!({ "exec": "exit 3" }));
    assert_eq!(result.get("end_cause"), None, "{result}");
}

#[test]
fn terminals_tell_which_limit_ended_them() {
    let daemon = daemon_with_limits("mcp");
    let mut client = terminal_client(&daemon);
    let tools = [
        "terminal_exec",
        "terminal_read",
        "terminal_wait",
        "terminal_stop",
        "terminal_run",
    ];
    assert_listed(&mut client, "endCause", &tools);
    for (script, cause) in [(OVER_FILE_BYTES, "file_bytes"), (OVER_CPU_TIME, "cpu_time")] {
        let run = json!({ "cmd": script, "shell": true });
        let result = client.call("terminal_run", &run);
        assert_eq!(result["endCause"], cause, "{result}");
        assert_eq!(result["ok"], false);
    }
    let result = client.call("terminal_run", &json!({ "cmd": "false" }));
    assert_eq!(result.get("endCause"), None, "{result}");

    let id = start(&mut client);
    let ran = exec(
        &mut client,
        &id,
        &format!("exec bash -c '{OVER_FILE_BYTES}'"),
    );
    assert_eq!(ran["endCause"], "file_bytes", "{ran}");
    let named = json!({ "sessionId": id });
    let read = client.call("terminal_read", &named);
    assert_members(&read, &json!({ "endCause": "file_bytes", "alive": false }));
    let waited = client.call(
        "terminal_wait",
        &json!({ "sessionId": id, "pattern": "never" }),
    );
    assert_eq!(waited["endCause"], "file_bytes", "{waited}");
    let listed = client.call("terminal_list", &json!({}));
    let listed = entry(&listed, "id", &id);
    assert_eq!(listed["endCause"], "file_bytes", "{listed}");
    let refused = client.result(
        "terminal_exec",
        &json!({ "sessionId": id, "command": "true" }),
    );
    let words = refused["content"][0]["text"].as_str().unwrap();
    assert!(
        words.contains("Its limit file_bytes has ended it."),
        "{refused}"
    );
    let stopped = client.call("terminal_stop", &named);
    assert_eq!(stopped["endCause"], "file_bytes", "{stopped}");
}

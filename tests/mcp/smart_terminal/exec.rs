//! `terminal_exec` and the tools built on it. Each known fault of smart-terminal-mcp has a test.

use serde_json::{Value, json};
use termd_test_support::{McpClient, TestDaemon, assert_members};

use super::start::{client, exec, start};

#[test]
fn ten_of_ten_commands_give_their_own_output_and_exit_code() {
    let daemon = TestDaemon::start();
    let mut client = client(&daemon);
    let id = start(&mut client);
    for number in 0..10 {
        let result = exec(
            &mut client,
            &id,
            &format!("echo n{number}; (exit {number})"),
        );
        assert_eq!(result["output"], format!("n{number}"), "{result}");
        assert_eq!(result["exitCode"], number, "{result}");
        assert_eq!(result["timedOut"], false, "{result}");
        assert_eq!(result["completedBy"], "marks", "{result}");
    }
}

#[test]
fn commands_that_smart_terminal_mcp_cannot_run_are_run() {
    let daemon = TestDaemon::start();
    let mut client = client(&daemon);
    let id = start(&mut client);
    let table = [
        ("false", "", 1),
        ("sleep 0.3; echo done", "done", 0),
        ("sleep 0.3; echo c # note", "c", 0),
        ("sleep 0.3\necho two", "two", 0),
        ("for i in 1 2; do\n  echo $i\ndone\n(exit 4)", "1\n2", 4),
        ("printf abc", "abc", 0),
        ("echo '__MCP_DONE_0___0__'", "__MCP_DONE_0___0__", 0),
        ("cat <<EOF\na  b\nEOF", "a  b", 0),
        ("cd /tmp; echo \"it's\"", "it's", 0),
        ("", "", 0),
    ];
    for (command, output, exit_code) in table {
        let result = exec(&mut client, &id, command);
        assert_eq!(result["output"], output, "{command:?}: {result}");
        if !command.is_empty() {
            assert_eq!(result["exitCode"], exit_code, "{command:?}: {result}");
        }
        assert_eq!(result["timedOut"], false, "{command:?}: {result}");
    }
    let result = exec(&mut client, &id, "sleep 100 &");
    assert_eq!(result["exitCode"], 0, "{result}");
    assert_eq!(result["cwd"], "/tmp", "{result}");
    let result = exec(&mut client, &id, "kill %1; wait; echo over");
    let output = result["output"].as_str().unwrap();
    assert!(output.ends_with("over"), "{result}");
}

#[test]
fn a_shell_without_marks_is_told_by_its_process_and_loses_no_output() {
    let daemon = TestDaemon::start();
    let mut client = client(&daemon);
    let script = daemon.install("plain", "#!/bin/sh\nunset ENV; exec /bin/dash\n");
    let script = script.to_str().unwrap();
    let started = client.call("terminal_start", &json!({ "shell": script }));
    let id = started["sessionId"].as_str().unwrap().to_owned();
    for (command, output) in [("echo hi", "hi"), ("printf abc", "abc")] {
        let result = exec(&mut client, &id, command);
        assert_eq!(result["output"], output, "{command:?}: {result}");
    }
}

#[test]
fn a_command_that_runs_on_keeps_the_next_one_away() {
    let daemon = TestDaemon::start();
    let mut client = client(&daemon);
    let id = start(&mut client);
    let result = client.call(
        "terminal_exec",
        &json!({ "sessionId": id, "command": "echo begun; sleep 100", "timeout": 1000 }),
    );
    assert_eq!(result["timedOut"], true, "{result}");
    assert_eq!(
        (&result["output"], &result["exitCode"]),
        (&json!("begun"), &Value::Null)
    );
    let error = refused(
        &mut client,
        "terminal_exec",
        &json!({ "sessionId": id, "command": "echo x" }),
    );
    assert!(
        error.contains("is busy: it runs \"echo begun; sleep 100\""),
        "{error}"
    );
    client.call(
        "terminal_send_key",
        &json!({ "sessionId": id, "key": "ctrl+c" }),
    );
    client.call(
        "terminal_read",
        &json!({ "sessionId": id, "idleTimeout": 500 }),
    );
    let result = exec(&mut client, &id, "echo x");
    assert_eq!(result["output"], "x", "{result}");
}

#[test]
fn silence_ends_the_call_where_that_was_asked_for() {
    let daemon = TestDaemon::start();
    let mut client = client(&daemon);
    let id = start(&mut client);
    let result = client.call(
        "terminal_exec",
        &json!({ "sessionId": id, "command": "echo start; sleep 100", "quietExitMs": 500 }),
    );
    assert_members(&result, &json!({ "output": "start", "running": true }));
    assert_members(&result, &json!({ "timedOut": false, "quietExited": true }));
    client.call(
        "terminal_send_key",
        &json!({ "sessionId": id, "key": "ctrl+c" }),
    );
    client.call("terminal_read", &json!({ "sessionId": id }));
    // Silence does not end a call before the first output.
    let result = client.call(
        "terminal_exec",
        &json!({ "sessionId": id, "command": "sleep 1.2; echo late", "quietExitMs": 500 }),
    );
    assert_members(&result, &json!({ "output": "late", "exitCode": 0 }));
    assert_ne!(result["quietExited"], true, "{result}");
}

#[test]
fn what_is_left_out_of_a_million_lines_is_named_and_can_be_read() {
    let daemon = TestDaemon::start();
    let mut client = client(&daemon);
    let id = start(&mut client);
    let result = client.call(
        "terminal_exec",
        &json!({ "sessionId": id, "command": "seq 1 1000000", "maxLines": 10, "timeout": 60000 }),
    );
    let lines: Vec<_> = result["output"].as_str().unwrap().lines().collect();
    assert_eq!(&lines[..5], ["1", "2", "3", "4", "5"]);
    assert_eq!(
        &lines[6..],
        ["999996", "999997", "999998", "999999", "1000000"]
    );
    assert_eq!(lines.len(), 11, "{result}");
    let omitted = &result["omitted"][0];
    let (mut from, to) = (
        omitted["from"].as_u64().unwrap(),
        omitted["to"].as_u64().unwrap(),
    );
    let mut next = 6_u64;
    while from < to {
        let page = client.call(
            "terminal_read",
            &json!({ "sessionId": id, "since": from, "maxLines": 10000 }),
        );
        for line in page["output"].as_str().unwrap().lines() {
            if next <= 1_000_000 {
                assert_eq!(line, next.to_string(), "from {from}");
            }
            next += 1;
        }
        let position = page["position"].as_u64().unwrap();
        assert!(position > from, "no way on from {from}");
        from = position;
    }
    assert!(next > 1_000_000, "read until {next} only");
}

#[test]
fn a_command_is_tried_again_until_it_succeeds() {
    let daemon = TestDaemon::start();
    let mut client = client(&daemon);
    let id = start(&mut client);
    let result = client.call(
        "terminal_retry",
        &json!({ "sessionId": id, "command": "sleep .1; false", "maxRetries": 1, "delayMs": 10 }),
    );
    assert_members(&result, &json!({ "success": false, "attempts": 2 }));
    assert_eq!(result["history"][1]["exitCode"], 1, "{result}");
    assert_eq!(result["history"][1]["attempt"], 2, "{result}");
    let result = client.call(
        "terminal_retry",
        &json!({
            "sessionId": id, "command": "N=$((N+1)); echo at $N", "successPattern": "at 3$",
            "delayMs": 10, "successExitCode": null,
        }),
    );
    assert_members(&result, &json!({ "success": true, "attempts": 3 }));
    assert_eq!(result["lastResult"]["output"], "at 3", "{result}");
    // While an attempt takes too long, the next one is not typed into it.
    let result = client.call(
        "terminal_retry",
        &json!({
            "sessionId": id, "command": "N=$((N+1)); [ $N -gt 4 ] || sleep 100", "timeout": 1000,
            "delayMs": 10,
        }),
    );
    assert_eq!(result["attempts"], 2, "{result}");
    assert_eq!(result["history"][0]["timedOut"], true, "{result}");
}

#[test]
fn two_commands_are_compared() {
    let daemon = TestDaemon::start();
    let mut client = client(&daemon);
    let id = start(&mut client);
    let result = client.call(
        "terminal_diff",
        &json!({
            "sessionId": id, "commandA": "sleep .2; printf 'a\\nb\\nc\\n'",
            "commandB": "sleep .2; printf 'a\\nB\\nc\\n'",
        }),
    );
    assert_eq!(result["identical"], false, "{result}");
    assert_eq!(
        result["diff"],
        "--- sleep .2; printf 'a\\nb\\nc\\n'\n+++ sleep .2; printf 'a\\nB\\nc\\n'\n@@ -1,3 +1,3 @@\n a\n\
         -b\n+B\n c"
    );
    assert_eq!(result["resultA"]["output"], "a\nb\nc", "{result}");
    let same = client.call(
        "terminal_diff",
        &json!({ "sessionId": id, "commandA": "echo x", "commandB": "printf 'x\\n'" }),
    );
    assert_eq!(same["identical"], true, "{same}");
}

#[test]
fn what_is_dangerous_is_asked_about_before_anything_runs() {
    let daemon = TestDaemon::start();
    let mut client = client(&daemon);
    let id = start(&mut client);
    let risky = daemon.path("risky");
    std::fs::create_dir(&risky).unwrap();
    let command = format!("rm -rf {}", risky.display());
    let calls = [
        (
            "terminal_exec",
            json!({ "sessionId": id, "command": command }),
        ),
        (
            "terminal_retry",
            json!({ "sessionId": id, "command": command }),
        ),
        (
            "terminal_write",
            json!({ "sessionId": id, "data": format!("{command}\\r") }),
        ),
        ("terminal_start", json!({ "shell": command })),
    ];
    for (tool, arguments) in calls {
        let question = client.call(tool, &arguments);
        assert_eq!(
            question["requires_confirmation"], true,
            "{tool}: {question}"
        );
        assert!(risky.exists(), "{tool}");
    }
    let through = client.call(
        "terminal_extra",
        &json!({ "tool": "terminal_retry", "args": { "sessionId": id, "command": command } }),
    );
    assert_eq!(through["requires_confirmation"], true, "{through}");
    let mut confirmed = json!({ "sessionId": id, "command": command });
    confirmed["confirmed"] = true.into();
    let result = client.call("terminal_exec", &confirmed);
    assert_eq!(result["exitCode"], 0, "{result}");
    assert!(!risky.exists());
}

#[track_caller]
pub(crate) fn refused(client: &mut McpClient, tool: &str, arguments: &Value) -> String {
    let result = client.result(tool, arguments);
    assert_eq!(result["isError"], true, "{tool} {arguments}: {result}");
    assert!(result.get("structuredContent").is_none(), "{result}");
    result["content"][0]["text"].as_str().unwrap().to_owned()
}

#[test]
fn a_full_screen_program_is_answered_by_its_screen() {
    let daemon = TestDaemon::start();
    let mut client = client(&daemon);
    let id = start(&mut client);
    let result = exec(
        &mut client,
        &id,
        r"printf '\033[?1049h\033[2J\033[HTUI!'; cat",
    );
    assert_members(
        &result,
        &json!({ "state": "full_screen", "output": "TUI!", "running": true, "timedOut": false,
            "quietExited": false }),
    );
}

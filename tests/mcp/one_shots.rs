//! `session_exec` and `terminal_run` past their time, and many of them at once.

use serde_json::{Value, json};
use termd_test_support::{Home, McpClient, Process, TestDaemon, assert_members, wait_until};

use crate::smart_terminal::start::client as terminal_client;

/// A line that prints, waits for a file in the home, prints again, and exits with 3.
pub(crate) const WAITS: &str =
    "echo begun; until test -e go; do sleep 0.05; done; echo over; exit 3";

/// Makes the file that [`WAITS`] waits for.
pub(crate) fn make_go(home: &Home) {
    std::fs::write(home.user_home().join("go"), "").unwrap();
}

fn ending(home: &Home, tools: &str) -> McpClient {
    let env = [("TERMD_EXEC_TIMEOUT", "end"), ("TERMCTL_MCP_TOOLS", tools)];
    McpClient::start_with(home, &env, &json!({}))
}

#[test]
fn exec_past_its_time_goes_on_and_is_read_from_where_it_was() {
    let daemon = TestDaemon::start();
    let mut client = McpClient::start(&daemon);
    let run = json!({ "exec": WAITS, "timeout": 1, "cwd": daemon.user_home() });
    let result = client.call("session_exec", &run);
    assert_members(
        &result,
        &json!({ "output": "begun\n", "timed_out": true, "is_alive": true, "exit_code": null }),
    );
    // Nothing says that it is done.
    assert!(result.get("completed_by").is_none(), "{result}");
    let message = result["message"].as_str().unwrap();
    assert!(message.contains("session_read"), "{message}");
    let listed = client.call("session_list", &json!({}));
    assert_eq!(
        listed["sessions"][0]["session_id"], result["session_id"],
        "{listed}"
    );
    make_go(&daemon);
    let id = &result["session_id"];
    daemon.client().ok("session.wait", &json!({ "id": id }));
    let read = client.call(
        "session_read",
        &json!({ "session_id": id, "offset": result["offset"] }),
    );
    assert_members(&read, &json!({ "output": "over\n", "exit_code": 3 }));
}

#[test]
fn a_program_that_is_typed_into_goes_on_too() {
    let daemon = TestDaemon::start();
    let mut client = McpClient::start(&daemon);
    // It never falls silent, so nothing says that it is done.
    let program = "sh -c 'read x; while :; do echo $x; sleep 0.1; done'";
    let run = json!({ "exec": "tick", "command": program, "timeout": 1 });
    let result = client.call("session_exec", &run);
    assert_members(&result, &json!({ "timed_out": true, "is_alive": true }));
    let read = json!({ "session_id": result["session_id"], "pattern": "tick\\ntick" });
    assert_eq!(client.call("session_wait_for", &read)["matched"], true);
}

#[test]
fn run_past_its_time_goes_on_and_is_read_from_where_it_was() {
    let daemon = TestDaemon::start();
    let mut client = terminal_client(&daemon);
    let run = json!({ "cmd": WAITS, "shell": true, "timeout": 1000 });
    let result = client.call("terminal_run", &run);
    assert_members(
        &result,
        &json!({ "ok": false, "timedOut": true, "running": true, "exitCode": null, "position": 6 }),
    );
    assert_eq!(result["stdout"]["raw"], "begun\n", "{result}");
    make_go(&daemon);
    let id = &result["sessionId"];
    daemon.client().ok("session.wait", &json!({ "id": id }));
    let read = client.call(
        "terminal_read",
        &json!({ "sessionId": id, "since": result["position"] }),
    );
    assert_members(&read, &json!({ "output": "over", "alive": false }));
    client.call("terminal_stop", &json!({ "sessionId": id }));
}

#[test]
fn a_setting_ends_them() {
    let daemon = TestDaemon::start();
    let mut client = ending(&daemon, "session");
    let run = json!({ "exec": "echo a; sleep 338", "timeout": 0.5 });
    let result = client.call("session_exec", &run);
    assert_members(
        &result,
        &json!({ "output": "a\n", "timed_out": true, "is_alive": false }),
    );
    let message = result["message"].as_str().unwrap();
    assert!(message.contains("ended"), "{message}");
    assert_eq!(client.call("session_list", &json!({}))["count"], 0);
    let mut client = ending(&daemon, "terminal");
    let run = json!({ "cmd": "sleep", "args": ["339"], "timeout": 1000 });
    let result = client.call("terminal_run", &run);
    assert_members(
        &result,
        &json!({ "timedOut": true, "running": null, "signal": "SIGTERM" }),
    );
    assert_eq!(client.call("terminal_list", &json!({}))["count"], 0);
}

#[test]
fn one_left_running_outlives_the_client() {
    let daemon = TestDaemon::start();
    let mut client = McpClient::start(&daemon);
    let run = json!({ "exec": "sleep 340", "timeout": 0.3 });
    let id = client.call("session_exec", &run)["session_id"].clone();
    drop(client);
    let mut next = McpClient::start(&daemon);
    let listed = next.call("session_list", &json!({}));
    assert_members(
        &listed["sessions"][0],
        &json!({ "session_id": id, "is_alive": true }),
    );
    // It is closed when nobody uses it, like a session.
    let info = daemon.client().ok("session.show", &json!({ "id": id }));
    assert_eq!(info["idle_timeout_ms"], 1_800_000, "{info}");
}

#[test]
fn a_cancelled_one_is_ended() {
    let daemon = TestDaemon::start();
    let mut client = McpClient::start(&daemon);
    let call = client.begin(
        "session_exec",
        &json!({ "exec": "touch begun; sleep 341", "timeout": 100, "cwd": daemon.user_home() }),
    );
    let begun = daemon.user_home().join("begun");
    wait_until("it runs", || begun.exists());
    client.notify("notifications/cancelled", &json!({ "requestId": call }));
    wait_until("it is gone", || {
        client.call("session_list", &json!({}))["count"] == 0
    });
}

#[test]
fn one_shots_are_no_sessions_of_the_client() {
    let daemon = TestDaemon::start();
    let env = [
        ("TERMD_MAX_SESSIONS", "1"),
        ("TERMCTL_MCP_TOOLS", "session,terminal"),
    ];
    let mut client = McpClient::start_with(&daemon, &env, &json!({}));
    client.create("cat");
    let calls: Vec<u64> = (0..50)
        .map(|number| {
            let exec = format!("until test -e go; do sleep 0.05; done; echo {number}");
            client.begin(
                "session_exec",
                &json!({ "exec": exec, "cwd": daemon.user_home() }),
            )
        })
        .collect();
    let left = client.call(
        "session_exec",
        &json!({ "exec": "sleep 342", "timeout": 0.3 }),
    );
    assert_eq!(left["is_alive"], true, "{left}");
    let run = client.call("terminal_run", &json!({ "cmd": "echo", "args": ["ran"] }));
    assert_eq!(run["stdout"]["raw"], "ran\n", "{run}");
    make_go(&daemon);
    for (number, call) in calls.into_iter().enumerate() {
        let answer = client.answer(call);
        let facts = &answer["result"]["structuredContent"];
        assert_eq!(facts["output"], format!("{number}\n"), "{answer}");
    }
    // A session still counts, and the limit stays.
    let (kind, message) = client.refused("session_create", &json!({ "command": "cat" }));
    assert_eq!(kind, "session_limit_reached", "{message}");
}

#[test]
fn they_wait_as_long_as_clients_do() {
    let daemon = TestDaemon::start();
    let mut client =
        McpClient::spawn(&daemon, &["--tools", "session,terminal"], &[]).initialized(&json!({}));
    let listed = client.ask("tools/list", &json!({}));
    let default = |tool: &str| {
        let tools = listed["result"]["tools"].as_array().unwrap();
        let tool = tools.iter().find(|it| it["name"] == tool).unwrap();
        let schema: Value = tool["inputSchema"]["properties"]["timeout"].clone();
        schema["default"].clone()
    };
    assert_eq!(default("session_exec"), 45.0);
    assert_eq!(default("terminal_run"), 45_000);
    assert_eq!(default("terminal_exec"), 30_000);
}

#[test]
fn exec_that_waits_for_somebody_says_so_at_once_and_is_answered() {
    let daemon = TestDaemon::start();
    let mut client = McpClient::start(&daemon);
    for (exec, state, shows) in [
        (
            "read -p 'Go on? [y/N] ' x; echo got-$x; exit 3",
            "awaiting_input",
            "Go on? [y/N] ",
        ),
        (
            "read -s -p 'Password: ' x; echo got-$x; exit 3",
            "awaiting_secret",
            "Password: ",
        ),
        (
            r"printf '\033[?1049h\033[2J\033[HTUI!'; read x; echo got-$x; exit 3",
            "full_screen",
            "TUI!",
        ),
    ] {
        // The time of the call would be a failure of the test's.
        let result = client.call("session_exec", &json!({ "exec": exec, "timeout": 60 }));
        assert_members(
            &result,
            &json!({ "state": state, "output": shows, "is_alive": true, "timed_out": false }),
        );
        assert!(result.get("exit_code").is_none(), "{result}");
        let message = result["message"].as_str().unwrap();
        assert!(message.contains("session_interact"), "{message}");
        let by = if state == "awaiting_secret" {
            "password"
        } else {
            "input"
        };
        let answer = json!({ "session_id": result["session_id"], by: "y" });
        let answered = client.call("session_interact", &answer);
        assert_members(&answered, &json!({ "state": "exited", "exit_code": 3 }));
        let output = answered["output"].as_str().unwrap();
        assert!(output.contains("got-y"), "{answered}");
    }
}

#[test]
fn exec_that_looks_like_a_prompt_and_works_is_waited_for() {
    let daemon = TestDaemon::start();
    let mut client = McpClient::start(&daemon);
    let run = json!({ "exec": "printf 'Proceed? [y/N] '; sleep 3; echo; echo over" });
    let result = client.call("session_exec", &run);
    assert_members(&result, &json!({ "state": "exited", "exit_code": 0 }));
}

#[test]
fn what_a_one_shot_leaves_in_the_background_ends_with_it() {
    let daemon = TestDaemon::start();
    let sets = [("TERMCTL_MCP_TOOLS", "session,terminal,lean")];
    let mut client = McpClient::start_with(&daemon, &sets, &json!({}));
    let line = "setsid nohup sleep 339 >&- 2>&- & echo $!";
    for (tool, arguments, output) in [
        ("session_exec", json!({ "exec": line }), "/output"),
        ("term_run", json!({ "command": line }), "/output"),
        (
            "terminal_run",
            json!({ "cmd": "bash", "args": ["-c", line] }),
            "/stdout/raw",
        ),
    ] {
        let result = client.call(tool, &arguments);
        let output = result.pointer(output).and_then(Value::as_str).unwrap();
        let pid: i32 = output.trim().parse().unwrap();
        wait_until("it is gone", || {
            Process::open(pid).is_none_or(|process| !process.is_alive())
        });
    }
}

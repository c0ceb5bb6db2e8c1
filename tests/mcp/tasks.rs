//! One-shots as tasks (the extension `io.modelcontextprotocol/tasks` of 2026-07-28).

use serde_json::{Value, json};
use termd_test_support::{Home, McpClient, TestDaemon, assert_members, wait_until};

use crate::one_shots::{WAITS, make_go};

const EXTENSION: &str = "io.modelcontextprotocol/tasks";

fn follower(home: &Home) -> McpClient {
    let env = [("TERMCTL_MCP_TOOLS", "session,terminal")];
    McpClient::stateless_with(home, &env, &json!({ "extensions": { EXTENSION: {} } }))
}

/// Calls a tool that a task answers: the task.
#[track_caller]
fn begin(client: &mut McpClient, tool: &str, arguments: &Value) -> Value {
    let call = json!({ "name": tool, "arguments": arguments });
    let answer = client.ask("tools/call", &call);
    assert_eq!(answer["result"]["resultType"], "task", "{answer}");
    answer["result"].clone()
}

#[track_caller]
fn get(client: &mut McpClient, id: &Value) -> Value {
    let answer = client.ask("tasks/get", &json!({ "taskId": id }));
    assert_eq!(answer["result"]["resultType"], "complete", "{answer}");
    answer["result"].clone()
}

/// The task as soon as it is over.
#[track_caller]
fn end(client: &mut McpClient, id: &Value) -> Value {
    let mut task = Value::Null;
    wait_until("the task is over", || {
        task = get(client, id);
        task["status"] != "working"
    });
    task
}

#[test]
fn a_long_one_shot_is_a_task_and_outlives_both_servers() {
    let daemon = TestDaemon::start();
    let mut client = follower(&daemon);
    let discovered = client.ask("server/discover", &json!({}));
    let extensions = &discovered["result"]["capabilities"]["extensions"];
    assert_eq!(extensions[EXTENSION], json!({}), "{discovered}");
    let run = json!({ "exec": WAITS, "cwd": daemon.user_home() });
    let task = begin(&mut client, "session_exec", &run);
    assert_members(&task, &json!({ "status": "working", "ttlMs": null }));
    assert!(task["pollIntervalMs"].as_u64().unwrap() >= 1_000, "{task}");
    let id = &task["taskId"];
    drop(client);
    let mut next = follower(&daemon);
    let working = get(&mut next, id);
    assert_members(
        &working,
        &json!({ "status": "working", "statusMessage": "begun", "createdAt": task["createdAt"] }),
    );
    assert!(working.get("result").is_none(), "{working}");
    daemon.kill_server();
    make_go(&daemon);
    let over = end(&mut next, id);
    assert_eq!(over["status"], "completed", "{over}");
    let result = &over["result"];
    assert_eq!(result["isError"], false, "{over}");
    assert_eq!(
        result["content"][0]["text"],
        "[exited (exit), exit_code 3]\nbegun\nover"
    );
    assert_members(
        &result["structuredContent"],
        &json!({ "output": "begun\nover\n", "exit_code": 3, "session_id": id }),
    );
    // The result stays, also without the terminal.
    next.call("session_close", &json!({ "session_id": id }));
    assert_eq!(get(&mut next, id)["result"], *result);
}

#[test]
fn a_run_on_pipes_is_a_task_with_the_form_that_its_call_has_asked_for() {
    let daemon = TestDaemon::start();
    let mut client = follower(&daemon);
    let run = json!({ "cmd": format!("{WAITS} >&2"), "shell": true, "cwd": daemon.user_home(),
        "successExitCode": 3, "maxOutputBytes": 1024 });
    let task = begin(&mut client, "terminal_run", &run);
    make_go(&daemon);
    let over = end(&mut client, &task["taskId"]);
    let structured = &over["result"]["structuredContent"];
    assert_members(
        structured,
        &json!({ "ok": true, "exitCode": 3, "timedOut": false, "cmd": run["cmd"] }),
    );
    assert_eq!(structured["stdout"]["raw"], "begun\nover\n", "{over}");
    assert_eq!(structured["checks"]["exitCode"]["ok"], true, "{over}");
    assert!(
        structured["durationMs"].as_u64().unwrap() >= 2_000,
        "{over}"
    );
}

#[test]
fn what_is_soon_over_or_has_a_short_time_or_asks_is_answered_at_once() {
    let daemon = TestDaemon::start();
    let mut client = follower(&daemon);
    let result = client.call("session_exec", &json!({ "exec": "echo hi" }));
    assert_members(&result, &json!({ "output": "hi\n", "exit_code": 0 }));
    let run = json!({ "exec": "sleep 341", "timeout": 0.5 });
    let result = client.call("session_exec", &run);
    assert_members(&result, &json!({ "timed_out": true, "is_alive": true }));
    let asks = json!({ "exec": "read -p 'Go on? ' x" });
    let result = client.call("session_exec", &asks);
    assert_members(
        &result,
        &json!({ "state": "awaiting_input", "is_alive": true }),
    );
    // Without the extension in the request there is no task.
    let mut other = McpClient::stateless(&daemon, &json!({}));
    let run = json!({ "exec": "sleep 3.5; echo over" });
    let result = other.call("session_exec", &run);
    assert_members(&result, &json!({ "output": "over\n", "exit_code": 0 }));
}

#[test]
fn a_timeout_holds_in_a_task_and_the_command_goes_on() {
    let daemon = TestDaemon::start();
    let mut client = follower(&daemon);
    let run = json!({ "exec": WAITS, "cwd": daemon.user_home(), "timeout": 4 });
    let id = begin(&mut client, "session_exec", &run)["taskId"].clone();
    let over = end(&mut client, &id);
    assert_eq!(over["status"], "completed", "{over}");
    let structured =
        client.with_defaults("session_exec", over["result"]["structuredContent"].clone());
    assert_members(
        &structured,
        &json!({ "timed_out": true, "is_alive": true, "output": "begun\n", "state": "running" }),
    );
    // Its task has a result, so there is nothing to cancel.
    client.ask("tasks/cancel", &json!({ "taskId": id }));
    assert_eq!(get(&mut client, &id)["status"], "completed");
    let listed = client.call("session_list", &json!({}));
    assert_eq!(listed["sessions"][0]["is_alive"], true, "{listed}");
    client.call("session_close", &json!({ "session_id": id }));
    assert_eq!(get(&mut client, &id)["status"], "completed");
}

#[test]
fn a_cancelled_task_ends_its_command_with_all_that_it_started() {
    let daemon = TestDaemon::start();
    let mut client = follower(&daemon);
    let run = json!({ "exec": "sleep 342 & echo $!; sleep 343" });
    let id = begin(&mut client, "session_exec", &run)["taskId"].clone();
    let pid = get(&mut client, &id)["statusMessage"].clone();
    let child = termd_test_support::Process::expect(pid.as_str().unwrap().parse().unwrap());
    drop(client);
    let mut next = follower(&daemon);
    for _ in 0..2 {
        let answer = next.ask("tasks/cancel", &json!({ "taskId": id }));
        assert_eq!(answer["result"], json!({ "resultType": "complete" }));
    }
    child.wait_for_end();
    assert_eq!(end(&mut next, &id)["status"], "cancelled");
    let answer = next.ask(
        "tasks/update",
        &json!({ "taskId": id, "inputResponses": {} }),
    );
    assert_eq!(answer["result"], json!({ "resultType": "complete" }));
}

#[test]
fn what_is_no_task_and_who_follows_none_is_refused() {
    let daemon = TestDaemon::start();
    let mut client = follower(&daemon);
    let terminal = client.create("cat");
    for id in ["term_aaaaaaaaaaaa", "no-such", terminal.as_str()] {
        for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
            let params = json!({ "taskId": id, "inputResponses": {} });
            let answer = client.ask(method, &params);
            assert_eq!(answer["error"]["code"], -32602, "{method} {id}: {answer}");
        }
    }
    let mut other = McpClient::stateless(&daemon, &json!({}));
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        let params = json!({ "taskId": terminal, "inputResponses": {} });
        let answer = other.ask(method, &params);
        assert_eq!(answer["error"]["code"], -32021, "{method}: {answer}");
        let required = &answer["error"]["data"]["requiredCapabilities"];
        assert_eq!(required["extensions"][EXTENSION], json!({}), "{answer}");
    }
    let mut old = McpClient::spawn(&daemon, &[], &[]);
    let hello = old.ask(
        "initialize",
        &json!({ "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": { "name": "t", "version": "1" } }),
    );
    let capabilities = &hello["result"]["capabilities"];
    assert!(capabilities.get("extensions").is_none(), "{hello}");
    // Where a call ends its command there is nothing that a task could be.
    let env = [("TERMD_EXEC_TIMEOUT", "end")];
    let declared = json!({ "extensions": { EXTENSION: {} } });
    let mut ending = McpClient::stateless_with(&daemon, &env, &declared);
    let answer = ending.ask("tasks/get", &json!({ "taskId": terminal }));
    assert_eq!(answer["error"]["code"], -32601, "{answer}");
}

//! The session tools with real programs.

use serde_json::{Value, json};
use termd_test_support::{McpClient, TestDaemon, assert_members, termctl_binary, wait_until};

#[test]
fn a_shell_is_used_over_many_calls_and_tells_exit_codes() {
    let daemon = TestDaemon::start();
    let mut client = McpClient::start(&daemon);
    let id = client.create("bash");
    client.call("session_read", &json!({ "session_id": id }));
    let result = client.call(
        "session_interact",
        &json!({ "session_id": id, "input": "X=41; echo $((X + 1)); (exit 3)" }),
    );
    assert!(
        result["output"].as_str().unwrap().starts_with("42\n"),
        "{result}"
    );
    assert_eq!(result["exit_code"], 3, "{result}");
    assert_eq!(result["completed_by"], "marks", "{result}");
    assert_eq!(result["command_complete"], true, "{result}");
    assert_eq!(result["is_alive"], true);
    let result = client.call(
        "session_interact",
        &json!({ "session_id": id, "input": "echo $X" }),
    );
    assert!(
        result["output"].as_str().unwrap().starts_with("41\n"),
        "{result}"
    );
    assert_eq!(result["exit_code"], 0, "{result}");
    // Nothing runs, so there is none.
    let not_run = json!({ "session_id": id, "input": "ls /usr/b", "press_enter": false });
    let result = client.call("session_interact", &not_run);
    assert_members(&result, &json!({ "state": "done", "exit_code": null }));
    let closed = client.call("session_close", &json!({ "session_id": id }));
    assert!(closed.get("already_closed").is_none(), "{closed}");
    let closed = client.call("session_close", &json!({ "session_id": id }));
    assert_eq!(closed["already_closed"], true);
    // The output of the ended shell is still there.
    let read = client.call("session_read", &json!({ "session_id": id, "offset": 0 }));
    assert!(read["output"].as_str().unwrap().contains("42"), "{read}");
    assert_eq!(read["is_alive"], false);
    let history = client.call("session_history", &json!({ "session_id": id }));
    let lines: Vec<_> = history["commands"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| &c["command"])
        .collect();
    assert!(lines.contains(&&Value::from("echo $X")), "{history}");
    let search = json!({ "pattern": "42", "session_id": id });
    let found = client.call("session_search", &search);
    let hit = found["hits"][0].as_str().unwrap();
    assert!(
        hit.starts_with(&format!("{id}@")) && hit.ends_with("42"),
        "{found}"
    );
    let broken = json!({ "pattern": "a(", "regex": true });
    let (kind, message) = client.refused("session_search", &broken);
    assert_eq!(kind, "validation_error", "{message}");
    assert!(message.contains("is no regular expression"), "{message}");
}

#[test]
fn exec_gives_output_and_exact_ends() {
    let daemon = TestDaemon::start();
    let mut client = McpClient::start(&daemon);
    let result = client.call("session_exec", &json!({ "exec": "echo hi; exit 7" }));
    assert_eq!(result["output"], "hi\n", "{result}");
    assert_members(&result, &json!({ "exit_code": 7, "timed_out": false }));
    let result = client.call(
        "session_exec",
        &json!({ "exec": "kill -9 $$", "confirmed": true }),
    );
    assert_eq!(result["signal"], "SIGKILL", "{result}");
    let listed = client.call("session_list", &json!({}));
    assert_eq!(listed["count"], 0, "{listed}");
}

#[test]
fn sizes_come_from_the_call_and_from_the_environment() {
    let daemon = TestDaemon::start();
    let env = [
        ("TERMINAL_MCP_DEFAULT_ROWS", "33"),
        ("TERMD_DEFAULT_COLS", "101"),
    ];
    let mut client = McpClient::start_with(&daemon, &env, &json!({}));
    let result = client.call("session_exec", &json!({ "exec": "stty size" }));
    assert_eq!(result["output"], "33 101\n");
    let id = client.create("cat");
    client.call(
        "session_resize",
        &json!({ "session_id": id, "rows": 5, "cols": 40 }),
    );
    let info = daemon.client().ok("session.show", &json!({ "id": id }));
    assert_members(&info, &json!({ "rows": 5, "cols": 40 }));
}

#[test]
fn an_ended_session_is_not_resized() {
    let daemon = TestDaemon::start();
    let mut client = McpClient::start(&daemon);
    let id = client.create("true");
    daemon.client().ok("session.wait", &json!({ "id": id }));
    let resize = json!({ "session_id": id, "rows": 5, "cols": 40 });
    let (kind, message) = client.refused("session_resize", &resize);
    assert_eq!(kind, "session_dead", "{message}");
}

#[test]
fn a_label_finds_the_session_in_the_next_client() {
    let daemon = TestDaemon::start();
    let mut first = McpClient::start(&daemon);
    first.call(
        "session_create",
        &json!({ "command": "cat", "label": "work" }),
    );
    first.call(
        "session_interact",
        &json!({ "session_id": "work", "input": "one", "wait_for": "one" }),
    );
    drop(first);
    let mut next = McpClient::start(&daemon);
    let listed = next.call("session_list", &json!({}));
    assert_eq!(listed["sessions"][0]["label"], "work", "{listed}");
    assert_eq!(listed["sessions"][0]["owner"]["client"], "a-test");
    let result = next.call(
        "session_interact",
        &json!({ "session_id": "work", "input": "two", "wait_for": "two" }),
    );
    assert_eq!(result["matched"], true, "{result}");
    // A repeated close by label is no error.
    next.call("session_close", &json!({ "session_id": "work" }));
    let closed = next.call("session_close", &json!({ "session_id": "work" }));
    assert_eq!(closed["already_closed"], true, "{closed}");
}

#[test]
fn a_full_screen_program_is_read_as_a_person_sees_it() {
    let daemon = TestDaemon::start();
    let mut client = McpClient::start(&daemon);
    let id = client.create(r"sh -c 'printf \\033[?1049h\\033[HTUI!; exec cat'");
    wait_until("it is on", || {
        let read = client.call("session_read", &json!({ "session_id": id, "timeout": 0 }));
        read["tui_active"] == true
    });
    let read = client.call("session_read", &json!({ "session_id": id }));
    assert_eq!(read["mode_used"], "snapshot", "{read}");
    assert_eq!(read["output"], "TUI!", "{read}");
    let first = client.call("session_read", &json!({ "session_id": id, "mode": "diff" }));
    assert_eq!(first["is_first_read"], true, "{first}");
    assert_eq!(
        first["changed_lines"],
        json!([{ "line": 1, "content": "TUI!" }])
    );
    client.call(
        "session_send",
        &json!({ "session_id": id, "input": "more", "press_enter": false }),
    );
    wait_until("the row has changed", || {
        let next = client.call("session_read", &json!({ "session_id": id, "mode": "diff" }));
        assert_eq!(next["is_first_read"], false);
        next["changed_lines"] == json!([{ "line": 1, "content": "TUI!more" }])
    });
    let typed = client.call(
        "session_interact",
        &json!({ "session_id": id, "input": "!" }),
    );
    assert_eq!(typed["state"], "full_screen", "{typed}");
    assert_eq!(typed["output"], "TUI!more!\nmore!", "{typed}");
    let picture = client.result("session_screenshot", &json!({ "session_id": id }));
    assert_eq!(picture["content"].as_array().unwrap().len(), 1);
    assert_eq!(picture["content"][0]["mimeType"], "image/png");
    assert!(picture.get("structuredContent").is_none());
}

#[test]
fn a_key_is_answered_by_what_comes_of_it() {
    let daemon = TestDaemon::start();
    let mut client = McpClient::start(&daemon);
    // It works for a moment after each key before it draws.
    let program = r"bash -c 'stty raw -echo; printf \\033[?1049h\\033[Hready
        for n in 1 2 3; do
            read -rN4; end=$((${EPOCHREALTIME/[.,]} + 400000))
            while ((${EPOCHREALTIME/[.,]} < end)); do :; done
            printf \\033[2J\\033[Hkey-%s $n
        done; cat'";
    let id = client.create(program);
    wait_until("it is on", || {
        let read = client.call("session_read", &json!({ "session_id": id }));
        read["output"] == "ready"
    });
    for n in 1..=3 {
        let typed = client.call(
            "session_interact",
            &json!({ "session_id": id, "key": "page_down" }),
        );
        assert_eq!(typed["output"], format!("key-{n}"), "{typed}");
    }
}

#[test]
fn enter_is_cr_and_keys_follow_the_modes_that_the_program_set() {
    let daemon = TestDaemon::start();
    let mut client = McpClient::start(&daemon);
    let id = client.create(r"sh -c 'stty raw -echo; printf \\033[?1h; echo on; exec cat -v'");
    client.call(
        "session_wait_for",
        &json!({ "session_id": id, "pattern": "on" }),
    );
    client.call("session_send", &json!({ "session_id": id, "key": "up" }));
    client.call("session_send", &json!({ "session_id": id, "input": "x" }));
    client.call(
        "session_send",
        &json!({ "session_id": id, "control_char": "c" }),
    );
    let result = client.call(
        "session_wait_for",
        &json!({ "session_id": id, "pattern": r"\^\[OAx\^M\^C", "timeout": 10, "offset": 0 }),
    );
    assert_eq!(result["matched"], true, "{result}");
}

#[test]
fn a_password_prompt_is_seen_and_a_secret_goes_nowhere_else() {
    let daemon = TestDaemon::start();
    let mut client = McpClient::start(&daemon);
    let id = client.create(
        "sh -c 'printf \"Password: \"; stty -echo; read p; stty echo; echo got ${#p}; exec cat'",
    );
    let read = client.call(
        "session_wait_for",
        &json!({ "session_id": id, "pattern": "Password: $" }),
    );
    assert_eq!(read["matched"], true, "{read}");
    wait_until("it awaits a secret", || {
        let read = client.call("session_read", &json!({ "session_id": id, "timeout": 0 }));
        read["awaiting_secret"] == true && read["prompt_detected"] == true
    });
    let result = client.call(
        "session_interact",
        &json!({ "session_id": id, "password": "sesame", "wait_for": "got 6" }),
    );
    assert_eq!(result["matched"], true, "{result}");
    let (kind, message) = client.refused(
        "session_send",
        &json!({ "session_id": id, "password": "x" }),
    );
    assert_eq!(kind, "input_refused", "{message}");
}

#[test]
fn a_limit_counts_the_sessions_that_live() {
    let daemon = TestDaemon::start();
    let mut client =
        McpClient::start_with(&daemon, &[("TERMINAL_MCP_MAX_SESSIONS", "1")], &json!({}));
    let dead = client.create("true");
    daemon.client().ok("session.wait", &json!({ "id": dead }));
    client.create("cat");
    let (kind, message) = client.refused("session_create", &json!({ "command": "cat" }));
    assert_eq!(kind, "session_limit_reached", "{message}");
}

#[test]
fn the_attach_hint_is_a_line_to_type() {
    let daemon = TestDaemon::start();
    let mut client = McpClient::start(&daemon);
    let id = client.create("cat");
    let hint = client.call("session_attach_hint", &json!({ "session_id": id }));
    assert_eq!(hint["attach"], format!("termctl attach {id}"));
}

#[test]
fn a_session_has_the_clients_name_and_directory_as_tags() {
    let daemon = TestDaemon::start();
    let project = daemon.path("my project");
    std::fs::create_dir(&project).unwrap();
    let mut command = daemon.command(termctl_binary());
    command.arg("mcp").current_dir(&project);
    let mut client = McpClient::spawn_command(command).initialized(&json!({}));
    client.call("session_create", &json!({ "command": "cat" }));
    let listed = daemon.client().ok("session.list", &json!({}));
    assert_eq!(
        listed["terminals"][0]["tags"],
        json!(["a-test", "my-project"])
    );
}

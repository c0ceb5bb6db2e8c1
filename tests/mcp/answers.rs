//! What the model reads of an answer: a header and plain lines, within a budget, with what matters.

use serde_json::{Value, json};
use termd_test_support::{McpClient, TestDaemon, sh, wait_until};

/// A build of 3,000 lines that fails with five errors, and its last lines.
const BUILD: &str = r#"for i in $(seq 1 2990); do
  case $i in
    500|900|1300|1700|2100) printf 'error[E0308]: mismatched types %s\n  --> src/lib.rs:%s:5\n\n' "$i" "$i" ;;
    *) printf '   Compiling crate-%s v1.2.3\n' "$i" ;;
  esac
done
echo "error: could not compile \`x\` (lib) due to 5 previous errors"; exit 101"#;

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap()
}

fn with_both_sets(daemon: &TestDaemon) -> McpClient {
    McpClient::spawn(daemon, &["--tools", "session,terminal"], &[]).initialized(&json!({}))
}

#[test]
fn an_answer_is_a_short_header_and_plain_lines() {
    let daemon = TestDaemon::start();
    let mut client = with_both_sets(&daemon);
    let result = client.result(
        "session_exec",
        &json!({ "exec": "printf 'a \"b\"\\n'; exit 3" }),
    );
    let text = text(&result);
    let (header, output) = text.split_once('\n').unwrap();
    assert!(header.starts_with("[exited (exit), exit_code 3"), "{text}");
    assert_eq!(output, "a \"b\"");
    let structured = result["structuredContent"].as_object().unwrap();
    for default in ["success", "truncated", "timed_out"] {
        assert!(!structured.contains_key(default), "{structured:?}");
    }
}

#[test]
fn one_call_shows_the_errors_of_a_long_build_with_its_end_and_exit_code() {
    let daemon = TestDaemon::start();
    let mut client = with_both_sets(&daemon);
    let shell = client.call("terminal_start", &json!({ "shell": "bash" }))["sessionId"].clone();
    for (tool, arguments) in [
        ("session_exec", json!({ "exec": BUILD, "timeout": 30 })),
        (
            "terminal_exec",
            json!({ "sessionId": shell, "command": format!("({BUILD})") }),
        ),
        ("terminal_run", json!({ "cmd": BUILD, "shell": true })),
        (
            "terminal_run",
            json!({ "cmd": format!("({BUILD}) >&2"), "shell": true, "maxOutputBytes": 8192 }),
        ),
    ] {
        let result = client.result(tool, &arguments);
        let text = text(&result);
        for line in [500, 900, 1300, 1700, 2100] {
            let error = format!("error[E0308]: mismatched types {line}\n  --> src/lib.rs:{line}:5");
            assert!(text.contains(&error), "{tool} {line}: {text}");
        }
        assert!(text.contains("due to 5 previous errors"), "{tool}: {text}");
        assert!(
            text.lines().next().unwrap().contains(" 101"),
            "{tool}: {text}"
        );
        assert!(text.contains("Compiling crate-1 v1.2.3"), "{tool}: {text}");
        // terminal_run repeats the command.
        let most = 4_000 + BUILD.len();
        assert!(text.len() < most, "{tool}: {} bytes", text.len());
    }
}

#[test]
fn what_was_printed_is_searched_and_nothing_is_run_again() {
    let daemon = TestDaemon::start();
    let mut client = with_both_sets(&daemon);
    let id = client.create(&format!("bash -c '{}'", BUILD.replace('\'', "'\\''")));
    daemon.client().ok("session.wait", &json!({ "id": id }));
    for (tool, name, end) in [
        ("session_read", "session_id", "offset"),
        ("terminal_read", "sessionId", "position"),
    ] {
        let found = client.call(tool, &json!({ name: id, "pattern": "^error\\[" }));
        assert_eq!(found["matches"], 5, "{tool}: {found}");
        let output = found["output"].as_str().unwrap();
        assert_eq!(output.matches("--> src/lib.rs").count(), 5, "{output}");
        assert!(output.len() < 1_000, "{output}");
        // An offset leads to its line.
        let (offset, _) = output.trim_start().split_once(": error").map_or_else(
            || panic!("{output}"),
            |(before, after)| (before.rsplit('\n').next().unwrap().trim(), after),
        );
        let offset: u64 = offset.parse().unwrap();
        let place = if end == "offset" { "offset" } else { "since" };
        let page = client.call(tool, &json!({ name: id, place: offset }));
        assert!(
            page["output"]
                .as_str()
                .unwrap()
                .starts_with("error[E0308]: mismatched types 500"),
            "{tool}: {page}"
        );
        let none = client.call(tool, &json!({ name: id, "pattern": "no such line" }));
        assert_eq!((&none["matches"], &none["output"]), (&json!(0), &json!("")));
        let last = if end == "offset" {
            "last_lines"
        } else {
            "lastLines"
        };
        let tail = client.call(tool, &json!({ name: id, last: 1 }));
        assert!(
            tail["output"]
                .as_str()
                .unwrap()
                .starts_with("error: could not"),
            "{tail}"
        );
        let bad = client.result(tool, &json!({ name: id, "pattern": "(" }));
        assert_eq!(bad["isError"], true, "{bad}");
    }
}

#[test]
fn a_wait_that_does_not_match_gives_the_end_and_takes_nothing_away() {
    let daemon = TestDaemon::start();
    let mut client = McpClient::start(&daemon);
    let id = client.create("sh -c 'seq 1 20000; sleep 1000'");
    client.call(
        "session_wait_for",
        &json!({ "session_id": id, "pattern": "^20000$" }),
    );
    client.call(
        "session_read",
        &json!({ "session_id": id, "offset": 0, "truncation": "none" }),
    );
    let id = client.create("sh -c 'seq 1 20000; sleep 1000'");
    let wait = json!({ "session_id": id, "pattern": "never", "timeout": 1 });
    let waited = client.call("session_wait_for", &wait);
    assert_eq!(waited["matched"], false, "{waited}");
    let output = waited["output"].as_str().unwrap();
    assert!(
        output.len() < 1_200 && output.ends_with("\n20000\n"),
        "{waited}"
    );
    let wait = json!({ "session_id": id, "pattern": "^7$", "timeout": 10 });
    assert_eq!(client.call("session_wait_for", &wait)["matched"], true);
}

/// A character that comes in two writes is given once, whole.
#[test]
fn no_character_is_given_in_parts() {
    let daemon = TestDaemon::start();
    let mut client = with_both_sets(&daemon);
    let script = "printf 'a\\346\\227'; read go; printf '\\245b\\n'; sleep 1000";
    for (tool, name, quick) in [
        ("session_read", "session_id", json!({ "timeout": 0.1 })),
        ("terminal_read", "sessionId", json!({ "idleTimeout": 100 })),
    ] {
        let id = client.create(&format!("bash -c \"stty -echo; {script}\""));
        daemon.client().ok(
            "session.wait_for",
            &json!({ "id": id, "since": 0, "until": { "pattern": "a" } }),
        );
        let read = |client: &mut McpClient| {
            let mut arguments = quick.clone();
            arguments[name] = json!(id);
            client.call(tool, &arguments)["output"]
                .as_str()
                .unwrap()
                .to_owned()
        };
        assert_eq!(read(&mut client), "a", "{tool}");
        assert_eq!(read(&mut client), "", "{tool}");
        daemon.client().send_text(&id, "\n");
        daemon.client().ok(
            "session.wait_for",
            &json!({ "id": id, "since": 0, "until": { "pattern": "b" } }),
        );
        assert_eq!(read(&mut client).trim_end(), "日b", "{tool}");
    }
}

#[test]
fn one_word_says_where_things_stand_and_the_prompt_is_apart() {
    let daemon = TestDaemon::start();
    let mut client = with_both_sets(&daemon);
    let id = client.create("bash");
    client.call("session_read", &json!({ "session_id": id }));
    let interact = |client: &mut McpClient, input: &str| {
        client.call(
            "session_interact",
            &json!({ "session_id": id, "input": input, "timeout": 60 }),
        )
    };
    // None of them takes until the 60 s of quiet.
    for (input, output, state, known_by) in [
        ("echo hi", "hi\n", "done", "marks"),
        ("# only a remark", "", "done", "marks"),
        ("read x", "", "awaiting_input", "kernel"),
        ("y", "", "done", "marks"),
        ("cat", "", "awaiting_input", "kernel"),
    ] {
        let result = interact(&mut client, input);
        assert_eq!(result["output"], output, "{input}: {result}");
        assert_eq!(result["state"], state, "{input}: {result}");
        assert_eq!(result["known_by"], known_by, "{input}: {result}");
        let is_over = state == "done";
        assert_eq!(result["command_complete"], is_over, "{input}: {result}");
        assert_eq!(result.get("prompt").is_some(), is_over, "{input}: {result}");
    }
    client.call(
        "session_interact",
        &json!({ "session_id": id, "control_char": "d" }),
    );
    let asked = interact(&mut client, "stty -echo; read secret; stty echo");
    assert_eq!(asked["state"], "awaiting_secret", "{asked}");
    let closed = client.call("session_close", &json!({ "session_id": id }));
    assert_eq!(closed["success"], true);
    let read = client.call("session_read", &json!({ "session_id": id, "offset": 0 }));
    assert_eq!(read["state"], "exited", "{read}");
}

/// What is not found may be among what is not kept.
#[test]
fn a_search_says_what_is_not_kept() {
    let daemon = TestDaemon::configured("[store]\nterminal_quota = \"256KiB\"\n");
    let mut daemons = daemon.client();
    let script = "stty -opost; seq -w 0 9999999 | head -c 2097152";
    let id = daemons.create_terminal(&sh(script));
    daemons.ok("session.wait", &json!({ "id": id }));
    wait_until("some of it is gone", || {
        !daemons.ok("session.show", &json!({ "id": id }))["gaps"].is_null()
    });
    daemons.wait_until_stored();
    for (set, tool, name) in [
        ("session", "session_read", "session_id"),
        ("session", "session_search", "session_id"),
        ("terminal", "terminal_read", "sessionId"),
        ("lean", "term_read", "id"),
    ] {
        let mut client = McpClient::start_with(&daemon, &[("TERMCTL_MCP_TOOLS", set)], &json!({}));
        let found = client.call(tool, &json!({ name: id, "pattern": "no such line" }));
        let said = found.to_string();
        assert!(
            said.contains("is no longer kept (store.terminal_quota)"),
            "{tool}: {said}"
        );
    }
}

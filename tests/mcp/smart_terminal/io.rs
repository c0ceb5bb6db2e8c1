//! Typing into terminals, reading, waiting for output, and writing files.

use serde_json::json;
use termd_test_support::{TestDaemon, assert_members, wait_until};

use super::exec::refused;
use super::start::{client, exec, start};

#[test]
fn a_write_is_waited_for_without_its_echo_and_without_old_output() {
    let daemon = TestDaemon::start();
    let mut client = client(&daemon);
    let id = start(&mut client);
    let wrote = client.call(
        "terminal_write",
        &json!({ "sessionId": id, "data": "sleep 0.3; echo W$((1+1)) READY\\r" }),
    );
    assert_members(&wrote, &json!({ "success": true, "sessionId": id }));
    let waited = client.call(
        "terminal_wait",
        &json!({ "sessionId": id, "pattern": "READY" }),
    );
    assert_members(&waited, &json!({ "matched": true, "timedOut": false }));
    assert_eq!(
        waited["matchedLine"], "W2 READY",
        "the echo matched: {waited}"
    );
    assert_eq!(waited["output"], "W2 READY", "{waited}");
    // A match is used up.
    let waited = client.call(
        "terminal_wait",
        &json!({ "sessionId": id, "pattern": "READY", "timeout": 1000, "returnMode": "match-only" }),
    );
    assert_members(&waited, &json!({ "matched": false, "timedOut": true }));
    assert_eq!(waited["output"], "", "{waited}");
    let error = refused(
        &mut client,
        "terminal_wait",
        &json!({ "sessionId": id, "pattern": "(" }),
    );
    assert!(
        error.starts_with("Invalid regex pattern in pattern: "),
        "{error}"
    );
    // Output before the call counts, and a wait does not consume what the next one waits for.
    exec(&mut client, &id, "true");
    client.call(
        "terminal_write",
        &json!({ "sessionId": id, "data": "printf 'one\\ntwo\\nthree\\n'\\r" }),
    );
    for word in ["^one$", "^two$", "(t+)+hree"] {
        let waited = client.call(
            "terminal_wait",
            &json!({ "sessionId": id, "pattern": word, "returnMode": "full" }),
        );
        assert_eq!(waited["matched"], true, "{word}: {waited}");
    }
}

#[test]
fn a_read_goes_on_where_the_last_one_ended_and_since_goes_back() {
    let daemon = TestDaemon::start();
    let mut client = client(&daemon);
    let id = start(&mut client);
    let wrote = client.call(
        "terminal_write",
        &json!({ "sessionId": id, "data": "printf '\\u00e9\\\\n'; seq 1 30\\x0d" }),
    );
    let read = client.call(
        "terminal_read",
        &json!({ "sessionId": id, "idleTimeout": 1000 }),
    );
    let output = read["output"].as_str().unwrap();
    assert!(output.contains("\u{e9}\n1\n2\n"), "{read}");
    assert_eq!(read["timedOut"], false, "{read}");
    let end = read["position"].as_u64().unwrap();
    let again = client.call("terminal_read", &json!({ "sessionId": id }));
    assert_members(&again, &json!({ "output": "", "position": end }));
    // Pages of ten lines leave nothing out and repeat nothing.
    let (mut from, mut all) = (wrote["position"].as_u64().unwrap(), Vec::new());
    while from < end {
        let page = client.call(
            "terminal_read",
            &json!({ "sessionId": id, "since": from, "maxLines": 10 }),
        );
        let text = page["output"].as_str().unwrap();
        assert!(text.lines().count() <= 10, "{page}");
        all.extend(text.lines().map(str::to_owned));
        from = page["position"].as_u64().unwrap();
    }
    let numbers: Vec<_> = (1..=30).map(|number: u32| number.to_string()).collect();
    let first = all.iter().position(|line| line == "1").unwrap();
    assert_eq!(all[first..first + 30], numbers);
    for (arguments, want) in [
        (
            json!({ "sessionId": id, "timeout": 500, "idleTimeout": 500 }),
            "idleTimeout must be less than timeout.",
        ),
        (
            json!({ "sessionId": id, "since": end + 1_000_000 }),
            "past the end",
        ),
        (
            json!({ "sessionId": "nobody" }),
            "Session \"nobody\" not found. Use terminal_list",
        ),
    ] {
        let error = refused(&mut client, "terminal_read", &arguments);
        assert!(error.contains(want), "{error}");
    }
}

#[test]
fn an_ended_shell_is_read_and_told_of() {
    let daemon = TestDaemon::start();
    let mut client = client(&daemon);
    let id = start(&mut client);
    client.call(
        "terminal_write",
        &json!({ "sessionId": id, "data": "exit 3\\r" }),
    );
    let waited = client.call(
        "terminal_wait",
        &json!({ "sessionId": id, "pattern": "NEVER" }),
    );
    let exited = json!({ "matched": false, "exited": true, "exitCode": 3, "signal": null });
    assert_members(&waited, &exited);
    let tail = client.call("terminal_read", &json!({ "sessionId": id, "lastLines": 1 }));
    assert_members(&tail, &json!({ "state": "exited", "exitCode": 3 }));
    let read = client.call("terminal_read", &json!({ "sessionId": id }));
    assert_members(
        &read,
        &json!({ "state": "exited", "exitCode": 3, "signal": null }),
    );
    assert!(
        read["output"].as_str().unwrap().contains("exit 3"),
        "{read}"
    );
    let error = refused(
        &mut client,
        "terminal_exec",
        &json!({ "sessionId": id, "command": "x" }),
    );
    assert!(
        error.starts_with(&format!("Session {id} is no longer alive.")),
        "{error}"
    );
    let listed = client.call("terminal_list", &json!({ "verbose": false }));
    assert_eq!(listed["sessions"][0]["alive"], false, "{listed}");
}

#[test]
fn the_end_of_a_one_shot_that_went_on_is_told() {
    let daemon = TestDaemon::start();
    let mut client = client(&daemon);
    for (end, exit_code, signal) in [
        ("exit 3", json!(3), json!(null)),
        ("kill $$", json!(null), json!("SIGTERM")),
    ] {
        let script = format!("until test -e go; do sleep 0.05; done; {end}");
        let run = json!({
            "cmd": "bash", "args": ["-c", script], "timeout": 1000, "cwd": daemon.user_home(),
        });
        let run = client.call("terminal_run", &run);
        assert_eq!(run["running"], true, "{run}");
        let go = daemon.user_home().join("go");
        std::fs::write(&go, "").unwrap();
        let id = &run["sessionId"];
        let ended = json!({ "state": "exited", "exitCode": exit_code, "signal": signal });
        let waited = client.call("terminal_wait", &json!({ "sessionId": id }));
        assert_members(&waited, &ended);
        let read = client.call("terminal_read", &json!({ "sessionId": id }));
        assert_members(&read, &ended);
        std::fs::remove_file(go).unwrap();
    }
}

#[test]
fn what_is_typed_and_not_run_has_no_exit_code() {
    let daemon = TestDaemon::start();
    let mut client = client(&daemon);
    let id = start(&mut client);
    assert_eq!(exec(&mut client, &id, "(exit 7)")["exitCode"], 7);
    let read = json!({ "sessionId": id });
    assert_eq!(client.call("terminal_read", &read)["exitCode"], 7);
    client.call(
        "terminal_write",
        &json!({ "sessionId": id, "data": "ls /usr/b" }),
    );
    let begun = client.call("terminal_read", &read);
    assert_members(&begun, &json!({ "state": "done", "exitCode": null }));
}

#[test]
fn the_first_of_several_patterns_is_found_with_the_lines_before_it() {
    let daemon = TestDaemon::start();
    let mut client = client(&daemon);
    let id = start(&mut client);
    client.call(
        "terminal_write",
        &json!({ "sessionId": id, "data": "sleep 0.3; echo line1; echo FAIL here; echo a.b; sleep 1; echo FAIL again\\r" }),
    );
    let triggers = json!([
        { "id": "literal", "pattern": "a.b", "isRegex": false },
        { "id": "t1", "pattern": "^FAIL" },
    ]);
    let found = client.call(
        "terminal_watch",
        &json!({ "sessionId": id, "triggers": triggers, "timeout": 10000 }),
    );
    assert_eq!(found["reason"], "trigger", "{found}");
    assert_members(
        &found,
        &json!({ "triggerId": "t1", "matchedLine": "FAIL here" }),
    );
    assert_eq!(found["context"], json!(["line1", "FAIL here"]), "{found}");
    let on = client.call(
        "terminal_watch",
        &json!({ "sessionId": id, "triggers": triggers, "since": found["position"] }),
    );
    assert_eq!(on["triggerId"], "literal", "{on}");
    let quiet = client.call(
        "terminal_watch",
        &json!({
            "sessionId": id, "triggers": [{ "id": "x", "pattern": "NEVER" }], "quietExitMs": 1500,
            "timeout": 20000,
        }),
    );
    assert_members(&quiet, &json!({ "reason": "quiet", "timedOut": false }));
    let over = client.call(
        "terminal_watch",
        &json!({ "sessionId": id, "triggers": [{ "id": "x", "pattern": "NEVER" }], "timeout": 1000 }),
    );
    assert_members(&over, &json!({ "reason": "timeout", "timedOut": true }));
    let error = refused(
        &mut client,
        "terminal_watch",
        &json!({ "sessionId": id, "triggers": [] }),
    );
    assert_eq!(error, "'triggers' has to have 1 to 10 items");
}

#[test]
fn history_is_counted_back_from_the_end() {
    let daemon = TestDaemon::start();
    let mut client = client(&daemon);
    let id = start(&mut client);
    exec(&mut client, &id, "PS1='$ '; seq 1 50");
    exec(&mut client, &id, "true");
    let last = client.call(
        "terminal_get_history",
        &json!({ "sessionId": id, "maxLines": 4 }),
    );
    let total = last["totalLines"].as_u64().unwrap();
    assert_eq!(last["returnedTo"], total, "{last}");
    assert_eq!(last["returnedFrom"], total - 4, "{last}");
    let lines = last["lines"].as_array().unwrap();
    assert_eq!(lines.len(), 4, "{last}");
    let at = lines.iter().position(|line| line == "50");
    let back = 3 - at.unwrap_or_else(|| panic!("{last}"));
    let before = client.call(
        "terminal_get_history",
        &json!({ "sessionId": id, "offset": back + 1, "maxLines": 3, "format": "text" }),
    );
    assert_eq!(before["text"], "47\n48\n49", "{before}");
    assert!(before.get("lines").is_none(), "{before}");
}

#[test]
fn keys_are_pressed_by_name() {
    let daemon = TestDaemon::start();
    let mut client = client(&daemon);
    let id = start(&mut client);
    client.call(
        "terminal_write",
        &json!({ "sessionId": id, "data": "cat -v\\r" }),
    );
    // Until then the line editor would take the keys.
    wait_until("cat is in the foreground", || {
        let activity = daemon.client().ok("session.activity", &json!({ "id": id }));
        activity["foreground"]["program"] == "cat"
    });
    let keys = ["up", "f5", "pageup", "alt+x", "enter"];
    for key in keys {
        let pressed = client.call(
            "terminal_extra",
            &json!({ "tool": "terminal_send_key", "args": { "sessionId": id, "key": key } }),
        );
        assert_eq!(pressed, json!({ "success": true, "key": key }));
    }
    let waited = client.call(
        "terminal_wait",
        &json!({ "sessionId": id, "pattern": r"\^\[\[A\^\[\[15~\^\[\[5~\^\[x" }),
    );
    assert_eq!(waited["matched"], true, "{waited}");
    client.call(
        "terminal_send_key",
        &json!({ "sessionId": id, "key": "ctrl+c" }),
    );
    let error = refused(
        &mut client,
        "terminal_send_key",
        &json!({ "sessionId": id, "key": "f99" }),
    );
    assert!(
        error.starts_with("Unknown key: \"f99\". Supported: ctrl+c, "),
        "{error}"
    );
}

#[test]
fn files_are_written_where_the_session_is() {
    let daemon = TestDaemon::start();
    let mut client = client(&daemon);
    let id = start(&mut client);
    let folder = daemon.path("bin");
    exec(&mut client, &id, &format!("cd {}", folder.display()));
    let path = folder.join("x.txt");
    let mut write = |more: serde_json::Value| {
        let base = json!({ "sessionId": id, "path": "x.txt" });
        client.call(
            "terminal_write_file",
            &termd_test_support::merged(&base, &more),
        )
    };
    assert_eq!(
        write(json!({ "content": "hi\n" })),
        json!({ "success": true, "path": path, "size": 3, "append": false })
    );
    let appended = write(json!({ "content": "IQo=", "encoding": "base64", "append": true }));
    assert_members(&appended, &json!({ "size": 5, "append": true }));
    assert_eq!(std::fs::read(&path).unwrap(), b"hi\n!\n");
    write(json!({ "content": "ff00", "encoding": "hex" }));
    assert_eq!(std::fs::read(&path).unwrap(), b"\xff\x00");
    write(json!({ "path": "new/deep/x.txt", "content": "in\n" }));
    assert_eq!(
        std::fs::read(folder.join("new/deep/x.txt")).unwrap(),
        b"in\n"
    );
    let database = daemon.state_dir().join("termd.sqlite");
    for (path, want) in [
        (database.to_str().unwrap(), "termd's own"),
        ("no/../such", "Parent directory does not exist"),
    ] {
        let error = refused(
            &mut client,
            "terminal_write_file",
            &json!({ "sessionId": id, "path": path, "content": "x" }),
        );
        assert!(error.contains(want), "{error}");
    }
}

#[test]
fn a_screen_is_shown_and_then_what_changed_of_it() {
    let daemon = TestDaemon::start();
    let mut client = client(&daemon);
    let id = start(&mut client);
    let run = |line: &str| json!({ "sessionId": id, "command": line });
    client.call("terminal_exec", &run("clear; seq 1 10"));
    let screen = json!({ "sessionId": id, "view": "screen" });
    let screen = client.call("terminal_read", &screen);
    let output = screen["output"].as_str().unwrap();
    assert!(output.contains("9\n10\n"), "{screen}");
    client.call("terminal_exec", &run("printf '\\033[3;1Hx'; sleep 0"));
    let changes = json!({ "sessionId": id, "view": "changes" });
    let changed = client.call("terminal_read", &changes);
    let rows = changed["changedLines"].as_array().unwrap();
    assert!(
        rows.iter().any(|row| row["line"] == 3),
        "the row that was written: {changed}"
    );
    assert!(
        rows.iter().all(|row| row["line"] != 2 && row["line"] != 9),
        "no row that is what it was: {changed}"
    );
    let both = json!({ "sessionId": id, "view": "changes", "pattern": "x" });
    assert_eq!(
        refused(&mut client, "terminal_read", &both),
        "view, pattern and lastLines do not go together: give one of them"
    );
}

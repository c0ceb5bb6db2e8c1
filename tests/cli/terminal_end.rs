//! `create --idle-timeout`, `create --scrollback`, `close --eof`, limits that end a command, and
//! what `show` prints of them.

use serde_json::{Value, json};
use termd_test_support::TestDaemon;
use termd_test_support::resource_limits::{OVER_CPU_TIME, OVER_FILE_BYTES, daemon_with_limits};

use crate::termctl::{ok, ready_terminal, termctl};

#[test]
fn an_idle_terminal_is_closed_and_show_says_why() {
    let daemon = TestDaemon::start();
    let mut watcher = daemon.client();
    watcher.ok("session.subscribe", &json!({}));
    let id = ok(
        &daemon,
        &["create", "--idle-timeout", "1", "--", "sleep", "1000"],
    );
    let shown = ok(&daemon, &["show", &id]);
    assert!(shown.contains("last activity"), "{shown}");
    let fact = |shown: &str, name: &str| {
        let line = shown.lines().find(|line| line.starts_with(name));
        line.unwrap_or_default()[name.len()..].trim().to_owned()
    };
    assert_eq!(fact(&shown, "idle timeout"), "1s");
    assert_eq!(fact(&shown, "closed by"), "-");
    loop {
        let event = watcher.next_message()["params"]["result"].clone();
        if event["type"] == "closed" {
            assert_eq!(event["id"], *id);
            break;
        }
    }
    let shown = ok(&daemon, &["show", &id]);
    assert_eq!(fact(&shown, "state"), "closed");
    assert_eq!(fact(&shown, "closed by"), "its idle timeout");
    let output = termctl(&daemon, &["send", &id, "x"]);
    assert_eq!(output.code, Some(1), "{output:?}");
    output.assert_one_line();
    let why = "closed after 1 s without activity";
    assert!(output.err.contains(why), "{output:?}");
}

#[test]
fn idle_timeouts_are_durations() {
    let daemon = TestDaemon::start();
    for (written, ms) in [("30m", 1_800_000), ("1h30m", 5_400_000)] {
        let args = [
            "create",
            "--json",
            "--idle-timeout",
            written,
            "--",
            "sleep",
            "9",
        ];
        assert_eq!(termctl(&daemon, &args).json()["idle_timeout_ms"], ms);
    }
    let output = termctl(
        &daemon,
        &["create", "--idle-timeout", "0.5", "--", "sleep", "9"],
    );
    assert_eq!(output.code, Some(2), "{output:?}");
    let names_both = ["'0.5'", "--idle-timeout"].map(|word| output.err.contains(word));
    assert_eq!(names_both, [true; 2], "{output:?}");
}

#[test]
fn close_by_end_of_file_passes_on_the_commands_own_exit_code() {
    let daemon = TestDaemon::start();
    for (args, code) in [
        (&["close", "--json", "--eof"][..], json!(4)),
        (&["close", "--json", "--eof=5000"], json!(4)),
        (&["close", "--json"], json!(null)),
    ] {
        let script = "echo ready; cat; exit 4";
        let id = ready_terminal(&daemon, script);
        let output = termctl(&daemon, &[args, &[&id]].concat()).json();
        let exit = &output["result"]["exit_status"]["exit_code"];
        assert_eq!(*exit, code, "{args:?}: {output}");
    }
}

#[test]
fn scrollback_is_as_long_as_asked() {
    let daemon = TestDaemon::start();
    for (lines, kept) in [("0", 0), ("7", 7)] {
        let args = [
            "create",
            "--rows",
            "24",
            "--scrollback",
            lines,
            "--",
            "seq",
            "100",
        ];
        let id = ok(&daemon, &args);
        ok(&daemon, &["wait", &id]);
        let screen = termctl(&daemon, &["screen", "--json", &id]).json();
        assert_eq!(screen["scrollback_rows"], kept);
    }
}

#[test]
fn a_person_is_told_which_limit_ended_a_command() {
    let daemon = daemon_with_limits("cli");
    for (script, cause, words, code) in [
        (
            OVER_FILE_BYTES,
            "file_bytes",
            "the file size of its profile",
            153,
        ),
        (
            OVER_CPU_TIME,
            "cpu_time",
            "the processor time of its profile",
            152,
        ),
    ] {
        let id = ok(&daemon, &["create", "--", "sh", "-c", script]);
        assert_eq!(termctl(&daemon, &["wait", &id]).code, Some(code));
        let shown = ok(&daemon, &["show", &id]);
        let line = shown.lines().find(|line| line.starts_with("ended by"));
        assert!(line.is_some_and(|line| line.ends_with(words)), "{shown}");
        let shown = termctl(&daemon, &["show", "--json", &id]).json();
        assert_eq!(shown["end_cause"], cause, "{shown}");
    }
    let id = ok(&daemon, &["create", "--", "sh", "-c", "exit 3"]);
    assert_eq!(termctl(&daemon, &["wait", &id]).code, Some(3));
    let shown = ok(&daemon, &["show", &id]);
    let line = shown.lines().find(|line| line.starts_with("ended by"));
    assert!(line.is_some_and(|line| line.ends_with('-')), "{shown}");
}

#[test]
fn close_goes_on_after_an_error_and_says_which_failed() {
    let daemon = TestDaemon::start();
    let create = || ok(&daemon, &["create", "--", "sleep", "1000"]);
    let output = termctl(
        &daemon,
        &["close", &create(), "nothing", "neither", &create()],
    );
    assert_eq!(output.code, Some(3), "{output:?}");
    let lines: Vec<&str> = output.err.lines().collect();
    assert_eq!(lines.len(), 2, "{output:?}");
    for (line, name) in lines.iter().zip(["nothing", "neither"]) {
        assert!(line.contains(name), "{output:?}");
    }
    assert_eq!(ok(&daemon, &["list", "--json"]), "[]");

    let id = create();
    let output = termctl(&daemon, &["close", "--json", "nothing", &id]);
    assert_eq!(output.code, Some(3), "{output:?}");
    let lines = json_lines(&output.out);
    assert_eq!(lines[0]["terminal"], "nothing");
    assert_eq!(lines[0]["error"]["kind"], "terminal_not_found");
    assert_eq!(lines[1]["terminal"], *id);
    assert_eq!(lines[1]["result"]["exited"], true);
    assert_eq!(
        json_lines(&output.err)[0]["error"]["kind"],
        "terminal_not_found"
    );
}

fn json_lines(text: &str) -> Vec<Value> {
    let lines = text.lines().map(serde_json::from_str);
    lines.collect::<Result<_, _>>().unwrap()
}

#[test]
fn exited_terminals_are_closed_and_the_others_stay() {
    let daemon = TestDaemon::start();
    let running = ok(&daemon, &["create", "--", "sleep", "1000"]);
    for words in [&["close", "--exited"][..], &["prune"]] {
        let exited = ok(&daemon, &["create", "--", "true"]);
        ok(&daemon, &["wait", &exited]);
        let output = termctl(&daemon, &[&["--json"], words].concat());
        assert_eq!(output.code, Some(0), "{output:?}");
        let closed = json_lines(&output.out);
        assert_eq!(closed.len(), 1, "{output:?}");
        assert_eq!(closed[0]["terminal"], *exited);
        let listed = termctl(&daemon, &["list", "--json"]).json();
        assert_eq!(listed.as_array().unwrap().len(), 1, "{listed}");
        assert_eq!(listed[0]["id"], *running);
        assert_eq!(ok(&daemon, words), "", "nothing is left to close");
    }
    for words in [&["close"][..], &["close", "--exited", &running]] {
        assert_eq!(termctl(&daemon, words).code, Some(2), "{words:?}");
    }
}

#[test]
fn a_closed_terminal_is_deleted_for_good() {
    let daemon = TestDaemon::start();
    let id = ok(&daemon, &["create", "--label", "one", "--", "echo", "hi"]);
    ok(&daemon, &["wait", &id]);
    let open = termctl(&daemon, &["delete", "one"]);
    assert_eq!(open.code, Some(2), "{open:?}");
    open.assert_one_line();
    assert!(open.err.contains("one is open: close it first"), "{open:?}");
    ok(&daemon, &["close", &id]);
    let deleted = termctl(&daemon, &["delete", "--json", &id]).json();
    assert_eq!(deleted["bytes"], 4);
    assert_eq!(ok(&daemon, &["read", &id]), "");
    assert_eq!(ok(&daemon, &["delete", "--yes", &id]), "");
}

//! The limit that ended a command is reported by name: limits of the kernel, and idleness.

use serde_json::{Value, json};
use termd_test_support::resource_limits::{OVER_CPU_TIME, OVER_FILE_BYTES, daemon_with_limits};
use termd_test_support::{TestDaemon, merged, sh};

use crate::shell::marked_shell::MarkedShell;

#[test]
fn limits_of_a_process_end_a_command_by_name() {
    let daemon = daemon_with_limits("cli");
    let mut client = daemon.client();
    let mut watcher = daemon.client();
    watcher.ok("session.subscribe", &json!({}));
    for (script, cause, value, status) in [
        (OVER_CPU_TIME, "cpu_time", 1_000, ["signal", "SIGXCPU"]),
        // A process that ignores SIGXCPU is killed a second later.
        (
            "trap '' XCPU; while :; do :; done",
            "cpu_time",
            1_000,
            ["signal", "SIGKILL"],
        ),
        // A shell passes the end of its program on as an exit code.
        (OVER_FILE_BYTES, "file_bytes", 4_096, ["exit_code", "153"]),
        (
            "exec head -c 10000 /dev/zero > grown",
            "file_bytes",
            4_096,
            ["signal", "SIGXFSZ"],
        ),
    ] {
        let id = client.create_terminal(&sh(script));
        let waited = client.ok("session.wait", &json!({ "id": id }));
        assert_eq!(waited["end_cause"], cause, "{script}: {waited}");
        let how = waited["exit_status"][status[0]].to_string();
        assert_eq!(how.trim_matches('"'), status[1], "{script}: {waited}");
        let shown = client.ok("session.show", &json!({ "id": id }));
        assert_eq!(shown["end_cause"], cause, "{shown}");
        let event = watcher.wait_for_event("limit_reached");
        let expected = json!({ "type": "limit_reached", "id": id, "limit": cause, "value": value });
        assert_eq!(event, expected);
    }
    // A command that hit no limit has no cause, whatever its exit code.
    let id = client.create_terminal(&merged(&sh("kill -9 $$"), &json!({ "confirmed": true })));
    let waited = client.ok("session.wait", &json!({ "id": id }));
    assert_eq!(waited["end_cause"], Value::Null, "{waited}");
}

#[test]
fn a_line_in_a_shell_that_hits_a_limit_is_an_event() {
    let daemon = daemon_with_limits("cli");
    let mut watcher = daemon.client();
    watcher.ok("session.subscribe", &json!({}));
    let mut shell = MarkedShell::start(&daemon, &["bash"]);
    shell.run("head -c 10000 /dev/zero > grown");
    let event = watcher.wait_for_event("limit_reached");
    let expected = json!({ "type": "limit_reached", "id": shell.id, "limit": "file_bytes",
                           "value": 4_096 });
    assert_eq!(event, expected);
    // The shell itself goes on.
    shell.run("echo goes on");
    assert_eq!(shell.newest_output(), "goes on\n");
    let shown = shell.client.ok("session.show", &json!({ "id": shell.id }));
    assert_eq!(shown["end_cause"], Value::Null, "{shown}");
}

#[test]
fn idleness_is_a_cause_too() {
    let daemon = TestDaemon::start();
    let mut watcher = daemon.client();
    watcher.ok("session.subscribe", &json!({}));
    let mut client = daemon.client();
    let params = merged(&sh("exec sleep 1000"), &json!({ "idle_timeout_ms": 1_000 }));
    let id = client.create_terminal(&params);
    assert_eq!(watcher.wait_for_event("closed")["id"], id);
    let shown = client.ok("session.show", &json!({ "id": id }));
    assert_eq!(shown["end_cause"], "idle_timeout", "{shown}");
    assert_eq!(shown["close_cause"], "idle", "{shown}");
}

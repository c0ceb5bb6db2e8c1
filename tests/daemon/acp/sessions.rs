//! A terminal belongs to the ACP session that created it.

use serde_json::json;
use termd_test_support::{Agent, SESSION, TestDaemon};

#[test]
fn another_sessions_terminal_is_not_found_and_not_touched() {
    let daemon = TestDaemon::start();
    let mut agent = daemon.agent();
    let id = agent.create(&json!({ "command": "sleep", "args": ["1000"] }));
    for stranger in ["sess_other", "", "SESS_ABC123DEF456", "sess_abc123def456 "] {
        for method in ["output", "wait_for_exit", "kill", "release"] {
            let method = format!("terminal/{method}");
            let params = json!({ "sessionId": stranger, "terminalId": id });
            let unknown = json!({ "sessionId": stranger, "terminalId": "term_aaaaaaaaaaaa" });
            let error = agent.err(&method, &params);
            error.assert_is(-32002, "terminal_not_found");
            // The error does not reveal that the terminal exists.
            let of_unknown = agent.err(&method, &unknown);
            let blank = |text: &str| text.replace(&id, "ID").replace("term_aaaaaaaaaaaa", "ID");
            assert_eq!(blank(&error.message), blank(&of_unknown.message));
            assert_eq!(
                blank(&error.data.to_string()),
                blank(&of_unknown.data.to_string())
            );
        }
    }
    assert!(agent.output(&id)["exitStatus"].is_null(), "it still runs");
}

/// A terminal belongs to the session, not to the connection: an agent may reconnect.
#[test]
fn the_same_session_on_another_connection_finds_its_terminal() {
    let daemon = TestDaemon::start();
    let mut first = daemon.agent();
    let id = first.script("echo here; read go; exit 2");
    first.wait_for_text(&id, "here");
    drop(first);
    let mut second = daemon.agent();
    assert_eq!(second.text(&id), "here\n");
    second.send_text(&id, "\n");
    assert_eq!(second.wait(&id), (Some(2), None));
    second.release(&id);
}

#[test]
fn two_sessions_share_a_connection() {
    let daemon = TestDaemon::start();
    let mut agent = daemon.agent();
    let mine = agent.create(&json!({ "command": "true" }));
    let theirs = agent.create(&json!({ "sessionId": "sess_two", "command": "true" }));
    let named = json!({ "sessionId": "sess_two", "terminalId": theirs });
    agent.ok("terminal/wait_for_exit", &named);
    agent.ok("terminal/wait_for_exit", &Agent::named(&mine));
    assert_eq!(
        agent.err("terminal/output", &Agent::named(&theirs)).code,
        -32002
    );
    agent.ok("terminal/output", &named);
    assert_ne!(SESSION, "sess_two");
}

/// A terminal of the native API belongs to no ACP session.
#[test]
fn a_native_terminal_is_no_acp_terminal() {
    let daemon = TestDaemon::start();
    let mut agent = daemon.agent();
    let id = agent.create_terminal(&json!({ "command": "true" }));
    let error = agent.err("terminal/output", &Agent::named(&id));
    error.assert_is(-32002, "terminal_not_found");
}

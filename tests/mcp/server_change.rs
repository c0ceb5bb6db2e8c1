//! A change of the daemon's server, which the client does not notice.

use serde_json::json;
use termd_test_support::{McpClient, TestDaemon};

#[test]
fn a_wait_goes_on_with_the_next_server_and_the_session_too() {
    let daemon = TestDaemon::start();
    for replace in [
        TestDaemon::kill_server as fn(&TestDaemon),
        TestDaemon::replace_server,
    ] {
        let mut client = McpClient::start(&daemon);
        let id = client.create("cat");
        let waiting = client.begin(
            "session_wait_for",
            &json!({ "session_id": id, "pattern": "later", "timeout": 50 }),
        );
        client.call("session_list", &json!({}));
        replace(&daemon);
        client.call(
            "session_send",
            &json!({ "session_id": id, "input": "later" }),
        );
        let answer = client.answer(waiting);
        assert_eq!(
            answer["result"]["structuredContent"]["matched"], true,
            "{answer}"
        );
        let result = client.call(
            "session_interact",
            &json!({ "session_id": id, "input": "again", "wait_for": "again" }),
        );
        assert_eq!(result["matched"], true, "{result}");
    }
}

#[test]
fn a_terminal_tied_to_the_client_stays_tied() {
    let daemon = TestDaemon::start();
    let mut client = McpClient::start(&daemon);
    let created = client.call(
        "session_create",
        &json!({ "command": "cat", "close_on_disconnect": true }),
    );
    let id = created["session_id"].as_str().unwrap().to_owned();
    daemon.replace_server();
    client.call("session_list", &json!({}));
    client.hang_up();
    client.wait_exit();
    termd_test_support::wait_until("it is closed", || {
        daemon.client().ok("session.show", &json!({ "id": id }))["state"] == "closed"
    });
}

//! Terminals as resources: listed, read and subscribed to, in both protocol versions.

use serde_json::{Value, json};
use termd_test_support::{McpClient, TestDaemon};

#[test]
fn screen_and_transcript_are_listed_and_read() {
    let daemon = TestDaemon::start();
    let mut client = McpClient::start(&daemon);
    let id = client.create("sh -c 'seq 1 100; exec cat'");
    client.call(
        "session_wait_for",
        &json!({ "session_id": id, "pattern": "^100$" }),
    );
    let list = client.ask("resources/list", &json!({}));
    let resources = list["result"]["resources"].as_array().unwrap();
    assert_eq!(resources.len(), 2, "{list}");
    let read = |client: &mut McpClient, view: &str| {
        let uri = format!("termd://terminal/{id}/{view}");
        let answer = client.ask("resources/read", &json!({ "uri": uri }));
        answer["result"]["contents"][0]["text"]
            .as_str()
            .unwrap_or_else(|| panic!("{answer}"))
            .to_owned()
    };
    assert!(!read(&mut client, "screen").contains("\n10\n"));
    assert!(read(&mut client, "transcript").starts_with("1\n2\n"));
    let templates = client.ask("resources/templates/list", &json!({}));
    assert_eq!(
        templates["result"]["resourceTemplates"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    let missing = client.ask(
        "resources/read",
        &json!({ "uri": "termd://terminal/none/screen" }),
    );
    assert_eq!(missing["error"]["code"], -32002, "{missing}");
}

#[test]
fn a_subscriber_with_initialize_is_told() {
    let daemon = TestDaemon::start();
    let mut client = McpClient::start(&daemon);
    let id = client.create("cat");
    client.wait("the list has changed", |message| {
        message["method"] == "notifications/resources/list_changed"
    });
    let uri = format!("termd://terminal/{id}/screen");
    let subscribed = client.ask("resources/subscribe", &json!({ "uri": uri }));
    assert!(subscribed.get("error").is_none(), "{subscribed}");
    client.call(
        "session_send",
        &json!({ "session_id": id, "input": "news" }),
    );
    let update = client.wait("an update", |message| {
        message["method"] == "notifications/resources/updated"
    });
    assert_eq!(update["params"]["uri"], uri);
}

#[test]
fn a_stateless_listener_is_told() {
    let daemon = TestDaemon::start();
    let mut client = McpClient::stateless(&daemon, &json!({}));
    let id = client.create("cat");
    let uri = format!("termd://terminal/{id}/screen");
    client.request(
        "subscriptions/listen",
        &json!({ "notifications": { "resourceSubscriptions": [uri], "resourcesListChanged": true } }),
    );
    let is = |method: &'static str| move |message: &Value| message["method"] == method;
    client.wait(
        "an acknowledgement",
        is("notifications/subscriptions/acknowledged"),
    );
    // The daemon's events are read a moment after the answer: all may have changed since then.
    client.wait("a first change", is("notifications/resources/list_changed"));
    client.wait("a first update", is("notifications/resources/updated"));
    client.call(
        "session_send",
        &json!({ "session_id": id, "input": "news" }),
    );
    let update = client.wait("an update", is("notifications/resources/updated"));
    assert_eq!(update["params"]["uri"], uri);
    client.create("cat");
    client.wait(
        "the list has changed",
        is("notifications/resources/list_changed"),
    );
}

//! `initialize`: what the agent hears of the client, and whose `terminal/*` are whose then.

use serde_json::{Value, json};
use termd_test_support::{Home, TestDaemon};

use crate::harness::proxy::AcpProxy;

/// Says `initialize` with these params, and gives what the agent has heard.
fn heard(proxied: &mut AcpProxy, params: &str) -> String {
    let line = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":\"i\",\"method\":\"initialize\",\"params\":{params}}}\n"
    );
    proxied.client.write(line.as_bytes());
    let heard = String::from_utf8(proxied.agent.raw().unwrap()).unwrap();
    let heard = heard.strip_suffix("}\n").unwrap();
    heard.split_once("\"params\":").unwrap().1.to_owned()
}

/// Answers the `initialize` that [`heard`] said.
fn answer(proxied: &mut AcpProxy, result: &Value) {
    proxied.agent.answer(&json!({ "id": "i" }), result);
    proxied
        .client
        .wait("the answer to initialize", |line| line["id"] == "i");
}

/// Whether a `terminal/create` of the agent's reaches the client; it is answered either way.
fn reaches_the_client(proxied: &mut AcpProxy) -> bool {
    let id = proxied.agent.request(
        "terminal/create",
        &json!({ "sessionId": "s", "command": "/bin/true" }),
    );
    // The agent's next message is behind it.
    proxied.agent.notify("_behind", &json!({}));
    let first = proxied.client.wait("either", |line| {
        line["method"] == "terminal/create" || line["method"] == "_behind"
    });
    let is_asked = first["method"] == "terminal/create";
    if is_asked {
        let answer = json!({ "terminalId": "the-clients" });
        proxied.client.answer(&first, &answer);
        let behind = |line: &Value| line["method"] == "_behind";
        proxied.client.wait("what is behind", behind);
    }
    let created = proxied.agent.answer_to(id);
    let terminal = created["result"]["terminalId"].as_str().unwrap();
    assert_eq!(terminal == "the-clients", is_asked);
    is_asked
}

#[test]
fn a_client_without_terminals_is_one_that_has_them() {
    let home = Home::new();
    let table = [
        (
            r#"{"protocolVersion":1}"#,
            r#"{"clientCapabilities":{"terminal":true},"protocolVersion":1}"#,
        ),
        (
            r#"{"protocolVersion": 1, "clientCapabilities" : null}"#,
            r#"{"protocolVersion": 1, "clientCapabilities" : {"terminal":true}}"#,
        ),
        (
            r#"{"protocolVersion":1,"clientCapabilities":{ "terminal" : false, "x" : 1.50}}"#,
            r#"{"protocolVersion":1,"clientCapabilities":{ "terminal" : true, "x" : 1.50}}"#,
        ),
        (
            r#"{"protocolVersion":1,"clientCapabilities":{"auth":{"terminal":false},"\u0066s":{}}}"#,
            r#"{"protocolVersion":1,"clientCapabilities":{"terminal":true,"auth":{"terminal":false},"\u0066s":{}}}"#,
        ),
        (
            r#"{"protocolVersion":1,"clientCapabilities":{"terminal":true}}"#,
            "",
        ),
        (
            r#"{"protocolVersion":2,"info":{"name":"c","version":"1"},"capabilities":{}}"#,
            "",
        ),
        (
            r#"{"protocolVersion":2,"clientCapabilities":{"terminal":false}}"#,
            "",
        ),
        (r#"{"protocolVersion":"1","clientCapabilities":{}}"#, ""),
        ("[]", ""),
    ];
    // The last initialize counts: one proxy hears them all.
    let mut proxied = AcpProxy::spawn(&home, &[]);
    for (params, want) in table {
        let want = if want.is_empty() { params } else { want };
        assert_eq!(heard(&mut proxied, params), want);
    }
}

#[test]
fn taking_over_leaves_the_line_as_it_is() {
    let daemon = TestDaemon::start();
    let params = r#"{"protocolVersion":1,"clientCapabilities":{"terminal":true}}"#;
    for (arguments, want) in [(&[][..], true), (&["--take-over"][..], false)] {
        let mut proxied = AcpProxy::spawn(&daemon, arguments);
        assert_eq!(heard(&mut proxied, params), params);
        answer(&mut proxied, &json!({ "protocolVersion": 1 }));
        assert_eq!(reaches_the_client(&mut proxied), want, "{arguments:?}");
    }
}

#[test]
fn the_agents_version_decides() {
    let daemon = TestDaemon::start();
    let table = [
        (1, json!({ "protocolVersion": 1 }), false),
        (1, json!({ "protocolVersion": 0 }), true),
        (1, json!({ "protocolVersion": 2 }), true),
        (2, json!({ "protocolVersion": 2 }), true),
        // A client that would have spoken version 2 was not presented as one with terminals.
        (2, json!({ "protocolVersion": 1 }), true),
    ];
    let mut proxied = AcpProxy::spawn(&daemon, &["--take-over"]);
    for (asked, answered, want) in table {
        heard(
            &mut proxied,
            &json!({ "protocolVersion": asked }).to_string(),
        );
        answer(&mut proxied, &answered);
        assert_eq!(reaches_the_client(&mut proxied), want, "{asked} {answered}");
    }
}

#[test]
fn both_names_are_in_the_audit() {
    let daemon = TestDaemon::start();
    let mut proxied = AcpProxy::start(&daemon, &[], &json!({}));
    assert!(!reaches_the_client(&mut proxied));
    let mut command = daemon.command(env!("CARGO_BIN_EXE_termctl"));
    let said = command.args(["audit", "--json"]).output().unwrap();
    let said = String::from_utf8(said.stdout).unwrap();
    assert!(said.contains("an-agent 2 for a-client 1"), "{said}");
}

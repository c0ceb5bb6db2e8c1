//! `initialize`: which capabilities the agent sees, and who answers `terminal/*` then.

use serde_json::{Value, json};
use termd_test_support::{Home, TestDaemon};

use crate::harness::proxy::AcpProxy;

/// Sends `initialize` with these params: the params that the agent receives.
fn params_for_agent(proxy: &mut AcpProxy, params: &str) -> String {
    let line = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":\"i\",\"method\":\"initialize\",\"params\":{params}}}\n"
    );
    proxy.client.write(line.as_bytes());
    let params_for_agent = String::from_utf8(proxy.agent.raw().unwrap()).unwrap();
    let params_for_agent = params_for_agent.strip_suffix("}\n").unwrap();
    params_for_agent
        .split_once("\"params\":")
        .unwrap()
        .1
        .to_owned()
}

/// Answers the `initialize` of [`params_for_agent`].
fn answer(proxy: &mut AcpProxy, result: &Value) {
    proxy.agent.answer(&json!({ "id": "i" }), result);
    proxy
        .client
        .wait("the answer to initialize", |line| line["id"] == "i");
}

/// Whether the client receives the agent's `terminal/create`. It is answered either way.
fn reaches_the_client(proxy: &mut AcpProxy) -> bool {
    let id = proxy.agent.request(
        "terminal/create",
        &json!({ "sessionId": "s", "command": "/bin/true" }),
    );
    // This message follows the request.
    proxy.agent.notify("_behind", &json!({}));
    let first = proxy.client.wait("either", |line| {
        line["method"] == "terminal/create" || line["method"] == "_behind"
    });
    let is_asked = first["method"] == "terminal/create";
    if is_asked {
        let answer = json!({ "terminalId": "the-clients" });
        proxy.client.answer(&first, &answer);
        let behind = |line: &Value| line["method"] == "_behind";
        proxy.client.wait("what is behind", behind);
    }
    let created = proxy.agent.answer_to(id);
    let terminal = created["result"]["terminalId"].as_str().unwrap();
    assert_eq!(terminal == "the-clients", is_asked);
    is_asked
}

#[test]
fn a_client_without_terminals_is_one_that_has_them() {
    let home = Home::create();
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
    // One proxy passes all of them, and the last `initialize` counts.
    let mut proxy = AcpProxy::spawn(&home, &[]);
    for (params, want) in table {
        let want = if want.is_empty() { params } else { want };
        assert_eq!(params_for_agent(&mut proxy, params), want);
    }
}

#[test]
fn taking_over_leaves_the_line_as_it_is() {
    let daemon = TestDaemon::start();
    let params = r#"{"protocolVersion":1,"clientCapabilities":{"terminal":true}}"#;
    for (arguments, want) in [(&[][..], true), (&["--take-over"][..], false)] {
        let mut proxy = AcpProxy::spawn(&daemon, arguments);
        assert_eq!(params_for_agent(&mut proxy, params), params);
        answer(&mut proxy, &json!({ "protocolVersion": 1 }));
        assert_eq!(reaches_the_client(&mut proxy), want, "{arguments:?}");
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
        // A client that offers version 2 is not presented as one with terminals.
        (2, json!({ "protocolVersion": 1 }), true),
    ];
    let mut proxy = AcpProxy::spawn(&daemon, &["--take-over"]);
    for (client_version, agent_version, want) in table {
        params_for_agent(
            &mut proxy,
            &json!({ "protocolVersion": client_version }).to_string(),
        );
        answer(&mut proxy, &agent_version);
        assert_eq!(
            reaches_the_client(&mut proxy),
            want,
            "{client_version} {agent_version}"
        );
    }
}

#[test]
fn both_names_are_in_the_audit() {
    let daemon = TestDaemon::start();
    let mut proxy = AcpProxy::start(&daemon, &[], &json!({}));
    assert!(!reaches_the_client(&mut proxy));
    let mut command = daemon.command(env!("CARGO_BIN_EXE_termctl"));
    let records = command.args(["audit", "--json"]).output().unwrap();
    let records = String::from_utf8(records.stdout).unwrap();
    assert!(records.contains("an-agent for a-client"), "{records}");
}

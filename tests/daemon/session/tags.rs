//! Tags: of `session.create`, of a connection, by `session.tag`, and as a filter of `session.list`.

use serde_json::{Value, json};
use termd_test_support::{RawClient, TestDaemon};

fn sleeping(client: &mut RawClient, tags: &Value) -> String {
    client.create_terminal(&json!({ "command": "sleep", "args": ["1000"], "tags": tags }))
}

fn tags(client: &mut RawClient, id: &str) -> Value {
    client.ok("session.show", &json!({ "id": id }))["tags"].clone()
}

/// The ids of a list.
fn listed(client: &mut RawClient, params: &Value) -> Vec<String> {
    let page = client.ok("session.list", params);
    let terminals = page["terminals"].as_array().unwrap();
    let ids = terminals.iter().map(|info| info["id"].as_str().unwrap());
    ids.map(str::to_owned).collect()
}

#[test]
fn tags_group_terminals_and_live_over_servers_and_the_close() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let both = sleeping(&mut client, &json!(["web", "ci", "web"]));
    let one = sleeping(&mut client, &json!(["ci"]));
    let none = sleeping(&mut client, &json!(null));
    assert_eq!(tags(&mut client, &both), json!(["ci", "web"]));
    assert_eq!(tags(&mut client, &none), Value::Null);

    let change = json!({ "id": one, "add": ["slow", "old"], "remove": ["ci", "old"] });
    let tagged = client.ok("session.tag", &change);
    assert_eq!(tagged["tags"], json!(["slow"]));
    let records = client.audit_records(&json!({ "action": "terminal.tag" }));
    assert_eq!(
        records[0]["detail"],
        json!({ "before": ["ci"], "tags": ["slow"] })
    );
    let created = client.audit_records(&json!({ "action": "terminal.create" }));
    assert_eq!(created[2]["detail"]["tags"], json!(["ci", "web"]));

    client.ok("session.close", &json!({ "id": both }));
    let error = client.err("session.tag", &json!({ "id": both, "add": ["x"] }));
    error.assert_invalid("id");
    daemon.replace_server();
    let mut client = daemon.client();
    assert_eq!(tags(&mut client, &one), json!(["slow"]));
    for (scope, wanted, expected) in [
        ("open", json!(["slow"]), vec![&one]),
        ("open", json!(["web", "ci"]), vec![]),
        ("all", json!(["web", "slow"]), vec![&both, &one]),
        ("all", json!(["ci"]), vec![&both]),
        ("running", json!([]), vec![&one, &none]),
    ] {
        let params = json!({ "scope": scope, "tags": wanted });
        let found = listed(&mut client, &params);
        assert_eq!(found.iter().collect::<Vec<_>>(), expected, "{params}");
    }
}

#[test]
fn tags_are_bounded_words() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let id = sleeping(&mut client, &json!([]));
    let numbered = |from: usize, count: usize| -> Vec<String> {
        (from..from + count)
            .map(|number| number.to_string())
            .collect()
    };
    let tag = |add: Value| json!({ "id": id, "add": add });
    for wrong in ["", "a b", "a,b", "-x", "a\u{1b}", &"x".repeat(65)] {
        let error = client.err("session.tag", &tag(json!([wrong])));
        assert_eq!(error.kind(), "invalid_params", "{wrong:?}");
    }
    let error = client.err("session.tag", &tag(json!(numbered(0, 17))));
    error.assert_invalid("add");
    client.ok("session.tag", &tag(json!(numbered(0, 16))));
    let error = client.err("session.tag", &tag(json!(["seventeenth"])));
    error.assert_invalid("add");
    let exchange = json!({ "id": id, "add": ["one"], "remove": ["7"] });
    let tags = client.ok("session.tag", &exchange)["tags"].clone();
    assert_eq!(tags.as_array().unwrap().len(), 16);
}

#[test]
fn a_connections_tags_are_those_of_all_that_it_creates() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    client.ok("daemon.hello", &json!({ "tags": ["team"] }));
    let id = sleeping(&mut client, &json!(["web"]));
    assert_eq!(tags(&mut client, &id), json!(["team", "web"]));
    let many: Vec<String> = (0..16).map(|number| number.to_string()).collect();
    let create = json!({ "command": "true", "tags": many });
    client.err("session.create", &create).assert_invalid("tags");
}

#[test]
fn an_agent_changes_the_tags_of_its_own_terminals() {
    let daemon = TestDaemon::start();
    let mut person = daemon.client();
    let persons = sleeping(&mut person, &json!([]));
    let mut agent = daemon.client();
    agent.ok(
        "daemon.hello",
        &json!({ "client": "an agent", "front": "mcp" }),
    );
    let own = sleeping(&mut agent, &json!([]));
    let tag = |id: &str| json!({ "id": id, "add": ["mine"] });
    assert_eq!(agent.ok("session.tag", &tag(&own))["tags"], json!(["mine"]));
    let error = agent.err("session.tag", &tag(&persons));
    assert_eq!(error.kind(), "confirmation_required");
    assert_eq!(tags(&mut person, &persons), Value::Null);
}

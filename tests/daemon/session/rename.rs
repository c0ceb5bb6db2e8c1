//! `session.rename`, and `replace` of `session.create`.

use serde_json::json;
use termd_test_support::TestDaemon;

/// A person who copies a part of an id means that terminal.
#[test]
fn a_label_is_not_what_another_terminal_is_called_by() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let create = json!({ "command": "sleep", "args": ["1000"] });
    let id = client.create_terminal(&create);
    let other = client.create_terminal(&create);
    let random = id.strip_prefix("term_").unwrap();
    for part in [random, &random[..6]] {
        let error = client.err("session.rename", &json!({ "id": other, "label": part }));
        error.assert_invalid("label");
        let labelled = json!({ "command": "sleep", "args": ["1000"], "label": part });
        client
            .err("session.create", &labelled)
            .assert_invalid("label");
        // Its own is no other's.
        client.ok("session.rename", &json!({ "id": id, "label": part }));
    }
}

#[test]
fn a_terminal_gets_another_label_and_keeps_it_under_the_next_server() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let id = client.ok(
        "session.create",
        &json!({ "command": "sleep", "args": ["1000"], "label": "one" }),
    )["id"]
        .clone();
    let renamed = client.ok("session.rename", &json!({ "id": "one", "label": "two" }));
    assert_eq!((&renamed["id"], &renamed["label"]), (&id, &json!("two")));
    // The old label is free, and the new one is not.
    let error = client.err("session.show", &json!({ "id": "one" }));
    assert_eq!(error.kind(), "terminal_not_found");
    let other = client.ok(
        "session.create",
        &json!({ "command": "sleep", "args": ["1000"], "label": "one" }),
    );
    let error = client.err("session.rename", &json!({ "id": "one", "label": "two" }));
    assert_eq!(error.kind(), "label_taken");
    assert_eq!(
        client.ok("session.show", &json!({ "id": "one" }))["id"],
        other["id"]
    );
    let again = client.ok("session.rename", &json!({ "id": "two", "label": "two" }));
    assert_eq!(again["label"], "two");

    daemon.replace_server();
    let mut client = daemon.client();
    assert_eq!(client.ok("session.show", &json!({ "id": "two" }))["id"], id);
    client.ok("session.rename", &json!({ "id": "two", "label": null }));
    let shown = client.ok("session.show", &json!({ "id": id }));
    assert_eq!(shown["label"], json!(null));
    let records = client.audit_records(&json!({ "action": "terminal.rename" }));
    let details: Vec<_> = records
        .iter()
        .map(|record| record["detail"].clone())
        .collect();
    assert_eq!(
        details,
        [
            json!({ "before": "two", "label": null }),
            json!({ "before": "two", "label": "two" }),
            json!({ "before": "one", "label": "two" }),
        ]
    );

    client.ok("session.close", &json!({ "id": id }));
    let error = client.err("session.rename", &json!({ "id": id, "label": "x" }));
    assert_eq!(error.kind(), "invalid_params");
    for label in ["", "a/b", "term_abc"] {
        let error = client.err("session.rename", &json!({ "id": "one", "label": label }));
        assert_eq!(error.kind(), "invalid_params", "{label}");
    }
}

#[test]
fn a_terminal_replaces_the_holder_of_its_label() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let create = json!({ "command": "sleep", "args": ["1000"], "label": "web", "replace": true });
    let first = client.ok("session.create", &create)["id"].clone();
    let second = client.ok("session.create", &create)["id"].clone();
    assert_ne!(first, second);
    let state = |client: &mut termd_test_support::RawClient, id| {
        client.ok("session.show", &json!({ "id": id }))["state"].clone()
    };
    assert_eq!(state(&mut client, &first), "closed");
    assert_eq!(state(&mut client, &second), "running");
    assert_eq!(
        client.ok("session.show", &json!({ "id": "web" }))["id"],
        second
    );
    // What cannot be started ends nothing.
    for wrong in [
        json!({ "command": "no-such-program" }),
        json!({ "cwd": "/no/such/directory" }),
        json!({ "args": ["-rf", "/nonexistent/a"], "command": "rm" }),
    ] {
        let mut wrong_create = create.clone();
        let members = wrong.as_object().unwrap().clone();
        wrong_create.as_object_mut().unwrap().extend(members);
        client.err("session.create", &wrong_create);
        assert_eq!(state(&mut client, &second), "running", "{wrong}");
    }
    let label = client.ok("session.show", &json!({ "id": second }))["label"].clone();
    assert_eq!(label, "web");
}

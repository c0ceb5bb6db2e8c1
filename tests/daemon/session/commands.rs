//! `command.*`: results and errors.

use serde_json::{Value, json};
use termd_test_support::{TestDaemon, merged, wait_until};

#[test]
fn a_terminals_own_command_is_listed_and_shown() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let info = client.ok(
        "session.create",
        &json!({ "command": "printf", "args": ["a b"], "label": "it" }),
    );
    let id = &info["id"];
    client.ok("session.wait", &json!({ "id": id }));
    let mut shown = Value::Null;
    wait_until("its end and its hash are in the database", || {
        shown = client.ok("command.show", &json!({ "id": "it", "number": -1 }));
        shown["output_sha256"].is_string()
    });
    let ended = shown["ended_at_ms"].clone();
    let expected = json!({
        "terminal": id, "number": 0, "source": "argv", "text": "printf 'a b'",
        "cwd": info["cwd"], "started_at_ms": info["created_at_ms"], "ended_at_ms": ended,
        "exit_code": 0, "signal": null, "start": 0, "end": null,
        // `printf 'a b' | sha256sum`.
        "output_sha256": "c8687a08aa5d6ed2044328fa6a697ab8e96dc34291e8c2034ae8c38e6fcc6d65",
    });
    assert_eq!(shown, expected);
    let page = client.ok("command.list", &Value::Null);
    assert_eq!(page, json!({ "commands": [expected], "next_cursor": null }));

    for _ in 0..3 {
        let other = client.ok("session.create", &json!({ "command": "true" }));
        client.ok("session.wait", &json!({ "id": other["id"] }));
    }
    let (mut seen, mut cursor) = (0, Value::Null);
    loop {
        let page = client.ok("command.list", &json!({ "cursor": cursor, "limit": 3 }));
        seen += page["commands"].as_array().unwrap().len();
        cursor = page["next_cursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    assert_eq!(seen, 4);
}

#[test]
fn bad_params_are_refused_by_field() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let id = client.create_terminal(&json!({ "command": "true" }));
    let error = client.err("command.show", &json!({ "id": id, "number": 5 }));
    error.assert_is(-32002, "command_not_found");
    let error = client.err("command.show", &json!({ "id": "nobody", "number": 0 }));
    error.assert_is(-32002, "terminal_not_found");
    for (params, field) in [
        (json!({ "limit": 0 }), "limit"),
        (json!({ "limit": 1001 }), "limit"),
        (json!({ "cursor": "x" }), "cursor"),
        (
            json!({ "filter": { "query": "x".repeat(1025) } }),
            "filter.query",
        ),
        (
            json!({ "filter": { "exit_code": "0" } }),
            "filter.exit_code",
        ),
    ] {
        let error = client.err("command.list", &params);
        error.assert_is_in(format_args!("{params}"), -32602, "invalid_params");
        assert_eq!(error.data["field"], field, "{params}");
    }
}

#[test]
fn a_commands_output_is_read_in_parts() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let create = json!({ "command": "printf", "args": ["aéb"] });
    let id = client.create_terminal(&create);
    client.ok("session.wait", &json!({ "id": id }));
    let mut read = |more: &Value| {
        let params = merged(&json!({ "id": id, "number": 0 }), more);
        let page = client.ok("command.read", &params);
        let content = page.get("text").or(page.get("data")).unwrap();
        (content.clone(), page["start"].clone(), page["end"].clone())
    };
    for (params, content, start, end) in [
        (json!({}), "aéb", 0, 4),
        (json!({ "since": 1 }), "éb", 1, 4),
        (json!({ "since": 4 }), "", 4, 4),
        (
            json!({ "since": 3, "max_bytes": 4, "encoding": "base64" }),
            "Yg==",
            3,
            4,
        ),
    ] {
        let expected = (json!(content), json!(start), json!(end));
        assert_eq!(read(&params), expected, "{params}");
    }
    for (params, field) in [
        (json!({ "since": 5 }), "since"),
        (json!({ "max_bytes": 3 }), "max_bytes"),
    ] {
        let params = merged(&json!({ "id": id, "number": 0 }), &params);
        assert_eq!(client.err("command.read", &params).data["field"], field);
    }
}

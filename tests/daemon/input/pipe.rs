//! What is sent to a command that reads a pipe.

use serde_json::{Value, json};
use termd_test_support::{RawClient, TestDaemon, merged, sh};

/// A script that reads a pipe.
fn reading(client: &mut RawClient, script: &str) -> String {
    let pipe = json!({ "stdio": "pipes", "stdin": "pipe" });
    client.create_terminal(&merged(&sh(script), &pipe))
}

fn send(client: &mut RawClient, id: &str, more: &Value) -> Value {
    client.ok("session.send", &merged(&json!({ "id": id }), more))
}

fn text(client: &mut RawClient, id: &str) -> Value {
    let raw = json!({ "id": id, "encoding": "raw" });
    client.ok("session.read", &raw)["text"].clone()
}

#[test]
fn what_is_sent_to_a_pipe_arrives_as_it_is_and_ends() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let id = reading(&mut client, "cat; echo end; exit 7");
    // No tty: nothing is echoed, edited or cut.
    let sent = send(&mut client, &id, &json!({ "text": "one\u{15}\u{4}\r\n" }));
    assert_eq!((&sent["sent"], &sent["queued"]), (&json!(7), &json!(0)));
    client.wait_for_text(&id, "one");
    send(&mut client, &id, &json!({ "text": "two", "eof": true }));
    let result = client.ok("session.wait", &json!({ "id": id }));
    assert_eq!(result["exit_status"]["exit_code"], 7, "{result}");
    assert_eq!(text(&mut client, &id), "one\u{15}\u{4}\r\ntwoend\n");
    let refused = |client: &mut RawClient, input: Value| {
        let error = client.err("session.send", &merged(&json!({ "id": id }), &input));
        assert_eq!(error.data["kind"], "terminal_exited", "{input}");
    };
    refused(&mut client, json!({ "text": "x" }));
    refused(&mut client, json!({ "eof": true }));
    client.ok("session.close", &json!({ "id": id }));
    refused(&mut client, json!({ "text": "x" }));
    refused(&mut client, json!({ "eof": true }));
}

#[test]
fn typed_text_enter_and_end_of_file_reach_a_pipe() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let id = reading(&mut client, "cat");
    let typed = |input: Value| json!({ "id": id, "input": input });
    client.ok(
        "session.type",
        &typed(json!({ "text": "a", "enter": true })),
    );
    client
        .err("session.type", &typed(json!({ "keys": ["up"] })))
        .assert_invalid("keys");
    client.ok(
        "session.type",
        &typed(json!({ "keys": ["enter", "ctrl-d"] })),
    );
    client.ok("session.wait", &json!({ "id": id }));
    assert_eq!(text(&mut client, &id), "a\n\n");
    let other = reading(&mut client, "cat; echo end");
    client.ok("session.close", &json!({ "id": other, "eof_ms": 5_000 }));
    let info = client.ok("session.show", &json!({ "id": other }));
    assert_eq!(info["exit_status"]["exit_code"], 0, "{info}");
}

#[test]
fn a_command_that_closes_its_input_ends_it() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let id = reading(&mut client, "exec <&-; echo closed; exec sleep 1000");
    client.wait_for_text(&id, "closed");
    for _ in 0..2 {
        let error = client.err("session.send", &json!({ "id": id, "text": "x" }));
        assert_eq!(
            (error.code, &error.data["kind"]),
            (-32004, &json!("input_ended"))
        );
    }
    let ended = reading(&mut client, "cat; exec sleep 1000");
    send(&mut client, &ended, &json!({ "eof": true }));
    // Once more is no error.
    let error = client.err("session.send", &json!({ "id": ended, "text": "x" }));
    assert_eq!(error.data["kind"], "input_ended");
}

#[test]
fn what_was_sent_already_is_not_sent_again() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let id = reading(&mut client, "cat");
    let at = |offset: u64, text: &str| json!({ "text": text, "input_offset": offset });
    send(&mut client, &id, &at(0, "abc"));
    let sent = send(&mut client, &id, &at(1, "bcde"));
    assert_eq!(sent["sent"], 4, "{sent}");
    send(&mut client, &id, &at(0, "ab"));
    let beyond = merged(&json!({ "id": id }), &at(6, "x"));
    client
        .err("session.send", &beyond)
        .assert_invalid("input_offset");
    send(
        &mut client,
        &id,
        &merged(&at(5, "f"), &json!({ "eof": true })),
    );
    client.ok("session.wait", &json!({ "id": id }));
    assert_eq!(text(&mut client, &id), "abcdef");
}

#[test]
fn a_tty_has_no_such_input() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let params = merged(&sh("cat"), &json!({ "stdin": "pipe" }));
    client
        .err("session.create", &params)
        .assert_invalid("stdin");
    let id = client.create_terminal(&sh("cat"));
    let params = json!({ "id": id, "text": "x", "eof": true });
    client.err("session.send", &params).assert_invalid("eof");
}

/// A shell runs what it reads, also a last line without its end. What edits a line at a tty is a
/// character of a piped one.
#[test]
fn what_a_shell_reads_from_a_pipe_is_judged_and_data_is_not() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    for (program, script) in [
        ("sh", "rm -rf /nonexistent/a\n"),
        ("bash", "rm -rf /nonexistent/a\u{15}ls\n"),
        ("bash", "echo a\nr\0m -rf /\n"),
        ("perl", "system('rm -rf /nonexistent/a')\n"),
    ] {
        let id = client.create_terminal(&json!({
            "command": program, "stdio": "pipes", "stdin": "pipe",
        }));
        let params = json!({ "id": id, "text": script });
        let error = client.err("session.send", &params);
        assert_eq!(
            error.data["kind"], "confirmation_required",
            "{program}: {script:?}"
        );
    }
    let id = reading(&mut client, "bash; true");
    send(&mut client, &id, &json!({ "text": "rm -rf /nonexistent" }));
    let error = client.err(
        "session.send",
        &json!({ "id": id, "text": "/a", "eof": true }),
    );
    assert_eq!(error.data["kind"], "confirmation_required");
    send(
        &mut client,
        &id,
        &json!({ "text": "\necho fine\n", "eof": true, "confirmed": true }),
    );
    client.wait_for_text(&id, "fine");
    for script in ["exec cat", "cat; true", "exec wc -c"] {
        let id = reading(&mut client, script);
        send(
            &mut client,
            &id,
            &json!({ "text": "rm -rf /nonexistent/a\n", "eof": true }),
        );
        client.ok("session.wait", &json!({ "id": id }));
    }
}

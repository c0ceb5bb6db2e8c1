//! `session.type`: how text, bytes and keys reach a program, and what is refused.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use termd_test_support::{RawClient, RpcError, TestDaemon, sh, wait_until};

/// Types this input: the result or the error.
pub(crate) fn try_type(client: &mut RawClient, id: &str, input: &Value) -> Result<Value, RpcError> {
    client.request("session.type", &json!({ "id": id, "input": input }))
}

/// Types input that must be taken whole: the result.
#[track_caller]
pub(crate) fn type_in(client: &mut RawClient, id: &str, input: &Value) -> Value {
    let params = json!({ "id": id, "input": input, "timeout_ms": 15_000 });
    let result = client.ok("session.type", &params);
    assert_eq!(result["queued"], 0, "{result}");
    result
}

/// Starts a script that prints `ready` and then stores its input in a file: the id.
#[track_caller]
fn recorder(client: &mut RawClient, setup: &str, count: usize, file: &str) -> String {
    let script = format!("{setup}; printf ready; head -c {count} > '{file}'");
    let id = client.create_terminal(&sh(&script));
    client.wait_for_text(&id, "ready");
    id
}

/// Checks what a raw program with these modes receives for this input.
#[track_caller]
fn received(modes: &str, input: &Value, expected: &str) {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let file = daemon.path("typed").display().to_string();
    let setup = format!("stty raw -echo; printf '{modes}'");
    let id = recorder(&mut client, &setup, expected.len(), &file);
    let result = type_in(&mut client, &id, input);
    assert_eq!(result["sent"], expected.len(), "{input}");
    client.ok("session.wait", &json!({ "id": id }));
    let typed = std::fs::read_to_string(&file).unwrap();
    assert_eq!(typed, expected, "{input} with {modes}");
}

#[test]
fn keys_are_written_as_the_program_wants_them() {
    let arrows = json!({ "keys": ["up", "shift-f5", "ctrl-a", "kp-enter"] });
    received("", &arrows, "\x1b[A\x1b[15;2~\x01\r");
    received("\\033[?1h\\033=", &arrows, "\x1bOA\x1b[15;2~\x01\x1bOM");
    // The flags of kitty's keyboard protocol, pushed as programs do.
    received(
        "\\033[>1u",
        &arrows,
        "\x1b[A\x1b[15;2~\x1b[97;5u\x1b[57414u",
    );
    received(
        "\\033[>4;2m",
        &json!({ "keys": ["C-a"], "enter": true }),
        "\x1b[27;5;97~\r",
    );
}

#[test]
fn text_is_pasted_in_brackets_where_they_are_wanted() {
    let lines = json!({ "text": "one\ntwo\n" });
    received("", &lines, "one\rtwo\r");
    received("\\033[?2004h", &lines, "\x1b[200~one\rtwo\x1b[201~\r");
    received(
        "\\033[?2004h",
        &json!({ "text": "one", "enter": true }),
        "one\r",
    );
    let evil = json!({ "text": "a\nb\u{1b}[201~c" });
    received("\\033[?2004h", &evil, "\x1b[200~a\rbc\x1b[201~");
    let exact = json!({ "data": STANDARD.encode("a\nb\x1b[201~") });
    received("\\033[?2004h", &exact, "a\nb\x1b[201~");
}

#[test]
fn bad_input_is_refused_by_its_field() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let id = client.create_terminal(&sh("cat"));
    for (input, field) in [
        (json!({}), "input"),
        (json!({ "text": "a", "data": "YQ==" }), "input"),
        (json!({ "text": "a", "keys": ["up"] }), "input"),
        (json!({ "keys": ["nokey"] }), "input.keys"),
        (json!({ "keys": vec!["a"; 1_025] }), "input.keys"),
        (json!({ "data": "%" }), "input.data"),
        (json!({ "text": "x".repeat((1 << 20) + 1) }), "input.text"),
    ] {
        let error = try_type(&mut client, &id, &input).unwrap_err();
        error.assert_invalid(field);
    }
    let error = try_type(&mut client, &id, &json!({ "keys": ["retrun"] })).unwrap_err();
    assert!(error.message.contains("did you mean return?"), "{error:?}");
    assert!(error.message.contains("f1 to f24"), "{error:?}");
    client.ok("session.kill", &json!({ "id": id }));
    let error = try_type(&mut client, &id, &json!({ "text": "x" })).unwrap_err();
    error.assert_is(-32004, "terminal_exited");
}

/// A line that the kernel would cut is refused. A line that it takes arrives to the byte.
#[test]
fn a_line_over_the_canonical_limit_is_refused() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let file = daemon.path("typed");
    let script = format!("printf ready; cat > '{}'; echo done", file.display());
    let id = client.create_terminal(&sh(&script));
    client.wait_for_text(&id, "ready");
    let refused = |client: &mut RawClient, text: &str| {
        let error = try_type(client, &id, &json!({ "text": text, "enter": true })).unwrap_err();
        error.assert_is(-32013, "canonical_limit");
        assert_eq!(error.data["limit"], 4_095);
    };
    let most = "m".repeat(4_095);
    refused(&mut client, &"x".repeat(4_096));
    refused(&mut client, &format!("short\n{}", "x".repeat(4_096)));
    type_in(&mut client, &id, &json!({ "text": most, "enter": true }));
    // A line that an earlier call has begun counts.
    type_in(&mut client, &id, &json!({ "text": "a".repeat(4_000) }));
    refused(&mut client, &"x".repeat(96));
    type_in(
        &mut client,
        &id,
        &json!({ "text": "b".repeat(95), "enter": true }),
    );
    // Many lines are not one long line.
    let lines: String = (0..1_000)
        .map(|n| format!("line {n:04} {}\n", "l".repeat(80)))
        .collect();
    type_in(&mut client, &id, &json!({ "text": lines }));
    type_in(
        &mut client,
        &id,
        &json!({ "text": "c".repeat(5_000), "enter": true, "force": true }),
    );
    type_in(&mut client, &id, &json!({ "keys": ["ctrl-d"] }));
    client.wait_for_text(&id, "done");
    let typed = std::fs::read_to_string(&file).unwrap();
    let (whole, cut) = typed.split_at(typed.len() - 4_096);
    let expected = format!("{most}\n{}{}\n{lines}", "a".repeat(4_000), "b".repeat(95));
    assert!(
        whole == expected,
        "{} bytes for {}",
        whole.len(),
        expected.len()
    );
    assert_eq!(
        cut,
        format!("{}\n", "c".repeat(4_095)),
        "what was forced is cut, as was said"
    );
}

/// A long line that comes while the tty reads lines waits until the tty is raw.
#[test]
fn a_long_line_waits_for_a_raw_tty() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let (file, go) = (daemon.path("typed"), daemon.path("go"));
    let script = format!(
        "mkfifo '{0}'; printf ready; read x < '{0}'; stty raw -echo; head -c 10000 > '{1}'",
        go.display(),
        file.display()
    );
    let id = client.create_terminal(&sh(&script));
    client.wait_for_text(&id, "ready");
    let text = "r".repeat(10_000);
    let typing = client.send(
        "session.type",
        &json!({ "id": id, "input": { "text": text } }),
    );
    std::fs::write(go, "go\n").unwrap();
    let answer = client.answer(typing);
    assert_eq!(answer["result"]["sent"], 10_000, "{answer}");
    client.ok("session.wait", &json!({ "id": id }));
    assert!(std::fs::read_to_string(file).unwrap() == text);
}

/// Keys behind a refused line are not lost with it.
#[test]
fn what_is_refused_holds_nobody_up() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let id = client.create_terminal(&sh("printf ready; cat; echo after"));
    client.wait_for_text(&id, "ready");
    let long = client.send(
        "session.type",
        &json!({ "id": id, "input": { "text": "x".repeat(5_000) } }),
    );
    // The same connection keeps the order.
    let keys = json!({ "id": id, "input": { "keys": ["C-d"] } });
    let end = client.send("session.type", &keys);
    assert_eq!(
        client.answer(long)["error"]["data"]["kind"],
        "canonical_limit"
    );
    assert_eq!(client.answer(end)["result"]["sent"], 1);
    let text = client.wait_for_text(&id, "after");
    assert!(!text.contains('x'), "{text}");
}

/// Typing has one record for each connection, without the text.
#[test]
fn typing_is_in_the_audit() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let id = client.create_terminal(&sh("cat"));
    type_in(
        &mut client,
        &id,
        &json!({ "text": "something", "enter": true }),
    );
    type_in(
        &mut client,
        &id,
        &json!({ "text": "something", "enter": true }),
    );
    wait_until("it is recorded", || {
        let filter = json!({ "filter": { "terminal": id, "action": "terminal.input" } });
        let page = daemon.client().ok("audit.list", &filter);
        let records = page["records"].as_array().unwrap();
        assert!(!page.to_string().contains("something"), "{page}");
        records.len() == 1
    });
}

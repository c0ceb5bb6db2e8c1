//! `session.send`: bytes for a program, and what is refused.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use termd_test_support::{RawClient, TestDaemon, sh};

/// Starts a script on a raw tty without echo: its id.
#[track_caller]
fn started(client: &mut RawClient, script: &str) -> String {
    client.create_terminal(&sh(&format!("stty raw -echo; {script}")))
}

#[test]
fn what_is_sent_reaches_the_program_exactly() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let copy = daemon.path("typed");
    let script = format!("printf r; head -c 265 > '{}'", copy.display());
    let id = started(&mut client, &script);
    client.wait_for_text(&id, "r");
    let all: Vec<u8> = (0..=255).collect();
    let result = client.ok(
        "session.send",
        &json!({ "id": id, "data": STANDARD.encode(&all) }),
    );
    assert_eq!(result, json!({ "sent": 256, "queued": 0, "offset": 1 }));
    let result = client.send_text(&id, "é✓\u{1f600}");
    assert_eq!(result["sent"], 9);
    client.ok("session.wait", &json!({ "id": id }));
    let typed = std::fs::read(copy).unwrap();
    assert_eq!(typed[..256], all);
    assert_eq!(typed[256..], *"é✓\u{1f600}".as_bytes());
}

#[test]
fn bad_sends_are_refused() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let id = started(&mut client, "cat");
    for (params, field) in [
        (json!({ "text": "a", "data": "YQ==" }), ""),
        (json!({}), ""),
        (json!({ "data": "%%%" }), "data"),
        (json!({ "text": 5 }), "text"),
        (json!({ "text": "x".repeat((1 << 20) + 1) }), "text"),
    ] {
        let params = termd_test_support::merged(&json!({ "id": id }), &params);
        let error = client.err("session.send", &params);
        assert_eq!(error.code, -32602, "{error:?}");
        assert!(
            field.is_empty() || error.data["field"] == field,
            "{error:?}"
        );
    }
    client.ok("session.kill", &json!({ "id": id }));
    let error = client.err("session.send", &json!({ "id": id, "text": "x" }));
    error.assert_is(-32004, "terminal_exited");
}

/// Input for a program that does not read is queued, and the sender learns of it.
#[test]
fn input_for_a_program_that_does_not_read_is_queued_and_not_lost() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let (gate, copy) = (daemon.path("gate"), daemon.path("typed"));
    let script = format!(
        "mkfifo '{0}'; printf r; read go < '{0}'; head -c 300000 > '{1}'",
        gate.display(),
        copy.display()
    );
    let id = started(&mut client, &script);
    client.wait_for_text(&id, "r");
    let text: String = (0..30_000).map(|n| format!("{n:09};")).collect();
    let params = json!({ "id": id, "text": text, "timeout_ms": 100 });
    let result = client.ok("session.send", &params);
    let (sent, queued) = (
        result["sent"].as_u64().unwrap(),
        result["queued"].as_u64().unwrap(),
    );
    assert_eq!(sent + queued, 300_000);
    assert!(queued > 0, "the kernel does not hold 300 kB");
    // Other clients are served meanwhile.
    assert_eq!(
        daemon.client().ok("session.show", &json!({ "id": id }))["state"],
        "running"
    );
    std::fs::write(gate, "go\n").unwrap();
    client.ok("session.wait", &json!({ "id": id }));
    assert!(
        std::fs::read(copy).unwrap() == text.as_bytes(),
        "the input arrived changed"
    );
}

/// The bytes of one call stay together.
#[test]
fn inputs_of_two_senders_do_not_mix() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let copy = daemon.path("typed");
    let id = started(
        &mut client,
        &format!("printf r; head -c 40000 > '{}'", copy.display()),
    );
    client.wait_for_text(&id, "r");
    let mut senders = [daemon.client(), daemon.client()];
    let mut waiting = Vec::new();
    for _ in 0..20 {
        for (which, sender) in senders.iter_mut().enumerate() {
            let text = ["a", "b"][which].repeat(1000);
            waiting.push((
                which,
                sender.send("session.send", &json!({ "id": id, "text": text })),
            ));
        }
    }
    for (which, request) in waiting {
        assert_eq!(senders[which].answer(request)["result"]["sent"], 1000);
    }
    client.ok("session.wait", &json!({ "id": id }));
    let typed = std::fs::read(copy).unwrap();
    assert_eq!(typed.len(), 40_000);
    assert!(
        typed
            .chunks(1000)
            .all(|chunk| chunk.iter().all(|byte| *byte == chunk[0]))
    );
}

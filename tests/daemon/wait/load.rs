//! Many waits at once, and cancelled waits.

use std::time::{Duration, Instant};

use serde_json::json;
use termd_test_support::{TestDaemon, sh};

/// How long a create and an echo may take beside 800 waits. Two cores may be building beside the
/// test.
const BESIDE: Duration = Duration::from_secs(2);

#[test]
fn eight_hundred_waits_delay_nobody_and_end_together() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let script = "stty -echo; echo ready; read x; echo GO; read y";
    let id = &client.create_terminal(&sh(script));
    client.wait_for_text(id, "ready");
    let mut waiting = daemon.client();
    let params = json!({ "id": id, "until": { "pattern": "^GO$" }, "timeout_ms": 20_000 });
    let requests: Vec<u64> = (0..800)
        .map(|_| waiting.send("session.wait_for", &params))
        .collect();
    // On the connection with the waits, and on another one.
    for beside in [&mut waiting, &mut client] {
        let begun = Instant::now();
        let other = beside.create_terminal(&sh("read x; echo \"<$x>\""));
        let until = json!({ "pattern": "^<hi>$" });
        let input = json!({ "text": "hi", "enter": true });
        let params = json!({ "id": other, "input": input, "until": until });
        assert_eq!(
            beside.ok("session.interact", &params)["ended_by"],
            "matched"
        );
        let took = begun.elapsed();
        eprintln!("beside 800 waits: create and interact in {took:?}");
        assert!(took < BESIDE, "{took:?}");
    }
    let begun = Instant::now();
    client.send_text(id, "\r");
    for request in requests {
        let answer = waiting.answer(request);
        assert_eq!(answer["result"]["ended_by"], "matched", "{answer}");
    }
    eprintln!("800 waits ended in {:?}", begun.elapsed());
}

#[test]
fn a_cancelled_wait_ends_and_the_terminal_does_not() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let id = client.create_terminal(&sh("read x; echo done"));
    let params = json!({ "id": id, "until": { "pattern": "never", "done": true } });
    let request = client.send("session.wait_for", &params);
    client.notify("$/cancel_request", &json!({ "requestId": request }));
    let answer = client.answer(request);
    assert_eq!(answer["error"]["code"], -32800, "{answer}");
    let mut gone = daemon.client();
    gone.send("session.wait_for", &params);
    drop(gone);
    client.send_text(&id, "\r");
    let waited = client.ok("session.wait", &json!({ "id": id }));
    assert_eq!(waited["exited"], true);
}

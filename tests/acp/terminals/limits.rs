//! `--max-terminals`, `--output-limit`, and the number of calls in flight.

use serde_json::{Value, json};
use termd_test_support::{RpcError, TestDaemon, merged, sh};

use crate::harness::proxy::AcpProxy;
use crate::harness::proxy::{SESSION, listed, named};

/// The daemon's limit for one connection.
const MAX_CALLS: usize = 1_024;

/// A way to end a terminal.
type End = fn(&mut AcpProxy, &str);

#[test]
fn terminals_that_run_are_counted_for_their_session() {
    let daemon = TestDaemon::start();
    let mut proxy = AcpProxy::with_session(&daemon, &["--max-terminals", "2"]);
    proxy.session("sess_2", &daemon.user_home());
    let of_other = merged(&sh("sleep 1000"), &json!({ "sessionId": "sess_2" }));
    let params = merged(&sh("sleep 1000"), &json!({ "sessionId": SESSION }));
    let first = proxy.script("sleep 1000");
    // Each way to end a terminal makes space at once, whichever way creates the next.
    let ends: [End; 4] = [
        |proxy, id| drop(proxy.ok("terminal/kill", &named(id))),
        |proxy, id| drop(proxy.ok("terminal/release", &named(id))),
        |proxy, id| {
            proxy.wait_for_text(id, "ended");
            proxy.exit(id);
        },
        |proxy, id| {
            let ended = || !proxy.ok("terminal/output", &named(id))["exitStatus"].is_null();
            termd_test_support::wait_until("it has ended", ended);
        },
    ];
    for (number, end) in ends.into_iter().enumerate() {
        let second = match number {
            0 | 1 => proxy.script("sleep 1000"),
            _ => proxy.script("while ! [ -e go ]; do sleep 0.01; done; echo ended"),
        };
        let error = proxy.err("terminal/create", &params);
        error.assert_is(-32009, "overloaded");
        assert_eq!(error.data["limit"], "max_terminals");
        assert_eq!(error.data["max_terminals"], 2);
        assert!(error.message.contains("terminal/release"), "{error:?}");
        std::fs::write(daemon.user_home().join("go"), "").unwrap();
        end(&mut proxy, &second);
        std::fs::remove_file(daemon.user_home().join("go")).unwrap();
    }
    let other = proxy.ok("terminal/create", &of_other);
    assert!(other["terminalId"].is_string());
    // A failed create does not count.
    let nothing = json!({ "sessionId": SESSION, "command": "no-such-program-here" });
    for _ in 0..3 {
        assert_eq!(proxy.err("terminal/create", &nothing).code, -32003);
    }
    proxy.script("sleep 1000");
    assert_eq!(listed(&daemon, "running").len(), 3);
    proxy.ok("terminal/release", &named(&first));
}

#[test]
fn of_three_creates_at_once_the_third_is_one_too_many() {
    let daemon = TestDaemon::start();
    let mut proxy = AcpProxy::with_session(&daemon, &["--max-terminals", "2"]);
    let params = merged(&sh("sleep 1000"), &json!({ "sessionId": SESSION }));
    let requests = [(); 3].map(|()| proxy.agent.request("terminal/create", &params));
    let codes = requests.map(|id| proxy.agent.answer_to(id)["error"]["code"].clone());
    assert_eq!(codes, [Value::Null, Value::Null, json!(-32009)]);
}

#[test]
fn output_is_limited_to_the_smaller_of_two() {
    let daemon = TestDaemon::start();
    let mut proxy = AcpProxy::with_session(&daemon, &["--output-limit", "5"]);
    for (limit, want) in [
        (json!(null), "6789\n"),
        (json!(1_000), "6789\n"),
        (json!(3), "89\n"),
        (json!(0), ""),
    ] {
        let params = merged(&sh("echo 123456789"), &json!({ "outputByteLimit": limit }));
        let id = proxy.create(&params);
        proxy.exit(&id);
        let output = proxy.ok("terminal/output", &named(&id));
        assert_eq!(output["output"], want, "{limit}");
        assert_eq!(output["truncated"], true);
    }
    let bad = merged(
        &sh("true"),
        &json!({ "sessionId": SESSION, "outputByteLimit": "5" }),
    );
    assert_eq!(proxy.err("terminal/create", &bad).code, -32602);
}

#[test]
fn calls_under_way_have_a_bound_and_it_is_told() {
    let daemon = TestDaemon::start();
    let mut proxy = AcpProxy::with_session(&daemon, &[]);
    let id = proxy.script("sleep 1000");
    let waits: Vec<u64> = (0..MAX_CALLS)
        .map(|_| proxy.agent.request("terminal/wait_for_exit", &named(&id)))
        .collect();
    let error = proxy.err("terminal/wait_for_exit", &named(&id));
    error.assert_is(-32009, "overloaded");
    assert_eq!(error.data["limit"], "calls_in_flight");
    assert!(error.message.contains("$/cancel_request"), "{error:?}");
    proxy
        .agent
        .notify("$/cancel_request", &json!({ "requestId": waits[0] }));
    let cancelled = RpcError::of(&proxy.agent.answer_to(waits[0]));
    assert_eq!(cancelled.code, -32800);
    proxy.ok("terminal/kill", &named(&id));
    for wait in &waits[1..] {
        let answer = proxy.agent.answer_to(*wait);
        assert_eq!(answer["result"]["signal"], "SIGTERM", "{answer}");
    }
}

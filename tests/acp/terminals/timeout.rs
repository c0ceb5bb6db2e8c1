//! Commands that run too long: `--default-timeout`, and the timeout of ACP's page "Terminals".

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use termd_test_support::{TestDaemon, merged, sh};

use crate::harness::proxy::AcpProxy;
use crate::harness::proxy::{SESSION, listed, named};

/// `ended_by` and `timeout_ms` of an answer's `_meta.termd`.
fn ended_by(answer: &Value) -> (Option<&str>, Option<u64>) {
    let termd = &answer["_meta"]["termd"];
    (termd["ended_by"].as_str(), termd["timeout_ms"].as_u64())
}

#[test]
fn what_runs_too_long_is_ended_and_says_so() {
    let daemon = TestDaemon::start();
    let mut proxy = AcpProxy::with_session(&daemon, &["--default-timeout", "700ms"]);
    let begun = Instant::now();
    let id = proxy.script("echo begun; sleep 1000");
    let waits = [(); 3].map(|()| proxy.agent.request("terminal/wait_for_exit", &named(&id)));
    for wait in waits {
        let exit = &proxy.agent.answer_to(wait)["result"];
        assert_eq!(exit["signal"], "SIGTERM", "{exit}");
        assert_eq!(ended_by(exit), (Some("timeout"), Some(700)), "{exit}");
    }
    let took = begun.elapsed();
    assert!(took >= Duration::from_millis(700), "ended after {took:?}");
    let output = proxy.ok("terminal/output", &named(&id));
    assert_eq!(output["output"], "begun\n");
    assert_eq!(ended_by(&output), (Some("timeout"), Some(700)), "{output}");
    assert_eq!(
        output["_meta"]["termd"]["end"], 7,
        "what the daemon says stays: {output}"
    );
    // A command that ends by itself, or is killed by the agent, has no such cause.
    for (script, kill) in [("exit 3", false), ("sleep 1000", true)] {
        let id = proxy.script(script);
        if kill {
            proxy.ok("terminal/kill", &named(&id));
        }
        let exit = proxy.exit(&id);
        assert_eq!(exit.get("_meta"), None, "{exit}");
        let output = proxy.ok("terminal/output", &named(&id));
        assert_eq!(ended_by(&output), (None, None), "{output}");
    }
}

#[test]
fn an_agent_asks_for_less_and_never_for_more() {
    let daemon = TestDaemon::start();
    for (arguments, wanted, want) in [
        (&["--default-timeout", "600ms"][..], 300_000, 600),
        (&["--default-timeout", "1h"], 400, 400),
        (&[], 400, 400),
    ] {
        let mut proxy = AcpProxy::with_session(&daemon, arguments);
        let meta = json!({ "_meta": { "termd": { "timeout_ms": wanted } } });
        let params = merged(
            &merged(&sh("sleep 1000"), &meta),
            &json!({ "sessionId": SESSION }),
        );
        let created = proxy.ok("terminal/create", &params);
        assert_eq!(created["_meta"], meta["_meta"]);
        let exit = proxy.exit(created["terminalId"].as_str().unwrap());
        assert_eq!(ended_by(&exit), (Some("timeout"), Some(want)), "{exit}");
    }
}

#[test]
fn a_command_that_traps_its_end_has_its_exit_code() {
    let daemon = TestDaemon::start();
    let mut proxy = AcpProxy::with_session(&daemon, &["--default-timeout", "700ms"]);
    let id = proxy.script("trap 'exit 9' TERM; while :; do sleep 0.01; done");
    let exit = proxy.exit(&id);
    assert_eq!(exit["exitCode"], 9, "{exit}");
    assert_eq!(ended_by(&exit), (Some("timeout"), Some(700)));
}

/// The pattern of ACP's page "Terminals": create, a wait that races a timer, kill, output, release.
#[test]
fn the_timeout_pattern_call_by_call() {
    let daemon = TestDaemon::start();
    let mut proxy = AcpProxy::with_session(&daemon, &[]);
    for (script, in_time) in [
        ("echo quick; exit 2", true),
        ("echo slow; sleep 1000", false),
    ] {
        let id = proxy.script(script);
        let wait = proxy.agent.request("terminal/wait_for_exit", &named(&id));
        proxy.wait_for_text(&id, if in_time { "quick" } else { "slow" });
        let timer = Duration::from_millis(if in_time { 20_000 } else { 50 });
        let exited = proxy.agent.wait_within(timer, |line| line["id"] == wait);
        assert_eq!(exited.is_some(), in_time);
        let exit = exited.unwrap_or_else(|| {
            proxy.ok("terminal/kill", &named(&id));
            proxy.agent.answer_to(wait)
        });
        let output = proxy.ok("terminal/output", &named(&id));
        assert_eq!(output["exitStatus"]["exitCode"], exit["result"]["exitCode"]);
        assert_eq!(output["exitStatus"]["signal"], exit["result"]["signal"]);
        assert_eq!(
            output["exitStatus"]["exitCode"],
            if in_time { json!(2) } else { json!(null) }
        );
        assert_eq!(output["output"], if in_time { "quick\n" } else { "slow\n" });
        proxy.ok("terminal/release", &named(&id));
        assert_eq!(proxy.err("terminal/output", &named(&id)).code, -32002);
    }
    assert!(listed(&daemon, "open").is_empty());
}

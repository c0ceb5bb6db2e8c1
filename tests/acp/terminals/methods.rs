//! `terminal/*` from the agent: every method, and every mistake of an agent.

use serde_json::{Value, json};
use termd_test_support::{Process, TestDaemon, merged, sh, wait_until};

use crate::harness::proxy::AcpProxy;
use crate::harness::proxy::{SESSION, listed, named, records};

#[test]
fn every_method_and_meta_untouched() {
    let daemon = TestDaemon::start();
    let mut proxy = AcpProxy::with_session(&daemon, &[]);
    let meta = json!({ "x": [1, null, "é"], "termd": { "rows": 5, "confirmed": true } });
    let request = merged(
        &sh("echo out; exit 3"),
        &json!({ "sessionId": SESSION, "_meta": meta }),
    );
    let created = proxy.ok("terminal/create", &request);
    assert_eq!(created["_meta"], meta);
    let id = created["terminalId"].as_str().unwrap();
    let with_meta = merged(&named(id), &json!({ "_meta": { "y": 1 } }));
    assert_eq!(
        proxy.ok("terminal/wait_for_exit", &with_meta),
        json!({ "exitCode": 3, "signal": null, "_meta": { "y": 1 } })
    );
    assert_eq!(
        proxy.ok("terminal/output", &with_meta),
        json!({ "output": "out\n", "truncated": false,
                "exitStatus": { "exitCode": 3, "signal": null },
                "_meta": { "y": 1, "termd": { "start": 0, "end": 5 } } })
    );
    assert_eq!(
        proxy.ok("terminal/kill", &with_meta),
        json!({ "_meta": { "y": 1 } })
    );
    assert_eq!(
        proxy.ok("terminal/release", &with_meta),
        json!({ "_meta": { "y": 1 } })
    );
    let plain = proxy.script("true");
    assert_eq!(proxy.ok("terminal/kill", &named(&plain)), json!({}));
    assert_eq!(proxy.ok("terminal/release", &named(&plain)), json!({}));
    let no_object = merged(&sh("true"), &json!({ "sessionId": SESSION, "_meta": "x" }));
    let created = proxy.ok("terminal/create", &no_object);
    assert_eq!(created.get("_meta"), None, "{created}");
}

#[test]
// The cases are one table.
#[allow(clippy::too_many_lines)]
fn misuse_is_told_in_the_daemons_words() {
    let daemon = TestDaemon::start();
    let mut proxy = AcpProxy::with_session(&daemon, &[]);
    let id = proxy.script("sleep 1000");
    let released = proxy.script("true");
    proxy.ok("terminal/release", &named(&released));
    let created = |more: Value| merged(&json!({ "sessionId": SESSION, "command": "true" }), &more);
    let file = daemon.path("file");
    std::fs::write(&file, "").unwrap();
    let not_found = (-32002, "terminal_not_found");
    let bad = (-32602, "invalid_params");
    let table = [
        ("terminal/resize", json!({}), (-32601, "method_not_found")),
        ("terminal/", named(&id), (-32601, "method_not_found")),
        ("terminal/output", named("term_aaaaaaaaaaaa"), not_found),
        ("terminal/output", named("../é"), not_found),
        ("terminal/wait_for_exit", named(&released), not_found),
        ("terminal/kill", named(&released), not_found),
        ("terminal/release", named(&released), not_found),
        ("terminal/output", named(&released), not_found),
        (
            "terminal/kill",
            json!({ "sessionId": "sess_2", "terminalId": id }),
            not_found,
        ),
        (
            "terminal/release",
            json!({ "sessionId": "", "terminalId": id }),
            not_found,
        ),
        ("terminal/output", json!({ "sessionId": SESSION }), bad),
        ("terminal/output", json!({ "terminalId": id }), bad),
        (
            "terminal/output",
            json!({ "sessionId": SESSION, "terminalId": 7 }),
            bad,
        ),
        (
            "terminal/kill",
            json!({ "sessionId": null, "terminalId": id }),
            bad,
        ),
        ("terminal/kill", json!([SESSION, id]), bad),
        ("terminal/kill", Value::Null, bad),
        (
            "terminal/kill",
            json!({ "session_id": SESSION, "terminal_id": id }),
            bad,
        ),
        ("terminal/create", json!({ "command": "true" }), bad),
        ("terminal/create", json!([SESSION, "true"]), bad),
        (
            "terminal/create",
            json!({ "sessionId": 7, "command": "true" }),
            bad,
        ),
        (
            "terminal/create",
            json!({ "sessionId": "", "command": "true" }),
            bad,
        ),
        ("terminal/create", json!({ "sessionId": SESSION }), bad),
        (
            "terminal/create",
            created(json!({ "command": ["true"] })),
            bad,
        ),
        ("terminal/create", created(json!({ "args": "x" })), bad),
        (
            "terminal/create",
            created(json!({ "cwd": "relative" })),
            bad,
        ),
        (
            "terminal/create",
            created(json!({ "cwd": file })),
            (-32003, "spawn_failed"),
        ),
        (
            "terminal/create",
            created(json!({ "cwd": "/no/such" })),
            (-32003, "spawn_failed"),
        ),
        (
            "terminal/create",
            created(json!({ "command": "no-such-program-here" })),
            (-32003, "spawn_failed"),
        ),
        (
            "terminal/create",
            created(json!({ "outputByteLimit": -1 })),
            bad,
        ),
        (
            "terminal/create",
            created(json!({ "outputByteLimit": "1" })),
            bad,
        ),
        (
            "terminal/create",
            created(json!({ "env": { "A": "1" } })),
            bad,
        ),
        (
            "terminal/create",
            created(json!({ "env": [{ "name": "", "value": "" }] })),
            bad,
        ),
        (
            "terminal/create",
            created(json!({ "env": [{ "name": "A=B", "value": "" }] })),
            bad,
        ),
        (
            "terminal/create",
            created(json!({ "env": [{ "name": "A\u{0}", "value": "" }] })),
            bad,
        ),
        (
            "terminal/create",
            created(json!({ "_meta": { "termd": { "rows": "x" } } })),
            bad,
        ),
        (
            "terminal/create",
            created(json!({ "_meta": { "termd": { "timeout_ms": 0 } } })),
            bad,
        ),
        (
            "terminal/create",
            created(json!({ "_meta": { "termd": { "timeout_ms": "x" } } })),
            bad,
        ),
        (
            "terminal/create",
            created(json!({ "env": [{ "name": "A", "value": "x".repeat(5 << 20) }] })),
            (-32600, "line_too_long"),
        ),
    ];
    for (method, params, want) in table {
        let shown: String = params.to_string().chars().take(200).collect();
        let error = proxy.err(method, &params);
        assert_eq!(
            (error.code, error.kind()),
            want,
            "{method} {shown}: {error:?}"
        );
    }
    assert_eq!(
        listed(&daemon, "open").len(),
        1,
        "refused creates change nothing"
    );
    let directory = proxy.err("terminal/create", &created(json!({ "cwd": "/no/such" })));
    assert_eq!(directory.data["field"], "cwd", "{directory:?}");
}

#[test]
fn limits_of_output_are_the_agents() {
    let daemon = TestDaemon::start();
    let mut proxy = AcpProxy::with_session(&daemon, &[]);
    for (limit, want) in [
        (json!(0), ("", true)),
        (json!(4), ("def\n", true)),
        (json!(null), ("abcdef\n", false)),
        (json!(u64::MAX), ("abcdef\n", false)),
    ] {
        let id = proxy.create(&merged(
            &sh("echo abcdef"),
            &json!({ "outputByteLimit": limit }),
        ));
        proxy.exit(&id);
        let output = proxy.ok("terminal/output", &named(&id));
        assert_eq!(output["output"], want.0, "{limit}");
        assert_eq!(output["truncated"], want.1, "{limit}");
    }
}

#[test]
fn a_terminal_is_this_proxys_alone() {
    let daemon = TestDaemon::start();
    let mut one = AcpProxy::with_session(&daemon, &[]);
    let mut other = AcpProxy::with_session(&daemon, &[]);
    let direct = daemon.client().ok(
        "terminal/create",
        &merged(&sh("sleep 1000"), &json!({ "sessionId": SESSION })),
    );
    let direct = direct["terminalId"].as_str().unwrap();
    let id = one.script("sleep 1000");
    for method in ["output", "wait_for_exit", "kill", "release"] {
        for id in [&id, direct] {
            let error = other.err(&format!("terminal/{method}"), &named(id));
            error.assert_is(-32002, "terminal_not_found");
        }
    }
    assert_eq!(listed(&daemon, "running").len(), 2);
}

#[test]
fn output_is_whole_right_after_the_wait() {
    let daemon = TestDaemon::start();
    let mut proxy = AcpProxy::with_session(&daemon, &[]);
    let want: String = (1..=5_000).map(|number| format!("{number}\n")).collect();
    for _ in 0..10 {
        let id = proxy.script("seq 1 5000");
        let waiting = proxy.agent.request("terminal/wait_for_exit", &named(&id));
        proxy.agent.answer_to(waiting);
        assert!(proxy.text(&id) == want, "output is not whole");
        proxy.ok("terminal/release", &named(&id));
    }
}

#[test]
fn a_hundred_waits_at_once_and_each_outlives_the_release() {
    let daemon = TestDaemon::start();
    let mut proxy = AcpProxy::with_session(&daemon, &[]);
    let id = proxy.script("trap '' HUP; echo ready; sleep 1000");
    proxy.wait_for_text(&id, "ready");
    let waits: Vec<u64> = (0..100)
        .map(|_| proxy.agent.request("terminal/wait_for_exit", &named(&id)))
        .collect();
    // The waits block nothing, and the release does not overtake them.
    proxy.ok("terminal/release", &named(&id));
    for wait in waits {
        let answer = proxy.agent.answer_to(wait);
        assert!(answer["result"]["signal"].is_string(), "{answer}");
    }
}

#[test]
fn kill_ends_the_whole_tree_and_the_id_stays() {
    let daemon = TestDaemon::start();
    let mut proxy = AcpProxy::with_session(&daemon, &[]);
    let id = proxy.script("setsid sleep 1000 & echo \"pid $!;\"; sleep 1001");
    proxy.wait_for_text(&id, ";");
    let text = proxy.text(&id);
    let pid = text.trim().trim_start_matches("pid ").trim_end_matches(';');
    let process = Process::expect(pid.parse().unwrap());
    proxy.ok("terminal/kill", &named(&id));
    process.wait_for_end();
    assert_eq!(proxy.exit(&id)["signal"], "SIGTERM");
    assert_eq!(proxy.text(&id), text);
    proxy.ok("terminal/kill", &named(&id));
    proxy.ok("terminal/release", &named(&id));
}

#[test]
fn a_wait_is_cancelled_by_its_id_whatever_its_type() {
    let daemon = TestDaemon::start();
    let mut proxy = AcpProxy::with_session(&daemon, &[]);
    let id = proxy.script("sleep 1000");
    for request in [json!("a"), json!(-7), json!(null)] {
        let wait = json!({ "jsonrpc": "2.0", "id": request, "method": "terminal/wait_for_exit",
                           "params": named(&id) });
        // Two requests with the same id are both answered.
        for count in [1, 2] {
            for _ in 0..count {
                proxy.agent.send(&wait);
            }
            proxy
                .agent
                .notify("$/cancel_request", &json!({ "requestId": request }));
            for _ in 0..count {
                let answer = proxy.agent.wait("an answer", |line| {
                    line["id"] == request && line.get("error").is_some()
                });
                assert_eq!(answer["error"]["code"], -32800, "{answer}");
                assert_eq!(answer["error"]["data"]["kind"], "cancelled");
            }
        }
    }
    assert_eq!(listed(&daemon, "running").len(), 1);
    // A request that the proxy has not answered itself belongs to the client.
    let theirs = json!({ "requestId": "fs-1" });
    proxy.agent.notify("$/cancel_request", &theirs);
    let passed = proxy
        .client
        .wait("the cancel", |line| line["method"] == "$/cancel_request");
    assert_eq!(passed["params"], theirs);
}

#[test]
fn a_create_that_is_cancelled_leaves_no_terminal() {
    let daemon = TestDaemon::start();
    let mut proxy = AcpProxy::with_session(&daemon, &[]);
    let params = merged(&sh("sleep 1000"), &json!({ "sessionId": SESSION }));
    let mut cancelled = 0;
    for round_trips in 0..30 {
        let id = proxy.agent.request("terminal/create", &params);
        // The cancellation comes before, during and after the create.
        for _ in 0..round_trips {
            proxy.err("terminal/output", &named("term_aaaaaaaaaaaa"));
        }
        proxy
            .agent
            .notify("$/cancel_request", &json!({ "requestId": id }));
        let answer = proxy.agent.answer_to(id);
        if let Some(terminal) = answer["result"]["terminalId"].as_str() {
            proxy.ok("terminal/release", &named(terminal));
        } else {
            assert_eq!(answer["error"]["code"], -32800, "{answer}");
            cancelled += 1;
        }
    }
    assert!(cancelled > 0, "none was cancelled in time");
    wait_until("no terminal is left", || listed(&daemon, "open").is_empty());
}

#[test]
fn the_audit_names_both_sides() {
    let daemon = TestDaemon::start();
    let mut proxy = AcpProxy::with_session(&daemon, &[]);
    let id = proxy.script("sleep 1000");
    proxy.ok("terminal/kill", &named(&id));
    proxy.ok("terminal/release", &named(&id));
    for action in ["terminal.create", "terminal.kill", "terminal.release"] {
        let record = &records(&daemon, action)[0];
        assert_eq!(
            record["actor"]["client"], "an-agent for a-client",
            "{record}"
        );
        assert_eq!(record["actor"]["session"], SESSION);
        assert_eq!(record["actor"]["front"], "acp");
    }
    let mut termctl = daemon.command(env!("CARGO_BIN_EXE_termctl"));
    let shown = termctl.arg("audit").output().unwrap();
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(shown.contains("an-agent for a-client"), "{shown}");
}

#[test]
fn a_terminal_has_the_agents_name_and_the_sessions_directory_as_tags() {
    let daemon = TestDaemon::start();
    let mut proxy = AcpProxy::with_session(&daemon, &[]);
    let id = proxy.create(&merged(&sh("true"), &json!({ "cwd": "/tmp" })));
    let tags = |id: &str| daemon.client().ok("session.show", &json!({ "id": id }))["tags"].clone();
    let home = daemon.user_home();
    let home = home.file_name().unwrap().to_str().unwrap();
    assert_eq!(tags(&id), json!(["an-agent", home]));
    let meta = json!({ "termd": { "tags": ["build"] } });
    let id = proxy.create(&merged(&sh("true"), &json!({ "_meta": meta })));
    assert_eq!(tags(&id), json!(["an-agent", "build"]));
}

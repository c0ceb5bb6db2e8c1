//! `session.resize`, `kill`, `wait`, `close` and `hold`.

use std::time::{Duration, Instant};

use serde_json::json;
use termd_test_support::{
    Deadline, Process, RawClient, TestDaemon, assert_members, merged, sh, wait_until,
    wait_until_within,
};

/// Several people at one terminal, who come, type, watch and leave.
#[test]
fn the_size_follows_who_typed_last_and_is_still_there() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let script = "trap 'stty size' WINCH; echo ready; while :; do sleep 0.02; done";
    let id = client.create_terminal(&sh(script));
    client.wait_for_text(&id, "ready");
    let attach = |mode: &str, cols: u16, rows: u16| {
        let mut person = daemon.client();
        person.ok(
            "session.attach",
            &json!({ "id": id, "mode": mode, "cols": cols, "rows": rows }),
        );
        person
    };
    let mut one = attach("type", 120, 40);
    let mut other = attach("type", 100, 30);
    let mut watcher = attach("watch", 20, 5);
    let size = |client: &mut RawClient| {
        let info = client.ok("session.show", &json!({ "id": id }));
        (
            info["cols"].as_u64().unwrap(),
            info["rows"].as_u64().unwrap(),
        )
    };
    // To attach alone changes nothing: a server that comes anew hears of all of them.
    assert_eq!(size(&mut client), (80, 24));
    one.send_text(&id, "x");
    assert_eq!(size(&mut client), (120, 40));
    other.send_text(&id, "x");
    assert_eq!(size(&mut client), (100, 30));
    watcher.send_text(&id, "x");
    client.send_text(&id, "x");
    assert_eq!(size(&mut client), (100, 30));
    other.ok("session.detach", &json!({ "id": id }));
    assert_eq!(size(&mut client), (120, 40));
    other.send_text(&id, "x");
    assert_eq!(size(&mut client), (120, 40), "not attached any more");
    // The tty of one has a new size, and then somebody comes, types and crashes.
    one.ok(
        "session.attach",
        &json!({ "id": id, "cols": 110, "rows": 35 }),
    );
    let mut third = attach("type", 90, 20);
    third.send_text(&id, "x");
    assert_eq!(size(&mut client), (90, 20));
    drop(third);
    client.wait_for_text(&id, "35 110");
    drop(one);
    drop(watcher);
    assert_eq!(size(&mut client), (110, 35));
    let error = client.err("session.attach", &json!({ "id": id, "cols": 1, "rows": 5 }));
    error.assert_invalid_in("a column", "cols");
}

#[test]
fn a_resize_is_told_to_the_program() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let script = "trap 'stty size' WINCH; echo ready; while :; do sleep 0.02; done";
    let id = client.create_terminal(&merged(&sh(script), &json!({ "cols": 90, "rows": 20 })));
    client.wait_for_text(&id, "ready");
    client.ok(
        "session.resize",
        &json!({ "id": id, "cols": 132, "rows": 43 }),
    );
    client.wait_for_text(&id, "43 132");
    let info = client.ok("session.show", &json!({ "id": id }));
    assert_members(&info, &json!({ "cols": 132, "rows": 43 }));
    for (cols, rows, field) in [
        (1, 24, "cols"),
        (0, 24, "cols"),
        (80, 0, "rows"),
        (5000, 24, "cols"),
        (80, 5000, "rows"),
        (65536, 24, "cols"),
        (-1, 24, "cols"),
    ] {
        let error = client.err(
            "session.resize",
            &json!({ "id": id, "cols": cols, "rows": rows }),
        );
        error.assert_invalid_in(format_args!("{cols}x{rows}"), field);
        let params = json!({ "command": "true", "cols": cols, "rows": rows });
        let error = client.err("session.create", &params);
        error.assert_invalid_in(format_args!("{cols}x{rows}"), field);
    }
    client.ok("session.kill", &json!({ "id": id }));
    client.ok(
        "session.resize",
        &json!({ "id": id, "cols": 80, "rows": 24 }),
    );
}

#[test]
fn kill_sends_one_signal_or_ends_it_all() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let script =
        "trap 'echo usr' USR1; trap 'exit 9' INT; echo ready; while :; do sleep 0.02; done";
    let id = client.create_terminal(&sh(script));
    client.wait_for_text(&id, "ready");
    client.ok("session.kill", &json!({ "id": id, "signal": "SIGUSR1" }));
    client.wait_for_text(&id, "usr");
    for signal in ["SIGFOO", "", "9 9", "-1"] {
        let error = client.err("session.kill", &json!({ "id": id, "signal": signal }));
        error.assert_invalid_in(format_args!("{signal:?}"), "signal");
    }
    client.ok("session.kill", &json!({ "id": id, "signal": "SIGINT" }));
    let result = client.ok("session.wait", &json!({ "id": id }));
    assert_eq!(
        result["exit_status"],
        json!({ "exit_code": 9, "signal": null })
    );

    let id = client.create_terminal(&json!({ "command": "sleep", "args": ["1000"] }));
    let result = client.ok("session.kill", &json!({ "id": id }));
    let ended = json!({ "exit_code": null, "signal": "SIGTERM" });
    assert_eq!(
        (&result["exited"], &result["exit_status"]),
        (&json!(true), &ended)
    );
}

#[test]
fn wait_has_a_timeout() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let id = client.create_terminal(&sh("printf 123; read go"));
    client.wait_for_text(&id, "123");
    let begin = Instant::now();
    let result = client.ok("session.wait", &json!({ "id": id, "timeout_ms": 150 }));
    assert!(begin.elapsed() >= Duration::from_millis(150));
    assert_eq!(
        result,
        json!({ "exited": false, "exit_status": null, "end": 3 })
    );
    let result = client.ok("session.wait", &json!({ "id": id, "timeout_ms": 0 }));
    assert_eq!(result["exited"], false);
}

#[test]
fn close_ends_the_terminal_and_may_be_said_again() {
    let daemon = TestDaemon::start();
    let mut agent = daemon.agent();
    let script = "setsid sleep 1000 & echo \"pid $!;\"; echo \"pid $$;\"; sleep 1001";
    let id = agent.create_terminal(&merged(&sh(script), &json!({ "label": "gone" })));
    agent.wait_for_text(&id, "pid");
    // The native API has no `terminal/output`, so the pids come from `session.read`.
    let mut pids = Vec::new();
    wait_until("both pids are printed", || {
        let page = agent.ok("session.read", &json!({ "id": id }));
        let text = page["text"].as_str().unwrap().to_owned();
        pids = (text.split("pid ").skip(1))
            .filter_map(|rest| rest.split_once(';')?.0.parse().ok())
            .collect();
        pids.len() == 2
    });
    let processes: Vec<_> = pids.into_iter().map(Process::expect).collect();
    let first = agent.ok("session.close", &json!({ "id": id }));
    assert_eq!(first["exited"], true);
    assert_eq!(
        first["exit_status"],
        json!({ "exit_code": null, "signal": "SIGHUP" })
    );
    for process in processes {
        assert!(
            process.ends_by(Deadline::after(Duration::from_secs(5))),
            "{}",
            process.pid
        );
    }
    assert_eq!(agent.ok("session.close", &json!({ "id": id })), first);
    assert_eq!(
        agent.ok("session.show", &json!({ "id": id }))["state"],
        "closed"
    );
    let error = agent.err("session.send", &json!({ "id": id, "text": "x" }));
    error.assert_is(-32004, "terminal_exited");
}

#[test]
fn a_terminal_lives_on_when_its_creators_connection_ends_unless_tied_to_it() {
    let daemon = TestDaemon::start();
    let mut watcher = daemon.client();
    let mut creator = daemon.client();
    let sleep = json!({ "command": "sleep", "args": ["1000"] });
    let free = creator.create_terminal(&sleep);
    let tied = creator.create_terminal(&merged(&sleep, &json!({ "close_on_disconnect": true })));
    let held = watcher.create_terminal(&sleep);
    creator.ok("session.hold", &json!({ "id": held }));
    drop(creator);
    let state = |client: &mut RawClient, id: &str| {
        let info = client.ok("session.show", &json!({ "id": id }));
        info["state"].as_str().unwrap().to_owned()
    };
    wait_until("the tied ones are closed", || {
        state(&mut watcher, &tied) == "closed" && state(&mut watcher, &held) == "closed"
    });
    assert_eq!(state(&mut watcher, &free), "running");
}

/// Longer than the time in which the client of an earlier server may come back.
const CLIENT_IS_GONE: Duration = Duration::from_mins(1);

#[test]
fn a_terminal_that_had_ended_is_closed_by_the_next_server_where_its_client_is_gone() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let tied = json!({ "command": "true", "close_on_disconnect": true });
    let id = client.create_terminal(&tied);
    client.ok("session.wait", &json!({ "id": id }));
    client.wait_until_stored();
    daemon.replace_server();
    let mut watcher = daemon.client();
    wait_until_within(CLIENT_IS_GONE, "it is closed", || {
        watcher.ok("session.show", &json!({ "id": id }))["state"] == "closed"
    });
}

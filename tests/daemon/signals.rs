//! SIGTERM, SIGINT and SIGHUP to the daemon, and SIGKILL to the keeper or the server.

use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};
use termd_test_support::{
    Agent, Process, RawClient, TestDaemon, assert_members, merged, processes_with_environment, sh,
    wait_until,
};

/// A terminal with a shell and two children: its id and these processes.
fn busy_terminal(daemon: &TestDaemon) -> (String, Vec<Process>) {
    let mut agent = daemon.agent();
    let script = "setsid sleep 1000 & echo \"pid $!;\"; sleep 1001 & echo \"pid $!;\"; \
                  echo \"pid $$;\"; wait";
    let id = agent.script(script);
    let processes = agent.printed_processes(&id, 3);
    (id, processes)
}

#[test]
fn sigterm_and_sigint_end_the_terminals_and_exit_0() {
    for signal in [Signal::TERM, Signal::INT] {
        let mut daemon = TestDaemon::start();
        let (id, processes) = busy_terminal(&daemon);
        let server = daemon.server();
        daemon.signal(signal);
        let status = daemon.wait_exit();
        assert_eq!(status.code(), Some(0), "{}", daemon.log());
        assert!(!server.is_alive());
        for process in processes {
            assert!(!process.is_alive(), "{} outlived the daemon", process.pid);
        }
        assert!(!daemon.socket().exists());

        let daemon = TestDaemon::start_in(daemon.stop());
        let info = daemon.client().ok("session.show", &json!({ "id": id }));
        assert_eq!(info["exit_status"]["signal"], "SIGHUP", "{info}");
        assert!(info["exited_at_ms"].is_i64(), "{info}");
    }
}

#[test]
fn what_ignores_every_request_to_end_is_killed_after_the_grace() {
    let mut daemon = TestDaemon::configured("kill_grace_ms = 500\n");
    let mut agent = daemon.agent();
    let id = agent.script("trap '' TERM HUP INT; echo \"pid $$;\"; while :; do sleep 1; done");
    let processes = agent.printed_processes(&id, 1);
    let begin = Instant::now();
    daemon.signal(Signal::TERM);
    assert_eq!(daemon.wait_exit().code(), Some(0));
    let took = begin.elapsed();
    assert!(
        took >= Duration::from_millis(450),
        "no grace was given: {took:?}"
    );
    assert!(took < Duration::from_secs(8), "{took:?}");
    assert!(!processes[0].is_alive());
    let daemon = TestDaemon::start_in(daemon.stop());
    let info = daemon.client().ok("session.show", &json!({ "id": id }));
    assert_eq!(info["exit_status"]["signal"], "SIGKILL", "{info}");
}

/// Begins the stop of a daemon with a terminal that ignores it, and waits until the terminal was
/// hung up: the server and the terminal's process, for which the keeper does not wait.
fn begin_stop(daemon: &TestDaemon, agent: &mut Agent) -> [Process; 2] {
    let script =
        "trap 'echo asked' HUP; trap '' TERM; echo \"pid $$;\"; while :; do sleep 0.05; done";
    let id = agent.script(script);
    let process = agent.printed_processes(&id, 1).remove(0);
    let server = daemon.server();
    daemon.signal(Signal::TERM);
    agent.wait_for_text(&id, "asked");
    [server, process]
}

#[test]
fn a_second_sigterm_ends_it_at_once() {
    let mut daemon = TestDaemon::configured("kill_grace_ms = 60000\n");
    let mut agent = daemon.agent();
    let left = begin_stop(&daemon, &mut agent);
    let begin = Instant::now();
    daemon.signal(Signal::TERM);
    daemon.wait_exit();
    assert!(
        begin.elapsed() < Duration::from_secs(5),
        "{:?}",
        begin.elapsed()
    );
    left.iter().for_each(Process::wait_for_end);
}

/// A daemon that is stopping refuses new terminals with an error.
#[test]
fn a_stopping_daemon_starts_nothing_more() {
    let mut daemon = TestDaemon::configured("kill_grace_ms = 3000\n");
    let mut agent = daemon.agent();
    let left = begin_stop(&daemon, &mut agent);
    let error = agent
        .try_create(&json!({ "command": "true" }))
        .expect_err("it is stopping");
    error.assert_is(-32010, "unavailable");
    daemon.signal(Signal::TERM);
    daemon.wait_exit();
    left.iter().for_each(Process::wait_for_end);
}

/// Waits until a new server answers: a connection to it.
fn next_server(daemon: &TestDaemon, old: &Process) -> RawClient {
    old.wait_for_end();
    let mut client = daemon.client();
    let info = client.ok("daemon.info", &Value::Null);
    assert_ne!(info["server_pid"], old.pid);
    assert_eq!(info["keeper_pid"], daemon.keeper_pid());
    client
}

#[test]
fn the_server_is_replaced_and_terminals_live_on() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let script = "echo before; while read line; do echo \"got $line\"; done; exit 6";
    let params = merged(
        &sh(script),
        &json!({ "label": "kept", "cols": 91, "_meta": { "k": 1 } }),
    );
    let mut before = client.ok("session.create", &params);
    let id = before["id"].as_str().unwrap().to_owned();
    client.wait_for_text(&id, "before");
    for (round, signal) in (0..).zip([Signal::HUP, Signal::KILL, Signal::HUP, Signal::KILL]) {
        let server = daemon.server();
        if signal == Signal::HUP {
            daemon.signal(Signal::HUP);
        } else {
            server.signal(Signal::KILL);
        }
        let mut client = next_server(&daemon, &server);
        let mut after = client.ok("session.show", &json!({ "id": "kept" }));
        after["end"] = before["end"].clone();
        // The terminal has printed since, and the next server counts from its own start.
        assert!(after["last_activity_ms"].as_i64() >= before["last_activity_ms"].as_i64());
        after["last_activity_ms"] = before["last_activity_ms"].clone();
        // It is looked at a moment after a start, and anew.
        for info in [&mut before, &mut after] {
            info.as_object_mut().unwrap().remove("attention");
        }
        assert_eq!(after, before, "round {round}");
        client.send_text(&id, &format!("{round}\n"));
        client.wait_for_text(&id, &format!("got {round}"));
    }
    let mut client = daemon.client();
    client.send_text(&id, "\u{4}");
    let result = client.ok("session.wait", &json!({ "id": id }));
    assert_eq!(result["exit_status"]["exit_code"], 6);
    let text = String::from_utf8(client.transcript(&id)).unwrap();
    for round in 0..4 {
        assert_eq!(
            text.matches(&format!("got {round}\r\n")).count(),
            1,
            "{text}"
        );
    }
}

/// The session, the limit and released ids of ACP survive as well.
#[test]
fn acp_goes_on_with_the_next_server() {
    let daemon = TestDaemon::start();
    let mut agent = daemon.agent();
    let released = agent.script("exit 0");
    agent.wait(&released);
    agent.release(&released);
    let params = merged(
        &sh("printf 0123456789; read go; exit 3"),
        &json!({ "outputByteLimit": 4 }),
    );
    let id = agent.create(&params);
    agent.wait_for_text(&id, "9");
    let exited = agent.script("printf done; exit 9");
    agent.wait(&exited);
    let server = daemon.server();
    server.signal(Signal::KILL);
    next_server(&daemon, &server);

    let mut agent = daemon.agent();
    let result = agent.output(&id);
    assert_members(&result, &json!({ "output": "6789", "truncated": true }));
    assert_eq!(agent.text(&exited), "done");
    assert_eq!(agent.wait(&exited), (Some(9), None));
    let of_released = json!({ "sessionId": termd_test_support::SESSION, "terminalId": released });
    assert_eq!(agent.err("terminal/output", &of_released).code, -32002);
    let of_stranger = json!({ "sessionId": "sess_other", "terminalId": id });
    assert_eq!(agent.err("terminal/output", &of_stranger).code, -32002);
    agent.send_text(&id, "\n");
    assert_eq!(agent.wait(&id), (Some(3), None));
    agent.release(&id);
}

/// A request that is made while there is no server waits in the backlog.
#[test]
fn a_request_made_while_the_server_is_away_is_answered_by_the_next() {
    let daemon = TestDaemon::start();
    for _ in 0..3 {
        daemon.kill_server();
        let (code, text) = daemon.agent().run(&json!({ "command": "echo served" }));
        assert_eq!((code, text.as_str()), (Some(0), "served\n"));
    }
}

/// The server and the terminals end with the keeper.
#[test]
fn a_killed_keeper_leaves_nothing_running() {
    let mut daemon = TestDaemon::start();
    let (id, processes) = busy_terminal(&daemon);
    let server = daemon.server();
    // The terminal's record is in the database once its output is.
    let mut client = daemon.client();
    client.wait_until_stored();
    daemon.signal(Signal::KILL);
    daemon.wait_exit();
    server.wait_for_end();
    // The hang-up ends the processes of the terminal's session. The kernel does not find those that
    // left it, so the test ends them.
    for process in &processes {
        process.signal(Signal::KILL);
    }
    let marker = daemon.marker();
    wait_until("nothing is left", || {
        processes_with_environment(&marker).is_empty()
    });
    let daemon = TestDaemon::start_in(daemon.stop());
    let info = daemon.client().ok("session.show", &json!({ "id": id }));
    assert_ne!(info["state"], "running", "{info}");
}

//! `terminal/wait_for_exit`: any number of waits, at any time, with one result.

use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};
use termd_test_support::{Agent, Deadline, TestDaemon, sh};

fn exit(code: i64) -> Value {
    json!({ "exitCode": code, "signal": null })
}

#[test]
fn two_hundred_waits_at_once() {
    let daemon = TestDaemon::start();
    let mut agent = daemon.agent();
    let id = agent.script("read go; exit 7");
    let waits: Vec<u64> = (0..200)
        .map(|_| agent.send("terminal/wait_for_exit", &Agent::named(&id)))
        .collect();
    // The waits do not block other calls on the same connection.
    assert_eq!(agent.output(&id)["exitStatus"], Value::Null);
    agent.send_text(&id, "\n");
    for wait in waits {
        assert_eq!(agent.answer(wait)["result"], exit(7));
    }
    assert_eq!(
        agent.ok("terminal/wait_for_exit", &Agent::named(&id)),
        exit(7)
    );
}

#[test]
fn waits_from_several_connections() {
    let daemon = TestDaemon::start();
    let mut agent = daemon.agent();
    let id = agent.script("read go; exit 3");
    let mut others: Vec<(Agent, u64)> = (0..20)
        .map(|_| {
            let mut other = daemon.agent();
            let wait = other.send("terminal/wait_for_exit", &Agent::named(&id));
            (other, wait)
        })
        .collect();
    agent.send_text(&id, "\n");
    for (other, wait) in &mut others {
        assert_eq!(other.answer(*wait)["result"], exit(3));
    }
}

#[test]
fn every_exit_code_is_right() {
    let daemon = TestDaemon::start();
    let mut agent = daemon.agent();
    let ids: Vec<String> = (0..=255)
        .map(|code| agent.script(&format!("exit {code}")))
        .collect();
    for (code, id) in (0..).zip(&ids) {
        assert_eq!(agent.wait(id), (Some(code), None));
        assert_eq!(agent.output(id)["exitStatus"], exit(code));
    }
}

#[test]
fn signals_are_named() {
    let daemon = TestDaemon::start();
    let mut agent = daemon.agent();
    for name in [
        "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2",
        "PIPE", "ALRM", "TERM", "XCPU", "XFSZ", "VTALRM", "PROF", "SYS",
    ] {
        let mut params = sh(&format!("ulimit -c 0; kill -{name} $$"));
        // The gate asks about one of these signals.
        params["_meta"] = json!({ "termd": { "confirmed": true } });
        let id = agent.create(&params);
        let expected = json!({ "exitCode": null, "signal": format!("SIG{name}") });
        assert_eq!(
            agent.ok("terminal/wait_for_exit", &Agent::named(&id)),
            expected
        );
        assert_eq!(agent.output(&id)["exitStatus"], expected);
    }
}

/// A wait ends with a signal from any process, not only with `terminal/kill`.
#[test]
fn a_wait_ends_with_a_signal_from_another_process() {
    let daemon = TestDaemon::start();
    let mut agent = daemon.agent();
    let id = agent.script("echo \"pid $$;\"; exec sleep 1000");
    let process = agent.printed_processes(&id, 1).remove(0);
    let wait = agent.send("terminal/wait_for_exit", &Agent::named(&id));
    process.signal(Signal::USR1);
    assert_eq!(agent.answer(wait)["result"]["signal"], "SIGUSR1");
}

#[test]
fn a_wait_outlives_kill_and_release() {
    let daemon = TestDaemon::start();
    let mut agent = daemon.agent();
    for method in ["terminal/kill", "terminal/release"] {
        let id = agent.create(&json!({ "command": "sleep", "args": ["1000"] }));
        let wait = agent.send("terminal/wait_for_exit", &Agent::named(&id));
        agent.ok(method, &Agent::named(&id));
        let expected = json!({ "exitCode": null, "signal": "SIGTERM" });
        assert_eq!(agent.answer(wait)["result"], expected, "{method}");
    }
}

/// A background child that keeps the terminal open does not delay the exit.
#[test]
fn a_background_child_that_holds_the_terminal_does_not_hang_the_wait() {
    let daemon = TestDaemon::start();
    let mut agent = daemon.agent();
    for script in [
        "trap '' HUP; setsid sleep 1000 & echo \"pid $!;\"; echo done",
        "trap '' HUP; sleep 1000 & echo \"pid $!;\"; echo done",
        "trap '' HUP; nohup sleep 1000 & echo \"pid $!;\"; echo done",
    ] {
        let id = agent.script(script);
        let deadline = Deadline::after(Duration::from_secs(5));
        let wait = agent.send("terminal/wait_for_exit", &Agent::named(&id));
        assert_eq!(agent.answer(wait)["result"], exit(0), "{script}");
        assert!(!deadline.passed(), "took over 5 s: {script}");
        assert!(agent.text(&id).contains("done\n"), "{script}");
        let left = agent.printed_processes(&id, 1).remove(0);
        agent.release(&id);
        assert!(
            left.ends_by(Deadline::after(Duration::from_secs(5))),
            "lives on: {script}"
        );
    }
}

/// The same as one shell line from an agent.
#[test]
fn a_background_child_in_a_shell_line_does_not_hang_the_wait() {
    let daemon = TestDaemon::start();
    let begin = std::time::Instant::now();
    let (code, text) = daemon
        .agent()
        .run(&json!({ "command": "sh", "args": ["-c", "setsid sleep 100 & echo done"] }));
    assert_eq!((code, text.as_str()), (Some(0), "done\n"));
    assert!(
        begin.elapsed() < Duration::from_secs(5),
        "{:?}",
        begin.elapsed()
    );
}

#[test]
fn waits_are_answered_in_the_order_of_the_exits() {
    let daemon = TestDaemon::start();
    let mut agent = daemon.agent();
    let slow = agent.script("read go; exit 1");
    let fast = agent.script("exit 2");
    let slow_wait = agent.send("terminal/wait_for_exit", &Agent::named(&slow));
    let fast_wait = agent.send("terminal/wait_for_exit", &Agent::named(&fast));
    assert_eq!(agent.next_message()["id"], fast_wait);
    agent.notify("$/cancel_request", &json!({ "requestId": slow_wait }));
    let cancelled = agent.answer(slow_wait);
    assert_eq!(cancelled["error"]["code"], -32800, "{cancelled}");
    assert_eq!(
        cancelled["error"]["data"]["kind"], "cancelled",
        "{cancelled}"
    );
    // The wait alone was cancelled.
    assert_eq!(agent.output(&slow)["exitStatus"], Value::Null);
}

//! A person at a full disk: what is refused is said at once, and nothing keeps them from stopping.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use termd_test_support::{Home, Pty, SmallDisk, TestDaemon, wait_until};

use crate::termctl::{TermctlOutput, command, ok, ready_terminal, termctl};

/// What is to be done at once on a full disk takes no longer than this, on two busy cores.
const AT_ONCE: Duration = Duration::from_secs(3);
/// The default detach keys, ctrl-] and d.
const DETACH: [u8; 2] = *b"\x1dd";

/// Fills the disk, also what the reserve gives up.
fn fill(disk: &SmallDisk, daemon: &TestDaemon) {
    disk.fill();
    let mut client = daemon.client();
    wait_until("nothing is run or recorded", || {
        let created = client.request("session.create", &json!({ "command": "true" }));
        created.is_err_and(|error| error.kind() == "audit_unavailable")
    });
    disk.fill();
    for _ in 0..40 {
        let created = client.request("session.create", &json!({ "command": "true" }));
        created.expect_err("it ran");
    }
}

#[track_caller]
fn at_once(daemon: &TestDaemon, args: &[&str]) -> TermctlOutput {
    let begun = Instant::now();
    let output = termctl(daemon, args);
    let took = begun.elapsed();
    assert!(took < AT_ONCE, "{args:?} took {took:?}");
    output
}

#[test]
fn on_a_full_disk_a_person_sees_why_and_stops_everything() {
    const NAME: &str = "on_a_full_disk_a_person_sees_why_and_stops_everything";
    let home = Home::create();
    let Some(disk) = SmallDisk::mount(&home, "4m", NAME) else {
        return;
    };
    let daemon = TestDaemon::start_in(home);
    let killed = ready_terminal(&daemon, "echo ready; sleep 1000");
    let signalled = ready_terminal(&daemon, "echo ready; sleep 1000");
    let closed = ready_terminal(&daemon, "echo ready; sleep 1000");
    let sent = ready_terminal(&daemon, "echo ready; cat");
    fill(&disk, &daemon);
    let said = at_once(&daemon, &["run", "--", "true"]);
    assert_ne!(said.code, Some(0));
    assert!(said.err.contains("the disk is full"), "{said:?}");
    let status = at_once(&daemon, &["status"]).out;
    let first = status.lines().next().unwrap();
    assert!(
        first.starts_with("disk") && first.contains("full (") && first.contains(" free)"),
        "{status}"
    );
    let status = at_once(&daemon, &["status", "--json"]).json();
    assert_eq!(status["daemon"]["disk"]["kind"], "full", "{status}");
    for args in [
        &["kill", &killed][..],
        &["kill", "-s", "INT", &signalled],
        &["close", &closed],
        &["send", &sent, "-k", "C-d"],
        &["list", "-a"],
        &["history"],
        &["read", &killed],
        &["show", &closed],
        &["audit"],
    ] {
        let output = at_once(&daemon, args);
        assert_eq!(output.code, Some(0), "{args:?} {output:?}");
    }
    for id in [&killed, &signalled, &sent] {
        let waited = at_once(&daemon, &["wait", id]);
        assert_ne!(waited.code, Some(124), "{waited:?}");
    }
    let states = ok(&daemon, &["list", "-a", "--format", "{state}"]);
    assert!(!states.contains("running"), "{states}");
    let home = daemon.stop();
    drop(disk);
    drop(home);
}

#[test]
fn on_a_full_disk_attach_says_what_is_refused_and_goes_on() {
    const NAME: &str = "on_a_full_disk_attach_says_what_is_refused_and_goes_on";
    let home = Home::create();
    let Some(disk) = SmallDisk::mount(&home, "4m", NAME) else {
        return;
    };
    let daemon = TestDaemon::start_in(home);
    let script =
        "trap 'echo STOPPED' INT; echo ready; while :; do read line && echo \"GOT $line\"; done";
    let id = ready_terminal(&daemon, script);
    let mut pty = Pty::open(80, 24);
    let modes = pty.modes();
    let mut attach = pty.spawn(&command(&daemon, &["attach", &id]));
    pty.read_until("ready");
    wait_until("the tty is raw", || pty.modes() != modes);
    fill(&disk, &daemon);
    pty.write(b"typed anyway\r");
    pty.read_until("the disk is full");
    pty.write(b"\x03");
    pty.read_until("STOPPED");
    pty.write(b"\x03");
    pty.read_until("STOPPED");
    assert!(!ok(&daemon, &["read", &id]).contains("anyway"));
    disk.empty();
    wait_until("there is room", || {
        let info = daemon.client().ok("daemon.info", &Value::Null);
        info.get("disk").is_none()
    });
    pty.write(b"typed now\r");
    pty.read_until("GOT typed now");
    fill(&disk, &daemon);
    pty.write(DETACH);
    pty.read_until("[detached]");
    assert_eq!(pty.wait(&mut attach).code(), Some(0));
    assert_eq!(pty.modes(), modes);
    disk.empty();
    let home = daemon.stop();
    drop(disk);
    drop(home);
}

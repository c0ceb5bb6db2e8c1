//! `termctl daemon`: reload, stop, restart.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use serde_json::json;
use termd_test_support::{Home, Process, Pty, TestDaemon, termd_binary, wait_until};

use crate::termctl::{command, ok, termctl};

#[test]
fn reload_replaces_the_server_and_no_terminal() {
    let daemon = TestDaemon::start();
    ok(&daemon, &["create", "--label", "lives", "--", "cat"]);
    let before = daemon.server();
    let info = termctl(&daemon, &["daemon", "reload", "--json"]).json();
    before.wait_for_end();
    assert_eq!(info["keeper_pid"], daemon.keeper_pid());
    assert_eq!(
        ok(&daemon, &["list", "--format", "{label} {state}"]),
        "lives running"
    );
}

/// The same program twice: the second failure is told, too.
#[test]
fn reload_says_why_a_program_cannot_serve() {
    let home = Home::create();
    let program = home.path("termd");
    fs::copy(termd_binary(), &program).unwrap();
    let daemon = TestDaemon::start_program(home, &program, &[]);
    let broken = daemon.path("broken");
    fs::write(&broken, "#!/bin/sh\necho no libc >&2\nexit 1\n").unwrap();
    fs::set_permissions(&broken, Permissions::from_mode(0o755)).unwrap();
    fs::rename(&broken, &program).unwrap();
    for _ in 0..2 {
        let output = termctl(&daemon, &["daemon", "reload"]);
        assert_eq!(output.code, Some(1), "{output:?}");
        output.assert_one_line();
        assert!(output.err.contains("no libc"), "{output:?}");
    }
}

#[test]
fn stop_ends_the_daemon_with_its_terminals_and_asks_a_person_first() {
    let mut daemon = TestDaemon::start();
    let id = ok(&daemon, &["create", "--", "sleep", "1000"]);
    let shown = daemon.client().ok("session.show", &json!({ "id": id }));
    let sleep = Process::expect(shown["pid"].as_i64().unwrap());
    let mut pty = Pty::open(80, 24);
    let mut asking = pty.spawn(&command(&daemon, &["daemon", "stop"]));
    pty.read_until("end 1 terminal that runs? [y/N]");
    pty.write(b"n\r");
    assert_eq!(pty.wait(&mut asking).code(), Some(1));
    assert!(sleep.is_alive());
    ok(&daemon, &["daemon", "stop", "--yes"]);
    sleep.wait_for_end();
    assert!(daemon.wait_exit().success());
    let output = termctl(&daemon, &["daemon", "stop"]);
    assert_eq!(output.code, Some(4), "{output:?}");
    output.assert_one_line();
}

#[test]
fn restart_starts_another_daemon() {
    let home = Home::create();
    ok(&home, &["create", "--label", "gone", "--", "sleep", "1000"]);
    let keeper = || termctl(&home, &["status", "--json"]).json()["daemon"]["keeper_pid"].clone();
    let before = keeper();
    ok(&home, &["daemon", "restart", "-y"]);
    wait_until("another daemon", || keeper() != before);
    assert_eq!(ok(&home, &["list", "--running", "--quiet"]), "");
    ok(&home, &["daemon", "stop"]);
}

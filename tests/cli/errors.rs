//! Errors of termctl: one line, and an exit code for each kind.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;

use serde_json::Value;
use termd_test_support::{Home, TestDaemon};

use crate::termctl::{TermctlOutput, command, termctl};

#[test]
fn wrong_usage_is_2() {
    let home = Home::create();
    for args in [
        &[][..],
        &["nonsense"],
        &["run"],
        &["read"],
        &["resize", "x", "five"],
        &["list", "--nonsense"],
        &["run", "--timeout", "soon", "--", "true"],
        &["create", "--env", "NOVALUE", "--", "true"],
    ] {
        let output = termctl(&home, args);
        assert_eq!(output.code, Some(2), "{args:?}: {output:?}");
        assert!(!output.err.is_empty(), "{args:?}");
    }
    assert!(!home.socket().exists(), "no daemon was started for that");
    assert_eq!(termctl(&home, &["--help"]).code, Some(0));
    assert_eq!(termctl(&home, &["--version"]).code, Some(0));
}

#[test]
fn no_such_terminal_is_3() {
    let daemon = TestDaemon::start();
    for args in [
        &["show", "nothing"][..],
        &["read", "nothing"],
        &["wait", "nothing"],
        &["kill", "nothing"],
        &["send", "nothing", "x"],
        &["close", "nothing"],
        &["resize", "nothing", "80x24"],
    ] {
        let output = termctl(&daemon, args);
        assert_eq!(output.code, Some(3), "{args:?}: {output:?}");
        output.assert_one_line();
        assert!(output.err.contains("nothing"), "{output:?}");
        let json = termctl(&daemon, &[&["--json"], args].concat());
        assert_eq!(json.code, Some(3));
        let error: Value = serde_json::from_str(&json.err).expect("JSON on standard error");
        assert_eq!(error["error"]["kind"], "terminal_not_found", "{error}");
        assert_eq!(error["error"]["code"], -32002, "{error}");
    }
}

#[test]
fn a_command_that_cannot_start_says_why() {
    let daemon = TestDaemon::start();
    for verb in ["run", "create"] {
        let output = termctl(&daemon, &[verb, "--", "no-such-command-anywhere", "x"]);
        assert!(!matches!(output.code, Some(0 | 2 | 3 | 4)), "{output:?}");
        output.assert_one_line();
        assert!(
            output.err.contains("no-such-command-anywhere"),
            "{output:?}"
        );
    }
}

#[test]
fn no_daemon_and_none_to_be_started_is_4() {
    let home = Home::create();
    for args in [
        &["--no-start", "list"][..],
        &["--no-start", "run", "--", "true"],
        &["status"],
    ] {
        let output = termctl(&home, args);
        assert_eq!(output.code, Some(4), "{args:?}: {output:?}");
    }
    assert!(home.processes().is_empty(), "one was started");
}

#[test]
fn a_daemon_that_cannot_be_started_is_4_and_one_line() {
    let home = Home::create();
    let mut list = command(&home, &["list"]);
    let output = TermctlOutput::of(
        &list
            .env("TERMD_BIN", "/nonexistent/termd")
            .output()
            .unwrap(),
    );
    assert_eq!(output.code, Some(4), "{output:?}");
    output.assert_one_line();
    assert!(output.err.contains("/nonexistent/termd"), "{output:?}");

    home.configure("nonsense = true\n");
    let output = termctl(&home, &["list"]);
    assert_eq!(output.code, Some(4), "{output:?}");
    output.assert_one_line();
    assert!(output.err.contains("config.toml:1:1: "), "{output:?}");

    let home = Home::create();
    fs::create_dir(home.path("run/termd")).unwrap();
    fs::set_permissions(home.path("run/termd"), Permissions::from_mode(0o777)).unwrap();
    let output = termctl(&home, &["list"]);
    assert_eq!(output.code, Some(4), "{output:?}");
    output.assert_one_line();
    assert!(output.err.contains("run/termd"), "{output:?}");
}

#[test]
fn something_else_at_the_sockets_place_is_4() {
    let home = Home::create();
    fs::create_dir(home.path("run/termd")).unwrap();
    fs::set_permissions(home.path("run/termd"), Permissions::from_mode(0o700)).unwrap();
    fs::write(home.socket(), "a file").unwrap();
    let output = termctl(&home, &["list"]);
    assert_eq!(output.code, Some(4), "{output:?}");
    output.assert_one_line();
    assert_eq!(fs::read(home.socket()).unwrap(), b"a file");
}

/// Nobody listens on a stale socket, so a daemon is started.
#[test]
fn a_stale_socket_does_not_hinder_a_start() {
    let home = Home::create();
    fs::create_dir(home.path("run/termd")).unwrap();
    fs::set_permissions(home.path("run/termd"), Permissions::from_mode(0o700)).unwrap();
    drop(UnixListener::bind(home.socket()).unwrap());
    let output = termctl(&home, &["list"]);
    assert_eq!(output.code, Some(0), "{output:?}");
    crate::daemon::start::stop(&home);
}

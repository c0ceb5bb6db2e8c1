//! Errors of termctl: one line, and an exit code for each kind.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::process::Stdio;

use serde_json::Value;
use termd_test_support::{Home, TestDaemon, skip};

use crate::termctl::{TermctlOutput, command, ok, ready_terminal, termctl};

#[test]
fn wrong_usage_is_2() {
    let home = Home::create();
    for args in [
        &[][..],
        &["nonsense"],
        &["read"],
        &["resize", "x", "five"],
        &["list", "--nonsense"],
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
fn no_advice_harms() {
    let home = Home::create();
    for args in [
        &["log", "shell"][..],
        &["at"],
        &["stop"],
        &["renme", "a", "b"],
    ] {
        let output = termctl(&home, args);
        assert_eq!(output.code, Some(2), "{output:?}");
        for verb in ["'close'", "'kill'", "acp-agent"] {
            assert!(!output.err.contains(verb), "{output:?}");
        }
    }
    assert!(termctl(&home, &["log"]).err.contains("'read'"));

    // As `/tmp`, which is for everybody.
    let open = home.path("open");
    fs::create_dir(&open).unwrap();
    fs::set_permissions(&open, Permissions::from_mode(0o1777)).unwrap();
    let mut list = command(&home, &["list"]);
    list.env("TERMD_SOCKET", open.join("s"));
    let output = TermctlOutput::wait(
        list.stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap(),
    );
    assert_eq!(output.code, Some(4), "{output:?}");
    let is_useful =
        output.err.contains("others have access") && output.err.contains("TERMD_SOCKET");
    assert!(is_useful && !output.err.contains("chmod"), "{output:?}");
}

#[test]
fn no_such_terminal_is_3() {
    let daemon = TestDaemon::start();
    for args in [
        &["show", "nothing"][..],
        &["read", "nothing"],
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
fn what_was_given_is_named_as_it_was_typed() {
    let daemon = TestDaemon::start();
    let id = ready_terminal(&daemon, "echo ready; read x");
    ok(&daemon, &["create", "--label", "gone", "--", "true"]);
    ok(&daemon, &["close", "gone"]);
    let missing = daemon.path("nowhere").join("x.png");
    let missing = missing.to_str().unwrap();
    for (args, words) in [
        (&["kill", &id, "-s", "FOO"][..], &["'FOO'", "--signal"][..]),
        (&["kill", &id, "-FOO"], &["'FOO'", "kill -l"]),
        (&["send", &id, "-k", "foo"], &["--key", "\"foo\""]),
        (
            &["screen", &id, "--scrollback", "100001"],
            &["'100001'", "--scrollback"],
        ),
        (
            &["create", "--scrollback", "100001"],
            &["'100001'", "--scrollback"],
        ),
        (&["create", "--cols", "0", "--", "true"], &["--cols", "'0'"]),
        (&["create", "--cols", "5000"], &["--cols", "'5000'"]),
        (&["resize", &id, "0x0"], &["'0x0'", "2x1"]),
        (&["rename", "gone", "x"], &["gone is closed"]),
        (&["read", &id, "--stdout"], &[&id, "--stdout"]),
        (&["read", &id, "--tail", "x"], &["'x'", "--tail", "number"]),
        (&["history", "-n", "x"], &["'x'", "--limit", "number"]),
        (&["audit", "--action", "foo"], &["'foo'", "terminal.create"]),
        (&["audit", "--since", "-x"], &["'-x'", "--since", "1h30m"]),
    ] {
        let output = termctl(&daemon, args);
        assert_eq!(output.code, Some(2), "{args:?}: {output:?}");
        for word in words {
            assert!(output.err.contains(word), "{args:?}: {output:?}");
        }
        let speaks_of_params = ["`signal`", "`id`", "`stream`", "digit"]
            .iter()
            .any(|param| output.err.contains(param));
        assert!(!speaks_of_params, "{output:?}");
    }
    let wait = termctl(&daemon, &["wait", &id, "--for", "["]);
    assert!(wait.err.contains("expression: unclosed"), "{wait:?}");
    for (args, word) in [
        (&["screenshot", &id, "-o", missing][..], missing),
        (&["man", "/dev/null/x"], "/dev/null/x"),
    ] {
        let output = termctl(&daemon, args);
        assert_eq!(output.code, Some(1), "{output:?}");
        assert!(output.err.contains(word), "{output:?}");
    }
    let secret = daemon.path("secret");
    fs::write(&secret, "x\n").unwrap();
    let mut send = command(&daemon, &["send", &id, "--secret"]);
    let output = send
        .stdin(fs::File::open(&secret).unwrap())
        .output()
        .unwrap();
    let output = TermctlOutput::of(&output);
    assert!(output.err.contains("--force types it"), "{output:?}");
}

#[test]
fn a_daemon_that_is_not_there_is_looked_for_by_name() {
    let home = Home::create();
    let mut list = command(&home, &["list"]);
    let output = list.env("TERMD_BIN", "no-termd-here").output().unwrap();
    let output = TermctlOutput::of(&output);
    assert_eq!(output.code, Some(4), "{output:?}");
    for word in ["no-termd-here", "beside termctl", "PATH", "TERMD_BIN"] {
        assert!(output.err.contains(word), "{output:?}");
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
fn a_directory_that_cannot_be_entered_is_named() {
    let daemon = TestDaemon::start();
    let closed = daemon.path("closed");
    fs::create_dir(&closed).unwrap();
    fs::set_permissions(&closed, Permissions::from_mode(0o000)).unwrap();
    let cwd = closed.to_str().unwrap();
    let output = termctl(&daemon, &["create", "--cwd", cwd, "--", "true"]);
    if output.code == Some(0) {
        skip(
            "a_directory_that_cannot_be_entered_is_named",
            "root enters any directory",
        );
        return;
    }
    assert!(output.err.contains(cwd), "{output:?}");
    output.assert_one_line();
}

#[test]
fn no_daemon_and_none_to_be_started_is_4() {
    let home = Home::create();
    for args in [&["--no-start", "list"][..], &["status"]] {
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

//! A daemon that listens elsewhere than termctl's environment says, and who runs a daemon.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use termd_test_support::TestDaemon;

use crate::termctl::{TermctlOutput, command, ok};

#[test]
fn a_daemon_that_listens_elsewhere_is_found_by_its_lock() {
    let daemon = TestDaemon::start();
    let id = ok(&daemon, &["create", "--", "sleep", "1000"]);
    for (name, mode) in [("private", 0o700), ("loose", 0o1777)] {
        let elsewhere = daemon.path(name);
        fs::create_dir(&elsewhere).unwrap();
        fs::set_permissions(&elsewhere, Permissions::from_mode(mode)).unwrap();
        for verb in ["list", "status"] {
            let mut termctl = command(&daemon, &[verb]);
            let output = termctl.env("XDG_RUNTIME_DIR", &elsewhere).output().unwrap();
            let output = TermctlOutput::of(&output);
            assert_eq!(output.code, Some(0), "{name}: {output:?}");
            let expected = if verb == "list" { &id } else { "1 running" };
            assert!(output.out.contains(expected), "{name}: {output:?}");
        }
        assert!(!elsewhere.join("termd").exists(), "{name}: left behind");
    }
}

#[test]
fn a_socket_that_was_named_is_not_replaced_by_another() {
    let daemon = TestDaemon::start();
    let named = daemon.path("named.sock");
    for verb in ["list", "status"] {
        let mut termctl = command(&daemon, &[verb]);
        let output = termctl.env("TERMD_SOCKET", &named).output().unwrap();
        let output = TermctlOutput::of(&output);
        assert_eq!(output.code, Some(4), "{output:?}");
        output.assert_one_line();
        let socket = daemon.socket();
        assert!(output.err.contains(socket.to_str().unwrap()), "{output:?}");
        assert!(output.err.contains("TERMD_SOCKET"), "{output:?}");
    }
}

#[test]
fn status_says_who_runs_the_daemon_and_its_pid() {
    let daemon = TestDaemon::start();
    let said = ok(&daemon, &["status"]);
    assert!(said.contains("without systemd"), "{said}");
    let keeper = format!("keeper {}, ", daemon.keeper_pid());
    assert!(said.contains(&keeper), "{said}");
}

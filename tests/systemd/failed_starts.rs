//! A termd that does not start: clients are told why in seconds, and the socket stays.

use std::time::{Duration, Instant};

use crate::installed::{Installed, install, text};

/// How soon a client has to be told. Far below the deadlines of a connection.
const SOON: Duration = Duration::from_secs(5);

const RESTORE: &str = "cd ~/.cargo/bin && mv -f good termd";

/// Puts this script in termd's place.
fn replace_termd(installed: &Installed, script: &str) {
    let put = format!(
        "cd ~/.cargo/bin && mv termd good && printf '#!/bin/sh\\n{script}\\n' >termd && chmod 755 termd"
    );
    installed.ok(&["sh", "-c", &put]);
}

/// Runs termctl, which has to fail by then as where there is no daemon: its words.
#[track_caller]
fn refused(installed: &Installed, arguments: &[&str], limit: Duration) -> String {
    let begun = Instant::now();
    let argv = [&["termctl"], arguments].concat();
    let output = installed.machine.as_user(&argv);
    let said = text(&output);
    let journal = installed.journal();
    assert!(
        begun.elapsed() < limit,
        "{:?}: {said}{journal}",
        begun.elapsed()
    );
    assert_eq!(output.status.code(), Some(4), "{said}{journal}");
    said
}

#[test]
fn a_termd_that_does_not_start_is_explained_at_once_and_the_socket_lives() {
    let Some(installed) = install() else { return };
    installed.enable_socket();
    for (case, broken, reason) in [
        ("missing", None, "termd is in none of"),
        (
            "exits with 1",
            Some("echo no luck >&2; exit 1"),
            "exited with 1: no luck",
        ),
        ("exits with 3", Some("exit 3"), "exited with 3"),
        ("is killed", Some("kill -9 $$"), "killed by signal 9"),
    ] {
        match broken {
            None => drop(installed.ok(&["sh", "-c", "cd ~/.cargo/bin && mv termd good"])),
            Some(script) => replace_termd(&installed, script),
        }
        for arguments in [&["list"][..], &["status"], &["run", "true"], &["list"]] {
            let begun = Instant::now();
            let argv = [&["termctl"], arguments].concat();
            let output = installed.machine.as_user(&argv);
            let said = format!("{case}: {arguments:?}: {}", text(&output));
            let code = if arguments[0] == "run" { 125 } else { 4 };
            assert_eq!(output.status.code(), Some(code), "{said}");
            assert!(said.contains(reason), "{said}{}", installed.journal());
            assert!(begun.elapsed() < SOON, "{:?}: {said}", begun.elapsed());
        }
        let property = |unit, name| installed.property(unit, name);
        assert_eq!(property("termd.socket", "ActiveState"), "active", "{case}");
        assert_eq!(property("termd.service", "ActiveState"), "failed", "{case}");

        installed.ok(&["sh", "-c", RESTORE]);
        let listed = installed.machine.as_user(&["termctl", "list"]);
        assert!(listed.status.success(), "{case}: {}", text(&listed));
        assert_eq!(property("termd.service", "ActiveState"), "active", "{case}");
        installed.ok(&["systemctl", "--user", "stop", "termd.service"]);
    }
}

#[test]
fn many_clients_of_a_termd_that_does_not_start_leave_the_socket_alive() {
    let Some(installed) = install() else { return };
    installed.enable_socket();
    replace_termd(&installed, "exit 3");
    let many = "for i in $(seq 60); do termctl list & done; wait";
    installed.machine.as_user(&["sh", "-c", many]);
    assert_eq!(installed.property("termd.socket", "ActiveState"), "active");
    installed.ok(&["sh", "-c", RESTORE]);
    installed.termctl(&["list"]);
}

#[test]
fn a_termd_that_hangs_at_its_start_is_said_to() {
    let Some(installed) = install() else { return };
    installed.enable_socket();
    replace_termd(&installed, "echo thinking >&2; exec sleep 1000");
    let said = refused(&installed, &["status"], SOON);
    assert!(said.contains("termd.service is starting"), "{said}");
    assert!(said.contains("thinking"), "{said}");
    let said = refused(&installed, &["list"], Duration::from_secs(15));
    assert!(said.contains("termd.service is starting"), "{said}");
    installed.ok(&["sh", "-c", RESTORE]);
    installed.ok(&["systemctl", "--user", "stop", "termd.service"]);
    installed.termctl(&["list"]);
}

#[test]
fn a_damaged_database_is_named_and_not_tried_again_and_again() {
    let Some(installed) = install() else { return };
    installed.enable_socket();
    installed.termctl(&["list"]);
    installed.ok(&["systemctl", "--user", "stop", "termd.service"]);
    let damage = "cd ~/.local/state/termd && rm -f termd.sqlite-* && \
        dd if=/dev/urandom of=termd.sqlite bs=4096 count=8 conv=notrunc 2>/dev/null";
    installed.ok(&["sh", "-c", damage]);
    for arguments in [&["list"], &["status"]] {
        let said = refused(&installed, arguments, SOON);
        assert!(
            said.contains("termd.sqlite"),
            "{said}{}",
            installed.journal()
        );
    }
    assert_eq!(installed.property("termd.socket", "ActiveState"), "active");
    assert_eq!(installed.property("termd.service", "ActiveState"), "failed");
    assert_eq!(installed.property("termd.service", "NRestarts"), "0");
}

#[test]
fn a_failed_socket_is_explained_and_no_daemon_is_started_beside_it() {
    let Some(installed) = install() else { return };
    // As the units of 0.1.0 had it.
    let drop_in = "mkdir -p ~/.config/systemd/user/termd.socket.d && printf \
        '[Socket]\\nFlushPending=no\\nTriggerLimitIntervalSec=2s\\n' >~/.config/systemd/user/termd.socket.d/old.conf";
    installed.ok(&["sh", "-c", drop_in]);
    installed.ok(&["systemctl", "--user", "daemon-reload"]);
    installed.enable_socket();
    replace_termd(&installed, "echo no luck >&2; exit 1");
    let said = refused(&installed, &["list"], SOON);
    assert_eq!(
        installed.property("termd.socket", "ActiveState"),
        "failed",
        "{said}"
    );
    installed.ok(&["sh", "-c", RESTORE]);
    for arguments in [&["list"], &["status"]] {
        let said = refused(&installed, arguments, SOON);
        assert!(said.contains("trigger-limit-hit"), "{said}");
        assert!(said.contains("no luck"), "{said}");
        let remedy = "systemctl --user reset-failed termd.socket termd.service; \
            systemctl --user start termd.socket";
        assert!(said.contains(remedy), "{said}");
    }
    // Its limit would count the starts of a moment ago.
    let upgrade = "rm -r ~/.config/systemd/user/termd.socket.d && systemctl --user daemon-reload";
    installed.ok(&["sh", "-c", upgrade]);
    installed.ok(&[
        "systemctl",
        "--user",
        "reset-failed",
        "termd.socket",
        "termd.service",
    ]);
    installed.ok(&["systemctl", "--user", "start", "termd.socket"]);
    installed.termctl(&["list"]);
}

#[test]
fn a_client_right_after_a_stop_or_a_crash_is_served_by_the_next_daemon() {
    let Some(installed) = install() else { return };
    installed.enable_socket();
    // A killed process dies when it is scheduled; its server answers until then.
    let script = "for i in $(seq 15); do \
        termctl run true || exit 1; \
        termctl daemon stop -y && termctl run true || exit 2; \
        pid=$(systemctl --user show --value -p MainPID termd); kill -9 $pid || exit 3; \
        while kill -0 $pid 2>/dev/null; do :; done; \
        termctl run true || exit 4; \
        done";
    installed.ok(&["sh", "-c", script]);
    assert_eq!(installed.property("termd.socket", "ActiveState"), "active");
}

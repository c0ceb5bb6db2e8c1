//! The units: that they are valid, what starts termd, and what keeps it running.

use crate::installed::{install, number, text, wait_until};
use crate::machine::Machine;

#[test]
fn the_units_verify_clean() {
    let Some(installed) = install() else { return };
    let units = Machine::home().join(".config/systemd/user");
    for unit in ["termd.service", "termd.socket", "termd-notifier.service"] {
        let path = units.join(unit);
        let path = path.to_str().expect("our own path");
        let output = installed
            .machine
            .as_user(&["systemd-analyze", "--user", "verify", path]);
        assert!(output.status.success(), "{unit}: {}", text(&output));
        assert!(output.stderr.is_empty(), "{unit}: {}", text(&output));
    }
}

#[test]
fn the_first_connect_starts_termd_and_its_log_is_in_the_journal() {
    let Some(installed) = install() else { return };
    installed.enable_socket();
    assert_eq!(
        installed.property("termd.service", "ActiveState"),
        "inactive"
    );
    let modes = installed.ok(&[
        "sh",
        "-c",
        r#"stat -c %a "$XDG_RUNTIME_DIR/termd" "$XDG_RUNTIME_DIR/termd/termd.sock""#,
    ]);
    assert_eq!(modes, "700\n600\n");

    installed.termctl(&["list"]);
    assert_eq!(installed.property("termd.service", "ActiveState"), "active");
    let main_pid = installed.property("termd.service", "MainPID");
    let keeper_pid = number(&installed.termctl_json(&["status"]), "keeper_pid");
    assert_eq!(main_pid, keeper_pid.to_string());

    // No argument contains the printed word.
    let said = installed.termctl(&["run", "--", "sh", "-c", "printf '%s%s\\n' xyl ophone"]);
    assert_eq!(said, "xylophone\n");
    wait_until(
        "a line of termd's own in `journalctl --user -u termd`",
        || {
            let argv = [
                "journalctl",
                "--user",
                "-u",
                "termd",
                "-o",
                "cat",
                "_COMM=termd",
                "--no-pager",
            ];
            !installed.ok(&argv).trim().is_empty()
        },
    );
    let everything = installed
        .machine
        .as_root(&["journalctl", "--no-pager", "-o", "export"]);
    assert!(everything.stdout.len() > 1000, "the journal can be read");
    let everything = String::from_utf8_lossy(&everything.stdout);
    assert!(
        !everything.contains("xylophone"),
        "terminal output is in the log"
    );
}

#[test]
fn termd_feeds_the_watchdog() {
    let Some(installed) = install() else { return };
    let drop_in = "mkdir -p ~/.config/systemd/user/termd.service.d && \
        printf '[Service]\\nWatchdogSec=1s\\n' >~/.config/systemd/user/termd.service.d/fast.conf";
    installed.ok(&["bash", "-c", drop_in]);
    installed.ok(&["systemctl", "--user", "daemon-reload"]);
    installed.enable_socket();
    installed.termctl(&["list"]);
    // The watchdog is fed for twice the time after which it would kill the daemon.
    let mut seen = std::collections::BTreeSet::new();
    wait_until("the watchdog is fed again and again", || {
        seen.insert(installed.property("termd.service", "WatchdogTimestampMonotonic"));
        seen.len() >= 8
    });
    assert_eq!(installed.property("termd.service", "ActiveState"), "active");
    assert_eq!(
        installed.property("termd.service", "NRestarts"),
        "0",
        "{}",
        installed.journal()
    );
}

#[test]
fn the_socket_unit_leaves_a_daemon_started_on_demand_alone() {
    let Some(installed) = install() else { return };
    let said = installed.ok(&["termctl", "run", "--", "echo", "on demand"]);
    assert_eq!(said, "on demand\n");
    let server = installed.server_pid();
    let output = installed
        .machine
        .as_user(&["systemctl", "--user", "start", "termd.socket"]);
    assert!(
        !output.status.success(),
        "it would take the other daemon's socket away"
    );
    assert_eq!(installed.server_pid(), server);
}

#[test]
fn a_termd_that_cannot_start_says_why_to_each_client_and_starts_once_that_is_mended() {
    let Some(installed) = install() else { return };
    installed.enable_socket();
    let config = Machine::home().join(".config/termd/config.toml");
    let write = |content: &str| {
        let script =
            format!("mkdir -p ~/.config/termd && printf '{content}' >~/.config/termd/config.toml");
        installed.ok(&["sh", "-c", &script]);
    };
    write("kill_grace_ms = \"x\"\\n");
    // More often than systemd starts a unit by default.
    for attempt in 0..8 {
        let output = installed.machine.as_user(&["termctl", "list"]);
        assert_eq!(
            output.status.code(),
            Some(4),
            "{attempt}: {}",
            text(&output)
        );
        let said = text(&output);
        assert!(
            said.contains(config.to_str().expect("our own path")),
            "{attempt}: {said}"
        );
        assert!(
            said.contains("journalctl --user -u termd"),
            "{attempt}: {said}"
        );
    }
    assert_eq!(installed.property("termd.socket", "ActiveState"), "active");
    write("");
    installed.termctl(&["list"]);
    assert_eq!(installed.property("termd.service", "ActiveState"), "active");
}

#[test]
fn termd_is_found_in_each_place_where_it_is_installed() {
    let Some(installed) = install() else { return };
    installed.ok(&[
        "sh",
        "-c",
        "mkdir -p ~/.local/bin && mv ~/.cargo/bin/* ~/.local/bin/",
    ]);
    installed.enable_socket();
    let termctl = Machine::home().join(".local/bin/termctl");
    let termctl = termctl.to_str().expect("our own path");
    let said = installed.ok(&[termctl, "--no-start", "run", "--", "env"]);
    assert!(said.contains("TERMD_TERMINAL="), "{said}");
    for added in ["\n_=", "\nSHLVL=", "\nOLDPWD="] {
        assert!(!said.contains(added), "{added:?} in {said}");
    }
    let status = installed.ok(&[termctl, "--no-start", "status"]);
    assert!(status.contains("systemd (termd.service)"), "{status}");
}

#[test]
fn a_reload_with_a_broken_program_ends_and_systemd_shows_why() {
    let Some(installed) = install() else { return };
    installed.enable_socket();
    let terminal = installed.create_repeater();
    let server = installed.server_pid();
    let put = |script: &str| {
        installed.ok(&["sh", "-c", script]);
        let reload = ["systemctl", "--user", "reload", "termd"];
        installed.machine.as_user(&reload).status.success()
    };
    let broken = "cd ~/.cargo/bin && mv termd good && \
        printf '#!/bin/sh\\necho too old >&2; exit 1\\n' >termd && chmod 755 termd";
    assert!(!put(broken), "{}", installed.journal());
    let status = installed.property("termd.service", "StatusText");
    assert!(status.contains("exited with 1: too old"), "{status}");
    assert_eq!(installed.property("termd.service", "ActiveState"), "active");
    assert_eq!(installed.property("termd.service", "SubState"), "running");
    assert_eq!(installed.server_pid(), server);
    let status = installed.termctl(&["status"]);
    assert!(status.contains("too old"), "{status}");
    wait_until("the journal says why", || {
        installed.journal().contains("too old")
    });

    assert!(
        put("cd ~/.cargo/bin && mv good termd"),
        "{}",
        installed.journal()
    );
    assert_ne!(installed.server_pid(), server);
    assert_eq!(installed.property("termd.service", "StatusText"), "Serving");
    installed.assert_answers(&terminal, "again");
}

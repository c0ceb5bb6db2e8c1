//! Terminals survive what systemd does to termd: a reload, a killed server, a stop.

use crate::installed::{install, wait_until};

#[test]
fn what_systemd_tells_termd_reaches_no_terminal() {
    let Some(installed) = install() else { return };
    installed.enable_socket();
    installed.termctl(&["list"]);
    let keeper = installed.property("termd.service", "MainPID");
    let told = installed.ok(&[
        "sh",
        "-c",
        &format!("tr '\\0' '\\n' </proc/{keeper}/environ"),
    ]);
    let of_systemd = [
        "NOTIFY_SOCKET=",
        "WATCHDOG_",
        "LISTEN_",
        "INVOCATION_ID=",
        "JOURNAL_STREAM=",
    ];
    for name in of_systemd {
        assert!(
            told.lines().any(|line| line.starts_with(name)),
            "{name} in the daemon: {told}"
        );
    }
    // With the daemon's environment, as in an ACP agent's terminal, and with termctl's own.
    let request = concat!(
        r#"{"jsonrpc":"2.0","id":1,"method":"session.create","#,
        r#""params":{"command":"env","args":["-u","X"],"label":"inherits"}}"#
    );
    let script = r#"perl -MIO::Socket::UNIX -e '
        my $daemon = IO::Socket::UNIX->new($ARGV[0]) or die "$ARGV[0]: $!";
        print $daemon "$ARGV[1]\n";
        print scalar <$daemon>' "$XDG_RUNTIME_DIR/termd/termd.sock" "$1""#;
    let answer = installed.ok(&["bash", "-c", script, "bash", request]);
    assert!(answer.contains("\"result\""), "{answer}");
    installed.termctl(&["wait", "inherits"]);
    for seen in [
        installed.termctl(&["read", "inherits"]),
        installed.termctl(&["run", "--", "env"]),
    ] {
        assert!(seen.contains("TERMD_TERMINAL=term_"), "{seen}");
        for name in of_systemd {
            assert!(
                !seen.lines().any(|line| line.starts_with(name)),
                "{name}: {seen}"
            );
        }
    }
}

#[test]
fn terminals_live_on_over_a_reload() {
    let Some(installed) = install() else { return };
    installed.enable_socket();
    let terminal = installed.create_repeater();
    let (server, pid) = (installed.server_pid(), installed.pid_of(&terminal));
    let keeper = installed.property("termd.service", "MainPID");

    installed.ok(&["systemctl", "--user", "reload", "termd"]);
    wait_until("another server", || installed.server_pid() != server);
    assert_eq!(installed.pid_of(&terminal), pid);
    assert_eq!(installed.property("termd.service", "MainPID"), keeper);
    installed.assert_answers(&terminal, "after the reload");
    wait_until("the unit is active again", || {
        installed.property("termd.service", "ActiveState") == "active"
    });
    let output = installed.termctl(&["read", &terminal]);
    assert!(
        output.starts_with("listening"),
        "what was there before is lost: {output}"
    );
}

#[test]
fn terminals_live_on_over_a_killed_server() {
    let Some(installed) = install() else { return };
    installed.enable_socket();
    let terminal = installed.create_repeater();
    let (server, pid) = (installed.server_pid(), installed.pid_of(&terminal));

    installed.ok(&["kill", "-9", &server.to_string()]);
    wait_until("another server", || installed.server_pid() != server);
    assert_eq!(installed.pid_of(&terminal), pid);
    installed.assert_answers(&terminal, "still here");
    assert_eq!(installed.property("termd.service", "ActiveState"), "active");
    assert_eq!(
        installed.property("termd.service", "NRestarts"),
        "0",
        "the keeper did it"
    );
}

#[test]
fn stopping_the_unit_ends_the_terminals_and_keeps_their_record() {
    let Some(installed) = install() else { return };
    installed.enable_socket();
    let terminal = installed.create_repeater();
    let pid = installed.pid_of(&terminal);
    assert!(installed.is_alive(pid));

    installed.ok(&["systemctl", "--user", "stop", "termd.service"]);
    assert!(!installed.is_alive(pid));
    let property = |name| installed.property("termd.service", name);
    assert_eq!(property("Result"), "success", "{}", installed.journal());
    assert_eq!(
        property("ExecMainCode"),
        "1",
        "CLD_EXITED: {}",
        installed.journal()
    );
    assert_eq!(property("ExecMainStatus"), "0");
    assert_eq!(property("ActiveState"), "inactive");

    // The socket still listens, and the next daemon knows the terminals of the last one.
    let output = installed.termctl(&["read", &terminal]);
    assert!(output.contains("listening"), "{output}");
    assert_eq!(property("ActiveState"), "active");
}

//! termd under a real systemd user manager: the units as they are shipped, installed as the README
//! says, on a machine of the test's own ([`machine`]).
//!
//! Needs root, cgroup2, overlayfs, systemd, dbus-user-session and libpam-systemd. Where they are
//! not there each test says `SKIP systemd: …` and passes; with `TERMD_REQUIRE_SYSTEMD=1` it fails.

// All of it is test code; clippy knows that only of functions marked as tests.
#![allow(clippy::expect_used)]

mod exposures;
mod machine;
mod scope_cost;
mod scopes;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use machine::{BootError, Machine};
use serde_json::Value;

/// For what comes by itself within a second or two.
const DEADLINE: Duration = Duration::from_secs(20);
/// Set to 1: where there is no machine, the tests fail.
const REQUIRE: &str = "TERMD_REQUIRE_SYSTEMD";

/// A machine with termd installed, and the turn to use one: one machine at a time.
struct Installed {
    machine: Machine,
    _turn: MutexGuard<'static, ()>,
}

/// Boots a machine with termd installed; `None` (said on stderr) where this computer cannot.
fn install() -> Option<Installed> {
    static TURN: Mutex<()> = Mutex::new(());
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    match Machine::boot(put_termd_into) {
        Ok(machine) => Some(Installed {
            machine,
            _turn: turn,
        }),
        Err(BootError::Unable(reason)) => {
            assert!(
                std::env::var_os(REQUIRE).is_none(),
                "no machine to test on: {reason}"
            );
            // Past the test harness's capture: a skipped test must be heard of.
            let _ = writeln!(io::stderr(), "SKIP systemd: {reason}");
            None
        }
        Err(BootError::Failed(why)) => panic!("{why}"),
    }
}

/// What `cargo install` and two `cp` leave in a home.
fn put_termd_into(home: &Path) -> io::Result<()> {
    let bin = home.join(".cargo/bin");
    fs::create_dir_all(&bin)?;
    fs::copy(env!("CARGO_BIN_EXE_termd"), bin.join("termd"))?;
    fs::copy(termctl(), bin.join("termctl"))?;
    let units = home.join(".config/systemd/user");
    fs::create_dir_all(&units)?;
    for unit in ["termd.socket", "termd.service", "termd-approvals.service"] {
        let shipped = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../systemd")
            .join(unit);
        fs::copy(shipped, units.join(unit))?;
    }
    Ok(())
}

/// termctl beside termd; built when only this crate's tests were asked for.
fn termctl() -> &'static Path {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| {
        let path = Path::new(env!("CARGO_BIN_EXE_termd")).with_file_name("termctl");
        if !path.exists() {
            let mut build = Command::new(env!("CARGO"));
            build.args([
                "build",
                "--quiet",
                "--package",
                "termctl",
                "--bin",
                "termctl",
            ]);
            if path
                .parent()
                .is_some_and(|directory| directory.ends_with("release"))
            {
                build.arg("--release");
            }
            let built = build.status().expect("cargo starts");
            assert!(built.success(), "termctl could not be built");
        }
        path
    })
}

impl Installed {
    /// Runs a program as the user and returns its output; it must succeed.
    fn ok(&self, argv: &[&str]) -> String {
        let output = self.machine.as_user(argv);
        assert!(
            output.status.success(),
            "{argv:?}: {}\n{}",
            text(&output),
            self.journal()
        );
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn enable_socket(&self) {
        self.ok(&["systemctl", "--user", "enable", "--now", "termd.socket"]);
    }

    /// termctl, which must not start a termd beside systemd's.
    fn termctl(&self, arguments: &[&str]) -> String {
        self.ok(&[&["termctl", "--no-start"], arguments].concat())
    }

    fn termctl_json(&self, arguments: &[&str]) -> Value {
        let output = self.termctl(&[arguments, &["--json"]].concat());
        serde_json::from_str(&output)
            .unwrap_or_else(|error| panic!("{arguments:?}: {error}: {output}"))
    }

    fn property(&self, unit: &str, name: &str) -> String {
        let output = self.ok(&["systemctl", "--user", "show", "--value", "-p", name, unit]);
        output.trim().to_owned()
    }

    fn server_pid(&self) -> i64 {
        number(&self.termctl_json(&["status"]), "server_pid")
    }

    fn pid_of(&self, terminal: &str) -> i64 {
        number(&self.termctl_json(&["show", terminal]), "pid")
    }

    /// Starts a terminal that repeats each line it is sent behind `got `; waits until it listens.
    fn create_repeater(&self) -> String {
        let script = r#"echo listening; while read -r line; do echo "got $line"; done"#;
        let id = self
            .termctl(&["create", "--", "sh", "-c", script])
            .trim()
            .to_owned();
        self.read_until(&id, "listening");
        id
    }

    /// Waits for this text in a terminal's output.
    fn read_until(&self, terminal: &str, wanted: &str) {
        wait_until(&format!("`{wanted}` in {terminal}"), || {
            self.termctl(&["read", terminal]).contains(wanted)
        });
    }

    /// The terminal takes a line and answers it.
    fn assert_answers(&self, terminal: &str, line: &str) {
        self.termctl(&["send", terminal, "--enter", line]);
        self.read_until(terminal, &format!("got {line}"));
    }

    fn is_alive(&self, pid: i64) -> bool {
        self.machine
            .as_root(&["test", "-e", &format!("/proc/{pid}/exe")])
            .status
            .success()
    }

    /// What the user's journal has of termd's unit, whoever wrote it.
    fn journal(&self) -> String {
        let output = self
            .machine
            .as_user(&["journalctl", "--user", "-u", "termd", "--no-pager"]);
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}

/// Asks until it is so. Each question starts a process, so this neither sleeps nor spins.
fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + DEADLINE;
    while !is_so() {
        assert!(Instant::now() < deadline, "not within {DEADLINE:?}: {what}");
    }
}

/// The number under this key, wherever it stands.
fn number(value: &Value, key: &str) -> i64 {
    fn find(value: &Value, key: &str) -> Option<i64> {
        match value {
            Value::Object(members) => members
                .get(key)
                .and_then(Value::as_i64)
                .or_else(|| members.values().find_map(|member| find(member, key))),
            Value::Array(items) => items.iter().find_map(|item| find(item, key)),
            _ => None,
        }
    }
    find(value, key).unwrap_or_else(|| panic!("no number {key} in {value}"))
}

fn text(output: &Output) -> String {
    format!(
        "{}\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

#[test]
fn the_units_verify_clean() {
    let Some(installed) = install() else { return };
    let units = Machine::home().join(".config/systemd/user");
    for unit in ["termd.service", "termd.socket", "termd-approvals.service"] {
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

    // The word that is printed stands in no argument.
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
    // With the daemon's environment, as an ACP agent's terminal has it, and with termctl's own.
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
    installed.assert_answers(&terminal, "after the kill");
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

    // The socket still listens: the next daemon knows what the last one had.
    let output = installed.termctl(&["read", &terminal]);
    assert!(output.contains("listening"), "{output}");
    assert_eq!(property("ActiveState"), "active");
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
    // Fed for twice as long as a daemon that does not feed it would live.
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

/// The chain's head is in the journal, and what was cut off or forged since is found out by it.
#[test]
fn the_journal_knows_the_end_of_the_audit_chain() {
    let Some(installed) = install() else { return };
    installed.enable_socket();
    for word in ["one", "two"] {
        installed.termctl(&["run", "--", "echo", word]);
    }
    let status = installed.termctl_json(&["status"]);
    let database = status.pointer("/daemon/database").and_then(Value::as_str);
    let database = database.expect("a path").to_owned();
    let verify = || {
        let termctl = Machine::home().join(".cargo/bin/termctl");
        let termctl = termctl.to_str().expect("our own path").to_owned();
        installed
            .machine
            .as_user(&[&termctl, "audit", "verify", "--journal"])
    };
    // At the stop the head is told, whatever minute it is.
    installed.ok(&["systemctl", "--user", "stop", "termd.service"]);
    installed.machine.as_root(&["journalctl", "--sync"]);
    let whole = verify();
    assert_eq!(whole.status.code(), Some(0), "{}", text(&whole));
    assert!(text(&whole).contains("all agree"), "{}", text(&whole));

    // Anybody of this user can say the same fields, and not that they were termd.
    let forged = format!(
        "printf 'MESSAGE_ID={}\\nTERMD_AUDIT_SEQ=999999\\nTERMD_AUDIT_HASH=aa\\n\
         TERMD_DATABASE={database}\\nMESSAGE=x\\n' | logger --journald",
        termd_proto::audit::ANCHOR_MESSAGE_ID
    );
    installed.ok(&["sh", "-c", &forged]);
    installed.machine.as_root(&["journalctl", "--sync"]);
    let forged = verify();
    assert_eq!(forged.status.code(), Some(0), "{}", text(&forged));
    assert!(
        text(&forged).contains("by other programs"),
        "{}",
        text(&forged)
    );

    // The end of the chain is cut off while nobody looks: the file is whole in itself.
    installed.ok(&["systemctl", "--user", "stop", "termd.service"]);
    let cut = "DROP TRIGGER audit_is_dropped_by_retention_alone; \
               DELETE FROM audit WHERE seq > 3;";
    let sqlite = installed.machine.as_user(&["sqlite3", &database, cut]);
    if !sqlite.status.success() {
        let _ = writeln!(
            io::stderr(),
            "SKIP the cut: no sqlite3 here: {}",
            text(&sqlite)
        );
        return;
    }
    let alone = installed.termctl(&["audit", "verify"]);
    assert!(alone.contains("none changed or missing"), "{alone}");
    let missed = verify();
    assert_eq!(missed.status.code(), Some(1), "{}", text(&missed));
    assert!(
        text(&missed).contains("is not the one that the journal") || text(&missed).contains("gone"),
        "{}",
        text(&missed)
    );
}

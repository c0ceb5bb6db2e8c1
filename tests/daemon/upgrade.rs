//! A reload with a program on disk that cannot serve: nothing changes, and why is said.

use std::fs::{self, File, Permissions};
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};
use termd_test_support::{Deadline, Home, TestDaemon, termd_binary, wait_until};

/// A daemon whose program on disk a test replaces.
struct Upgradable {
    daemon: TestDaemon,
    program: PathBuf,
}

impl Upgradable {
    fn start() -> Self {
        let home = Home::create();
        let program = home.path("termd");
        fs::hard_link(termd_binary(), &program)
            .or_else(|_| fs::copy(termd_binary(), &program).map(drop))
            .unwrap();
        let daemon = TestDaemon::start_program(home, &program, &[]);
        // A server that is not ready yet is replaced without a trial.
        wait_until("the server is ready", || {
            daemon.log().contains("termd::app: serving")
        });
        Self { daemon, program }
    }

    /// Puts a file over the program, as `install` and package managers do.
    fn put(&self, content: &[u8], mode: u32) {
        let new = self.program.with_extension("new");
        fs::write(&new, content).unwrap();
        fs::set_permissions(&new, Permissions::from_mode(mode)).unwrap();
        fs::rename(&new, &self.program).unwrap();
    }

    fn put_good_one(&self) {
        let new = self.program.with_extension("new");
        fs::hard_link(termd_binary(), &new)
            .or_else(|_| fs::copy(termd_binary(), &new).map(drop))
            .unwrap();
        fs::rename(&new, &self.program).unwrap();
    }

    fn info(&self) -> Value {
        self.daemon.client().ok("daemon.info", &json!({}))
    }

    /// Requests a reload, and waits until it has failed: why.
    #[track_caller]
    fn failed_reload(&self, case: &str) -> String {
        let before = self.info();
        self.daemon.signal(Signal::HUP);
        wait_until(&format!("{case}: why the reload failed"), || {
            let now = self.info();
            let failed_at = &now["reload_failed_at_ms"];
            !failed_at.is_null() && *failed_at != before["reload_failed_at_ms"]
        });
        let after = self.info();
        assert_eq!(after["server_pid"], before["server_pid"], "{case}");
        let fault = after["reload_fault"].as_str().unwrap().to_owned();
        assert!(!fault.contains(char::is_control), "{case}: {fault:?}");
        fault
    }
}

/// This machine's program, as another architecture's.
fn foreign(program: &Path) -> Vec<u8> {
    let mut elf = fs::read(program).unwrap();
    // e_machine (elf(5)).
    elf[18] = 0xf3;
    elf[19] = 0x7f;
    elf.truncate(1 << 20);
    elf
}

#[test]
fn a_reload_with_a_broken_program_changes_nothing_and_says_why() {
    let upgradable = Upgradable::start();
    let daemon = &upgradable.daemon;
    let mut waiting = daemon.client();
    let id = waiting.create_terminal(&json!({ "command": "sleep", "args": ["1000"] }));
    let wait = waiting.send("session.wait", &json!({ "id": id }));

    let script: &[u8] = b"#!/bin/sh\nprintf 'no \\033[31mGLIBC_2.99\\n' >&2\nexit 1\n";
    let foreign = foreign(&upgradable.program);
    let cases: [(&str, &[u8], u32, &str); 4] = [
        ("a text", b"not a program\n", 0o755, "Exec format error"),
        ("a script that exits 1", script, 0o755, "exited with 1: no "),
        ("another architecture", &foreign, 0o755, "Exec format error"),
        ("not executable", script, 0o644, "Permission denied"),
    ];
    for (case, content, mode, expected) in cases {
        upgradable.put(content, mode);
        let fault = upgradable.failed_reload(case);
        assert!(fault.contains(expected), "{case}: {fault}");
    }
    fs::remove_file(&upgradable.program).unwrap();
    let fault = upgradable.failed_reload("a missing program");
    assert!(fault.contains("No such file"), "{fault}");

    // The call that was open all the time.
    daemon.client().ok("session.kill", &json!({ "id": id }));
    let ended = waiting.answer(wait);
    assert_eq!(ended["result"]["exited"], true, "{ended}");

    upgradable.put_good_one();
    daemon.replace_server();
    let info = upgradable.info();
    assert_eq!(info.get("reload_fault"), None, "{info}");
}

#[test]
fn a_reload_with_a_program_that_hangs_ends_in_seconds() {
    let upgradable = Upgradable::start();
    upgradable.put(b"#!/bin/sh\necho trying >&2\nsleep 1000\n", 0o755);
    let begin = Deadline::after(Duration::from_secs(15));
    let fault = upgradable.failed_reload("a program that hangs");
    assert!(!begin.passed());
    assert!(fault.contains("did not answer within"), "{fault}");
    assert!(fault.contains("trying"), "{fault}");
    wait_until("nothing of it is left", || {
        let stats = upgradable.daemon.client().ok("daemon.stats", &json!({}));
        stats["orphan_count"] == 0
    });
}

#[test]
fn during_a_trial_the_last_failure_is_not_told_and_its_processes_are_no_orphans() {
    let upgradable = Upgradable::start();
    upgradable.put(b"#!/bin/sh\nexit 1\n", 0o755);
    upgradable.failed_reload("a script that exits 1");
    let script = b"#!/bin/sh\nsleep 1000 &\necho >\"$HOME/tried\"\nwait\n";
    upgradable.put(script, 0o755);
    upgradable.daemon.signal(Signal::HUP);
    let tried = upgradable.daemon.user_home().join("tried");
    wait_until("the program is tried", || tried.exists());
    assert_eq!(upgradable.info().get("reload_fault"), None);
    let stats = upgradable.daemon.client().ok("daemon.stats", &json!({}));
    assert_eq!(stats["orphan_count"], 0, "{stats}");
}

#[test]
fn a_program_that_floods_is_told_in_a_line_or_two() {
    let upgradable = Upgradable::start();
    upgradable.put(
        b"#!/bin/sh\nyes bad thing | head -n 9999 >&2\nexit 1\n",
        0o755,
    );
    let fault = upgradable.failed_reload("a program that floods");
    assert!(fault.contains("bad thing"), "{fault}");
    assert!(fault.len() < 60, "{fault}");
}

#[test]
fn a_stop_does_not_wait_for_a_trial() {
    let mut upgradable = Upgradable::start();
    upgradable.put(b"#!/bin/sh\necho >\"$HOME/tried\"\nsleep 1000\n", 0o755);
    upgradable.daemon.signal(Signal::HUP);
    let tried = upgradable.daemon.user_home().join("tried");
    wait_until("the program is tried", || tried.exists());
    let begin = Deadline::after(Duration::from_secs(5));
    upgradable.daemon.signal(Signal::TERM);
    assert_eq!(upgradable.daemon.wait_exit().code(), Some(0));
    assert!(!begin.passed());
}

#[test]
fn a_reload_that_is_requested_while_another_is_tried_tries_again() {
    let upgradable = Upgradable::start();
    let server = upgradable.daemon.server();
    upgradable.put(b"#!/bin/sh\necho >\"$HOME/tried\"\nsleep 1000\n", 0o755);
    upgradable.daemon.signal(Signal::HUP);
    let tried = upgradable.daemon.user_home().join("tried");
    wait_until("the program is tried", || tried.exists());
    upgradable.put_good_one();
    upgradable.daemon.signal(Signal::HUP);
    server.wait_for_end();
    assert_eq!(upgradable.info().get("reload_fault"), None);
}

/// As it has for a moment after the fork: the keeper's descriptors.
#[test]
fn a_program_that_is_tried_is_none_of_a_terminal_that_it_has_open() {
    let upgradable = Upgradable::start();
    let daemon = &upgradable.daemon;
    let mut client = daemon.client();
    let id =
        client.create_terminal(&json!({ "command": "sh", "args": ["-c", "tty; exec sleep 1000"] }));
    let tty = client.wait_for_text(&id, "/dev/pts/");
    let go_on = daemon.user_home().join("go-on");
    let script = format!(
        "#!/bin/sh\n[ ! -e \"$HOME/tried\" ] || exec '{real}' \"$@\"\n\
         exec 9<>'{tty}'\nmkfifo \"$HOME/go-on\"\n: >\"$HOME/tried\"\nread _ <\"$HOME/go-on\"\nexec '{real}' \"$@\"\n",
        real = termd_binary().display(),
        tty = tty.trim(),
    );
    upgradable.put(script.as_bytes(), 0o755);
    let server = daemon.server();
    daemon.signal(Signal::HUP);
    let tried = daemon.user_home().join("tried");
    wait_until("the program is tried", || tried.exists());
    client.ok("session.kill", &json!({ "id": id }));
    // Opened for both, it does not wait for a reader that is gone.
    let mut go_on = File::options().read(true).write(true).open(&go_on).unwrap();
    go_on.write_all(b"\n").unwrap();
    server.wait_for_end();
    assert_eq!(upgradable.info().get("reload_fault"), None);
}

#[test]
fn a_reload_over_a_database_that_the_program_cannot_serve_changes_nothing() {
    let upgradable = Upgradable::start();
    let database = upgradable.daemon.state_dir().join("termd.sqlite");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        use sqlx::{Connection, Executor};
        let options = sqlx::sqlite::SqliteConnectOptions::new().filename(database);
        let mut connection = sqlx::SqliteConnection::connect_with(&options)
            .await
            .unwrap();
        connection
            .execute("PRAGMA user_version = 999")
            .await
            .unwrap();
        connection.close().await.unwrap();
    });
    let fault = upgradable.failed_reload("a database from the future");
    assert!(fault.contains("999"), "{fault}");
}

#[test]
fn after_a_program_that_passes_its_trial_and_does_not_serve_the_one_before_does() {
    let upgradable = Upgradable::start();
    let mut client = upgradable.daemon.client();
    let id = client.create_terminal(&json!({ "command": "sleep", "args": ["1000"] }));
    let real = termd_binary();
    let script = format!(
        "#!/bin/sh\n[ ! -e \"$HOME/tried\" ] || exit 5\n: >\"$HOME/tried\"\nexec '{}' \"$@\"\n",
        real.display()
    );
    upgradable.put(script.as_bytes(), 0o755);
    upgradable.daemon.replace_server();
    wait_until("the server before it says why it is back", || {
        let fault = upgradable.info()["reload_fault"].clone();
        fault
            .as_str()
            .is_some_and(|fault| fault.contains("exited with 5"))
    });
    let said = upgradable
        .daemon
        .client()
        .ok("session.show", &json!({ "id": id }));
    assert_eq!(said["state"], "running", "{said}");
}

#[test]
fn a_killed_server_is_replaced_by_the_program_that_served() {
    let upgradable = Upgradable::start();
    upgradable.put(b"#!/bin/sh\nexit 1\n", 0o755);
    upgradable.failed_reload("a script that exits 1");
    upgradable.daemon.kill_server();
    wait_until("the next server says why it is no other", || {
        upgradable.info()["reload_fault"].is_string()
    });
}

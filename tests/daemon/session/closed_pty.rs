//! A PTY whose slave side is closed, for a while or for good. Data for a reader that is not there
//! must not keep the server busy.

use std::fs;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use termd_test_support::{Deadline, TestDaemon, sh, wait_until};

/// Long enough to show a busy loop in a clock that ticks every 10 ms.
const WINDOW: Duration = Duration::from_millis(400);
/// The most processor time of an idle server in this window, in ticks.
const AT_REST: u64 = 4;
const REST_DEADLINE: Duration = Duration::from_secs(20);

/// The processor time of a process in ticks (utime and stime of `proc_pid_stat(5)`).
fn ticks(pid: i32) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let after_name = stat.rsplit_once(')').unwrap().1;
    let fields: Vec<&str> = after_name.split_whitespace().collect();
    fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
}

#[track_caller]
fn assert_comes_to_rest(daemon: &TestDaemon) {
    let pid = daemon.server().pid;
    let deadline = Deadline::after(REST_DEADLINE);
    loop {
        let before = ticks(pid);
        std::thread::park_timeout(WINDOW);
        let used = ticks(pid) - before;
        if used <= AT_REST {
            return;
        }
        assert!(!deadline.passed(), "{used} ticks in {WINDOW:?} for nothing");
    }
}

fn is_there(path: &Path) -> impl Fn() -> bool + '_ {
    || path.exists()
}

#[test]
fn input_that_nobody_will_read_costs_nothing() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let closed = daemon.path("closed");
    let script = format!(
        "stty raw -echo; exec <&- >&- 2>&-; : > '{}'; exec sleep 1000",
        closed.display()
    );
    let id = client.create_terminal(&sh(&script));
    wait_until("the terminal is closed", is_there(&closed));

    let typed = client.send(
        "session.send",
        &json!({ "id": id, "text": "a".repeat(200_000), "confirmed": true }),
    );
    daemon.client().ok("daemon.stats", &Value::Null);
    assert_comes_to_rest(&daemon);
    daemon.client().ok("session.kill", &json!({ "id": id }));
    // Any answer will do.
    client.answer(typed);
}

#[test]
fn a_terminal_that_was_closed_and_opened_again_is_read_written_and_rests() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let (closed, open) = (daemon.path("closed"), daemon.path("open"));
    let script = format!(
        "stty -echo; exec <&- >&- 2>&-; : > '{}'; until [ -e '{}' ]; do sleep 0.05; done; \
         exec </dev/tty >/dev/tty; echo again; read line; echo \"got $line\"; exec sleep 1000",
        closed.display(),
        open.display()
    );
    let id = &client.create_terminal(&sh(&script));
    wait_until("the terminal is closed", is_there(&closed));
    assert_comes_to_rest(&daemon);
    fs::write(&open, "").unwrap();
    client.wait_for_text(id, "again");
    assert_comes_to_rest(&daemon);
    client.send_text(id, "this\n");
    client.wait_for_text(id, "got this");
    assert_comes_to_rest(&daemon);
}

/// The replies to its queries cannot be delivered while its output waits for the database.
#[test]
fn a_program_that_asks_and_goes_without_reading_is_done() {
    let daemon = TestDaemon::configured("[spool]\ndefault_window_bytes = 65536\n");
    let mut client = daemon.client();
    let script = "stty raw -echo; yes \"$(printf '\\033[c')\" | head -c 6000000";
    let id = client.create_terminal(&sh(script));
    client.ok("session.wait", &json!({ "id": id }));
    client.wait_until_stored();
    assert_comes_to_rest(&daemon);
}

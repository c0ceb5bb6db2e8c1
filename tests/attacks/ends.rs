//! Everything that a command started ends with it, whatever it dropped of what tells whose it is.

use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::process::Command;

use serde_json::json;
use termd_test_support::{
    DEADLINE, Deadline, Home, TestDaemon, sh, skip, wait_readable, wait_until,
};

use crate::Attack;

pub(crate) const ATTACKS: &[Attack] = &[
    (
        "what_leaves_a_sandboxed_terminal_ends_with_it",
        leaving_a_sandboxed_terminal,
    ),
    ("what_leaves_a_terminal_ends_with_it", leaving_a_terminal),
    (
        "what_belongs_to_no_terminal_is_listed_and_ends_with_the_daemon",
        belonging_to_no_terminal,
    ),
    ("what_forks_without_end_ends_with_its_terminal", forking),
];

/// How a terminal ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Kill,
    Close,
    Timeout,
    DaemonStop,
}

const ENDS: [End; 4] = [End::Kill, End::Close, End::Timeout, End::DaemonStop];

/// The terminal's own command runs on, or has exited when the terminal is ended. At its exit the kernel
/// sends SIGHUP to what has not left the session yet.
const MAINS: [(&str, &str); 2] = [("", "exec sleep 1000"), ("trap '' HUP; ", "exit 0")];

/// Nothing of the terminal stays open.
const AWAY: &str = "</dev/null >/dev/null 2>&1";

/// The processes with this argument.
fn with_argument(argument: &str) -> Vec<String> {
    let entries = fs::read_dir("/proc").unwrap();
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let has_it = |pid: &String| {
        let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let mut words = words.split(|byte| *byte == 0).skip(1);
        words.any(|word| word == argument.as_bytes())
    };
    pids.filter(has_it).collect()
}

/// Whether the one process with this argument is the fugitive: what it descends from had the argument
/// before it, has another name, and is in another session.
fn has_left(mark: &str) -> bool {
    let found = with_argument(mark);
    let [pid] = found.as_slice() else {
        return false;
    };
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let Some((name, fields)) = stat.rsplit_once(") ") else {
        return false;
    };
    // State, parent, group, session.
    let mut fields = fields.split(' ').skip(2);
    let (group, session) = (fields.next(), fields.next());
    name.ends_with("(sleep") && group == session && session.is_some()
}

/// A daemon whose terminals are held to a profile of these lines. `None` where the kernel does not
/// support it.
fn daemon(profile: &str) -> Option<TestDaemon> {
    let home = Home::create();
    home.configure(&format!(
        "kill_grace_ms = 200\n[policy.fronts.cli]\nprofile = 'p'\n[policy.profiles.p]\n{profile}"
    ));
    fs::create_dir_all(home.user_home().join("work")).unwrap();
    let daemon = TestDaemon::start_in(home);
    let params = json!({ "command": "/bin/true", "cwd": work(&daemon) });
    match daemon.client().request("session.create", &params) {
        Ok(_) => Some(daemon),
        Err(error) => {
            skip("what ends", format!("this kernel holds none: {error:?}"));
            None
        }
    }
}

fn work(daemon: &TestDaemon) -> String {
    let work = fs::canonicalize(daemon.user_home().join("work")).unwrap();
    work.to_str().unwrap().to_owned()
}

/// Starts a process that leaves its session, its parents and its environment.
fn start_fugitive(daemon: &TestDaemon, mark: &str, redirect: &str, main: (&str, &str)) -> String {
    let (before, after) = main;
    let script = format!("{before}env -i setsid -f sleep {mark} {redirect}; {after}");
    let mut params = sh(&script);
    params["cwd"] = json!(work(daemon));
    params["confirmed"] = json!(true);
    let id = daemon.client().create_terminal(&params);
    wait_until("it has left", || has_left(mark));
    id
}

fn everything_ends(profile: &str, redirect: &str) {
    for (case, end) in ENDS.into_iter().enumerate() {
        for (main_case, main) in MAINS.into_iter().enumerate() {
            let timeout = if end == End::Timeout {
                "timeout = '2s'\n"
            } else {
                ""
            };
            let Some(daemon) = daemon(&format!("{profile}{timeout}")) else {
                return;
            };
            if end == End::Timeout && main_case == 1 {
                // A timeout is of a command that runs.
                continue;
            }
            let mark = format!("{}.{case}{main_case}", 500_000 + daemon.keeper_pid());
            let id = start_fugitive(&daemon, &mark, redirect, main);
            let request = |method: &str| {
                let params = json!({ "id": id, "confirmed": true });
                let mut client = daemon.client();
                client.request(method, &params).unwrap();
            };
            match end {
                End::Kill => request("session.kill"),
                End::Close => request("session.close"),
                End::Timeout => {}
                End::DaemonStop => drop(daemon.stop()),
            }
            wait_until(&format!("it ends: {end:?}, {main:?}"), || {
                with_argument(&mark).is_empty()
            });
        }
    }
}

fn leaving_a_sandboxed_terminal() {
    everything_ends("sandbox = 'workspace'\n", AWAY);
}

/// Its standard input, output or error tell whose it is.
fn leaving_a_terminal() {
    everything_ends("", "");
    everything_ends("", "</dev/null >/dev/null");
}

/// Chains of processes: each leaves its session, starts the next one after two milliseconds and exits.
/// One look at all processes finds few of them.
fn forking() {
    let Some(daemon) = daemon("") else { return };
    let fifo = Path::new(&work(&daemon)).join("fifo");
    assert!(
        Command::new("mkfifo")
            .arg(&fifo)
            .status()
            .unwrap()
            .success()
    );
    // Four of them, by two forks.
    let chains = "import os, time, signal
for number in (1, 2, 15): signal.signal(number, signal.SIG_IGN)
os.fork(); os.fork()
while True:
  time.sleep(0.002)
  os.write(9, b'.')
  if os.fork(): os._exit(0)
  os.setsid()";
    let script = "exec 9>fifo </dev/null >/dev/null 2>&1; python3 -c \"$0\" & exec sleep 1000";
    for method in ["session.kill", "session.close"]
        .into_iter()
        .cycle()
        .take(6)
    {
        let mut client = daemon.client();
        let id = client.create_terminal(&json!({
            "command": "/bin/sh",
            "args": ["-c", script, chains],
            "cwd": work(&daemon),
            "confirmed": true,
        }));
        let mut links = fs::File::open(&fifo).unwrap();
        links.read_exact(&mut [0; 40]).unwrap();
        let params = json!({ "id": id, "confirmed": true });
        client.request(method, &params).unwrap();
        // A FIFO is at its end when nobody has it open for writing.
        let deadline = Deadline::after(DEADLINE);
        while wait_readable(&links, deadline) && links.read(&mut [0; 4096]).unwrap() > 0 {}
        assert!(!deadline.passed(), "{method}: processes are left");
    }
}

fn belonging_to_no_terminal() {
    let Some(daemon) = daemon("") else { return };
    let mark = format!("{}.9", 500_000 + daemon.keeper_pid());
    let id = start_fugitive(&daemon, &mark, AWAY, MAINS[0]);
    let mut client = daemon.client();
    let params = json!({ "id": id, "confirmed": true });
    client.request("session.close", &params).unwrap();
    let stats = client.request("daemon.stats", &json!({})).unwrap();
    assert_eq!(stats["orphan_count"], 1, "{stats}");
    let pid: i64 = with_argument(&mark)[0].parse().unwrap();
    assert_eq!(stats["orphans"], json!([{ "pid": pid, "name": "sleep" }]));
    drop(client);
    drop(daemon.stop());
    wait_until("it ends with the daemon", || {
        with_argument(&mark).is_empty()
    });
}

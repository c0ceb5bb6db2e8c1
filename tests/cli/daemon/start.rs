//! The start of the daemon on demand: by the first command that needs it, and once. The daemon
//! outlives the command.

use std::io::Read;
use std::mem::MaybeUninit;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;

use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use rustix::process::Signal;
use serde_json::Value;
use termd_test_support::{DEADLINE, Deadline, Home, Process, RawClient, wait_readable};

use crate::termctl::{TermctlOutput, command, ok, spawn, termctl};

/// The keeper of the daemon in this home.
fn keeper(home: &Home) -> Process {
    let mut client = RawClient::connect(&home.socket());
    let info = client.ok("daemon.info", &Value::Null);
    Process::expect(info["keeper_pid"].as_i64().unwrap())
}

/// Stops the daemon that termctl started in this home.
#[track_caller]
pub(crate) fn stop(home: &Home) {
    let keeper = keeper(home);
    keeper.signal(Signal::TERM);
    keeper.wait_for_end();
}

#[test]
fn the_first_run_starts_the_daemon() {
    let home = Home::create();
    let output = termctl(&home, &["run", "--", "echo", "hello"]);
    assert_eq!(
        (output.code, output.out.as_str(), output.err.as_str()),
        (Some(0), "hello\n", "")
    );
    let id = ok(&home, &["create", "--", "sleep", "1000"]);
    assert!(
        ok(&home, &["list"]).contains(&id),
        "the same daemon serves on"
    );
    let text = ok(&home, &["status"]);
    assert!(text.contains(&keeper(&home).pid.to_string()), "{text}");
    stop(&home);
}

/// The daemon has a session of its own, so the end of a shell or an MCP client does not end it.
#[test]
fn the_daemon_has_a_session_of_its_own() {
    let home = Home::create();
    ok(&home, &["list"]);
    let pid = keeper(&home).pid;
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields: Vec<&str> = stat[stat.rfind(')').unwrap() + 2..].split(' ').collect();
    let own = std::fs::read_to_string("/proc/self/stat").unwrap();
    let own: Vec<&str> = own[own.rfind(')').unwrap() + 2..].split(' ').collect();
    assert_ne!(fields[3], own[3], "the session of whoever started it");
    assert_eq!(fields[4], "0", "no controlling tty");
    let cwd = std::fs::read_link(format!("/proc/{pid}/cwd")).unwrap();
    assert_eq!(
        cwd,
        std::path::Path::new("/"),
        "it holds no directory of the caller's"
    );
    stop(&home);
}

#[test]
fn many_at_once_start_one() {
    let home = Home::create();
    let children: Vec<_> = (0..8)
        .map(|n| spawn(&home, &["run", "--", "echo", &n.to_string()]))
        .collect();
    for (n, child) in children.into_iter().enumerate() {
        let output = TermctlOutput::wait(child);
        assert_eq!(
            (output.code, output.out),
            (Some(0), format!("{n}\n")),
            "{}",
            output.err
        );
    }
    stop(&home);
}

/// A daemon that is starting or ending has the lock and no socket. Another start waits for it.
#[test]
fn a_start_waits_for_a_daemon_that_does_not_listen_yet() {
    let home = Home::create();
    let socket = home.socket();
    let directory = socket.parent().unwrap();
    std::fs::create_dir_all(directory).unwrap();
    std::fs::set_permissions(directory, std::fs::Permissions::from_mode(0o700)).unwrap();
    let lock = std::fs::File::create(directory.join("termd.sock.lock")).unwrap();
    lock.lock().unwrap();
    let opens = inotify::init(CreateFlags::CLOEXEC).unwrap();
    inotify::add_watch(&opens, directory.join("termd.sock.lock"), WatchFlags::OPEN).unwrap();
    let child = spawn(&home, &["run", "--", "echo", "served"]);
    // A second look at the lock tells that the first one did not end the start.
    let mut buffer = [MaybeUninit::uninit(); 512];
    let mut events = inotify::Reader::new(&opens, &mut buffer);
    for _ in 0..2 {
        assert!(wait_readable(&opens, Deadline::after(DEADLINE)));
        events.next().unwrap();
    }
    drop(lock);
    let output = TermctlOutput::wait(child);
    assert_eq!(
        (output.code, output.out.as_str()),
        (Some(0), "served\n"),
        "{}",
        output.err
    );
    stop(&home);
}

/// Nobody waits on a pipe for a daemon that outlives the command.
#[test]
fn the_daemon_holds_none_of_the_callers_descriptors() {
    let home = Home::create();
    // `output()` reads both pipes until no process holds them.
    let mut list = command(&home, &["list"]);
    let output = TermctlOutput::of(&list.output().unwrap());
    assert_eq!(output.code, Some(0), "{output:?}");
    assert!(keeper(&home).is_alive());
    stop(&home);
}

/// The same for a further pipe that the shell has passed on.
#[test]
fn the_daemon_holds_no_pipe_that_it_inherited() {
    let home = Home::create();
    let termctl = command(&home, &["list"]);
    let mut shell = home.command("/bin/sh");
    shell
        .args(["-c", "exec 9>&1 >/dev/null; exec \"$0\" \"$@\""])
        .arg(termctl.get_program())
        .args(termctl.get_args());
    let mut child = shell.stdout(Stdio::piped()).spawn().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let mut pipe = child.stdout.take().unwrap();
    assert!(
        wait_readable(&pipe, Deadline::after(DEADLINE)),
        "the daemon holds the pipe open"
    );
    let mut rest = String::new();
    pipe.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "");
    assert!(keeper(&home).is_alive());
    stop(&home);
}

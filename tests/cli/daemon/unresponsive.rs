//! A server that does not answer: `termctl run` still ends on a signal.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use termd_test_support::{Deadline, Process, TestDaemon, wait_until};

use crate::run::running;
use crate::termctl::command;

/// More than the time limit of termctl for a close, with reserve for a busy machine. It is far
/// below the limits for a call and for a silent server.
const BOUND: Duration = Duration::from_secs(10);
/// Less than the time limit of termctl for a close.
const AT_ONCE: Duration = Duration::from_millis(1_700);

/// A server that is stopped until this is dropped.
struct StoppedServer(Process);

impl StoppedServer {
    fn of(daemon: &TestDaemon) -> Self {
        let server = daemon.server();
        server.stop();
        Self(server)
    }
}

impl Drop for StoppedServer {
    fn drop(&mut self) {
        self.0.signal(Signal::CONT);
    }
}

/// Waits for the end of termctl, at most this long: its exit code.
#[track_caller]
fn ends_within(mut child: Child, time: Duration) -> Option<i32> {
    let ended = Process::expect(child.id().into()).ends_by(Deadline::after(time));
    if !ended {
        child.kill().unwrap();
    }
    let code = child.wait().unwrap().code();
    assert!(ended, "it did not end within {time:?}");
    code
}

#[test]
fn a_signal_ends_run_though_the_terminal_cannot_be_closed() {
    let daemon = TestDaemon::start();
    for (signal, code) in [(Signal::TERM, 143), (Signal::HUP, 129)] {
        let (child, command) = running(&daemon, &[]);
        let silenced = StoppedServer::of(&daemon);
        Process::expect(child.id().into()).signal(signal);
        assert_eq!(ends_within(child, BOUND), Some(code), "{signal:?}");
        assert!(command.is_alive(), "nobody could have ended it");
        drop(silenced);
        command.wait_for_end();
    }
}

#[test]
fn a_second_signal_ends_it_at_once() {
    let daemon = TestDaemon::start();
    let (child, command) = running(&daemon, &[]);
    let silenced = StoppedServer::of(&daemon);
    let begun = Instant::now();
    let process = Process::expect(child.id().into());
    process.signal(Signal::TERM);
    process.signal(Signal::HUP);
    let code = ends_within(child, AT_ONCE.saturating_sub(begun.elapsed()));
    // The kernel decides which of two pending signals is delivered first.
    assert!(matches!(code, Some(129 | 143)), "{code:?}");
    drop(silenced);
    command.wait_for_end();
}

#[test]
fn a_signal_ends_run_before_its_command_has_started() {
    let daemon = TestDaemon::start();
    let silenced = StoppedServer::of(&daemon);
    for (signal, code) in [(Signal::TERM, 143), (Signal::HUP, 129), (Signal::INT, 130)] {
        let child = spawn(&mut command(&daemon, &["run", "--", "sleep", "1000"]));
        let process = Process::expect(child.id().into());
        wait_until("termctl catches signals", || {
            catches(process.pid, Signal::HUP)
        });
        process.signal(signal);
        assert_eq!(ends_within(child, BOUND), Some(code), "{signal:?}");
    }
    drop(silenced);
}

fn spawn(command: &mut Command) -> Child {
    command.stdout(Stdio::null()).spawn().unwrap()
}

/// Whether a process has a handler for a signal (`SigCgt` of `proc_pid_status(5)`).
fn catches(pid: i32, signal: Signal) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let caught = u64::from_str_radix(line.unwrap().trim(), 16).unwrap();
    caught & (1 << (signal.as_raw() - 1)) != 0
}

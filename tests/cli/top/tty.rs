//! The tty of `top` on every way out, and over a server that dies.

use rustix::process::Signal;
use serde_json::json;
use termd_test_support::{Process, TestDaemon, process_state, skip, wait_until};

use super::top_tty::TopTty;
use crate::termctl::{command, ok, termctl};

const SIZE: (u16, u16) = (80, 24);

fn top(daemon: &TestDaemon) -> TopTty {
    let mut top = TopTty::new(daemon, SIZE, &["top"]);
    top.wait_for_text("other");
    top
}

fn with_terminal() -> TestDaemon {
    let daemon = TestDaemon::start();
    ok(
        &daemon,
        &["create", "--label", "other", "--", "sleep", "1000"],
    );
    daemon
}

#[test]
fn signals_end_it_and_restore_the_tty() {
    let daemon = with_terminal();
    for (signal, code) in [(Signal::TERM, 143), (Signal::HUP, 129), (Signal::INT, 130)] {
        let top = top(&daemon);
        top.process().signal(signal);
        assert_eq!(top.wait_restored(), Some(code), "{signal:?}");
    }
    let mut last = top(&daemon);
    last.press("\x03");
    assert_eq!(last.wait_restored(), Some(0), "ctrl-c quits");
}

#[test]
fn it_is_suspended_with_the_tty_restored_and_comes_back() {
    let daemon = with_terminal();
    let mut top = top(&daemon);
    for key in [true, false] {
        if key {
            top.press("\x1a");
        } else {
            top.process().signal(Signal::TSTP);
        }
        let pid = top.pid();
        wait_until("it is stopped", || {
            process_state(pid).is_some_and(|state| state.starts_with('T'))
        });
        assert!(top.is_restored());
        top.process().signal(Signal::CONT);
        top.wait_for("it is back", |shown| shown.contains("other"));
        wait_until("the tty is its own", || !top.is_restored());
    }
    top.press("q");
    assert_eq!(top.wait_restored(), Some(0));
}

#[test]
fn a_script_of_a_shell_with_jobs_is_suspended_with_it() {
    let daemon = with_terminal();
    let termctl = command(&daemon, &["top"]);
    let mut shell = daemon.command("bash");
    shell.args(["--norc", "--noprofile", "-i"]);
    shell.env("PS1", "prompt> ");
    let mut top = TopTty::of(&shell, SIZE);
    top.wait_for_text("prompt>");
    let path = termctl.get_program().to_string_lossy();
    top.press(&format!("bash -c '{path} top; echo ov''er'\r"));
    for _ in 0..2 {
        top.wait_for_text("sleep 1000");
        top.press("\x1a");
        top.wait_for_text("Stopped");
        top.press("fg\r");
    }
    top.wait_for_text("sleep 1000");
    top.press("q");
    top.wait_for_text("over");
    top.press("exit\r");
    assert_eq!(top.wait_restored(), Some(0));
}

#[test]
fn it_is_not_suspended_where_no_shell_would_continue_it() {
    let daemon = with_terminal();
    let termctl = command(&daemon, &["top"]);
    let script = ["sh", "-c", "\"$0\" top; echo over"];
    // As by `docker exec`: its process group and session are in a PID namespace above, and are 0.
    let below = ["unshare", "--user", "--map-current-user", "--pid", "--fork"];
    let mut programs = vec![script.to_vec(), [&below[..], &script[..]].concat()];
    let mut unshare = daemon.command("unshare");
    let tried = unshare.args(&below[1..]).arg("true").output().unwrap();
    if !tried.status.success() {
        skip(
            "top in a PID namespace",
            String::from_utf8_lossy(&tried.stderr),
        );
        programs.pop();
    }
    for words in programs {
        let mut program = daemon.command(words[0]);
        program
            .args(words.iter().skip(1))
            .arg(termctl.get_program());
        let mut top = TopTty::of(&program, SIZE);
        top.wait_for_text("other");
        top.press("\x1a");
        top.wait_for_text("no shell here");
        top.press("q");
        top.wait_for_text("over");
        assert_eq!(top.wait_restored(), Some(0), "{words:?}");
    }
}

#[test]
fn a_killed_server_is_waited_for_and_said() {
    let daemon = with_terminal();
    let mut top = top(&daemon);
    for _ in 0..2 {
        let info = daemon.client().ok("daemon.info", &json!({}));
        let server = info["server_pid"].as_i64().unwrap();
        Process::expect(server).signal(Signal::KILL);
        top.wait_for_text("the daemon answers again");
        top.press("\x1b[A");
    }
    let again = ok(&daemon, &["create", "--label", "another", "--", "true"]);
    top.wait_for_text("another");
    ok(&daemon, &["close", &again]);
    top.wait_for("it is gone", |shown| !shown.contains("another"));
    top.press("q");
    assert_eq!(top.wait_restored(), Some(0));
}

#[test]
fn a_server_that_hangs_is_told_and_nothing_is_lost_without_a_word() {
    let daemon = with_terminal();
    let mut top = top(&daemon);
    let info = daemon.client().ok("daemon.info", &json!({}));
    let server = Process::expect(info["server_pid"].as_i64().unwrap());
    server.signal(Signal::STOP);
    top.press("i");
    top.press("one\r");
    top.wait_for_text("no answer");
    top.wait_for_text("the daemon does not answer");
    server.signal(Signal::CONT);
    top.wait_for_text("typed");
    top.wait_for("it is here again", |shown| !shown.contains("no answer"));
    top.press("q");
    assert_eq!(top.wait_restored(), Some(0));
}

#[test]
fn without_a_daemon_it_says_so_and_can_be_quit() {
    let daemon = with_terminal();
    let mut top = top(&daemon);
    let home = daemon.stop();
    top.wait_for_text("reconnecting: ");
    top.press("k");
    top.press("q");
    assert_eq!(top.wait_restored(), Some(0));
    assert_eq!(termctl(&home, &["list", "--no-start"]).code, Some(4));
}

/// Nothing that is asked again and again: neither of the daemon, nor of the clock.
#[test]
fn while_nothing_changes_it_does_not_run() {
    let daemon = with_terminal();
    let mut top = top(&daemon);
    let pid = top.pid();
    let ran = || {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        let switches = status.lines().filter(|line| line.contains("ctxt_switches"));
        let counts =
            switches.filter_map(|line| line.split_whitespace().last()?.parse::<u64>().ok());
        counts.sum::<u64>()
    };
    // What follows from its start is over when two looks are alike.
    let mut before = ran();
    wait_until("it is quiet", || {
        top.look();
        std::thread::park_timeout(std::time::Duration::from_secs(1));
        let now = ran();
        let is_quiet = now - before <= 1;
        before = now;
        is_quiet
    });
    top.press("q");
    assert_eq!(top.wait_restored(), Some(0));
}

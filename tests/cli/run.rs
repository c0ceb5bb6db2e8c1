//! `termctl run`: the output and exit code of a command, as from the shell.

use std::io::{Read, Write};
use std::process::Stdio;

use rustix::process::Signal;
use serde_json::json;
use termd_test_support::{Process, Pty, TestDaemon, wait_until};

use crate::termctl::{TermctlOutput, command, ok, termctl};

#[test]
fn exit_codes_and_signals_are_passed_on() {
    let daemon = TestDaemon::start();
    for (script, code) in [
        ("exit 0", 0),
        ("exit 1", 1),
        ("exit 3", 3),
        ("exit 42", 42),
        ("exit 255", 255),
        ("kill -HUP $$", 129),
        ("kill -INT $$", 130),
        ("kill -KILL $$", 137),
        ("kill -TERM $$", 143),
    ] {
        let output = termctl(&daemon, &["run", "--confirmed", "--", "sh", "-c", script]);
        assert_eq!(output.code, Some(code), "{script}: {output:?}");
        assert_eq!(output.out, "", "{script}");
    }
}

#[test]
fn output_is_streamed_whole_with_the_programs_line_ends() {
    let daemon = TestDaemon::start();
    let output = termctl(&daemon, &["run", "--", "printf", "a\\nb\\r\\nc"]);
    assert_eq!((output.code, output.out.as_str()), (Some(0), "a\nb\nc"));
    let bar = "\\033[32m10%%\\r\\033[K100%%\\033[m\\n";
    let output = termctl(&daemon, &["run", "--", "printf", bar]);
    assert_eq!(output.out, "100%\n");
    let output = termctl(&daemon, &["run", "--raw", "--", "printf", "a\\nb"]);
    assert_eq!(output.out, "a\r\nb");
    let output = termctl(&daemon, &["run", "--", "seq", "1", "300000"]);
    let expected: String = (1..=300_000).map(|n| format!("{n}\n")).collect();
    assert!(
        output.out == expected,
        "{} of {} bytes",
        output.out.len(),
        expected.len()
    );
    let output = termctl(&daemon, &["run", "echo a && echo b"]);
    assert_eq!((output.code, output.out.as_str()), (Some(0), "a\nb\n"));
}

#[test]
fn output_comes_while_the_command_runs() {
    let daemon = TestDaemon::start();
    let mut child = command(
        &daemon,
        &[
            "run",
            "-i",
            "--",
            "sh",
            "-c",
            "echo first; read go; echo last",
        ],
    )
    .stdin(Stdio::piped())
    .stdout(Stdio::piped())
    .spawn()
    .unwrap();
    let mut first = [0; 6];
    child
        .stdout
        .as_mut()
        .unwrap()
        .read_exact(&mut first)
        .unwrap();
    assert_eq!(&first, b"first\n");
    child.stdin.take().unwrap().write_all(b"go\n").unwrap();
    let output = TermctlOutput::wait(child);
    assert_eq!(output.code, Some(0));
    assert!(output.out.ends_with("last\n"), "{output:?}");
}

#[test]
fn the_callers_directory_and_environment_are_the_commands() {
    let daemon = TestDaemon::start();
    let mut command = command(
        &daemon,
        &["run", "--env", "B=2", "--", "sh", "-c", "pwd; echo $A$B"],
    );
    command.env("A", "1").current_dir(daemon.path("bin"));
    let output = TermctlOutput::of(&command.output().unwrap());
    assert_eq!(
        output.out,
        format!("{}\n12\n", daemon.path("bin").display())
    );
}

#[test]
fn a_timeout_ends_the_command_and_exits_with_124() {
    let daemon = TestDaemon::start();
    let script = "echo \"pid $$;\"; exec sleep 1000";
    let output = termctl(
        &daemon,
        &["run", "--timeout", "300ms", "--", "sh", "-c", script],
    );
    assert_eq!(output.code, Some(124), "{output:?}");
    assert!(
        output.out.starts_with("pid "),
        "what it said is still shown: {output:?}"
    );
    let pid = output.out[4..].split(';').next().unwrap().parse().unwrap();
    wait_until("the command has ended", || {
        Process::open(pid).is_none_or(|process| !process.is_alive())
    });
    let output = termctl(
        &daemon,
        &["run", "--timeout", "60s", "--", "sh", "-c", "exit 5"],
    );
    assert_eq!(output.code, Some(5));
}

#[test]
fn the_terminal_is_closed_after_it_unless_kept() {
    let daemon = TestDaemon::start();
    ok(&daemon, &["run", "--label", "gone", "--", "true"]);
    assert!(!ok(&daemon, &["list"]).contains("gone"));
    assert!(
        ok(&daemon, &["list", "--all"]).contains("gone"),
        "its record stays"
    );
    ok(
        &daemon,
        &["run", "--keep", "--label", "kept", "--", "echo", "words"],
    );
    assert!(ok(&daemon, &["list"]).contains("kept"));
    assert_eq!(ok(&daemon, &["read", "kept"]), "words");
}

#[test]
fn json_is_one_object_at_the_end() {
    let daemon = TestDaemon::start();
    let output = termctl(
        &daemon,
        &["run", "--json", "--", "sh", "-c", "echo hello; exit 6"],
    );
    assert_eq!(output.code, Some(6));
    let result = output.json();
    assert!(
        result["id"]
            .as_str()
            .is_some_and(|id| id.starts_with("term_")),
        "{result}"
    );
    assert!(result.to_string().contains("\"exit_code\":6"), "{result}");
}

/// The only terminal of the daemon.
fn only_terminal(daemon: &TestDaemon) -> serde_json::Value {
    let page = daemon
        .client()
        .ok("session.list", &json!({ "scope": "all" }));
    page["terminals"][0].clone()
}

/// Starts `termctl run` of a script that prints its pid: termctl and the command's process.
pub(crate) fn running(daemon: &TestDaemon, args: &[&str]) -> (std::process::Child, Process) {
    let all = [
        &["run"],
        args,
        &["--", "sh", "-c", "echo \"pid $$;\"; exec sleep 1000"],
    ]
    .concat();
    let mut child = command(daemon, &all)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut output = Vec::new();
    let mut byte = [0];
    while !output.ends_with(b";") {
        child
            .stdout
            .as_mut()
            .unwrap()
            .read_exact(&mut byte)
            .unwrap();
        output.push(byte[0]);
    }
    let text = String::from_utf8(output).unwrap();
    let pid = text
        .trim_start_matches("pid ")
        .trim_end_matches(';')
        .parse()
        .unwrap();
    (child, Process::expect(pid))
}

#[test]
fn signals_to_termctl_end_the_command() {
    let daemon = TestDaemon::start();
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)] {
        let (mut child, command) = running(&daemon, &[]);
        Process::expect(child.id().into()).signal(signal);
        command.wait_for_end();
        assert_eq!(child.wait().unwrap().code(), Some(code), "{signal:?}");
    }
}

/// A killed termctl takes its terminal with it, unless the terminal is kept.
#[test]
fn a_killed_termctl_ends_its_command_unless_kept() {
    let daemon = TestDaemon::start();
    let (mut child, command) = running(&daemon, &[]);
    child.kill().unwrap();
    child.wait().unwrap();
    command.wait_for_end();
    wait_until("the terminal is closed", || {
        only_terminal(&daemon)["state"] == "closed"
    });
    let (mut child, command) = running(&daemon, &["--keep"]);
    child.kill().unwrap();
    child.wait().unwrap();
    daemon.client().ok("daemon.info", &serde_json::Value::Null);
    assert!(command.is_alive());
}

#[test]
fn closed_standard_output_ends_the_command() {
    let daemon = TestDaemon::start();
    let mut child = command(&daemon, &["run", "--", "yes"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut some = [0; 10];
    child.stdout.take().unwrap().read_exact(&mut some).unwrap();
    assert_eq!(&some, b"y\ny\ny\ny\ny\n");
    let process = Process::expect(child.id().into());
    process.wait_for_end();
    assert_eq!(child.wait().unwrap().code(), Some(141));
    wait_until("the command has ended", || {
        only_terminal(&daemon)["state"] == "closed"
    });
}

/// Ctrl-C at the person's tty is Ctrl-C at the command's tty.
#[test]
fn control_c_at_the_tty_reaches_the_command() {
    let daemon = TestDaemon::start();
    let mut pty = Pty::open(100, 30);
    let before = pty.modes();
    let script = "trap 'echo caught; exit 33' INT; echo ready; while :; do sleep 0.02; done";
    let mut child = pty.spawn(&command(&daemon, &["run", "--", "sh", "-c", script]));
    pty.read_until("ready");
    pty.write([3]);
    pty.read_until("caught");
    assert_eq!(pty.wait(&mut child).code(), Some(33));
    assert_eq!(pty.modes(), before);
}

#[test]
fn at_a_tty_the_command_has_its_size() {
    let daemon = TestDaemon::start();
    let mut pty = Pty::open(101, 31);
    let mut child = pty.spawn(&command(&daemon, &["run", "--", "stty", "size"]));
    pty.read_until("31 101");
    assert_eq!(pty.wait(&mut child).code(), Some(0));
}

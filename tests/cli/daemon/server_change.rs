//! A change of the server while termctl talks to it: termctl continues where it was.

use std::fs::File;
use std::io::{Read, Write as _};
use std::process::{Command, Stdio};

use rustix::process::Signal;
use termd_test_support::{Pty, TestDaemon, wait_until};

use crate::termctl::{TermctlOutput, command, ok, ready_terminal, spawn};

#[test]
fn run_goes_on_with_the_next_server() {
    let daemon = TestDaemon::start();
    let script = "stty -echo; echo one; read go; echo two; exit 5";
    let mut child = spawn(
        &daemon,
        &["run", "-t", "--label", "r", "--", "sh", "-c", script],
    );
    let mut one = [0; 4];
    child.stdout.as_mut().unwrap().read_exact(&mut one).unwrap();
    daemon.kill_server();
    daemon.client().send_text("r", "\n");
    let output = TermctlOutput::wait(child);
    assert_eq!(
        (output.code, output.out.as_str()),
        (Some(5), "two\n"),
        "{output:?}"
    );
}

/// 50 MB through a filter, and the server killed again and again in the middle of it.
#[test]
fn run_passes_all_of_its_input_on_over_killed_servers() {
    let daemon = TestDaemon::start();
    let numbers = (0_u32..6_250_000).flat_map(|number| format!("{number:07}\n").into_bytes());
    let sent: Vec<u8> = numbers.collect();
    let mut child = command(&daemon, &["run", "--", "sha256sum"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    for part in sent.chunks(10_000_000) {
        let (first, rest) = part.split_at(2_000_000);
        stdin.write_all(first).unwrap();
        daemon.kill_server();
        stdin.write_all(rest).unwrap();
    }
    drop(stdin);
    let output = TermctlOutput::wait(child);
    let file = daemon.path("sent");
    std::fs::write(&file, &sent).unwrap();
    let expected = Command::new("sha256sum")
        .stdin(File::open(file).unwrap())
        .output()
        .unwrap();
    let expected = String::from_utf8_lossy(&expected.stdout).into_owned();
    assert_eq!((output.code, output.err.as_str()), (Some(0), ""));
    assert_eq!(output.out, expected);
}

#[test]
fn wait_and_follow_go_on_with_the_next_server() {
    let daemon = TestDaemon::start();
    let id = ok(
        &daemon,
        &[
            "create",
            "--",
            "sh",
            "-c",
            "stty -echo; echo one; read go; echo two; exit 44",
        ],
    );
    daemon.client().wait_for_text(&id, "one");
    let wait = spawn(&daemon, &["wait", &id]);
    let mut follow = spawn(&daemon, &["read", "--follow", &id]);
    let mut one = [0; 4];
    follow
        .stdout
        .as_mut()
        .unwrap()
        .read_exact(&mut one)
        .unwrap();
    daemon.kill_server();
    daemon.signal(Signal::HUP);
    daemon.client().send_text(&id, "\n");
    let output = TermctlOutput::wait(follow);
    assert_eq!(
        (output.code, output.out.as_str()),
        (Some(0), "two\n"),
        "{output:?}"
    );
    let output = TermctlOutput::wait(wait);
    assert_eq!(output.code, Some(44), "{output:?}");
}

#[test]
fn attach_goes_on_with_the_next_server() {
    let daemon = TestDaemon::start();
    let script = "stty -echo; echo ready; while read line; do echo \"GOT $line\"; done";
    let id = ready_terminal(&daemon, script);
    let mut pty = Pty::open(80, 24);
    let before = pty.modes();
    let mut child = pty.spawn(&command(&daemon, &["attach", &id]));
    pty.read_until("ready");
    pty.write("first\r");
    pty.read_until("GOT first");
    daemon.kill_server();
    // Input typed into the gap may be lost. A person sees that and types it again.
    wait_until("the next server takes what is typed", || {
        pty.write("second\r");
        pty.read_now().contains("GOT second")
    });
    pty.write("\x1dd");
    assert_eq!(pty.wait(&mut child).code(), Some(0));
    assert_eq!(pty.modes(), before);
}

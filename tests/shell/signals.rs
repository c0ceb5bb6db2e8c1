//! Signals to the shell, and its death.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Stdio};

use rustix::process::Signal;
use serde_json::json;
use termd_test_support::{Process, children_of, wait_until};

use crate::TestShells;

/// Starts a line, and waits for the first line that it prints: that line.
fn start(shells: &TestShells, line: &str) -> (Child, String) {
    let mut child = shells
        .command(&["-c", line])
        .stdout(Stdio::piped())
        // Bash tells of the signals.
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut first = String::new();
    let out = child.stdout.as_mut().unwrap();
    // Nothing more is printed before a signal.
    BufReader::with_capacity(1, out)
        .read_line(&mut first)
        .unwrap();
    (child, first.trim_end().to_owned())
}

fn process(child: &Child) -> Process {
    Process::expect(child.id().into())
}

#[test]
fn signals_reach_the_tree_and_the_code_comes_back() {
    let shells = TestShells::open();
    for (signal, name) in [
        (Signal::TERM, "TERM"),
        (Signal::INT, "INT"),
        (Signal::HUP, "HUP"),
        (Signal::QUIT, "QUIT"),
        (Signal::USR1, "USR1"),
        (Signal::USR2, "USR2"),
        (Signal::ALARM, "ALRM"),
    ] {
        let line = format!("trap 'exit 9' {name}; echo ready; while :; do sleep 0.05; done");
        let (mut child, _) = start(&shells, &line);
        process(&child).signal(signal);
        assert_eq!(child.wait().unwrap().code(), Some(9), "{name}");
    }
    let (mut child, _) = start(&shells, "echo ready; exec sleep 1000");
    process(&child).signal(Signal::TERM);
    assert_eq!(
        child.wait().unwrap().code(),
        Some(143),
        "it does not die by the signal itself"
    );
}

#[test]
fn its_death_ends_the_tree() {
    let shells = TestShells::open();
    let line = "setsid sleep 1000 & a=$!; sleep 1000 & echo $$ $a $!; wait";
    let (mut child, pids) = start(&shells, line);
    let pids = pids
        .split(' ')
        .map(|pid| Process::expect(pid.parse().unwrap()));
    let processes: Vec<Process> = pids.collect();
    assert_eq!(processes.len(), 3);
    process(&child).signal(Signal::KILL);
    child.wait().unwrap();
    for process in &processes {
        process.wait_for_end();
    }
}

#[test]
fn a_signal_that_the_command_ignores_does_not_reach_it() {
    let shells = TestShells::open();
    let line = "trap '' INT; exec \"$SHIM\" -c 'echo ready; read line; echo $line'";
    let mut command = shells.daemon.command("/bin/bash");
    command.args(["-c", line]).env("SHIM", shells.bash());
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut first = String::new();
    out.read_line(&mut first).unwrap();
    process(&child).signal(Signal::INT);
    child.stdin.take().unwrap().write_all(b"alive\n").unwrap();
    assert_eq!(std::io::read_to_string(out).unwrap(), "alive\n");
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn the_agents_death_ends_what_runs() {
    let shells = TestShells::open();
    let pids = shells.daemon.path("pids");
    let line = format!(
        "\"$SHIM\" -c 'setsid sleep 1000 & echo $PPID $$ $! > {0}.new; mv {0}.new {0}; wait'; true",
        pids.display()
    );
    let mut command = shells.daemon.command("/bin/bash");
    command.args(["-c", &line]).env("SHIM", shells.bash());
    let mut agent = command.stdin(Stdio::null()).spawn().unwrap();
    wait_until("the command runs", || pids.exists());
    let text = std::fs::read_to_string(&pids).unwrap();
    // The first is the keeper, the parent of all commands.
    let pids = text.split_whitespace().skip(1);
    let mut processes: Vec<Process> = pids
        .map(|pid| Process::expect(pid.parse().unwrap()))
        .collect();
    let shells = children_of(agent.id().cast_signed());
    processes.extend(shells.into_iter().filter_map(Process::open));
    assert_eq!(processes.len(), 3);
    agent.kill().unwrap();
    agent.wait().unwrap();
    for process in &processes {
        process.wait_for_end();
    }
}

/// Its end comes before the command's start, while a person is asked.
#[test]
fn the_agents_death_ends_what_waits_for_a_person() {
    let shells = TestShells::open();
    let mut watcher = shells.daemon.client();
    watcher.ok(
        "daemon.hello",
        &json!({ "client": "a watcher", "front": "cli" }),
    );
    let before = watcher.ok("approval.list", &json!({ "after": 0, "wait_ms": 1 }))["seq"].clone();
    let mut command = shells.daemon.command("/bin/bash");
    command.args(["-c", "\"$SHIM\" -c 'rm -rf build'; true"]);
    command.env("SHIM", shells.bash());
    let mut agent = command.stdin(Stdio::null()).spawn().unwrap();
    let wait = json!({ "after": before, "wait_ms": 20_000 });
    let seen = watcher.ok("approval.list", &wait);
    assert_eq!(seen["approvals"][0]["state"], "pending", "{seen}");
    let shell = children_of(agent.id().cast_signed());
    let shell = Process::open(shell[0]).unwrap();
    assert!(shell.is_alive(), "it waits for the answer");
    agent.kill().unwrap();
    agent.wait().unwrap();
    shell.wait_for_end();
}

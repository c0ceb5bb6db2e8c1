//! Signals to the shell, and its death.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};

use rustix::process::Signal;
use termd_test_support::Process;

use crate::Door;

/// Starts a line, and waits for the first line that it prints: that line.
fn start(door: &Door, line: &str) -> (Child, String) {
    let mut child = door
        .command(&["-c", line])
        .stdout(Stdio::piped())
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
    let door = Door::open();
    for (signal, name) in [
        (Signal::TERM, "TERM"),
        (Signal::INT, "INT"),
        (Signal::HUP, "HUP"),
        (Signal::USR1, "USR1"),
    ] {
        let line = format!("trap 'exit 9' {name}; echo ready; while :; do sleep 0.05; done");
        let (mut child, _) = start(&door, &line);
        process(&child).signal(signal);
        assert_eq!(child.wait().unwrap().code(), Some(9), "{name}");
    }
    let (mut child, _) = start(&door, "echo ready; exec sleep 1000");
    process(&child).signal(Signal::TERM);
    assert_eq!(
        child.wait().unwrap().code(),
        Some(143),
        "it does not die by the signal itself"
    );
}

#[test]
fn its_death_ends_the_tree() {
    let door = Door::open();
    let line = "setsid sleep 1000 & a=$!; sleep 1000 & echo $$ $a $!; wait";
    let (mut child, pids) = start(&door, line);
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

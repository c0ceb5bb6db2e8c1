//! What a command leaves running.

use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;
use termd_test_support::{Process, TestDaemon, wait_until};

use crate::{Ended, TestShells};

/// Long beyond what a call takes, and short beside the life of what it leaves.
const AT_ONCE: Duration = Duration::from_secs(5);

#[test]
fn a_child_that_keeps_the_pipes_holds_no_call_up() {
    let shells = TestShells::open();
    for line in ["sleep 1000 & echo hi", "yes & echo hi"] {
        let began = Instant::now();
        let ended = shells.run(line);
        assert!(ended.out.contains("hi\n"), "{line}");
        assert_eq!(ended.code, Some(0), "{line}");
        assert!(began.elapsed() < AT_ONCE, "{line}: {:?}", began.elapsed());
    }
}

#[test]
fn a_child_that_prints_after_its_call_lives_on() {
    let shells = TestShells::open();
    let mut agent = agent(&shells);
    let mut input = agent.stdin.take().unwrap();
    let (go, done) = (shells.daemon.path("go"), shells.daemon.path("done"));
    let line = format!(
        "mkfifo {go}; \"$SHIM\" -c '(while read -r x; do seq 1 \"$x\" && seq 1 9 >&2 && echo \"$x\" >> {done}; \
         done < {go}) &'; exec 3> {go}\n",
        go = go.display(),
        done = done.display()
    );
    input.write_all(line.as_bytes()).unwrap();
    wait_until("the call is over", || {
        let terminals = shells.terminals();
        terminals.first().is_some_and(|it| it["state"] == "exited")
    });
    let mut expected = String::new();
    // A line, more than a pipe holds, and a line under the next server.
    for (lines, kills) in [("1", false), ("60000", false), ("2", true)] {
        if kills {
            shells.daemon.kill_server();
        }
        input
            .write_all(format!("echo {lines} >&3\n").as_bytes())
            .unwrap();
        expected.push_str(lines);
        expected.push('\n');
        wait_until("it goes on", || {
            std::fs::read_to_string(&done).is_ok_and(|text| text == expected)
        });
    }
    drop(input);
    assert_eq!(Ended::of(&agent.wait_with_output().unwrap()).code, Some(0));
}

/// A shell in the place of an agent, which goes on to the next line of its input when it gets one.
fn agent(shells: &TestShells) -> std::process::Child {
    let mut command: Command = shells.daemon.command("/bin/bash");
    command.env("SHIM", shells.bash());
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    command.spawn().unwrap()
}

#[test]
fn children_live_on_to_the_next_call_and_end_with_the_agent() {
    let shells = TestShells::open();
    let mut agent = agent(&shells);
    let pids = shells.daemon.path("pids");
    let mut input = agent.stdin.take().unwrap();
    let lines = format!(
        "\"$SHIM\" -c 'sleep 1000 >/dev/null 2>&1 & echo $! >> {0}; setsid sleep 1000 & echo $! >> {0}'\n\
         \"$SHIM\" -c 'kill -0 $(cat {0}) && echo both >> {0}'\n",
        pids.display()
    );
    input.write_all(lines.as_bytes()).unwrap();
    let read = || std::fs::read_to_string(&pids).unwrap_or_default();
    wait_until("the second call has seen the children of the first", || {
        read().contains("both")
    });
    let processes: Vec<Process> = read()
        .lines()
        .filter_map(|line| line.parse().ok())
        .map(Process::expect)
        .collect();
    assert_eq!(processes.len(), 2);
    assert!(processes.iter().all(Process::is_alive));
    agent.kill().unwrap();
    agent.wait().unwrap();
    for process in &processes {
        process.wait_for_end();
    }
    wait_until("both terminals are closed", || {
        let terminals = shells.terminals();
        terminals
            .iter()
            .all(|terminal| terminal["state"] == "closed")
    });
}

#[test]
fn a_call_that_leaves_nothing_leaves_no_terminal() {
    let shells = TestShells::open();
    shells.run("true");
    wait_until("the terminal is closed", || {
        shells.daemon.client().ok("session.list", &json!({}))["terminals"] == json!([])
    });
    wait_until("the record has the cause", || {
        shells.terminals()[0]["close_cause"] == "call_end"
    });
}

#[test]
fn what_codex_leaves_ends_with_the_call() {
    let shells = TestShells::open();
    let mut command = shells.command(&["-c", "sleep 1000 >/dev/null 2>&1 & echo $!"]);
    let ended = Ended::run(command.env("CODEX_THREAD_ID", "t"));
    if let Some(process) = Process::open(ended.out.trim().parse().unwrap()) {
        process.wait_for_end();
    }
}

#[test]
fn a_configuration_may_keep_them() {
    let shells = TestShells::of(TestDaemon::configured(
        "kill_grace_ms = 300\n[agents]\nchildren = \"keep\"\n",
    ));
    let mut agent = agent(&shells);
    let mut input = agent.stdin.take().unwrap();
    let pids = shells.daemon.path("pid");
    let line = format!(
        "\"$SHIM\" -c 'sleep 1000 >/dev/null 2>&1 & echo $! > {}'\n",
        pids.display()
    );
    input.write_all(line.as_bytes()).unwrap();
    drop(input);
    assert_eq!(Ended::of(&agent.wait_with_output().unwrap()).code, Some(0));
    let pid = std::fs::read_to_string(&pids).unwrap();
    let process = Process::expect(pid.trim().parse().unwrap());
    assert!(process.is_alive());
    let terminals = shells.terminals();
    assert_eq!(terminals[0]["state"], "exited");
    let id = terminals[0]["id"].as_str().unwrap();
    shells
        .daemon
        .client()
        .ok("session.close", &json!({ "id": id }));
    process.wait_for_end();
}

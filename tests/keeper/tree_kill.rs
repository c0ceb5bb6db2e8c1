//! Ending trees: everything of a terminal, and nothing of another.

use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::json;
use termd_proto::TerminalId;

use crate::Test;
use crate::support::{STOP_GRACE, TestKeeper, eventually, is_alive, pid_in, wait_gone};

pub(crate) const TESTS: &[Test] = &[
    (
        "an_ending_reaches_everything_and_only_that",
        an_ending_reaches_everything,
    ),
    (
        "an_ending_works_after_the_roots_exit",
        an_ending_works_after_the_roots_exit,
    ),
    (
        "what_ignores_sigterm_dies_after_the_grace",
        what_ignores_sigterm_dies_after_the_grace,
    ),
    ("a_stopped_job_is_ended", a_stopped_job_is_ended),
    (
        "a_program_gets_the_signal_once",
        a_program_gets_the_signal_once,
    ),
    ("a_signal_reaches_the_tree", a_signal_reaches_the_tree),
    (
        "sigterm_ends_everything_and_exits_0",
        sigterm_ends_everything,
    ),
    (
        "a_second_sigterm_exits_at_once",
        a_second_sigterm_exits_at_once,
    ),
    (
        "what_a_released_terminal_left_running_ends_until_it_is_forgotten",
        what_a_released_terminal_left_running_ends_until_it_is_forgotten,
    ),
];

/// Everything that tries to get away; each notes its pid.
const FUGITIVES: &str = r#"
set -m
nohup sleep 1000 >/dev/null 2>&1 & echo NOHUP=$! >>$PIDS
sleep 1000 & echo JOB=$! >>$PIDS
setsid sh -c 'echo SETSID=$$ >>$PIDS; exec sleep 1000' &
(setsid sh -c 'setsid sh -c "echo DOUBLE=\$\$ >>$PIDS; exec sleep 1000" </dev/null >/dev/null 2>&1 &' &)
setsid -w env -i PIDS=$PIDS /bin/sh -c 'echo CLEAN=$$ >>$PIDS; exec sleep 1000' &
while [ $(wc -l <$PIDS) -lt 5 ]; do sleep 0.02; done
"#;

const FUGITIVE_NAMES: [&str; 5] = ["NOHUP", "JOB", "SETSID", "DOUBLE", "CLEAN"];

/// Starts the fugitives, then what follows; the terminal and their pids.
fn spawn_fugitives(keeper: &TestKeeper, then: &str) -> (TerminalId, Vec<i32>) {
    let file = keeper.home.path().join("pids");
    std::fs::write(&file, "").unwrap();
    let script = format!("export PIDS={}{FUGITIVES}{then}", file.display());
    let (id, _) = keeper.spawn(&script);
    let noted = || std::fs::read_to_string(&file).unwrap();
    eventually("all are there", || {
        noted().lines().count() == FUGITIVE_NAMES.len()
    });
    let pids = FUGITIVE_NAMES.map(|name| pid_in(&noted(), name)).to_vec();
    (id, pids)
}

fn an_ending_reaches_everything() {
    let keeper = TestKeeper::start();
    let (bystander, bystander_pid) = keeper.spawn("echo up; sleep 1000");
    keeper.output(&bystander, "up");
    let (id, pids) = spawn_fugitives(&keeper, "exec sleep 1000");
    assert!(pids.iter().all(|&pid| is_alive(pid)));
    assert_eq!(keeper.end(&id, 5_000), "done");
    let left: Vec<_> = pids.iter().filter(|&&pid| is_alive(pid)).collect();
    assert!(left.is_empty(), "{left:?} of {pids:?}");
    assert_eq!(keeper.exit_of(&id), "Signaled(15)");
    assert!(is_alive(bystander_pid));
    assert_eq!(keeper.children(), [bystander_pid]);
}

fn an_ending_works_after_the_roots_exit() {
    let keeper = TestKeeper::start();
    let (id, pids) = spawn_fugitives(&keeper, "exit 4");
    assert_eq!(keeper.exit_of(&id), "Exited(4)");
    assert!(pids.iter().all(|&pid| is_alive(pid)));
    assert_eq!(keeper.end(&id, 5_000), "done");
    let left: Vec<_> = pids.iter().filter(|&&pid| is_alive(pid)).collect();
    assert!(left.is_empty(), "{left:?} of {pids:?}");
    assert_eq!(
        keeper.end(&id, 0),
        "done",
        "ending what has ended is no error"
    );
}

fn what_ignores_sigterm_dies_after_the_grace() {
    let keeper = TestKeeper::start();
    let (id, pid) = keeper.spawn("trap '' TERM; echo deaf; while :; do sleep 1000; done");
    keeper.output(&id, "deaf");
    let start = Instant::now();
    assert_eq!(keeper.end(&id, 300), "done");
    let took = start.elapsed();
    assert!(took >= Duration::from_millis(300), "{took:?}");
    assert!(took < Duration::from_secs(3), "{took:?}");
    assert!(!is_alive(pid));
    assert_eq!(keeper.exit_of(&id), "Signaled(9)");
}

fn a_stopped_job_is_ended() {
    let keeper = TestKeeper::start();
    let (id, pid) = keeper.spawn("echo up; kill -STOP $$; sleep 1000");
    keeper.output(&id, "up");
    eventually("it is stopped", || {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        stat.contains(") T ")
    });
    let start = Instant::now();
    assert_eq!(keeper.end(&id, 10_000), "done");
    assert!(start.elapsed() < Duration::from_secs(5));
    assert_eq!(keeper.exit_of(&id), "Signaled(15)");
}

fn a_program_gets_the_signal_once() {
    let keeper = TestKeeper::start();
    let count = "n=0; trap 'n=$((n+1)); echo got $n' TERM; echo up; \
                 while [ $n -lt 1 ]; do sleep 0.1; done; sleep 0.3; echo total $n";
    let (id, answer) = keeper.try_spawn(&["/bin/bash", "-c", count], "/");
    assert!(answer.is_number(), "{answer}");
    keeper.output(&id, "up");
    assert_eq!(keeper.end(&id, 10_000), "done");
    let output = keeper.output(&id, "");
    assert!(output.contains("total 1\n"), "{output}");
}

fn a_signal_reaches_the_tree() {
    let keeper = TestKeeper::start();
    let script = "setsid sh -c 'trap \"echo child; exit\" USR1; echo one; while :; do sleep 0.1; done' & \
                  trap 'echo root' USR1; echo two; wait; wait; exit 5";
    let (id, _) = keeper.spawn(script);
    let mut output = keeper.output(&id, "two");
    if !output.contains("one") {
        output += &keeper.output(&id, "one");
    }
    assert!(output.contains("two"));
    let answer = keeper.ask(&json!({"op": "signal", "id": id, "signal": 10}));
    assert_eq!(answer, "done");
    assert_eq!(keeper.exit_of(&id), "Exited(5)");
    let refused = keeper.ask(&json!({"op": "signal", "id": id, "signal": 0}));
    assert!(refused["error"].is_string(), "{refused}");
}

fn sigterm_ends_everything() {
    let mut keeper = TestKeeper::start();
    let (deaf, deaf_pid) = keeper.spawn("trap '' HUP TERM; echo deaf; while :; do sleep 9; done");
    keeper.output(&deaf, "deaf");
    let (_, pids) = spawn_fugitives(&keeper, "exec sleep 1000");
    let server = keeper.server_pid();
    let start = Instant::now();
    keeper.signal(Signal::TERM);
    let status = keeper.wait();
    assert_eq!(status.code(), Some(0));
    assert!(start.elapsed() >= STOP_GRACE);
    let left: Vec<_> = pids.iter().chain([&deaf_pid, &server]).collect();
    assert!(left.iter().all(|&&pid| !is_alive(pid)), "{left:?}");
    assert!(!keeper.home.socket().exists());
}

fn a_second_sigterm_exits_at_once() {
    let mut keeper = TestKeeper::start();
    // Deaf to SIGHUP for longer than anybody waits: the server is stopped, so nothing finishes.
    let (_, pids) = spawn_fugitives(&keeper, "exec sleep 1000");
    let server = keeper.server_pid();
    crate::support::kill(server, Signal::STOP);
    keeper.signal(Signal::INT);
    eventually("the terminals end", || {
        pids.iter().all(|&pid| !is_alive(pid))
    });
    keeper.signal(Signal::TERM);
    assert_eq!(keeper.wait().code(), Some(1));
    wait_gone(server);
    assert!(!keeper.home.socket().exists());
}

fn what_a_released_terminal_left_running_ends_until_it_is_forgotten() {
    let keeper = TestKeeper::start();
    let (id, root) = keeper.spawn("setsid sh -c 'echo AWAY=$$; exec sleep 1000' & sleep 1000");
    let away = pid_in(&keeper.output(&id, "AWAY="), "AWAY");
    crate::support::kill(root, Signal::KILL);
    assert_eq!(keeper.exit_of(&id), "Signaled(9)");
    assert_eq!(keeper.ask(&json!({"op": "release", "id": id})), "done");
    assert!(is_alive(away));
    assert_eq!(keeper.end(&id, 1000), "done");
    assert!(!is_alive(away));
    assert_eq!(keeper.ask(&json!({"op": "forget", "id": id})), "done");
    let unknown = keeper.ask(&json!({"op": "forget", "id": id}));
    assert!(
        unknown["error"].as_str().unwrap().contains("no terminal"),
        "{unknown}"
    );
}

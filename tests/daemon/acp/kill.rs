//! `terminal/kill`: the whole process tree ends, and the id stays.

use std::time::{Duration, Instant};

use serde_json::json;
use termd_test_support::{
    Agent, DEADLINE, Deadline, Process, TestDaemon, children_of, process_state, sh, wait_until,
};

/// Kills a terminal and checks that each of these processes ends.
#[track_caller]
fn kill_and_wait_for_ends(agent: &mut Agent, id: &str, processes: &[Process]) {
    assert!(
        processes.iter().all(Process::is_alive),
        "something ended by itself"
    );
    agent.kill(id);
    for process in processes {
        process.wait_for_end();
    }
}

#[test]
fn a_killed_command_ended_by_sigterm_and_its_output_stays() {
    let daemon = TestDaemon::start();
    let mut agent = daemon.agent();
    let id = agent.script("echo before; echo \"pid $$;\"; exec sleep 1000");
    let processes = agent.printed_processes(&id, 1);
    kill_and_wait_for_ends(&mut agent, &id, &processes);
    assert_eq!(agent.wait(&id), (None, Some("SIGTERM".to_owned())));
    let result = agent.output(&id);
    assert!(result["output"].as_str().unwrap().starts_with("before\n"));
    assert_eq!(
        result["exitStatus"],
        json!({ "exitCode": null, "signal": "SIGTERM" })
    );
    // A repeated kill is no error.
    agent.kill(&id);
    agent.kill(&id);
    assert_eq!(agent.wait(&id), (None, Some("SIGTERM".to_owned())));
}

#[test]
fn killing_an_exited_command_is_no_error_and_changes_nothing() {
    let daemon = TestDaemon::start();
    let mut agent = daemon.agent();
    let id = agent.script("exit 5");
    agent.wait(&id);
    agent.kill(&id);
    assert_eq!(agent.wait(&id), (Some(5), None));
}

#[test]
fn a_command_that_handles_sigterm_ends_its_own_way() {
    let daemon = TestDaemon::configured("kill_grace_ms = 10000\n");
    let mut agent = daemon.agent();
    let id = agent
        .script("trap 'echo bye; exit 4' TERM; echo \"pid $$;\"; while :; do sleep 0.01; done");
    agent.printed_processes(&id, 1);
    agent.kill(&id);
    assert_eq!(agent.wait(&id), (Some(4), None));
    assert!(agent.text(&id).ends_with("bye\n"));
}

/// Each script leaves the command's process group in another way.
#[test]
fn the_whole_tree_ends() {
    let daemon = TestDaemon::start();
    let mut agent = daemon.agent();
    for (what, script) in [
        (
            "a pipeline",
            "sleep 1000 | sleep 1001 & echo \"pid $!;\"; wait",
        ),
        (
            "a session of its own",
            "setsid sleep 1000 & echo \"pid $!;\"; wait",
        ),
        ("nohup", "nohup sleep 1000 & echo \"pid $!;\"; wait"),
        ("double fork", "(sleep 1000 & echo \"pid $!;\"); sleep 1001"),
        (
            "daemonised",
            "(setsid sh -c 'sleep 1000 & echo \"pid $!;\"; wait' &); sleep 1001",
        ),
        (
            "double-forked daemon",
            "(setsid sh -c 'sleep 1000 >/dev/null 2>&1 </dev/null & echo \"pid $!;\"' &); sleep 1001",
        ),
        (
            "stopped",
            "sleep 1000 & kill -STOP $!; echo \"pid $!;\"; wait",
        ),
        (
            "clean environment",
            "env -i setsid sleep 1000 & echo \"pid $!;\"; wait",
        ),
    ] {
        let id = agent.script(&format!("echo \"pid $$;\"; {script}"));
        let processes = agent.printed_processes(&id, 2);
        assert!(
            processes.iter().all(Process::is_alive),
            "{what}: ended by itself"
        );
        agent.kill(&id);
        for process in &processes {
            let ended = process.ends_by(Deadline::after(DEADLINE));
            assert!(ended, "{what}: {} of {:?} lives on", process.pid, processes);
        }
        agent.wait(&id);
    }
}

#[test]
fn job_control_groups_of_an_interactive_shell_end() {
    let daemon = TestDaemon::start();
    let mut agent = daemon.agent();
    let id = agent.create(&json!({ "command": "bash", "args": ["--norc", "-i"] }));
    let typed = "sleep 1000 & echo \"pi\"\"d $!;\"\nsleep 1001 & echo \"pi\"\"d $!;\"\necho \"pi\"\"d $$;\"\n";
    agent.send_text(&id, typed);
    let processes = agent.printed_processes(&id, 3);
    kill_and_wait_for_ends(&mut agent, &id, &processes);
}

#[test]
fn what_ignores_sigterm_is_killed_after_the_grace() {
    let daemon = TestDaemon::configured("kill_grace_ms = 700\n");
    let mut agent = daemon.agent();
    let id = agent.script("trap '' TERM HUP INT; echo \"pid $$;\"; while :; do sleep 1; done");
    let processes = agent.printed_processes(&id, 1);
    let begin = Instant::now();
    kill_and_wait_for_ends(&mut agent, &id, &processes);
    assert_eq!(agent.wait(&id), (None, Some("SIGKILL".to_owned())));
    let took = begin.elapsed();
    assert!(
        took >= Duration::from_millis(650),
        "no grace was given: {took:?}"
    );
    assert!(
        took < Duration::from_secs(5),
        "the grace was 700 ms: {took:?}"
    );
}

/// A process that outlives the root still belongs to the terminal.
#[test]
fn kill_reaches_what_an_exited_command_left_behind() {
    let daemon = TestDaemon::start();
    let mut agent = daemon.agent();
    // The kernel hangs up the foreground group when the root exits. These processes ignore that.
    let script = "trap '' HUP; setsid sleep 1000 >/dev/null 2>&1 & echo \"pid $!;\"; \
                  nohup sleep 1001 >/dev/null 2>&1 & echo \"pid $!;\"; exit 3";
    let id = agent.script(script);
    assert_eq!(agent.wait(&id), (Some(3), None));
    let processes = agent.printed_processes(&id, 2);
    kill_and_wait_for_ends(&mut agent, &id, &processes);
    assert_eq!(agent.wait(&id), (Some(3), None), "the exit status stays");
}

#[test]
fn a_neighbour_is_left_alone() {
    let daemon = TestDaemon::start();
    let mut agent = daemon.agent();
    let script = "sleep 1000 & echo \"pid $!;\"; echo \"pid $$;\"; wait";
    let (one, other) = (agent.script(script), agent.script(script));
    let of_one = agent.printed_processes(&one, 2);
    let of_other = agent.printed_processes(&other, 2);
    kill_and_wait_for_ends(&mut agent, &one, &of_one);
    assert!(of_other.iter().all(Process::is_alive));
    assert!(agent.output(&other)["exitStatus"].is_null());
}

#[test]
fn no_zombie_stays() {
    let daemon = TestDaemon::start();
    let mut agent = daemon.agent();
    for _ in 0..5 {
        let id = agent.create(&sh("(sleep 1000 &) ; (setsid true &); sleep 1000"));
        agent.kill(&id);
        agent.wait(&id);
        agent.release(&id);
    }
    let keeper = daemon.keeper_pid();
    wait_until("the keeper has reaped everything", || {
        children_of(keeper)
            .iter()
            .all(|pid| process_state(*pid).as_deref() != Some("Z"))
    });
}

#[test]
fn a_typed_interrupt_reaches_the_foreground_group() {
    let daemon = TestDaemon::start();
    let mut agent = daemon.agent();
    let id = agent.script("echo \"pid $$;\"; exec sleep 1000");
    agent.printed_processes(&id, 1);
    agent.send_text(&id, "\u{3}");
    assert_eq!(agent.wait(&id), (None, Some("SIGINT".to_owned())));
}

//! Processes that leave everything behind by which the keeper finds them, without a sandbox.

use std::collections::BTreeSet;

use rustix::process::Signal;
use serde_json::json;
use termd_proto::TerminalId;

use crate::Test;
use crate::support::{NOBODY, TestKeeper, eventually, is_alive, wait_gone};

pub(crate) const TESTS: &[Test] = &[
    (
        "what_has_the_terminal_open_is_ended_with_it",
        what_has_the_terminal_open,
    ),
    (
        "what_has_a_released_terminal_open_is_ended_with_it",
        what_has_a_released_terminal_open,
    ),
    (
        "what_was_found_by_its_parent_is_found_without_it",
        what_was_found_by_its_parent,
    ),
    (
        "orphans_are_listed_and_end_with_the_keeper",
        orphans_are_listed,
    ),
    (
        "orphans_end_with_a_keeper_that_leaves_at_once",
        orphans_end_at_once,
    ),
    ("children_from_before_are_no_orphans", children_from_before),
    (
        "a_chain_of_forks_ends_with_its_terminal",
        a_chain_of_forks_ends_with_its_terminal,
    ),
    (
        "a_chain_of_forks_ends_with_the_keeper",
        a_chain_of_forks_ends_with_the_keeper,
    ),
];

/// Every process with this argument.
pub(crate) fn processes_with_argument(argument: &str) -> Vec<i32> {
    let entries = std::fs::read_dir("/proc").unwrap();
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok());
    let has_it = |pid: &i32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.split(|byte| *byte == 0)
            .skip(1)
            .any(|word| word == argument.as_bytes())
    };
    pids.filter(has_it).filter(|pid| is_alive(*pid)).collect()
}

fn mark(keeper: &TestKeeper, case: u32) -> String {
    format!("{}.{case}", 900_000 + keeper.pid())
}

/// Waits for the one process with this mark as its first argument.
fn started(mark: &str) -> i32 {
    let sleeping = || {
        let mut found = processes_with_argument(mark);
        found.retain(|pid| {
            std::fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name == "sleep\n")
        });
        found
    };
    eventually("it runs", || sleeping().len() == 1);
    sleeping()[0]
}

fn what_has_the_terminal_open() {
    let keeper = TestKeeper::start();
    for (case, pipes, redirect) in [
        (1, false, ""),
        (2, false, "</dev/null >/dev/null"),
        (3, true, ""),
        (4, true, "</dev/null 2>/dev/null"),
        (5, false, "3<&0 </dev/null >/dev/null 2>&1"),
    ] {
        let mark = mark(&keeper, case);
        let script = format!("env -i setsid -f sleep {mark} {redirect}; exec sleep 1000");
        let (id, _) = if pipes {
            keeper.spawn_on_pipes(&script)
        } else {
            keeper.spawn(&script)
        };
        let fugitive = started(&mark);
        assert_eq!(
            keeper.ask(&json!({"op": "orphans"})),
            json!([0, []]),
            "{redirect}"
        );
        assert_eq!(keeper.end(&id, 2000), "done");
        assert!(!is_alive(fugitive), "{redirect}");
    }
    assert_eq!(keeper.children(), NOBODY);
}

/// The command has ended, and the server has released the terminal.
fn what_has_a_released_terminal_open() {
    let keeper = TestKeeper::start();
    let mut fugitives = Vec::new();
    for (case, pipes, redirect) in [
        (1, false, ""),
        (2, false, "</dev/null >/dev/null"),
        (3, true, ""),
        (4, true, "</dev/null 2>/dev/null"),
        (5, true, "</dev/null >/dev/null"),
        (6, false, "3<&0 </dev/null >/dev/null 2>&1"),
    ] {
        let mark = mark(&keeper, case);
        let script = format!("trap '' HUP; env -i setsid -f sleep {mark} {redirect}; exit 3");
        let (id, _) = if pipes {
            keeper.spawn_on_pipes(&script)
        } else {
            keeper.spawn(&script)
        };
        assert_eq!(keeper.exit_of(&id), "Exited(3)");
        fugitives.push((id.clone(), started(&mark), redirect));
        assert_eq!(keeper.ask(&json!({"op": "release", "id": id})), "done");
    }
    // Terminals that nothing has open any more, and whose numbers are given again.
    for _ in 0..3 {
        let (id, _) = keeper.spawn("exit 0");
        assert_eq!(keeper.exit_of(&id), "Exited(0)");
        assert_eq!(keeper.ask(&json!({"op": "release", "id": id})), "done");
    }
    assert_eq!(keeper.ask(&json!({"op": "orphans"})), json!([0, []]));
    for (index, (id, fugitive, redirect)) in fugitives.iter().enumerate() {
        assert_eq!(keeper.end(id, 2000), "done");
        assert!(!is_alive(*fugitive), "{redirect}");
        let others = &fugitives[index + 1..];
        assert!(
            others.iter().all(|(_, pid, _)| is_alive(*pid)),
            "{redirect}"
        );
    }
    assert_eq!(keeper.children(), NOBODY);
}

/// It ignores the first signal, at which its parent ends.
fn what_was_found_by_its_parent() {
    let keeper = TestKeeper::start();
    let mark = mark(&keeper, 1);
    let script = format!(
        "setsid -w env -i /bin/sh -c 'trap \"\" TERM; sleep {mark}; :' </dev/null >/dev/null 2>&1"
    );
    let (id, _) = keeper.spawn(&format!("{script} & wait"));
    let fugitive = started(&mark);
    assert_eq!(keeper.end(&id, 300), "done");
    assert!(!is_alive(fugitive));
    assert_eq!(keeper.ask(&json!({"op": "orphans"})), json!([0, []]));
}

const AWAY: &str = "</dev/null >/dev/null 2>&1";

fn orphans_are_listed() {
    let mut keeper = TestKeeper::start();
    let mark = mark(&keeper, 1);
    let (id, _) = keeper.spawn(&format!(
        "env -i setsid -f sleep {mark} {AWAY}; exec sleep 1000"
    ));
    let fugitive = started(&mark);
    assert_eq!(keeper.end(&id, 2000), "done");
    assert!(is_alive(fugitive), "nothing says whose it is");
    assert_eq!(keeper.ask(&json!({"op": "orphans"})), json!([1, ["sleep"]]));
    keeper.signal(Signal::TERM);
    assert_eq!(keeper.wait().code(), Some(0));
    assert!(!is_alive(fugitive));
}

fn orphans_end_at_once() {
    let mut keeper = TestKeeper::start();
    let mark = mark(&keeper, 1);
    let script =
        format!("env -i setsid -f /bin/sh -c 'trap \"\" TERM HUP; sleep {mark}; :' {AWAY}");
    keeper.spawn(&format!(
        "trap '' HUP; {script}; while :; do sleep 1000; done"
    ));
    let fugitive = started(&mark);
    keeper.signal(Signal::TERM);
    keeper.signal(Signal::TERM);
    keeper.wait();
    wait_gone(fugitive);
}

/// As where a container's first program executes termd.
fn children_from_before() {
    let mut keeper = TestKeeper::start_after("sleep 1000.25 & exec \"$0\"");
    let before = started("1000.25");
    assert_eq!(keeper.ask(&json!({"op": "orphans"})), json!([0, []]));
    keeper.signal(Signal::TERM);
    assert_eq!(keeper.wait().code(), Some(0));
    assert!(is_alive(before), "it is not termd's");
    crate::support::kill(before, Signal::KILL);
}

/// Each generation leaves its session and its parent, ignores what it can, and soon starts the next.
/// `$1` marks it, `$2` is how long it lives.
const CHAIN: &str =
    r#"trap "" HUP TERM; sleep "$2"; exec setsid -f /bin/sh -c "$0" "$0" "$1" "$2""#;
const GENERATIONS: [&str; 3] = ["0.03", "0.02", "0.01"];

/// Starts a chain of each pace, and waits until all of them run.
fn start_chains(keeper: &TestKeeper, mark: &str, how: &str) -> TerminalId {
    let marks: Vec<String> = (0..GENERATIONS.len())
        .map(|chain| format!("{mark}{chain}"))
        .collect();
    let starts = marks.iter().zip(GENERATIONS).map(|(mark, pace)| {
        format!("setsid -f {how} /bin/sh -c '{CHAIN}' '{CHAIN}' {mark} {pace} {AWAY}; ")
    });
    let starts = starts.collect::<Vec<_>>().concat();
    let (id, _) = keeper.spawn(&format!("trap '' HUP; {starts} exec sleep 1000"));
    for mark in &marks {
        let mut seen = BTreeSet::new();
        eventually("some generations have been", || {
            seen.extend(processes_with_argument(mark));
            seen.len() > 3
        });
    }
    id
}

fn chains_left(mark: &str) -> Vec<i32> {
    let marks = (0..GENERATIONS.len()).map(|chain| format!("{mark}{chain}"));
    marks
        .flat_map(|mark| processes_with_argument(&mark))
        .collect()
}

fn a_chain_of_forks_ends_with_its_terminal() {
    let keeper = TestKeeper::start();
    for case in 0..3 {
        let mark = mark(&keeper, case);
        let id = start_chains(&keeper, &mark, "");
        assert_eq!(keeper.end(&id, 100), "done");
        assert_eq!(chains_left(&mark), NOBODY);
        assert_eq!(keeper.children(), NOBODY);
    }
}

fn a_chain_of_forks_ends_with_the_keeper() {
    for (case, signals) in [(1, 1), (2, 2), (3, 1)] {
        let mut keeper = TestKeeper::start();
        let mark = mark(&keeper, case);
        start_chains(&keeper, &mark, "env -i");
        for _ in 0..signals {
            keeper.signal(Signal::TERM);
        }
        keeper.wait();
        eventually("what was killed is gone", || chains_left(&mark).is_empty());
    }
}

//! The server dies, or is replaced: nothing of a terminal is lost.

use rustix::process::Signal;
use serde_json::json;

use crate::Test;
use crate::support::{NOBODY, TestKeeper, int, is_alive, kill, pid_in, wait_gone};

pub(crate) const TESTS: &[Test] = &[
    (
        "a_killed_servers_successor_has_everything",
        a_killed_servers_successor_has_everything,
    ),
    (
        "an_exit_without_a_server_is_not_lost",
        an_exit_without_a_server_is_not_lost,
    ),
    (
        "a_hand_over_keeps_the_terminals",
        a_hand_over_keeps_the_terminals,
    ),
    (
        "a_long_inventory_arrives_whole",
        a_long_inventory_arrives_whole,
    ),
    (
        "sigterm_without_a_server_ends_everything",
        sigterm_without_a_server_ends_everything,
    ),
    (
        "a_server_never_outlives_its_keeper",
        a_server_never_outlives_its_keeper,
    ),
];

fn a_killed_servers_successor_has_everything() {
    let keeper = TestKeeper::start();
    let (id, pid) = keeper.spawn("echo up; read line; echo \"<$line>\"; exit 6");
    keeper.output(&id, "up");
    keeper.ask(&json!({"op": "spool", "id": id, "text": "bytes of the spool"}));
    let long_notes = "n".repeat(64 * 1024);
    let answer = keeper.ask(&json!({"op": "notes", "id": id, "text": long_notes}));
    assert_eq!(answer, "done");
    let too_long = keeper.ask(&json!({"op": "notes", "id": id, "text": long_notes + "!"}));
    assert!(too_long["error"].is_string());
    let before = keeper.ask(&json!({"op": "inventory"}));
    for round in 0..5 {
        let server = keeper.server_pid();
        kill(server, Signal::KILL);
        wait_gone(server);
        let after = keeper.ask(&json!({"op": "inventory"}));
        let (old, new) = (&before[id.as_str()], &after[id.as_str()]);
        assert_eq!(int(&new["pid"]), pid, "round {round}");
        for same in ["spool", "spool_inode", "tty", "exit"] {
            assert_eq!(old[same], new[same], "{same} in round {round}");
        }
        assert_eq!(new["notes"].as_str().unwrap().len(), 64 * 1024);
        assert_ne!(keeper.server_pid(), server);
    }
    assert!(is_alive(pid));
    assert_eq!(keeper.end(&id, 1000), "done");
}

fn an_exit_without_a_server_is_not_lost() {
    let keeper = TestKeeper::start();
    let (id, pid) = keeper.spawn("echo up; sleep 1000");
    keeper.output(&id, "up");
    let server = keeper.server_pid();
    kill(server, Signal::STOP);
    kill(pid, Signal::USR1);
    wait_gone(pid);
    kill(server, Signal::KILL);
    wait_gone(server);
    assert_eq!(keeper.exit_of(&id), "Signaled(10)");
    assert_eq!(keeper.children(), NOBODY);
}

fn a_hand_over_keeps_the_terminals() {
    let keeper = TestKeeper::start();
    let (id, pid) = keeper.spawn("echo up; sleep 1000");
    keeper.output(&id, "up");
    let server = keeper.server_pid();
    keeper.signal(Signal::HUP);
    wait_gone(server);
    assert_ne!(keeper.server_pid(), server);
    let inventory = keeper.ask(&json!({"op": "inventory"}));
    assert_eq!(int(&inventory[id.as_str()]["pid"]), pid);
    assert_eq!(inventory[id.as_str()]["notes"], "first notes");
    assert!(is_alive(pid));
}

fn a_long_inventory_arrives_whole() {
    const MANY: usize = 150;
    let keeper = TestKeeper::start();
    for _ in 0..MANY {
        keeper.try_spawn(&["/bin/sleep", "1000"], "/");
    }
    let server = keeper.server_pid();
    kill(server, Signal::KILL);
    wait_gone(server);
    let inventory = keeper.ask(&json!({"op": "inventory"}));
    assert_eq!(inventory.as_object().unwrap().len(), MANY);
}

fn sigterm_without_a_server_ends_everything() {
    let mut keeper = TestKeeper::start();
    let (id, _) = keeper.spawn("setsid sh -c 'echo AWAY=$$; exec sleep 1000' & sleep 1000");
    let away = pid_in(&keeper.output(&id, "AWAY="), "AWAY");
    kill(keeper.server_pid(), Signal::KILL);
    keeper.signal(Signal::TERM);
    assert_eq!(keeper.wait().code(), Some(0));
    assert!(!is_alive(away));
}

fn a_server_never_outlives_its_keeper() {
    let mut keeper = TestKeeper::start();
    let server = keeper.server_pid();
    keeper.signal(Signal::KILL);
    wait_gone(server);
    assert_eq!(keeper.wait().code(), None);
}

//! Commands without a terminal: two pipes, and all the rest as for any other.

use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::json;

use crate::Test;
use crate::support::{NOBODY, TestKeeper, eventually, is_alive, kill, pid_in, wait_gone};

pub(crate) const TESTS: &[Test] = &[
    (
        "a_child_on_pipes_has_its_three_and_nothing_else",
        a_child_on_pipes_has_its_three_and_nothing_else,
    ),
    (
        "both_streams_of_a_child_on_pipes_come_apart",
        both_streams_come_apart,
    ),
    (
        "everything_of_a_command_on_pipes_is_ended",
        everything_of_a_command_on_pipes_is_ended,
    ),
    (
        "a_command_on_pipes_lives_on_over_a_killed_server",
        a_command_on_pipes_lives_on_over_a_killed_server,
    ),
    (
        "a_commands_input_stays_open_over_a_killed_server_until_it_is_closed",
        input_stays_open_until_it_is_closed,
    ),
];

fn a_child_on_pipes_has_its_three_and_nothing_else() {
    let keeper = TestKeeper::start();
    // Its neighbours' descriptors must not be among them.
    let (_neighbour, _) = keeper.spawn_on_pipes("read line; sleep 100");
    let (_other, _) = keeper.spawn("read line");
    let script = "exec python3 -c 'import os; \
        print(sorted(int(fd) for fd in os.listdir(\"/proc/self/fd\"))[:-1], \
        os.readlink(\"/proc/self/fd/0\"), [os.isatty(fd) for fd in range(3)], \
        [os.get_blocking(fd) for fd in range(3)], os.getsid(0) == os.getpid() == os.getpgrp()); \
        print(open(\"/proc/self/stat\").read().rsplit(\")\")[1].split()[4]); \
        print(os.environ[\"TERMD_TERMINAL\"])'";
    let (id, _) = keeper.spawn_on_pipes(script);
    let (stdout, stderr) = keeper.outputs(&id, "");
    let expected =
        format!("[0, 1, 2] /dev/null [False, False, False] [True, True, True] True\n0\n{id}\n");
    assert_eq!((stdout, stderr), (expected, String::new()));
}

fn both_streams_come_apart() {
    let keeper = TestKeeper::start();
    let before = keeper.open_fds();
    let (id, _) = keeper.spawn_on_pipes("echo out; echo err >&2; cat; printf 'a\\nb'; exit 7");
    let (stdout, stderr) = keeper.outputs(&id, "");
    assert_eq!((stdout.as_str(), stderr.as_str()), ("out\na\nb", "err\n"));
    assert_eq!(keeper.exit_of(&id), "Exited(7)");
    assert_eq!(keeper.open_fds(), before + 4);
    assert_eq!(keeper.ask(&json!({"op": "release", "id": id})), "done");
    assert_eq!(keeper.open_fds(), before);
}

fn everything_of_a_command_on_pipes_is_ended() {
    let keeper = TestKeeper::start();
    let script = "setsid sh -c 'echo a=$$; echo end; echo end >&2; exec sleep 100' & sleep 100";
    let (id, root) = keeper.spawn_on_pipes(script);
    let (stdout, _) = keeper.outputs(&id, "end");
    let away = pid_in(&stdout, "a");
    assert_eq!(keeper.end(&id, 2_000), "done");
    eventually("both are gone", || !is_alive(root) && !is_alive(away));
    assert_eq!(keeper.exit_of(&id), "Signaled(15)");
    assert_eq!(keeper.children(), NOBODY);
}

fn a_command_on_pipes_lives_on_over_a_killed_server() {
    let keeper = TestKeeper::start();
    let script = "echo one; echo one >&2; kill -STOP $$; echo two; echo two >&2; exit 5";
    let (id, pid) = keeper.spawn_on_pipes(script);
    keeper.outputs(&id, "one");
    let server = keeper.server_pid();
    kill(server, Signal::KILL);
    wait_gone(server);
    let begin = Instant::now();
    let inventory = keeper.ask(&json!({"op": "inventory"}));
    assert!(begin.elapsed() < Duration::from_secs(10));
    assert_eq!(inventory[id.as_str()]["notes"], "on pipes", "{inventory}");
    kill(pid, Signal::CONT);
    let (stdout, stderr) = keeper.outputs(&id, "");
    assert_eq!((stdout.as_str(), stderr.as_str()), ("two\n", "two\n"));
    assert_eq!(keeper.exit_of(&id), "Exited(5)");
}

fn input_stays_open_until_it_is_closed() {
    let keeper = TestKeeper::start();
    let before = keeper.open_fds();
    let script = "read line; echo got $line; echo got >&2; cat; echo end; exit 6";
    let (id, _) = keeper.spawn_reading(script, "pipe");
    assert_eq!(keeper.open_fds(), before + 6);
    assert_eq!(
        keeper.ask(&json!({"op": "type", "id": id, "text": "one\n"})),
        4
    );
    assert_eq!(keeper.outputs(&id, "got").0, "got one\n");
    let server = keeper.server_pid();
    kill(server, Signal::KILL);
    wait_gone(server);
    assert_eq!(
        keeper.ask(&json!({"op": "type", "id": id, "text": "two\n"})),
        4
    );
    assert_eq!(keeper.ask(&json!({"op": "close_stdin", "id": id})), "done");
    assert_eq!(keeper.open_fds(), before + 4);
    // This server has its own end open. The next one gets none.
    let server = keeper.server_pid();
    kill(server, Signal::KILL);
    wait_gone(server);
    assert_eq!(keeper.exit_of(&id), "Exited(6)");
    assert_eq!(keeper.outputs(&id, "").0, "two\nend\n");
}

//! Commands that wait between fork and exec: let go, given up, and left behind by a server that died.

use std::path::{Path, PathBuf};

use rustix::process::Signal;
use serde_json::{Value, json};
use termd_proto::TerminalId;

use crate::Test;
use crate::support::{NOBODY, TestKeeper, eventually, int, is_alive, kill, wait_gone};

pub(crate) const TESTS: &[Test] = &[
    (
        "a_held_command_runs_when_it_is_let_go",
        a_held_command_runs_when_it_is_let_go,
    ),
    (
        "a_held_command_that_is_given_up_never_ran",
        a_held_command_that_is_given_up_never_ran,
    ),
    (
        "a_held_command_ends_with_the_server_that_held_it",
        a_held_command_ends_with_the_server_that_held_it,
    ),
    (
        "a_held_command_ends_with_its_keeper",
        a_held_command_ends_with_its_keeper,
    ),
    (
        "a_held_command_that_was_killed_is_gone",
        a_held_command_that_was_killed_is_gone,
    ),
    (
        "whoever_lets_a_command_go_is_told_what_failed_before",
        whoever_lets_a_command_go_is_told_what_failed_before,
    ),
    (
        "what_is_in_a_terminals_cgroup_is_ended_with_it",
        what_is_in_a_terminals_cgroup_is_ended_with_it,
    ),
];

/// Where a command can be held: before its walls, and before its exec.
const PLACES: [&str; 2] = ["walls", "exec"];

/// Spawns a command that is held there; its id, and its process before its exec.
fn hold(keeper: &TestKeeper, script: &str, at: &str) -> (TerminalId, i32) {
    hold_in(keeper, script, at, "/")
}

fn hold_in(keeper: &TestKeeper, script: &str, at: &str, cwd: &str) -> (TerminalId, i32) {
    let id = keeper.new_id();
    let pid = keeper.ask(&json!({
        "op": "spawn", "id": id, "argv": ["/bin/sh", "-c", script], "env": ["PATH=/usr/bin:/bin"],
        "cwd": cwd, "notes": "held", "stdio": "pipes", "held": true, "at": at,
    }));
    assert!(pid.is_number(), "{pid}");
    (id, int(&pid))
}

fn release_exec(keeper: &TestKeeper, id: &TerminalId, cgroup: &str) -> Value {
    keeper.ask(&json!({"op": "release_exec", "id": id, "cgroup": cgroup}))
}

/// Where a test's own child would be executing something else.
fn program(pid: i32) -> String {
    let path = std::fs::read_link(format!("/proc/{pid}/exe")).unwrap();
    path.file_name().unwrap().to_string_lossy().into_owned()
}

fn a_held_command_runs_when_it_is_let_go() {
    for at in PLACES {
        let keeper = TestKeeper::start();
        let keepers_own = program(keeper.pid());
        let before = keeper.open_fds();
        let (id, pid) = hold(&keeper, "ls /proc/self/fd | tr '\\n' ' '; exit 4", at);
        // Its neighbours run, and do not keep it held by what they have inherited.
        let (other, _) = keeper.spawn_on_pipes("exit 0");
        assert_eq!(keeper.exit_of(&other), "Exited(0)");
        assert_eq!(program(pid), keepers_own, "it has not executed anything");
        assert_eq!(release_exec(&keeper, &id, ""), json!(pid));
        let (stdout, _) = keeper.outputs(&id, "");
        // The last is that of ls itself.
        assert_eq!(stdout, "0 1 2 3 ");
        assert_eq!(keeper.exit_of(&id), "Exited(4)");
        for id in [id, other] {
            assert_eq!(keeper.ask(&json!({"op": "release", "id": id})), "done");
        }
        assert_eq!(keeper.open_fds(), before);
    }
}

fn a_held_command_that_is_given_up_never_ran() {
    for at in PLACES {
        let keeper = TestKeeper::start();
        let before = keeper.open_fds();
        let (id, pid) = hold(&keeper, "echo ran", at);
        let answer = keeper.ask(&json!({"op": "release_exec", "id": id}));
        assert_eq!(answer["step"], "ExecGate", "{answer}");
        assert!(!is_alive(pid));
        assert_eq!(keeper.open_fds(), before);
        let again = release_exec(&keeper, &id, "");
        assert!(again.to_string().contains("no terminal"), "{again}");
    }
}

fn a_held_command_ends_with_the_server_that_held_it() {
    for at in PLACES {
        let keeper = TestKeeper::start();
        let (id, pid) = hold(&keeper, "echo ran > /dev/full; sleep 100", at);
        let server = keeper.server_pid();
        kill(server, Signal::KILL);
        wait_gone(server);
        eventually("the held command has ended", || !is_alive(pid));
        let inventory = keeper.ask(&json!({"op": "inventory"}));
        assert_eq!(inventory, json!({}), "{id}");
        assert_eq!(keeper.children(), NOBODY);
    }
}

fn a_held_command_ends_with_its_keeper() {
    for at in PLACES {
        let mut keeper = TestKeeper::start();
        let (_, pid) = hold(&keeper, "echo ran > /dev/full; sleep 100", at);
        keeper.signal(Signal::KILL);
        keeper.wait();
        eventually("the held command has ended", || !is_alive(pid));
    }
}

fn a_held_command_that_was_killed_is_gone() {
    for at in PLACES {
        let keeper = TestKeeper::start();
        let (id, pid) = hold(&keeper, "echo ran", at);
        kill(pid, Signal::KILL);
        wait_gone(pid);
        let answer = release_exec(&keeper, &id, "");
        assert!(!answer.is_number(), "{answer}");
        assert_eq!(keeper.ask(&json!({"op": "inventory"})), json!({}));
    }
}

fn whoever_lets_a_command_go_is_told_what_failed_before() {
    let keeper = TestKeeper::start();
    let before = keeper.open_fds();
    for cgroup in [Some(""), None] {
        let (id, pid) = hold_in(&keeper, "echo ran", "exec", "/nowhere/at/all");
        eventually("it has failed", || !is_alive(pid));
        let again = keeper.ask(&json!({
            "op": "spawn", "id": id, "argv": ["/bin/true"], "env": [], "cwd": "/", "notes": "",
        }));
        assert_eq!(again["errno"], nix::libc::EEXIST, "{again}");
        let told = keeper.ask(&json!({"op": "release_exec", "id": id, "cgroup": cgroup}));
        assert_eq!(told["step"], "Chdir", "{told}");
        assert_eq!(told["errno"], nix::libc::ENOENT, "{told}");
        let once_more = release_exec(&keeper, &id, "");
        assert!(once_more.to_string().contains("no terminal"), "{once_more}");
    }
    assert_eq!(keeper.ask(&json!({"op": "inventory"})), json!({}));
    assert_eq!(keeper.open_fds(), before);
    // What nobody asks for goes with the server.
    let (id, pid) = hold_in(&keeper, "echo ran", "exec", "/nowhere/at/all");
    eventually("it has failed", || !is_alive(pid));
    let server = keeper.server_pid();
    kill(server, Signal::KILL);
    wait_gone(server);
    let told = release_exec(&keeper, &id, "");
    assert!(told.to_string().contains("no terminal"), "{told}");
}

/// A cgroup of a mounted hierarchy, with one below it. It is removed at the end.
struct Cgroup(PathBuf);

impl Cgroup {
    const BELOW: &str = "of_its_own";

    /// Nothing where this user may make none.
    fn make() -> Option<Self> {
        let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap();
        let mut mounts = mounts.lines().map(|mount| mount.split(' '));
        let mount = mounts.find_map(|mut mount| {
            let place = mount.nth(1);
            place.filter(|_| mount.next() == Some("cgroup2"))
        });
        let name = format!("termd-test-{}", std::process::id());
        let cgroup = Self(Path::new(mount?).join(name));
        std::fs::create_dir(&cgroup.0).ok()?;
        std::fs::create_dir(cgroup.0.join(Self::BELOW)).unwrap();
        Some(cgroup)
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        // It is busy until the last process of it is reaped.
        eventually("the cgroup is removed", || {
            let _ = std::fs::remove_dir(self.0.join(Self::BELOW));
            std::fs::remove_dir(&self.0).is_ok()
        });
    }
}

fn what_is_in_a_terminals_cgroup_is_ended_with_it() {
    let keeper = TestKeeper::start();
    for below in ["", Cgroup::BELOW] {
        let Some(cgroup) = Cgroup::make() else {
            return eprintln!("SKIP: this user may make no cgroup here");
        };
        ends_in_cgroup(&keeper, &cgroup, below);
    }
}

/// The process that has left is in the terminal's cgroup, or in one below it.
fn ends_in_cgroup(keeper: &TestKeeper, cgroup: &Cgroup, below: &str) {
    let place = tempfile::tempdir().unwrap();
    let pid = place.path().join("pid");
    // It leaves environment, session and parent behind.
    let script = "env -i setsid --fork sh -c 'echo $$ > \"$0\"; echo $$ > \"$1\"; \
        exec <&- >&- 2>&-; sleep 100' \"$PROCS\" \"$PID\"; \
        while ! test -s \"$PID\"; do :; done; exec sleep 100";
    let procs = cgroup.0.join(below).join("cgroup.procs");
    let script = format!("PROCS={} PID={}; {script}", procs.display(), pid.display());
    let (id, _) = hold(keeper, &script, "walls");
    let directory = cgroup.0.to_str().unwrap();
    assert!(release_exec(keeper, &id, directory).is_number());
    let away = || std::fs::read_to_string(&pid).unwrap_or_default();
    eventually("it is away", || !away().trim().is_empty());
    let away = away().trim().parse().unwrap();
    assert!(is_alive(away));
    assert_eq!(keeper.end(&id, 2_000), "done");
    eventually("it is gone, too", || !is_alive(away));
}

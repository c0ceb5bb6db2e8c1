//! bubblewrap itself: that it built, that it is gone, and what happens where it does not build.

use std::fs;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::Test;
use crate::bubblewrap::is_installed;
use crate::confine_partly::cramped;
use crate::ground::Ground;
use crate::support::{NOBODY, User, eventually, is_alive, kill, wait_gone};

pub(crate) const TESTS: &[Test] = &[
    ("bubblewrap_is_told_and_gone", is_told_and_gone),
    ("bubblewrap_many_in_a_row_leave_nothing", many_leave_nothing),
    ("bubblewrap_cannot_hold_a_link", cannot_hold_a_link),
    ("bubblewrap_keys_reach_the_command", keys_reach_the_command),
    ("bubblewrap_survives_servers", survives_servers),
    ("bubblewrap_held_commands", held_commands),
    ("bubblewrap_held_and_left_behind", held_and_left_behind),
    (
        "bubblewrap_is_not_the_requests_to_load",
        is_not_the_requests,
    ),
    (
        "bubblewrap_of_a_program_that_is_gone",
        of_a_program_that_is_gone,
    ),
    (
        "bubblewrap_without_user_namespaces",
        without_user_namespaces,
    ),
];

pub(crate) fn workspace(ground: &Ground) -> Value {
    let mut spec = ground.workspace();
    spec["sandbox"]["builder"] = json!("bubblewrap");
    spec
}

pub(crate) fn bash(
    ground: &Ground,
    script: &str,
    spec: &Value,
) -> (termd_proto::TerminalId, Value) {
    let argv = ["/bin/bash", "-c", script];
    ground.keeper.try_confined(&argv, &ground.work, spec)
}

/// It stands among what holds; the command is the keeper's child, and its only one.
fn is_told_and_gone() {
    for user in User::all().into_iter().filter(|_| is_installed()) {
        let ground = Ground::new(user);
        let script = "echo PARENT=$PPID; ps -o sid=,pgid=,tpgid= -p $$; read line; exit 3";
        let (id, answer) = bash(&ground, script, &workspace(&ground));
        let pid = answer.as_i64().unwrap_or_else(|| panic!("{answer}"));
        let held = ground.keeper.enforced(&id);
        assert_eq!(held["missing"], json!({}), "as {user:?}");
        let names = held["held"].as_array().unwrap();
        assert!(names.contains(&json!("bubblewrap")), "{held}");
        assert_eq!(names.len(), 14, "{held}");
        let said = ground.keeper.output(&id, "\n");
        let parent = format!("PARENT={}\n", ground.keeper.pid());
        assert!(said.starts_with(&parent), "{said}");
        assert_eq!(ground.keeper.children(), [i32::try_from(pid).unwrap()]);
        // Two user namespaces at the most, and a mount namespace that is not the keeper's.
        let namespace = |pid: i64| fs::read_link(format!("/proc/{pid}/ns/mnt")).unwrap();
        assert_ne!(namespace(pid), namespace(ground.keeper.pid().into()));
        assert_eq!(ground.keeper.end(&id, 2000), "done");
        assert_eq!(ground.keeper.children(), NOBODY);
    }
}

fn many_leave_nothing() {
    const MANY: usize = 50;
    for user in User::all().into_iter().filter(|_| is_installed()) {
        let ground = Ground::new(user);
        let before = ground.keeper.open_fds();
        let spec = workspace(&ground);
        for round in 0..MANY {
            let (id, answer) = bash(&ground, &format!("exit {round}"), &spec);
            assert!(answer.is_number(), "{answer}");
            assert_eq!(ground.keeper.exit_of(&id), format!("Exited({round})"));
            ground.keeper.ask(&json!({"op": "forget", "id": id}));
        }
        assert_eq!(ground.keeper.children(), NOBODY);
        assert_eq!(ground.keeper.open_fds(), before);
    }
}

/// mount(2) follows every link; so what needs one held is refused by name, or told as missing.
fn cannot_hold_a_link() {
    const NOT_SUPPORTED: i32 = 95;
    for user in User::all().into_iter().filter(|_| is_installed()) {
        let ground = Ground::new(user);
        std::os::unix::fs::symlink("src", ground.at("project/link")).unwrap();
        let protected = json!([
            [ground.at("project/link"), "link"],
            [ground.at("project/.git/hooks"), "leave"],
        ]);
        let mut spec = workspace(&ground);
        spec["sandbox"]["protected"] = protected;
        let (_, answer) = bash(&ground, "true", &spec);
        let refused =
            json!({"error": "spawn", "step": "Confine(Protected)", "errno": NOT_SUPPORTED});
        assert_eq!(answer, refused);
        assert_eq!(ground.keeper.children(), NOBODY);
        spec["sandbox"]["best_effort"] = json!(true);
        let script = "rm link && echo gone; touch .git/hooks/new || echo kept";
        let (id, answer) = bash(&ground, script, &spec);
        assert!(answer.is_number(), "{answer}");
        let missing = ground.keeper.enforced(&id)["missing"].clone();
        assert_eq!(missing, json!({"protected": NOT_SUPPORTED}));
        let said = ground.keeper.output(&id, "");
        assert!(
            said.starts_with("gone\n") && said.ends_with("kept\n"),
            "{said}"
        );
    }
}

/// A key that is a signal goes to the group in the foreground of the terminal that the command leads.
fn keys_reach_the_command() {
    for user in User::all().into_iter().filter(|_| is_installed()) {
        let ground = Ground::new(user);
        let script = "trap 'echo INTERRUPTED; exit 9' INT; echo ready; read line; echo $line";
        let (id, answer) = bash(&ground, script, &workspace(&ground));
        assert!(answer.is_number(), "{answer}");
        ground.keeper.output(&id, "ready");
        ground
            .keeper
            .ask(&json!({"op": "type", "id": id, "text": "\u{3}"}));
        let said = ground.keeper.output(&id, "INTERRUPTED");
        assert!(said.contains("INTERRUPTED"), "{said}");
        assert_eq!(ground.keeper.exit_of(&id), "Exited(9)");
        // Without a trap it ends by that very signal.
        let (id, _) = bash(&ground, "echo ready; exec cat", &workspace(&ground));
        ground.keeper.output(&id, "ready");
        ground
            .keeper
            .ask(&json!({"op": "type", "id": id, "text": "\u{3}"}));
        assert_eq!(ground.keeper.exit_of(&id), "Signaled(2)");
    }
}

fn survives_servers() {
    if !is_installed() {
        return;
    }
    let ground = Ground::new(User::Me);
    let (id, answer) = bash(&ground, "echo up; read line; exit 6", &workspace(&ground));
    ground.keeper.output(&id, "up");
    let keeper = &ground.keeper;
    let found = || keeper.ask(&json!({"op": "inventory"}))[id.as_str()]["pid"].clone();
    let replaced = |how: &dyn Fn(i32)| {
        let server = keeper.server_pid();
        how(server);
        wait_gone(server);
        assert_eq!(found(), answer);
    };
    replaced(&|server| kill(server, Signal::KILL));
    replaced(&|_| keeper.signal(Signal::HUP));
    keeper.ask(&json!({"op": "type", "id": id, "text": "\n"}));
    assert_eq!(keeper.exit_of(&id), "Exited(6)");
}

fn hold(ground: &Ground, script: &str, at: &str) -> (termd_proto::TerminalId, i32) {
    let id = ground.keeper.new_id();
    let pid = ground.keeper.ask(&json!({
        "op": "spawn", "id": id, "argv": ["/bin/sh", "-c", script], "env": ["PATH=/usr/bin:/bin"],
        "cwd": ground.work, "notes": "held", "stdio": "pipes", "held": true, "at": at,
        "confinement": workspace(ground),
    }));
    (id, crate::support::int(&pid))
}

fn held_commands() {
    if !is_installed() {
        return;
    }
    for at in ["walls", "exec"] {
        let ground = Ground::new(User::Me);
        let keeper = &ground.keeper;
        let before = keeper.open_fds();
        let (id, _) = hold(&ground, "echo ran; exit 4", at);
        let answer = keeper.ask(&json!({"op": "release_exec", "id": id, "cgroup": ""}));
        assert!(answer.is_number(), "{answer}");
        assert_eq!(keeper.outputs(&id, "").0, "ran\n");
        assert_eq!(keeper.exit_of(&id), "Exited(4)");
        assert_eq!(keeper.ask(&json!({"op": "forget", "id": id})), "done");
        // Given up.
        let (id, pid) = hold(&ground, "touch ran", at);
        let answer = keeper.ask(&json!({"op": "release_exec", "id": id}));
        assert_eq!(answer["step"], "ExecGate", "{answer}");
        eventually("nothing is left of it", || {
            !is_alive(pid) && keeper.children() == NOBODY
        });
        // Killed before it was let go, whoever it is by then.
        let (id, pid) = hold(&ground, "touch ran", "walls");
        kill(pid, Signal::KILL);
        let answer = keeper.ask(&json!({"op": "release_exec", "id": id, "cgroup": ""}));
        assert!(!answer.is_number(), "{answer}");
        assert_eq!(keeper.children(), NOBODY);
        assert!(!ground.work.join("ran").exists());
        assert_eq!(keeper.open_fds(), before);
    }
}

/// By their server, by a keeper that stops, and by one that is killed.
fn held_and_left_behind() {
    if !is_installed() {
        return;
    }
    for at in ["walls", "exec"] {
        let ground = Ground::new(User::Me);
        let (_, pid) = hold(&ground, "touch ran", at);
        let server = ground.keeper.server_pid();
        kill(server, Signal::KILL);
        wait_gone(server);
        eventually("it has ended", || {
            !is_alive(pid) && ground.keeper.children() == NOBODY
        });
        assert!(!ground.work.join("ran").exists());
        for signal in [Signal::TERM, Signal::KILL] {
            let mut ground = Ground::new(User::Me);
            let (id, pid) = hold(&ground, "touch ran", at);
            ground.keeper.signal(signal);
            ground.keeper.wait();
            eventually("nobody of it is left", || {
                !is_alive(pid) && marked(id.as_str()) == NOBODY
            });
            assert!(!ground.work.join("ran").exists());
        }
    }
}

/// Who has this terminal's mark in its environment.
fn marked(id: &str) -> Vec<i32> {
    let mark = format!("TERMD_TERMINAL={id}\0").into_bytes();
    let entries = fs::read_dir("/proc").unwrap();
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let has_it = |pid: &i32| {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.windows(mark.len()).any(|some| some == mark)
    };
    pids.filter(has_it).collect()
}

/// A library that is to be loaded into the command is loaded into nothing before its walls.
fn is_not_the_requests() {
    if !is_installed() {
        return;
    }
    let ground = Ground::new(User::Me);
    let id = ground.keeper.new_id();
    let answer = ground.keeper.ask(&json!({
        "op": "spawn", "id": id, "argv": ["/bin/true"], "env": ["LD_PRELOAD=/no/library.so"],
        "cwd": ground.work, "notes": "", "stdio": "pipes", "confinement": workspace(&ground),
    }));
    assert!(answer.is_number(), "{answer}");
    let (_, stderr) = ground.keeper.outputs(&id, "");
    assert_eq!(stderr.matches("/no/library.so").count(), 1, "{stderr}");
}

/// As after an upgrade: the file that the keeper was started from is another one, or none.
fn of_a_program_that_is_gone() {
    if !is_installed() {
        return;
    }
    let ground = Ground::new(User::Nobody);
    fs::remove_file(ground.keeper.home.program()).unwrap();
    let (id, answer) = bash(&ground, "echo works", &workspace(&ground));
    assert!(answer.is_number(), "{answer}");
    assert_eq!(ground.keeper.output(&id, ""), "works\n");
}

/// Where it can make none it goes on without, and the mounts stand all the same.
fn without_user_namespaces() {
    let Some(ground) = cramped().filter(|_| is_installed()) else {
        return;
    };
    let mut spec = workspace(&ground);
    let (_, answer) = bash(&ground, "true", &spec);
    let refused = json!({"error": "spawn", "step": "Confine(Namespaces)", "errno": 1});
    assert_eq!(answer, refused);
    assert_eq!(ground.keeper.children(), NOBODY);
    spec["sandbox"]["best_effort"] = json!(true);
    let (id, answer) = bash(&ground, "true", &spec);
    assert!(answer.is_number(), "{answer}");
    // Root's bounding set stays as it was, so an exec gives it its capabilities again.
    let missing = json!({"namespaces": 1, "capabilities": 1});
    assert_eq!(ground.keeper.enforced(&id)["missing"], missing);
    ground.expect(
        User::Cramped,
        &spec,
        &[
            "create ~/project/new = crossed",
            "create ~/new = EROFS",
            "chmod ~/other/file = EROFS",
            "nonempty ~/.secret = empty",
            "umount ~/.secret = EPERM",
            "create ~/project/.git/hooks/new = EROFS",
            "unshare = EPERM",
        ],
    );
}

//! Sandboxes with PID and IPC namespaces: the tests of other sandboxes again, and what only these hold.

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::Test;
use crate::bubblewrap::{is_installed, with_private_processes};
use crate::ground::Ground;
use crate::orphans::processes_with_argument;
use crate::support::{NOBODY, User, eventually};
use crate::{confine, confine_limits, confine_outside, confined_work};

/// Tests of sandboxes, in those with a PID namespace.
pub(crate) const AGAIN: &[Test] = &[
    ("pid_namespace_writes_stay_in_the_workspace", || {
        with_private_processes(confine::writes_stay_in_the_workspace);
    }),
    ("pid_namespace_everything_may_be_writable", || {
        with_private_processes(confine::everything_may_be_writable);
    }),
    (
        "pid_namespace_a_spec_that_cannot_be_held_is_refused",
        || {
            with_private_processes(confine::a_spec_that_cannot_be_held_is_refused);
        },
    ),
    (
        "pid_namespace_counts_processes_of_this_sandbox_alone",
        || {
            with_private_processes(confine_limits::processes_of_this_sandbox_alone);
        },
    ),
    ("pid_namespace_no_rights_are_gained", || {
        with_private_processes(confine_outside::no_rights_are_gained);
    }),
    ("pid_namespace_programs_work", || {
        with_private_processes(confined_work::programs_work);
    }),
    ("pid_namespace_git_commits", || {
        with_private_processes(confined_work::git_commits);
    }),
    ("pid_namespace_job_control_works", || {
        with_private_processes(confined_work::job_control_works);
    }),
    ("pid_namespace_terminals_work", || {
        with_private_processes(confined_work::terminals_work);
    }),
    ("pid_namespace_exits_are_exact", || {
        with_private_processes(confined_work::exits_are_exact);
    }),
    ("pid_namespace_debuggers_see_their_own", || {
        with_private_processes(confined_work::debuggers_see_their_own);
    }),
    ("pid_namespace_on_pipes", || {
        with_private_processes(confined_work::on_pipes);
    }),
    ("pid_namespace_best_effort", || {
        with_private_processes(confined_work::best_effort);
    }),
    ("pid_namespace_spawns_are_quick", || {
        with_private_processes(confined_work::spawns_are_quick);
    }),
];

pub(crate) const TESTS: &[Test] = &[
    (
        "pid_namespace_everything_ends_with_its_terminal",
        everything_ends,
    ),
    (
        "pid_namespace_everything_ends_with_its_keeper",
        everything_ends_with_its_keeper,
    ),
    (
        "pid_namespace_background_processes_live_on",
        background_processes_live_on,
    ),
    (
        "pid_namespace_has_its_own_processes_alone",
        has_its_own_alone,
    ),
    ("pid_namespace_no_signal_ends_the_init", the_init_is_safe),
    ("pid_namespace_is_reported", is_reported),
    ("pid_namespace_without_all_of_proc", without_all_of_proc),
    (
        "pid_namespace_a_failed_start_leaves_nothing",
        a_failed_start,
    ),
    ("ipc_namespace_shares_nothing", shares_nothing),
];

fn private(ground: &Ground) -> Value {
    let mut spec = ground.workspace();
    spec["sandbox"]["processes"] = json!("private");
    spec
}

/// Processes that leave their session, parents, environment and terminal behind. `$1` marks them.
const FUGITIVES: &str = r#"
setsid -f env -i /bin/sh -c 'trap "" HUP TERM; sleep "$0"' $1 </dev/null >/dev/null 2>&1
setsid -f env -i /bin/sh -c 'exec setsid -f sleep "$0"' $1 </dev/null >/dev/null 2>&1
(setsid -f setsid -f env -i sleep $1 </dev/null >/dev/null 2>&1)
setsid -f env -i nohup sleep $1 </dev/null >/dev/null 2>&1
echo ready
"#;
/// The shell that ignores signals, and a `sleep` of each.
const FUGITIVE_COUNT: usize = 5;

/// Starts the fugitives; what marks them is in their arguments.
fn start_fugitives(
    ground: &Ground,
    mark: &str,
    before: &str,
    then: &str,
) -> termd_proto::TerminalId {
    let script = format!("{before}{FUGITIVES}{then}");
    let argv = ["/bin/bash", "-c", &script, "bash", mark];
    let (id, answer) = (ground.keeper).try_confined(&argv, &ground.work, &private(ground));
    assert!(answer.is_number(), "{answer}");
    eventually("they run", || {
        processes_with_argument(mark).len() >= FUGITIVE_COUNT
    });
    id
}

fn everything_ends() {
    for user in User::all() {
        let ground = Ground::new(user);
        // At its exit the kernel sends SIGHUP to what has not left the session yet.
        for (case, signal, before, then) in [
            (1, 1, "", "exec sleep 1000"),
            (2, 15, "", "exec sleep 1000"),
            (3, 1, "trap '' HUP", "exit 4"),
        ] {
            let mark = format!("{}.{case}", 600_000 + ground.keeper.pid());
            let id = start_fugitives(&ground, &mark, before, then);
            if case == 3 {
                assert_eq!(ground.keeper.exit_of(&id), "Exited(4)");
            }
            let end = json!({"op": "end", "id": id, "signal": signal, "grace_ms": 200});
            assert_eq!(ground.keeper.ask(&end), "done", "as {user:?}");
            let left = processes_with_argument(&mark);
            assert!(left.is_empty(), "{case} as {user:?}: {left:?}");
            assert_eq!(ground.keeper.ask(&json!({"op": "orphans"})), json!([0, []]));
        }
        eventually("nobody is left", || ground.keeper.children() == NOBODY);
    }
}

fn everything_ends_with_its_keeper() {
    for (case, signal) in [(1, Signal::TERM), (2, Signal::KILL)] {
        for user in User::all() {
            let mut ground = Ground::new(user);
            let mark = format!("{}.{case}", 700_000 + ground.keeper.pid());
            start_fugitives(&ground, &mark, "", "exec sleep 1000");
            ground.keeper.signal(signal);
            ground.keeper.wait();
            eventually("they end", || processes_with_argument(&mark).is_empty());
        }
    }
}

/// Until the terminal is closed; and the init no longer than they.
fn background_processes_live_on() {
    for user in User::all() {
        let ground = Ground::new(user);
        let mark = format!("{}.4", 800_000 + ground.keeper.pid());
        let script = "trap '' HUP; sleep $1 >/dev/null 2>&1 & exit 3";
        let argv = ["/bin/bash", "-c", script, "bash", &mark];
        let (id, _) = (ground.keeper).try_confined(&argv, &ground.work, &private(&ground));
        assert_eq!(ground.keeper.exit_of(&id), "Exited(3)");
        let background = processes_with_argument(&mark);
        assert_eq!(background.len(), 1, "{background:?}");
        let inits = ground.keeper.children();
        assert_eq!(inits.len(), 1, "{inits:?}");
        crate::support::kill(background[0], Signal::KILL);
        eventually("the init ends", || ground.keeper.children() == NOBODY);
        assert_eq!(ground.keeper.end(&id, 1000), "done");
        // What is only forgotten is ended, too.
        let (id, _) = (ground.keeper).try_confined(&argv, &ground.work, &private(&ground));
        assert_eq!(ground.keeper.exit_of(&id), "Exited(3)");
        assert_eq!(
            ground.keeper.ask(&json!({"op": "forget", "id": id})),
            "done"
        );
        eventually("nobody is left", || ground.keeper.children() == NOBODY);
        assert!(processes_with_argument(&mark).is_empty());
    }
}

fn has_its_own_alone() {
    for user in User::all() {
        let ground = Ground::new(user);
        let (other, outside) = ground.keeper.spawn("echo up; read line");
        ground.keeper.output(&other, "up");
        let keeper = ground.keeper.pid();
        let lines = [
            format!("kill {keeper} = ESRCH"),
            format!("kill {outside} = ESRCH"),
            format!("ptrace {outside} = ESRCH"),
            format!("list /proc/{outside} = ENOENT"),
            format!("read /proc/{keeper}/cmdline = ENOENT"),
            // The init is more than a process inside may touch.
            "ptrace 1 = EPERM".to_owned(),
            "read /proc/1/environ = EACCES".to_owned(),
            "list /proc/1/root = EACCES".to_owned(),
            "readlink /proc/1/fd/0 = EACCES".to_owned(),
            "readlink /proc/1/fd/3 = EACCES|ENOENT".to_owned(),
            // The init opens it once the command runs.
            "read /proc/1/fd/3 = EACCES|ENOENT".to_owned(),
            "readlink /proc/1/exe = EACCES".to_owned(),
            "write /proc/self/oom_score_adj = EROFS".to_owned(),
            "write /proc/sys/kernel/core_pattern = EROFS|EACCES".to_owned(),
            "umount /proc = EPERM".to_owned(),
        ];
        let table: Vec<&str> = lines.iter().map(String::as_str).collect();
        ground.expect(user, &private(&ground), &table);
        let said = (ground.keeper).confined("ps -eo comm=", &ground.work, &private(&ground));
        assert!(said.lines().count() <= 3, "{said}");
    }
}

fn the_init_is_safe() {
    for user in User::all() {
        let ground = Ground::new(user);
        let script = "for s in KILL TERM STOP HUP CHLD USR1; do kill -$s 1 2>/dev/null; done; \
                      kill -KILL -1 2>/dev/null; \
                      (sleep 0 &); sleep 0; echo lives";
        let said = (ground.keeper).confined(script, &ground.work, &private(&ground));
        // bash is spared by its own kill(-1): it is the caller.
        assert_eq!(said, "lives\n", "as {user:?}");
        eventually("nobody is left", || ground.keeper.children() == NOBODY);
    }
}

fn is_reported() {
    for user in User::all() {
        let ground = Ground::new(user);
        let argv = ["/bin/true"];
        let (id, _) = (ground.keeper).try_confined(&argv, &ground.work, &private(&ground));
        let enforced = ground.keeper.enforced(&id);
        for name in ["pid_namespace", "ipc_namespace"] {
            assert!(
                enforced["held"].as_array().unwrap().contains(&json!(name)),
                "{enforced}"
            );
        }
        if is_installed() {
            let mut spec = private(&ground);
            spec["sandbox"]["builder"] = json!("bubblewrap");
            let (id, answer) = (ground.keeper).try_confined(&argv, &ground.work, &spec);
            assert!(answer.is_number(), "{answer}");
            let held = ground.keeper.enforced(&id)["held"].clone();
            let held = held.as_array().unwrap();
            assert!(held.contains(&json!("ipc_namespace")), "{held:?}");
            assert!(!held.contains(&json!("pid_namespace")), "{held:?}");
        }
    }
}

/// As in a container that covers parts of it: the kernel then mounts no other.
fn without_all_of_proc() {
    if !rustix::process::geteuid().is_root() {
        return eprintln!("SKIP: the tests are not run by root");
    }
    let ground = Ground::new(User::WithoutAllOfProc);
    let mut spec = private(&ground);
    let argv = ["/bin/bash", "-c", "kill -TERM $$"];
    let (_, answer) = (ground.keeper).try_confined(&argv, &ground.work, &spec);
    let refused = json!({"error": "spawn", "step": "Confine(PidNamespace)", "errno": 1});
    assert_eq!(answer, refused);
    eventually("nobody is left", || ground.keeper.children() == NOBODY);
    spec["sandbox"]["best_effort"] = json!(true);
    let (id, answer) = (ground.keeper).try_confined(&argv, &ground.work, &spec);
    assert!(answer.is_number(), "{answer}");
    let enforced = ground.keeper.enforced(&id);
    assert_eq!(enforced["missing"], json!({"pid_namespace": 1}));
    // The process that could enter none is the command.
    assert_eq!(ground.keeper.exit_of(&id), "Signaled(15)");
    let said = (ground.keeper).confined("[ -t 0 ] && echo /proc/$$", &ground.work, &spec);
    assert!(said.starts_with("/proc/"), "{said}");
    eventually("nobody is left", || ground.keeper.children() == NOBODY);
}

fn a_failed_start() {
    for user in User::all() {
        let ground = Ground::new(user);
        let before = ground.keeper.open_fds();
        for (argv, cwd) in [("/no/program", "project"), ("/bin/true", "no/directory")] {
            let cwd = ground.home().join(cwd);
            let (_, answer) = (ground.keeper).try_confined(&[argv], &cwd, &private(&ground));
            assert_eq!(answer["errno"], 2, "{answer}");
            eventually("nobody is left", || ground.keeper.children() == NOBODY);
        }
        assert_eq!(ground.keeper.open_fds(), before);
    }
}

/// System V shared memory, queues and semaphores of the same user, which anybody may use.
fn shares_nothing() {
    let sh = |script: &str| {
        let output = std::process::Command::new("sh")
            .args(["-c", script])
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    if sh("command -v ipcmk && command -v ipcs").lines().count() < 2 {
        return eprintln!("SKIP: ipcmk is not installed");
    }
    // Its key, and what removes it.
    let made = [("m", "-M 4096"), ("q", "-Q"), ("s", "-S 1")].map(|(kind, what)| {
        let made = sh(&format!("ipcmk {what} -p 600"));
        let id = made.trim().rsplit(' ').next().unwrap().to_owned();
        let key = sh(&format!("ipcs -{kind} | awk '$2 == \"{id}\" {{print $1}}'"));
        let key = u32::from_str_radix(key.trim().trim_start_matches("0x"), 16).unwrap();
        (key.cast_signed(), format!("-{kind} {id} "))
    });
    let ground = Ground::new(User::Me);
    let check = |spec: &Value, result: &str| {
        let tries = ["shmget", "msgget", "semget"].iter().zip(&made);
        let lines: Vec<String> = tries
            .map(|(call, (key, _))| format!("{call} {key} = {result}"))
            .collect();
        let table: Vec<&str> = lines.iter().map(String::as_str).collect();
        ground.expect(User::Me, spec, &table);
    };
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let mut spec = private(&ground);
        check(&spec, "ENOENT");
        if is_installed() {
            spec["sandbox"]["builder"] = json!("bubblewrap");
            check(&spec, "ENOENT");
        }
        spec = private(&ground);
        spec["sandbox"]["processes"] = json!("shared");
        check(&spec, "crossed");
        let script = "ipcmk -M 4096 >/dev/null && ipcs -m | grep -c 4096";
        let said = (ground.keeper).confined(script, &ground.work, &private(&ground));
        assert_eq!(said, "1\n", "it may have its own");
    }));
    sh(&format!(
        "ipcrm {}",
        made.map(|(_, remove)| remove).concat()
    ));
    outcome.unwrap();
}

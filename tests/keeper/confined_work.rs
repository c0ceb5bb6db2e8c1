//! Ordinary work goes on inside the walls.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::Test;
use crate::ground::Ground;
use crate::support::{NOBODY, User, eventually, is_alive, pid_in, wait_gone};

pub(crate) const TESTS: &[Test] = &[
    ("confined_programs_work", programs_work),
    ("confined_git_commits", git_commits),
    ("confined_job_control_works", job_control_works),
    ("confined_terminals_work", terminals_work),
    ("confined_exits_are_exact", exits_are_exact),
    ("confined_trees_are_ended", trees_are_ended),
    ("confined_debuggers_see_their_own", debuggers_see_their_own),
    ("confined_on_pipes", on_pipes),
    ("confined_best_effort", best_effort),
    ("confined_spawns_are_quick", spawns_are_quick),
];

/// Whether somebody can run this program; without it there is nothing to test.
fn can_run(ground: &Ground, program: &str) -> bool {
    let (id, _) = ground.keeper.try_confined(
        &[
            "/bin/bash",
            "-c",
            &format!("command -v {program} && {program} --version"),
        ],
        &ground.work,
        &json!(null),
    );
    ground.keeper.output(&id, "");
    let can = ground.keeper.exit_of(&id) == "Exited(0)";
    if !can {
        eprintln!("SKIP: {program} does not run here for this user");
    }
    can
}

pub(crate) fn programs_work() {
    for user in User::all() {
        let ground = Ground::new(user);
        let spec = ground.workspace();
        for (program, script, expected) in [
            (
                "python3",
                "python3 -c 'import multiprocessing as m, tempfile as t; l = m.Lock(); \
              print(\"py\", 6 * 7, t.TemporaryFile(dir=\".\").write(b\"x\"))'",
                "py 42 1\n",
            ),
            (
                "vim",
                "vim -es -u NONE -c 's/text/word/' -c wq file; cat file",
                "word\n",
            ),
            ("perl", "perl -e 'fork or exit; wait; print 7'", "7"),
            ("ps", "ps -o pid= -p $$ >/dev/null && echo seen", "seen\n"),
        ] {
            if can_run(&ground, program) {
                assert_eq!(
                    ground.keeper.confined(script, &ground.work, &spec),
                    expected
                );
            }
        }
        let cargo = std::env::var("CARGO").unwrap_or_default();
        if user == User::Me && !cargo.is_empty() {
            let said = ground
                .keeper
                .confined(&format!("{cargo} --version"), &ground.work, &spec);
            assert!(said.starts_with("cargo 1."), "{said}");
        } else {
            eprintln!("SKIP: cargo is out of reach of {user:?}");
        }
    }
}

pub(crate) fn git_commits() {
    for user in User::all() {
        let ground = Ground::new(user);
        if !can_run(&ground, "git") {
            continue;
        }
        let repository = ground.home().join("repository");
        ground.directory(&repository);
        let none = json!(null);
        let made =
            "git init -q . && git config user.name t && git config user.email t@t && echo made";
        assert_eq!(ground.keeper.confined(made, &repository, &none), "made\n");
        let at = |name: &str| repository.join(name).to_str().unwrap().to_owned();
        let spec = json!({"sandbox": {
            "writable": [at("")],
            "protected": [[at(".git/hooks"), "directory"], [at(".git/config"), "file"]],
        }});
        let script = "export GIT_PAGER=cat; echo text > file && git add file && \
            git commit -qm first && git status -s && git log --format=%s && \
            git checkout -qb other && git branch --show-current && git gc -q && \
            git fsck --no-progress && echo whole";
        let said = ground.keeper.confined(script, &repository, &spec);
        assert!(
            said.starts_with("first\nother\n") && said.ends_with("whole\n"),
            "{said}"
        );
        let script = "git config alias.x '!sh' ; echo $?; echo x > .git/hooks/pre-commit; echo $?";
        let said = ground.keeper.confined(script, &repository, &spec);
        assert!(said.contains("could not write config file"), "{said}");
        assert!(said.contains("Read-only file system\n1\n"), "{said}");
    }
}

pub(crate) fn job_control_works() {
    for user in User::all() {
        let ground = Ground::new(user);
        let script = "set -m; sleep 300 & jobs -r | grep -c Running; kill -KILL %1; \
            wait %1 2>/dev/null; echo exit=$?; sh -c 'kill -STOP $$; exit 5'; \
            jobs | grep -c Stopped; fg >/dev/null; echo resumed=$?; sleep 0 & wait; echo waited; \
            cat < /dev/null; echo x | tee /dev/stderr; stty -echo && stty echo && echo tty; \
            [ -t 0 ] && echo is_tty; cat <(echo substituted)";
        let said = ground
            .keeper
            .confined(script, &ground.work, &ground.workspace());
        for expected in [
            "1\n",
            "exit=137\n",
            "1\nresumed=5\n",
            "waited\n",
            "x\nx\n",
            "tty\n",
            "is_tty\n",
            "substituted\n",
        ] {
            assert!(said.contains(expected), "{expected} in {said}");
        }
    }
}

/// New ones, and the name of its own.
pub(crate) fn terminals_work() {
    for user in User::all() {
        let ground = Ground::new(user);
        let script = "tty; echo shown > /dev/tty; echo again > $(tty); ls /dev/pts; \
                      script -qec 'tty; echo inner' /dev/null; ls /dev/shm | wc -l; \
                      ls /proc/self/fd | wc -l";
        let said = ground
            .keeper
            .confined(script, &ground.work, &ground.workspace());
        assert_eq!(
            said, "/dev/console\nshown\nagain\nptmx\n/dev/pts/0\ninner\n0\n4\n",
            "as {user:?}"
        );
    }
}

pub(crate) fn exits_are_exact() {
    for user in User::all() {
        let ground = Ground::new(user);
        let spec = ground.workspace();
        for (script, exit) in [
            ("exit 0", "Exited(0)"),
            ("exit 255", "Exited(255)"),
            ("kill -TERM $$", "Signaled(15)"),
            ("kill -40 $$", "Signaled(40)"),
        ] {
            let argv = ["/bin/sh", "-c", script];
            let (id, answer) = ground.keeper.try_confined(&argv, &ground.work, &spec);
            assert!(answer.is_number(), "{answer}");
            assert_eq!(ground.keeper.exit_of(&id), exit, "{script}");
        }
        let (_, answer) = ground
            .keeper
            .try_confined(&["/no/program"], &ground.work, &spec);
        assert_eq!(
            answer,
            json!({"error": "spawn", "step": "Exec", "errno": 2})
        );
        // The init of a PID namespace ends after the command.
        eventually("nobody is left", || ground.keeper.children() == NOBODY);
    }
}

/// Also what has a pseudo-terminal of the sandbox's, whose device number is one of the host's, too.
pub(crate) fn trees_are_ended() {
    for user in User::all() {
        let ground = Ground::new(user);
        let (bystander, outside) = ground.keeper.spawn("echo ready; sleep 300");
        ground.keeper.output(&bystander, "ready");
        let script = "setsid -f sh -c 'echo DETACHED=$$; exec sleep 300'; \
            script -qfc 'echo INNER=$$; exec sleep 300' /dev/null & echo SHELL=$$; wait; sleep 300";
        let argv = ["/bin/bash", "-c", script];
        let (id, answer) = ground
            .keeper
            .try_confined(&argv, &ground.work, &ground.workspace());
        assert!(answer.is_number(), "{answer}");
        let mut said = String::new();
        let names = ["DETACHED", "INNER", "SHELL"];
        while !names.iter().all(|name| said.contains(&format!("{name}="))) {
            said += &ground.keeper.output(&id, "\n");
        }
        let pids = names.map(|name| pid_in(&said, name));
        assert!(pids.iter().all(|&pid| is_alive(pid)), "{said}");
        assert_eq!(ground.keeper.end(&id, 2000), "done");
        pids.into_iter().for_each(wait_gone);
        assert!(is_alive(outside), "another terminal's");
    }
}

pub(crate) fn debuggers_see_their_own() {
    for user in User::all() {
        let ground = Ground::new(user);
        if can_run(&ground, "strace") {
            let script = "strace -qq -e trace=execve -o trace true; grep -c execve trace";
            let said = ground
                .keeper
                .confined(script, &ground.work, &ground.workspace());
            assert_eq!(said, "1\n", "as {user:?}");
        }
    }
}

pub(crate) fn on_pipes() {
    for user in User::all() {
        let ground = Ground::new(user);
        let id = ground.keeper.new_id();
        let script = "echo out; echo err >&2; echo x > /dev/stderr; echo x > ../new; [ -e /dev/console ] || echo none";
        let answer = ground.keeper.ask(&json!({
            "op": "spawn", "id": id, "argv": ["/bin/bash", "-c", script], "env": [],
            "cwd": ground.work, "notes": "", "stdio": "pipes",
            "confinement": ground.workspace(),
        }));
        assert!(answer.is_number(), "{answer}");
        let (out, err) = ground.keeper.outputs(&id, "");
        assert_eq!(out, "out\nnone\n");
        assert!(
            err.starts_with("err\nx\n") && err.contains("Read-only file system"),
            "{err}"
        );
    }
}

/// Where everything can be held it is, however it was asked for.
pub(crate) fn best_effort() {
    for user in User::all() {
        let ground = Ground::new(user);
        let mut spec = ground.workspace();
        spec["sandbox"]["best_effort"] = json!(true);
        let (id, answer) = ground
            .keeper
            .try_confined(&["/bin/true"], &ground.work, &spec);
        assert!(answer.is_number(), "{answer}");
        assert_eq!(ground.keeper.enforced(&id)["missing"], json!({}));
        // In a sandbox there are no namespaces to be had: what is left is told, and what is not.
        spec["sandbox"]["writable"] = json!([ground.at("absent")]);
        let (_, answer) = ground
            .keeper
            .try_confined(&["/bin/true"], &ground.work, &spec);
        assert_eq!(
            answer,
            json!({"error": "spawn", "step": "Confine(Writes)", "errno": 2})
        );
    }
}

fn micros(time: Duration) -> i64 {
    i64::try_from(time.as_micros()).unwrap()
}

/// Measured in pairs, so that whatever else this machine does slows both.
pub(crate) fn spawns_are_quick() {
    const PAIRS: usize = 101;
    for user in User::all() {
        let ground = Ground::new(user);
        let (none, spec) = (json!(null), ground.workspace());
        let once = |confinement| {
            let started = Instant::now();
            let argv = ["/bin/true"];
            let (id, answer) = ground.keeper.try_confined(&argv, &ground.work, confinement);
            let took = started.elapsed();
            assert!(answer.is_number(), "{answer}");
            ground.keeper.exit_of(&id);
            ground.keeper.ask(&json!({"op": "forget", "id": id}));
            // The kernel takes milliseconds to remove namespaces, and delays new ones meanwhile.
            eventually("it is gone", || ground.keeper.children() == NOBODY);
            took
        };
        let mut bare = Vec::new();
        let mut more = Vec::new();
        for _ in 0..PAIRS {
            let (one, other) = (once(&none), once(&spec));
            bare.push(one);
            more.push(micros(other) - micros(one));
        }
        bare.sort_unstable();
        more.sort_unstable();
        let (bare, more) = (micros(bare[PAIRS / 2]), more[PAIRS / 2]);
        println!(
            "as {user:?}: a start takes {bare} us, confined {more} us more (medians of {PAIRS})"
        );
        assert!(more < 100_000, "{bare} {more}");
    }
}

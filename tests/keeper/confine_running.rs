//! What somebody outside renames, removes or replaces opens no way into a sandbox that runs.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::symlink;
use std::process::Command;

use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::{Value, json};

use crate::Test;
use crate::ground::Ground;
use crate::support::User;

pub(crate) const TESTS: &[Test] = &[
    ("confine_a_replaced_file_stays_hidden", stays_hidden),
    (
        "confine_a_directory_above_what_is_hidden_looks_the_same",
        looks_the_same,
    ),
    (
        "confine_what_is_replaced_is_protected_again",
        is_protected_again,
    ),
    ("confine_what_is_replaced_is_hidden_again", is_hidden_again),
    ("confine_a_removed_placeholder_is_made_again", placeholder),
];

/// Runs a script in a sandbox that waits at `project/go`, in the middle, until somebody outside has
/// run another one in the home. What it prints after that.
fn around(ground: &Ground, spec: &Value, outside: &str, after: &str) -> String {
    let go = ground.work.join("go");
    if !go.exists() {
        mknodat(CWD, &go, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
        ground.keeper.home.give(&go);
    }
    let script = format!("echo ready; read line < go; {after}; echo done; read line < go");
    let argv = ["/bin/bash", "-c", &script];
    let (id, answer) = ground.keeper.try_confined(&argv, &ground.work, spec);
    assert!(answer.is_number(), "{answer}");
    ground.keeper.output(&id, "ready");
    let mut command = Command::new("/bin/bash");
    let command = command.args(["-euc", outside]).current_dir(ground.home());
    assert!(command.status().unwrap().success());
    let mut go = OpenOptions::new().write(true).open(go).unwrap();
    std::io::Write::write_all(&mut go, b"go\n").unwrap();
    let said = ground.keeper.output(&id, "done");
    assert!(
        said.contains("done"),
        "{outside}: {said} {}",
        ground.keeper.exit_of(&id)
    );
    said
}

/// Tries until it is refused. Each try takes longer than the restoring of a mount.
fn refused(write: &str) -> String {
    format!(
        "held=no; for n in {{1..2000}}; do (/bin/sh -c '{write}') 2>/dev/null || {{ held=yes; break; }}; \
         done; echo held=$held"
    )
}

fn stays_hidden() {
    for user in User::all() {
        let ground = Ground::new(user);
        for name in [".config", ".config/gh", ".cache"] {
            ground.directory(ground.at(name).as_ref());
        }
        ground.file(".netrc", "the key");
        ground.file(".config/gh/hosts", "the key");
        ground.file(".seen", "seen\n");
        let spec = json!({ "sandbox": {
            "writable": [ground.at("project")],
            "hidden": [
                ground.at(".secret"),
                ground.at(".netrc"),
                ground.at(".config/gh"),
                ground.at(".cache/token"),
            ],
        }});
        let outside = "echo the key > new; mv new .netrc; \
            mv .secret moved; mkdir .secret; echo the key > .secret/key; chmod -R a+rX .; \
            cp -r .config .other; mv .config gone; mv .other .config; \
            echo the key > .cache/token; echo the key > .history; echo changed > .seen";
        let said = around(
            &ground,
            &spec,
            outside,
            "cd ..; cat .netrc .secret/key moved/key .config/gh/hosts gone/gh/hosts .cache/token \
             .history .seen 2>/dev/null",
        );
        assert!(!said.contains("the key"), "as {user:?}: {said}");
        assert!(said.contains("changed"), "as {user:?}: {said}");
    }
}

fn looks_the_same() {
    for user in User::all() {
        let ground = Ground::new(user);
        symlink("other/file", ground.at("link")).unwrap();
        symlink("nowhere", ground.at("lost")).unwrap();
        let fifo = ground.home().join("fifo");
        mknodat(CWD, &fifo, FileType::Fifo, Mode::from_raw_mode(0o640), 0).unwrap();
        ground.keeper.home.give(&fifo);
        let list = "cd ..; stat -c '%A %n' . .[!.]* *; cat link";
        let free = ground.keeper.confined(list, &ground.work, &json!(null));
        let spec = json!({ "sandbox": {
            "writable": [ground.at("project")], "hidden": [ground.at("other/none")],
        }});
        let confined = ground.keeper.confined(list, &ground.work, &spec);
        let lines = |text: &str| -> Vec<String> {
            let lines = text
                .lines()
                .filter(|line| !line.ends_with(" state") && !line.ends_with(" run"));
            lines.map(str::to_owned).collect()
        };
        assert_eq!(lines(&free), lines(&confined), "as {user:?}");
    }
}

/// A sandbox with an init, which watches.
fn watched(ground: &Ground, protected: &Value) -> Value {
    json!({ "sandbox": {
        "writable": [ground.at("project")],
        "protected": protected,
        "hidden": [ground.at("project/.env"), ground.at("project/keys/one")],
        "processes": "private",
    }})
}

fn is_protected_again() {
    for user in User::all() {
        for (outside, write) in [
            ("echo x > new; mv new project/.envrc", "echo y > .envrc"),
            (
                "rm project/.envrc; echo x > project/.envrc",
                "echo y > .envrc",
            ),
            (
                "rm project/.envrc; ln -s file project/.envrc",
                "rm .envrc && ln -s src .envrc",
            ),
            (
                "rm -r project/.git; mkdir -p project/.git/hooks",
                "echo y >> .git/config",
            ),
            (
                "mv project/.git old; mkdir project/.git",
                "echo y >> .git/config",
            ),
            (
                "mv project/.git project/old; mkdir project/.git",
                "echo y >> .git/config",
            ),
            (
                "mv project/src old; mkdir -p project/src/a/.git",
                "echo y >> src/a/.git/config",
            ),
            (
                "mv project/src/a old; mkdir -p project/src/a/.git",
                "mv src/a b && mv b src/a",
            ),
        ] {
            let ground = Ground::new(user);
            ground.file("project/.envrc", "before");
            for name in ["project/src/a", "project/src/a/.git"] {
                ground.directory(ground.at(name).as_ref());
            }
            let protected = json!([
                [ground.at("project/.envrc"), "leave"],
                [ground.at("project/.git"), "directory"],
                [ground.at("project/src/a/.git"), "leave"],
            ]);
            let outside = format!("{outside}; chmod -R a+rwX project");
            let spec = watched(&ground, &protected);
            let said = around(&ground, &spec, &outside, &refused(write));
            assert!(said.contains("held=yes"), "{outside} as {user:?}: {said}");
        }
    }
}

fn is_hidden_again() {
    for user in User::all() {
        for outside in [
            "echo PASSWORD > new; mv new project/.env",
            "rm project/.env; echo PASSWORD > project/.env",
            "mv project/.env old; mkdir project/.env; echo PASSWORD > project/.env/x",
            "mv project/keys old; mkdir -p project/keys/one; echo PASSWORD > project/keys/one/x",
        ] {
            let ground = Ground::new(user);
            for name in ["project/keys", "project/keys/one"] {
                ground.directory(ground.at(name).as_ref());
            }
            let outside = format!("{outside}; chmod -R a+rwX project");
            let spec = watched(&ground, &json!([]));
            let read = refused("cat .env .env/x keys/one/x 2>/dev/null | grep PASSWORD");
            let said = around(&ground, &spec, &outside, &read);
            assert!(said.contains("held=yes"), "{outside} as {user:?}: {said}");
        }
    }
}

/// `git clean -fdx` removes the empty directories that termd has made.
fn placeholder() {
    for user in User::all() {
        let ground = Ground::new(user);
        let protected = json!([[ground.at("project/.agent"), "directory"]]);
        let said = around(
            &ground,
            &watched(&ground, &protected),
            "rmdir project/.agent",
            &refused("mkdir -p .agent && echo x > .agent/settings"),
        );
        assert!(said.contains("held=yes"), "as {user:?}: {said}");
        assert!(fs::metadata(ground.at("project/.agent")).unwrap().is_dir());
    }
}

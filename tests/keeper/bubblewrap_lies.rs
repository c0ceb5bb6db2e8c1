//! Another program in bubblewrap's place: one that fails, ones that leave something out, and one that
//! anybody could have put there. Nothing of what it says it did is believed.

use std::fs;

use serde_json::{Value, json};

use crate::Test;
use crate::bubblewrap::is_installed;
use crate::bubblewrap_own::{bash, workspace};
use crate::ground::Ground;
use crate::support::{NOBODY, User, eventually, is_alive, pid_in};

pub(crate) const TESTS: &[Test] = &[
    ("bubblewrap_that_fails_is_refused", that_fails_is_refused),
    (
        "bubblewrap_that_builds_nothing_is_refused",
        that_builds_nothing,
    ),
    ("bubblewrap_that_builds_less_is_refused", that_builds_less),
    (
        "bubblewrap_that_leaves_something_behind_is_refused",
        that_leaves_something_behind,
    ),
    ("bubblewrap_that_is_setuid_builds", that_is_setuid),
    ("bubblewrap_of_anybody_is_refused", of_anybody_is_refused),
];

/// With another program in bubblewrap's place; `None` where that cannot be.
fn with_another(user: User) -> Option<Ground> {
    if !is_installed() || !fs::exists("/usr/bin/bwrap").is_ok_and(|exists| exists) {
        eprintln!("SKIP: there is no /usr/bin/bwrap to put another program in the place of");
        return None;
    }
    if !rustix::process::geteuid().is_root() {
        eprintln!("SKIP: only root can put another program in the place of bubblewrap");
        return None;
    }
    Some(Ground::new(user))
}

const GAVE_UP: i32 = 125;

/// What it says reaches the server; by best effort the command runs without what it builds.
fn that_fails_is_refused() {
    let Some(ground) = with_another(User::WithABwrap("echo no such luck >&2; exit 1")) else {
        return;
    };
    let before = ground.keeper.open_fds();
    let mut spec = workspace(&ground);
    let (_, answer) = bash(&ground, "touch ran", &spec);
    let refused = json!({"error": "spawn", "step": "Confine(Bubblewrap)", "errno": GAVE_UP});
    assert_eq!(answer, refused);
    let said = ground.home().join("said");
    eventually("it is told", || {
        fs::read_to_string(&said).is_ok_and(|said| said == "no such luck\n")
    });
    assert_eq!(ground.keeper.children(), NOBODY);
    assert_eq!(ground.keeper.open_fds(), before);
    assert!(!ground.work.join("ran").exists());
    spec["sandbox"]["best_effort"] = json!(true);
    let script =
        "[ -t 0 ] && stty -echo && echo tty; touch ../new || echo kept; cat ../.secret/key";
    let (id, answer) = bash(&ground, script, &spec);
    assert!(answer.is_number(), "{answer}");
    let gone = [
        "bubblewrap",
        "devices",
        "hidden",
        "namespaces",
        "protected",
        "read_only",
    ];
    let missing = gone.map(|wall| (wall.to_owned(), json!(GAVE_UP)));
    let enforced = ground.keeper.enforced(&id);
    assert_eq!(
        enforced["missing"],
        Value::Object(missing.into_iter().collect())
    );
    let held = enforced["held"].as_array().unwrap();
    assert!(held.contains(&json!("landlock_writes")), "{enforced}");
    // Its own, and not that of who was tried.
    let said = ground.keeper.output(&id, "");
    assert!(said.starts_with("tty\n"), "{said}");
    assert!(said.ends_with("kept\nthe key"), "{said}");
}

/// Nothing is believed that cannot be seen.
fn that_builds_nothing() {
    let script = "while [ \"$1\" != -- ]; do shift; done; shift; \"$@\"; exit $?";
    let Some(ground) = with_another(User::WithABwrap(script)) else {
        return;
    };
    let (_, answer) = bash(&ground, "touch ran", &workspace(&ground));
    let refused = json!({"error": "spawn", "step": "Confine(Namespaces)", "errno": 1});
    assert_eq!(answer, refused);
    assert!(!ground.work.join("ran").exists());
    eventually("nothing is left", || ground.keeper.children() == NOBODY);
}

/// `/dev/null` is root's, and everybody may write it.
fn of_anybody_is_refused() {
    let Some(ground) = with_another(User::WithABwrap("")) else {
        return;
    };
    let (_, answer) = bash(&ground, "touch ran", &workspace(&ground));
    let refused = json!({"error": "spawn", "step": "Confine(Bubblewrap)", "errno": 1});
    assert_eq!(answer, refused);
    assert_eq!(ground.keeper.children(), NOBODY);
}

/// The real one, told something else: each wall is missed by its name.
fn that_builds_less() {
    for (change, step, errno) in [
        ("s|--ro-bind / /|--bind / /|", "ReadOnly", 30),
        (
            r"s|--bind \(\S*\)/project \S*/project |--bind \1/other \1/project |",
            "ReadOnly",
            116,
        ),
        ("s|--dev /dev|--dev-bind /dev /dev|", "Devices", 116),
        ("s|--remount-ro /dev ||", "Devices", 30),
        (r"s|--ro-bind \S*hooks \S*hooks||", "Protected", 116),
        (
            r"s|--ro-bind \(\S*hooks \S*hooks\)|--bind \1|",
            "Protected",
            30,
        ),
        (r"s|--bind \S*/\.git \S*/\.git ||", "Protected", 116),
        (
            r"s|--perms 0755 --tmpfs \S*\.secret --remount-ro \S*\.secret||",
            "Hidden",
            116,
        ),
        (r"s|--remount-ro \S*\.secret||", "ReadOnly", 30),
        (
            r"s|--perms 0444 --ro-bind-data \S* \S*\.env||",
            "Hidden",
            116,
        ),
        ("s|--cap-drop ALL||", "Capabilities", 1),
        // Told all, it builds all.
        ("", "", 0),
    ] {
        // No path of these has a blank in it. dash redirects only descriptors of one digit.
        let script = format!(
            "tr '\\0' ' ' </proc/self/fd/206 | sed '{change}' | tr -s ' ' | tr ' ' '\\0' > /mnt/args\n\
             for a do shift; [ \"$a\" = 206 ] && a=9; set -- \"$@\" \"$a\"; done\n\
             exec /mnt/real \"$@\" 9</mnt/args"
        );
        let Some(ground) = with_another(User::WithABwrap(script.leak())) else {
            return;
        };
        let (id, answer) = bash(&ground, "touch ran", &workspace(&ground));
        if step.is_empty() {
            assert!(answer.is_number(), "{answer}");
            assert_eq!(ground.keeper.exit_of(&id), "Exited(0)");
            continue;
        }
        let step = format!("Confine({step})");
        let refused = json!({"error": "spawn", "step": step, "errno": errno});
        assert_eq!(answer, refused, "{change}");
        assert!(!ground.work.join("ran").exists(), "{change}");
        eventually("nothing is left", || ground.keeper.children() == NOBODY);
    }
}

/// As on systems where only root makes user namespaces.
fn that_is_setuid() {
    let user = User::WithASetuidBwrap;
    let Some(ground) = with_another(user) else {
        return;
    };
    let spec = workspace(&ground);
    let (id, answer) = bash(&ground, "kill -TERM $$", &spec);
    assert!(answer.is_number(), "{answer}");
    assert_eq!(ground.keeper.exit_of(&id), "Signaled(15)");
    assert_eq!(ground.keeper.enforced(&id)["missing"], json!({}));
    ground.expect(
        user,
        &spec,
        &[
            "create ~/project/new = crossed",
            "create ~/new = EROFS",
            "chmod ~/other/file = EROFS",
            "nonempty ~/.secret = empty",
            "nonempty ~/state = empty",
            "umount ~/.secret = EPERM",
            "create ~/project/.git/hooks/new = EROFS",
            "rename ~/project/.git ~/project/git = EBUSY",
            "setns /proc/self/ns/user = EPERM",
            "capabilities = none",
            "tiocsti = EPERM",
        ],
    );
    eventually("nothing is left", || ground.keeper.children() == NOBODY);
}

/// As a setuid one does that cannot map this user: its child waits for it for ever.
fn that_leaves_something_behind() {
    let Some(ground) = with_another(User::WithABwrap("sleep 1000 & exit 1")) else {
        return;
    };
    let before = ground.keeper.open_fds();
    let mut spec = workspace(&ground);
    let (_, answer) = bash(&ground, "touch ran", &spec);
    let refused = json!({"error": "spawn", "step": "Confine(Bubblewrap)", "errno": GAVE_UP});
    assert_eq!(answer, refused);
    eventually("nothing is left", || ground.keeper.children() == NOBODY);
    assert_eq!(ground.keeper.open_fds(), before);
    spec["sandbox"]["best_effort"] = json!(true);
    // What it leaves running in its own group goes on after it.
    let script = "trap '' HUP; sleep 1000 & echo LEFT=$!; exit 3";
    let (id, answer) = bash(&ground, script, &spec);
    assert!(answer.is_number(), "{answer}");
    assert_eq!(ground.keeper.exit_of(&id), "Exited(3)");
    let left = pid_in(&ground.keeper.output(&id, "\n"), "LEFT");
    assert!(is_alive(left));
    eventually("that is all", || ground.keeper.children() == [left]);
    assert_eq!(ground.keeper.end(&id, 0), "done");
    assert_eq!(ground.keeper.children(), NOBODY);
}

//! Symbolic links among what is protected, and temporary directories of a sandbox's own.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::json;

use crate::Test;
use crate::ground::Ground;
use crate::support::User;

pub(crate) const TESTS: &[Test] = &[
    ("confine_a_held_link_stays", a_held_link_stays),
    (
        "confine_what_is_no_link_is_not_held",
        what_is_no_link_is_not_held,
    ),
    (
        "confine_temporary_files_are_its_own",
        temporary_files_are_its_own,
    ),
];

fn a_held_link_stays() {
    for user in User::all() {
        let ground = Ground::new(user);
        // One that leads out, one that leads elsewhere in the project, one that leads nowhere.
        for (link, to) in [
            ("project/out", ground.at("other")),
            ("project/in", "src".to_owned()),
            ("project/lost", "nowhere".to_owned()),
        ] {
            symlink(to, ground.at(link)).unwrap();
            ground.keeper.home.give(ground.at(link).as_ref());
        }
        let spec = json!({ "sandbox": {
            "writable": [ground.at("project")],
            "protected": [
                [ground.at("project/out"), "link"],
                [ground.at("project/in"), "link"],
                [ground.at("project/lost"), "link"],
                [ground.at("project/src"), "leave"],
            ],
        }});
        ground.expect(
            user,
            &spec,
            &[
                "unlink ~/project/out = EBUSY",
                "rename ~/project/out ~/project/o = EBUSY",
                "rename ~/project/file ~/project/in = EBUSY",
                "unlink ~/project/in = EBUSY",
                "unlink ~/project/lost = EBUSY",
                // Each still leads where it did.
                "contains ~/project/out/file text = crossed",
                "write ~/project/out/file = EROFS|EACCES",
                "create ~/project/in/new = EROFS",
                "create ~/project/src/new = EROFS",
                "rename ~/project/src ~/project/s = EBUSY",
                "create ~/project/new = crossed",
            ],
        );
        let out = fs::read_link(ground.at("project/out")).unwrap();
        assert_eq!(out.to_str().unwrap(), ground.at("other"));
    }
}

/// A name that was a link when the spec was made, and is something else now. That is no lack of the
/// kernel's, so it is refused by best effort, too.
fn what_is_no_link_is_not_held() {
    for user in User::all() {
        let ground = Ground::new(user);
        for (name, errno, best_effort) in [
            ("project/src", 116, false),
            ("project/absent", 2, false),
            ("project/src", 116, true),
            ("project/absent", 2, true),
        ] {
            let spec = json!({ "sandbox": {
                "writable": [ground.at("project")],
                "protected": [[ground.at(name), "link"]],
                "best_effort": best_effort,
            }});
            let (_, answer) = ground
                .keeper
                .try_confined(&["/bin/true"], &ground.work, &spec);
            let expected = json!({"error": "spawn", "step": "Confine(Protected)", "errno": errno});
            assert_eq!(answer, expected, "{name} as {user:?}");
        }
    }
}

pub(crate) fn temporary_files_are_its_own() {
    for user in User::all() {
        let ground = Ground::new(user);
        let spec =
            json!({ "sandbox": { "writable": [ground.at("project")], "private_tmp": true } });
        let script = "echo one > /tmp/termd-own && echo two > /var/tmp/termd-own && \
                      cat /tmp/termd-own /var/tmp/termd-own && stat -c %a /tmp && \
                      echo new > new && cat file && ls -A /var/tmp && \
                      ! echo x 2>/dev/null > ../other/file && echo done";
        let run = || {
            let argv = ["/bin/sh", "-c", script];
            let (id, answer) = ground.keeper.try_confined(&argv, &ground.work, &spec);
            assert!(answer.is_number(), "{answer}");
            let held = ground.keeper.enforced(&id)["held"].clone();
            assert!(
                held.as_array().unwrap().contains(&json!("private_tmp")),
                "{held}"
            );
            ground.keeper.output(&id, "")
        };
        // Twice: what the first has left is not there for the second.
        for _ in 0..2 {
            let expected = "one\ntwo\n1777\ntexttermd-own\ndone\n";
            assert_eq!(run(), expected, "as {user:?}");
        }
        assert_eq!(
            fs::read_to_string(ground.at("project/new")).unwrap(),
            "new\n"
        );
        for outside in ["/tmp/termd-own", "/var/tmp/termd-own"] {
            assert!(!fs::exists(outside).unwrap(), "{outside} is outside");
        }
    }
}

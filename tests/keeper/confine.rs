//! Files, as root and as an ordinary user, by trying to write, replace and see them.

use std::fs;
use std::net::TcpListener;
use std::path::Path;

use serde_json::json;

use crate::Test;
use crate::ground::Ground;
use crate::support::{NOBODY, User};

pub(crate) const TESTS: &[Test] = &[
    (
        "confine_writes_stay_in_the_workspace",
        writes_stay_in_the_workspace,
    ),
    (
        "confine_what_is_protected_stays_as_it_is",
        what_is_protected_stays_as_it_is,
    ),
    (
        "confine_what_is_hidden_is_not_seen",
        what_is_hidden_is_not_seen,
    ),
    (
        "confine_a_spec_that_cannot_be_held_is_refused",
        a_spec_that_cannot_be_held_is_refused,
    ),
    (
        "confine_everything_may_be_writable",
        everything_may_be_writable,
    ),
    ("confine_what_holds_is_told", what_holds_is_told),
];

fn writes_stay_in_the_workspace() {
    for user in User::all() {
        let ground = Ground::new(user);
        ground.expect(
            user,
            &ground.workspace(),
            &[
                "create ~/work/new = crossed",
                "mkdir ~/work/src/dir = crossed",
                "rename ~/work/new ~/work/src/dir/new = crossed",
                "link ~/work/file ~/work/src/other_name = crossed",
                "chmod ~/work/file = crossed",
                "truncate ~/work/src/dir/new = crossed",
                "write /dev/null = crossed",
                "write /dev/tty = crossed",
                "create /dev/shm/termd-test = crossed",
                // Outside, by every way to change something.
                "create ~/new = EROFS",
                "mkdir ~/new = EROFS",
                "write ~/other/file = EROFS|EACCES",
                "append ~/other/file = EROFS|EACCES",
                "truncate ~/other/file = EROFS",
                "unlink ~/other/file = EROFS",
                "rmdir ~/other = EROFS",
                "rename ~/other ~/moved = EROFS",
                "rename ~/other/file ~/work/file = EXDEV|EROFS",
                "rename ~/work/file ~/other/file = EXDEV|EROFS",
                "link ~/other/file ~/work/linked = EXDEV",
                "symlink /etc ~/other/link = EROFS",
                "chmod ~/other/file = EROFS",
                "chown ~/other/file = EROFS",
                "touch ~/other/file = EROFS",
                "xattr ~/other/file = EROFS",
                "bind_unix ~/other/socket = EROFS|EACCES",
                "create /tmp/termd-crossed = EROFS",
                "create /etc/termd-crossed = EROFS|EACCES",
                "create /dev/termd-crossed = EROFS|EACCES",
                "write /proc/self/oom_score_adj = EROFS|EACCES",
                "write /proc/sys/kernel/core_pattern = EROFS|EACCES",
                // A link that leads out is followed to where nothing may be written.
                "symlink ~/other/file ~/work/out = crossed",
                "write ~/work/out = EROFS|EACCES",
                "write /proc/self/root~/other/file = EROFS|EACCES",
            ],
        );
        assert_eq!(fs::read_to_string(ground.at("other/file")).unwrap(), "text");
    }
}

fn what_is_protected_stays_as_it_is() {
    for user in User::all() {
        let ground = Ground::new(user);
        ground.expect(
            user,
            &ground.workspace(),
            &[
                "create ~/work/.git/HEAD = crossed",
                "create ~/work/.git/config.lock = crossed",
                "read ~/work/.git/hooks/pre-commit = crossed",
                "create ~/work/.git/hooks/post-commit = EROFS",
                "write ~/work/.git/hooks/pre-commit = EROFS|EACCES",
                "truncate ~/work/.git/hooks/pre-commit = EROFS",
                "unlink ~/work/.git/hooks/pre-commit = EROFS",
                "chmod ~/work/.git/hooks/pre-commit = EROFS",
                "chown ~/work/.git/hooks/pre-commit = EROFS",
                "xattr ~/work/.git/hooks/pre-commit = EROFS",
                "touch ~/work/.git/hooks/pre-commit = EROFS",
                "rename ~/work/file ~/work/.git/hooks/pre-commit = EXDEV|EROFS",
                "link ~/work/file ~/work/.git/hooks/post-commit = EXDEV|EROFS",
                "link ~/work/.git/hooks/pre-commit ~/work/hook = EXDEV",
                "symlink ~/work/file ~/work/.git/hooks/post-commit = EROFS",
                // Itself, and what is above it.
                "rmdir ~/work/.git/hooks = EBUSY|ENOTEMPTY",
                "rename ~/work/.git/hooks ~/work/.git/old = EBUSY",
                "rename ~/work/src ~/work/.git/hooks = EBUSY|EXDEV",
                "chmod ~/work/.git/hooks = EROFS",
                "rename ~/work/.git ~/work/git = EBUSY",
                "rmdir ~/work/.git = EBUSY|ENOTEMPTY",
                "rename ~/work/src ~/work/.git = EBUSY|EXDEV",
                "rename ~/work ~/w = EBUSY|EROFS|EXDEV",
                "write ~/work/.git/config = EROFS|EACCES",
                "unlink ~/work/.git/config = EBUSY",
                "rename ~/work/.git/config.lock ~/work/.git/config = EBUSY",
                // What was not there.
                "create ~/work/deep/er/.agent/hook = EROFS",
                "rmdir ~/work/deep/er/.agent = EBUSY",
                "rename ~/work/deep/er ~/work/deep/old = EBUSY",
                "rename ~/work/deep ~/work/old = EBUSY",
                "create ~/work/deep/er/fine = crossed",
                "write ~/work/.mcp.json = EROFS|EACCES",
                "unlink ~/work/.mcp.json = EBUSY",
                "create ~/work/none = crossed",
                "write ~/.profile = EROFS|EACCES",
            ],
        );
        let made = fs::metadata(ground.at("work/.mcp.json")).unwrap();
        assert!(made.is_file() && made.len() == 0);
        let hook = fs::read_to_string(ground.at("work/.git/hooks/pre-commit")).unwrap();
        assert_eq!(hook, "#!/bin/sh\n");
        assert!(!Path::new(&ground.at("work/.git/hooks/post-commit")).exists());
    }
}

fn what_is_hidden_is_not_seen() {
    for user in User::all() {
        let ground = Ground::new(user);
        // Somebody outside, through whose eyes it could be seen.
        let (_outside, pid) = ground.keeper.spawn("read line");
        let keeper = ground.keeper.pid();
        let (root, keepers) = (format!("/proc/{pid}/root"), format!("/proc/{keeper}/root"));
        ground.expect(
            user,
            &ground.workspace(),
            &[
                "read ~/.secret/key = ENOENT",
                "nonempty ~/.secret = empty",
                "create ~/.secret/new = EROFS",
                "rmdir ~/.secret = EBUSY|EROFS",
                "rename ~/.secret ~/work/s = EBUSY|EXDEV|EROFS",
                "contains ~/work/.env PASSWORD = without it",
                "write ~/work/.env = EROFS|EACCES",
                "unlink ~/work/.env = EBUSY",
                "rename ~/work/.env ~/work/e = EBUSY",
                "link ~/work/.env ~/work/e = EXDEV",
                "mkdir ~/work/s = crossed",
                "read /proc/self/root~/.secret/key = ENOENT",
                "read /proc/self/cwd/../.secret/key = ENOENT",
                &format!("read {root}~/.secret/key = EACCES"),
                &format!("list {root} = EACCES"),
                &format!("read /proc/{pid}/cwd/etc/passwd = EACCES"),
                &format!("read {keepers}~/.secret/key = EACCES"),
                &format!("read /proc/{keeper}/environ = EACCES"),
                &format!("readlink /proc/{keeper}/fd/0 = EACCES"),
                &format!("read /proc/{keeper}/mem = EACCES"),
                &format!("setns /proc/{keeper}/ns/mnt = EACCES"),
                "umount ~/.secret = EPERM",
                "remount ~/.secret = EPERM",
                "mount ~/work = EPERM",
                "chroot ~/work = EPERM",
                // The daemon's own: the database, the socket and the locks.
                "nonempty ~/state = empty",
                "nonempty ~/run = empty",
                "create ~/state/new = EROFS",
                "create ~/run/new = EROFS",
                // Root owns the disks.
                "list /dev/disk = ENOENT",
                "read /dev/kmsg = ENOENT",
                "read /dev/mem = ENOENT",
            ],
        );
    }
}

fn a_spec_that_cannot_be_held_is_refused() {
    for user in User::all() {
        let ground = Ground::new(user);
        let before = ground.keeper.open_fds();
        std::os::unix::fs::symlink(ground.at("other"), ground.at("work/link")).unwrap();
        let cases = [
            (
                json!({"writable": [ground.at("absent")]}),
                "Confine(Writes)",
                2,
            ),
            (json!({"writable": ["relative"]}), "Confine(Writes)", 22),
            (json!({"writable": ["/.."]}), "Confine(Writes)", 22),
            (
                json!({"writable": [ground.at("work/link")]}),
                "Confine(Writes)",
                40,
            ),
            (
                json!({"writable": [ground.at("work")], "protected": [[ground.at("work/link"), "leave"]]}),
                "Confine(Protected)",
                40,
            ),
            (
                json!({"hidden": [ground.at("work/link")]}),
                "Confine(Hidden)",
                40,
            ),
        ];
        for (sandbox, step, errno) in cases {
            let spec = json!({ "sandbox": sandbox });
            let (_, answer) = ground
                .keeper
                .try_confined(&["/bin/true"], &ground.work, &spec);
            let expected = json!({"error": "spawn", "step": step, "errno": errno});
            assert_eq!(answer, expected, "{spec}");
            assert_eq!(ground.keeper.children(), NOBODY);
        }
        // A directory that the sandbox covers is not there for its command.
        let (_, answer) = ground.keeper.try_confined(
            &["/bin/true"],
            &ground.home().join("state/below"),
            &ground.workspace(),
        );
        assert_eq!(answer["step"], "Chdir");
        assert_eq!(ground.keeper.open_fds(), before);
    }
}

/// A sandbox for the network alone; what is protected, hidden and the daemon's stays so.
fn everything_may_be_writable() {
    for user in User::all() {
        let ground = Ground::new(user);
        let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
        let spec = json!({"sandbox": {
            "writable": ["/"],
            "protected": [[ground.at("work/.git/hooks"), "directory"], [ground.at(".profile"), "file"]],
            "hidden": [ground.at(".secret")],
        }});
        let tcp = format!("tcp {} = EACCES", tcp.local_addr().unwrap());
        ground.expect(
            user,
            &spec,
            &[
                "create ~/new = crossed",
                "write ~/other/file = crossed",
                "chmod ~/other/file = crossed",
                "write ~/.profile = EROFS|EACCES",
                "create ~/work/.git/hooks/new = EROFS",
                "rename ~/work/.git ~/work/git = EBUSY",
                "rename ~/work ~/w = EBUSY",
                "nonempty ~/.secret = empty",
                "nonempty ~/state = empty",
                "rename ~/state ~/s = EBUSY",
                // A database of its own in a directory that the next daemon would take for this.
                "rename ~ ~.old = EBUSY",
                "connect ~/run/termd.sock = ENOENT",
                "write /proc/sys/kernel/core_pattern = EROFS|EACCES",
                "write /proc/self/oom_score_adj = EROFS",
                "umount ~/.secret = EPERM",
                "unshare = EPERM",
                "capabilities = none",
                &tcp,
            ],
        );
    }
}

fn what_holds_is_told() {
    for user in User::all() {
        let ground = Ground::new(user);
        let spec = ground.workspace();
        let (id, answer) = ground
            .keeper
            .try_confined(&["/bin/true"], &ground.work, &spec);
        assert!(answer.is_number(), "{answer}");
        let all = json!([
            "core_bytes",
            "no_new_privileges",
            "namespaces",
            "devices",
            "read_only",
            "protected",
            "hidden",
            "capabilities",
            "landlock_writes",
            "landlock_tcp",
            "landlock_scopes",
            "seccomp",
            "seccomp_network",
        ]);
        assert_eq!(
            ground.keeper.enforced(&id),
            json!({"held": all, "missing": {}})
        );
        let (id, _) = ground.keeper.spawn("true");
        let default = json!({"held": ["core_bytes"], "missing": {}});
        assert_eq!(ground.keeper.enforced(&id), default);
    }
}

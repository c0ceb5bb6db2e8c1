//! Files, as root and as an ordinary user, by trying to write, replace and see them.

use std::fs;
use std::net::TcpListener;
use std::path::Path;

use serde_json::json;

use crate::Test;
use crate::ground::Ground;
use crate::support::{NOBODY, User, eventually};

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
    (
        "confine_a_workspace_may_be_in_memory",
        a_workspace_may_be_in_memory,
    ),
];

pub(crate) fn writes_stay_in_the_workspace() {
    for user in User::all() {
        let ground = Ground::new(user);
        ground.expect(
            user,
            &ground.workspace(),
            &[
                "create ~/project/new = crossed",
                "mkdir ~/project/src/dir = crossed",
                "rename ~/project/new ~/project/src/dir/new = crossed",
                "link ~/project/file ~/project/src/other_name = crossed",
                "chmod ~/project/file = crossed",
                "truncate ~/project/src/dir/new = crossed",
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
                "rename ~/other/file ~/project/file = EXDEV|EROFS",
                "rename ~/project/file ~/other/file = EXDEV|EROFS",
                "link ~/other/file ~/project/linked = EXDEV",
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
                "symlink ~/other/file ~/project/out = crossed",
                "write ~/project/out = EROFS|EACCES",
                "write /proc/self/root~/other/file = EROFS|EACCES",
            ],
        );
        assert_eq!(fs::read_to_string(ground.at("other/file")).unwrap(), "text");
    }
}

pub(crate) fn what_is_protected_stays_as_it_is() {
    for user in User::all() {
        let ground = Ground::new(user);
        ground.expect(
            user,
            &ground.workspace(),
            &[
                "create ~/project/.git/HEAD = crossed",
                "create ~/project/.git/config.lock = crossed",
                "read ~/project/.git/hooks/pre-commit = crossed",
                "create ~/project/.git/hooks/post-commit = EROFS",
                "write ~/project/.git/hooks/pre-commit = EROFS|EACCES",
                "truncate ~/project/.git/hooks/pre-commit = EROFS",
                "unlink ~/project/.git/hooks/pre-commit = EROFS",
                "chmod ~/project/.git/hooks/pre-commit = EROFS",
                "chown ~/project/.git/hooks/pre-commit = EROFS",
                "xattr ~/project/.git/hooks/pre-commit = EROFS",
                "touch ~/project/.git/hooks/pre-commit = EROFS",
                "rename ~/project/file ~/project/.git/hooks/pre-commit = EXDEV|EROFS",
                "link ~/project/file ~/project/.git/hooks/post-commit = EXDEV|EROFS",
                "link ~/project/.git/hooks/pre-commit ~/project/hook = EXDEV",
                "symlink ~/project/file ~/project/.git/hooks/post-commit = EROFS",
                // Itself, and what is above it.
                "rmdir ~/project/.git/hooks = EBUSY|ENOTEMPTY",
                "rename ~/project/.git/hooks ~/project/.git/old = EBUSY",
                "rename ~/project/src ~/project/.git/hooks = EBUSY|EXDEV",
                "chmod ~/project/.git/hooks = EROFS",
                "rename ~/project/.git ~/project/git = EBUSY",
                "rmdir ~/project/.git = EBUSY|ENOTEMPTY",
                "rename ~/project/src ~/project/.git = EBUSY|EXDEV",
                "rename ~/project ~/w = EBUSY|EROFS|EXDEV",
                "write ~/project/.git/config = EROFS|EACCES",
                "unlink ~/project/.git/config = EBUSY",
                "rename ~/project/.git/config.lock ~/project/.git/config = EBUSY",
                // What was not there.
                "create ~/project/deep/er/.agent/hook = EROFS",
                "rmdir ~/project/deep/er/.agent = EBUSY",
                "rename ~/project/deep/er ~/project/deep/old = EBUSY",
                "rename ~/project/deep ~/project/old = EBUSY",
                "create ~/project/deep/er/fine = crossed",
                "write ~/project/.mcp.json = EROFS|EACCES",
                "unlink ~/project/.mcp.json = EBUSY",
                "create ~/project/none = crossed",
                "write ~/.profile = EROFS|EACCES",
            ],
        );
        let made = fs::metadata(ground.at("project/.mcp.json")).unwrap();
        assert!(made.is_file() && made.len() == 0);
        let hook = fs::read_to_string(ground.at("project/.git/hooks/pre-commit")).unwrap();
        assert_eq!(hook, "#!/bin/sh\n");
        assert!(!Path::new(&ground.at("project/.git/hooks/post-commit")).exists());
    }
}

pub(crate) fn what_is_hidden_is_not_seen() {
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
                "rename ~/.secret ~/project/s = EBUSY|EXDEV|EROFS",
                "contains ~/project/.env PASSWORD = without it",
                "write ~/project/.env = EROFS|EACCES",
                "unlink ~/project/.env = EBUSY",
                "rename ~/project/.env ~/project/e = EBUSY",
                "link ~/project/.env ~/project/e = EXDEV",
                "mkdir ~/project/s = crossed",
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
                "mount ~/project = EPERM",
                "chroot ~/project = EPERM",
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

pub(crate) fn a_spec_that_cannot_be_held_is_refused() {
    for user in User::all() {
        let ground = Ground::new(user);
        let before = ground.keeper.open_fds();
        std::os::unix::fs::symlink(ground.at("other"), ground.at("project/link")).unwrap();
        let cases = [
            (
                json!({"writable": [ground.at("absent")]}),
                "Confine(Writes)",
                2,
            ),
            (json!({"writable": ["relative"]}), "Confine(Writes)", 22),
            (json!({"writable": ["/.."]}), "Confine(Writes)", 22),
            (
                json!({"writable": [ground.at("project/link")]}),
                "Confine(Writes)",
                40,
            ),
            (
                json!({"writable": [ground.at("project")], "protected": [[ground.at("project/link"), "leave"]]}),
                "Confine(Protected)",
                40,
            ),
            (
                json!({"hidden": [ground.at("project/link")]}),
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
            eventually("nobody is left", || ground.keeper.children() == NOBODY);
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
pub(crate) fn everything_may_be_writable() {
    for user in User::all() {
        let ground = Ground::new(user);
        let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
        let spec = json!({"sandbox": {
            "writable": ["/"],
            "protected": [[ground.at("project/.git/hooks"), "directory"], [ground.at(".profile"), "file"]],
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
                "create ~/project/.git/hooks/new = EROFS",
                "rename ~/project/.git ~/project/git = EBUSY",
                "rename ~/project ~/w = EBUSY",
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

/// Below a `/dev` that the sandbox does not share.
pub(crate) fn a_workspace_may_be_in_memory() {
    for user in User::all() {
        let ground = Ground::new(user);
        let in_memory = tempfile::tempdir_in("/dev/shm").unwrap();
        let work = in_memory.path().join("work");
        ground.keeper.home.give(in_memory.path());
        ground.directory(&work);
        let beside = in_memory.path().display().to_string();
        let hooks = work.join("hooks").display().to_string();
        let spec = json!({ "sandbox": {
            "writable": [work], "protected": [[hooks, "directory"]], "hidden": [],
        }});
        let script = format!(
            "pwd; echo written > file; touch hooks/new || echo kept; \
             ls {beside}; echo x > {beside}/x && echo own; ls -A /dev/shm | wc -l"
        );
        let said = ground.keeper.confined(&script, &work, &spec);
        let expected = format!("{}\n", work.display());
        assert!(said.starts_with(&expected), "{said}");
        assert!(said.contains("kept\n"), "{said}");
        // What is beside it is not there: that directory is the sandbox's own.
        assert!(said.ends_with("work\nown\n1\n"), "{said}");
        let written = fs::read_to_string(work.join("file")).unwrap();
        assert_eq!(written, "written\n");
        assert!(!in_memory.path().join("x").exists());
    }
}

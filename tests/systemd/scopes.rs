//! Commands in scopes of their own: limits, what the kernel kills in a scope, and the end of a
//! scope with its terminal, the server or the service.
//!
//! Limits need the memory, cpu and pids controllers in the unified hierarchy. Where another
//! hierarchy has them, the tests check that this is reported. `tests/systemd/in-uml.sh` runs all of
//! them on a kernel of its own.

use std::io::{self, Write};
use std::time::Instant;

use serde_json::Value;

use crate::installed::{DEADLINE, Installed, install, text, wait_until};

/// The test that uses a profile says what it is for.
pub(super) const CONFIG: &str = r#"
[[policy.rules]]
program = "perl"
profile = "small"
[policy.profiles.small]
limits = { memory = "64MiB", cpu = "50%", tasks = 20 }

[[policy.rules]]
program = "bash"
profile = "small"

[[policy.rules]]
program = "dd"
profile = "gentle"
[policy.profiles.gentle]
limits = { io_weight = 20 }

[[policy.rules]]
program = "stat"
profile = "maybe"
[policy.profiles.maybe]
best_effort = true
limits = { io_weight = 20 }

[[policy.rules]]
program = "dash"
profile = "boxed"
[policy.profiles.boxed]
sandbox = "read-only"
best_effort = true
limits = { tasks = 20 }
"#;

/// Allocates this many MiB and touches them. A shell can quote it with single quotes.
pub(super) const EATER: &str =
    "$| = 1; my $x = q(x) x ($ARGV[0] * 1048576); print q(ate); sleep 100";

/// A machine with that configuration and without delegation, so that limits need scopes; and whether its
/// kernel gives it the controllers.
pub(super) fn configured() -> Option<(Installed, bool)> {
    let installed = install()?;
    let write = "mkdir -p ~/.config/termd && printf %s \"$1\" >~/.config/termd/config.toml";
    installed.ok(&["sh", "-c", write, "sh", CONFIG]);
    let drop_in = "d=~/.config/systemd/user/termd.service.d; mkdir -p $d && \
        printf '[Service]\\nDelegate=no\\n' >$d/delegate.conf && systemctl --user daemon-reload";
    installed.ok(&["sh", "-c", drop_in]);
    installed.enable_socket();
    let controllers = installed.ok(&[
        "sh",
        "-c",
        "cat /sys/fs/cgroup/user.slice/user-$(id -u).slice/user@$(id -u).service/cgroup.controllers",
    ]);
    let has = |name: &str| controllers.split_whitespace().any(|there| there == name);
    let has_all = ["memory", "cpu", "pids"].into_iter().all(has);
    Some((installed, has_all))
}

/// The same, where the limits can hold. Prints why the test is skipped elsewhere.
fn with_controllers(test: &str) -> Option<Installed> {
    let (installed, has_all) = configured()?;
    if !has_all {
        let _ = writeln!(
            io::stderr(),
            "SKIP {test}: memory, cpu and pids are not in this kernel's unified hierarchy \
             (tests/systemd/in-uml.sh has one with them)"
        );
        return None;
    }
    Some(installed)
}

/// The cgroup in the unified hierarchy, of a `/proc/PID/cgroup`.
pub(super) fn unified(listed: &str) -> &str {
    let path = listed.lines().find_map(|line| line.strip_prefix("0::"));
    path.expect("a unified hierarchy")
}

impl Installed {
    pub(super) fn create(&self, argv: &[&str]) -> String {
        let created = self.termctl(&[&["create", "--confirmed", "--"], argv].concat());
        created.trim().to_owned()
    }

    pub(super) fn facts(&self, id: &str) -> Value {
        let shown = self.termctl_json(&["show", id]);
        shown.get("terminal").cloned().unwrap_or(shown)
    }

    /// A file of the cgroup of a terminal's root process.
    pub(super) fn cgroup_file(&self, id: &str, file: &str) -> String {
        let path = format!("{}/{file}", self.cgroup(id));
        self.ok(&["cat", &path]).trim().to_owned()
    }

    pub(super) fn cgroup(&self, id: &str) -> String {
        let listed = self.ok(&["cat", &format!("/proc/{}/cgroup", self.pid_of(id))]);
        format!("/sys/fs/cgroup{}", unified(&listed))
    }

    /// The scopes of terminals, by systemd.
    pub(super) fn scopes(&self) -> String {
        let list = "systemctl --user list-units --all --plain --no-legend 'termd-*.scope'";
        self.ok(&["sh", "-c", list])
    }

    pub(super) fn replace_server(&self, how: &[&str]) {
        let before = self.server_pid();
        self.ok(how);
        wait_until("another server", || self.server_pid() != before);
    }

    fn audit(&self) -> String {
        self.termctl(&["audit", "--limit", "200", "--json"])
    }
}

#[test]
fn a_limit_that_cannot_hold_is_refused_and_named_unless_best_effort() {
    let Some((installed, has_all)) = configured() else {
        return;
    };
    // The io controller is not delegated to users by default.
    let refused = installed
        .machine
        .as_user(&["termctl", "--no-start", "create", "--", "dd"]);
    let said = text(&refused);
    assert!(!refused.status.success(), "{said}");
    assert!(
        said.contains("io_weight") && said.contains("not delegated"),
        "{said}"
    );
    let id = installed.create(&["stat", "-f", "/"]);
    let facts = installed.facts(&id);
    let missing = &facts["confinement"]["missing"][0];
    assert_eq!(missing["wall"], "io_weight", "{facts}");
    assert_eq!(facts["confinement"]["scope"]["io_weight"], 20, "{facts}");
    let audit = installed.audit();
    assert!(audit.contains("terminal.confined"), "{audit}");
    assert!(audit.contains("not started: io_weight"), "{audit}");
    if !has_all {
        let refused = installed
            .machine
            .as_user(&["termctl", "--no-start", "create", "--", "perl"]);
        assert!(text(&refused).contains("memory_max"), "{}", text(&refused));
    }
    // Refused and ended commands leave no scope behind.
    wait_until("no scope is left", || installed.scopes().trim().is_empty());
}

#[test]
fn without_a_user_manager_it_is_refused_and_said() {
    let Some((installed, _)) = configured() else {
        return;
    };
    // A second daemon, with directories of its own and without a bus.
    let script = "export XDG_RUNTIME_DIR=$(mktemp -d) XDG_STATE_HOME=$(mktemp -d) \
        DBUS_SESSION_BUS_ADDRESS=unix:path=/nowhere; chmod 700 $XDG_RUNTIME_DIR; \
        termctl create -- perl; echo code $?; termctl create -- stat -f /; \
        termctl list --json; kill $(termctl status --json | tr -d ' ' | \
        sed -n 's/.*\"keeper_pid\":\\([0-9]*\\).*/\\1/p')";
    let output = installed.machine.as_user(&["sh", "-c", script]);
    let said = text(&output);
    assert!(said.contains("memory_max"), "{said}");
    assert!(said.contains("no systemd user manager"), "{said}");
    assert!(said.contains("\"io_weight\""), "best effort: {said}");
}

/// Where the kernel has no controller for a limit, the command is in a scope all the same.
#[test]
fn a_sandboxed_command_cannot_leave_its_scope() {
    let Some((installed, _)) = configured() else {
        return;
    };
    let leave = "d=/sys/fs/cgroup$(sed -n s/^0:://p /proc/self/cgroup); \
        for to in $d $d/..; do echo $$ >$to/cgroup.procs && echo 'mo'ved || echo 'ke'pt; done; \
        test -S $XDG_RUNTIME_DIR/bus && echo 'bus' there || echo 'bus' hidden; sleep 100";
    let say = |shell: &str| {
        let id = installed.create(&[shell, "-c", leave]);
        installed.read_until(&id, "bus ");
        let scoped = installed
            .cgroup(&id)
            .ends_with(&format!("termd-{id}.scope"));
        (installed.termctl(&["read", &id]), scoped)
    };
    let (said, scoped) = say("dash");
    assert!(scoped && said.contains("bus hidden"), "{said}");
    assert!(said.contains("kept") && !said.contains("moved"), "{said}");
    // Without a scope the same command succeeds.
    let (said, scoped) = say("sh");
    assert!(!scoped && said.contains("bus there"), "{said}");
    assert!(said.contains("moved"), "{said}");
}

#[test]
fn a_scope_holds_and_goes_with_its_terminal() {
    let Some(installed) = with_controllers("a_scope_holds_and_goes_with_its_terminal") else {
        return;
    };
    let id = installed.create(&["bash"]);
    let facts = installed.facts(&id);
    let held = facts["confinement"]["held"].to_string();
    for wall in ["memory_max", "cpu_quota", "tasks_max"] {
        assert!(held.contains(wall), "{facts}");
    }
    assert_eq!(
        installed.cgroup_file(&id, "memory.max"),
        (64 << 20).to_string()
    );
    assert_eq!(installed.cgroup_file(&id, "pids.max"), "20");
    assert_eq!(installed.cgroup_file(&id, "cpu.max"), "50000 100000");
    let unit = format!("termd-{id}.scope");
    assert!(
        installed
            .cgroup(&id)
            .ends_with(&format!("app-termd.slice/{unit}"))
    );
    assert!(
        installed
            .termctl(&["show", &id])
            .contains("50% of a processor")
    );
    installed.termctl(&[
        "send",
        "--enter",
        "--confirmed",
        &id,
        "while :; do :; done &",
    ]);
    wait_until("it is throttled", || {
        let stat = installed.cgroup_file(&id, "cpu.stat");
        let throttled = stat
            .lines()
            .find_map(|line| line.strip_prefix("nr_throttled "));
        throttled.expect("the controller's part of it") != "0"
    });
    // The server is replaced by a signal and by force. The scope stays, and the terminal answers.
    installed.replace_server(&["systemctl", "--user", "reload", "termd.service"]);
    installed.replace_server(&["kill", "-9", &installed.server_pid().to_string()]);
    assert_eq!(installed.cgroup_file(&id, "pids.max"), "20");
    // The process leaves its session, its parents and its environment. The cgroup still finds it.
    let away = "env -i setsid --fork sleep 4711; echo a''way";
    installed.termctl(&["send", "--enter", "--confirmed", &id, away]);
    installed.read_until(&id, "away");
    let sleeps = || {
        let listed = installed.machine.as_user(&["pgrep", "-fx", "sleep 4711"]);
        listed.status.success()
    };
    wait_until("it sleeps", sleeps);
    installed.termctl(&["close", &id]);
    assert!(!sleeps(), "what had gone away lives on");
    wait_until("the scope is gone", || installed.scopes().trim().is_empty());
}

#[test]
fn what_takes_too_much_memory_ends_alone_and_says_so() {
    let Some(installed) = with_controllers("what_takes_too_much_memory_ends_alone") else {
        return;
    };
    let neighbour = installed.create(&["perl", "-e", EATER, "8"]);
    installed.read_until(&neighbour, "ate");
    // Several rounds, because systemd and termd race for the cgroup's last events.
    for _ in 0..5 {
        let id = installed.create(&["perl", "-e", EATER, "200"]);
        wait_until("the eater has ended", || {
            !installed.facts(&id)["exit_status"].is_null()
        });
        let facts = installed.facts(&id);
        assert_eq!(facts["end_cause"], "out_of_memory", "{facts}");
        assert_eq!(facts["exit_status"]["signal"], "SIGKILL", "{facts}");
    }
    assert_eq!(installed.facts(&neighbour)["state"], "running");
    let audit = installed.audit();
    assert!(
        audit.contains("limit.reached") && audit.contains("out_of_memory"),
        "{audit}"
    );
    // A command of a shell is killed: the shell lives on, and a server that has taken it over
    // reports the limit.
    let shell = installed.create(&["bash"]);
    installed.replace_server(&["systemctl", "--user", "reload", "termd.service"]);
    let records = || installed.audit().matches("\"limit.reached\"").count();
    let before = records();
    installed.termctl(&[
        "send",
        "--enter",
        "--confirmed",
        &shell,
        &format!("perl -e '{EATER}' 200; echo sur''vived"),
    ]);
    installed.read_until(&shell, "survived");
    wait_until("it is recorded", || records() > before);
    let facts = installed.facts(&shell);
    assert_eq!(facts["state"], "running", "{facts}");
    assert!(facts["end_cause"].is_null(), "{facts}");
    // The shell itself is killed.
    let line = format!("exec perl -e '{EATER}' 200");
    installed.termctl(&["send", "--enter", "--confirmed", &shell, &line]);
    wait_until("it is its end", || {
        installed.facts(&shell)["end_cause"] == "out_of_memory"
    });
    // A kill by somebody else does not count as a lack of memory, also beside one.
    installed.termctl(&["kill", "--signal", "SIGKILL", &neighbour]);
    // termctl exits like the command.
    installed.machine.as_user(&["termctl", "wait", &neighbour]);
    let facts = installed.facts(&neighbour);
    assert_eq!(facts["exit_status"]["signal"], "SIGKILL", "{facts}");
    assert!(facts["end_cause"].is_null(), "{facts}");
}

#[test]
fn a_disks_weight_holds_where_io_is_delegated() {
    let Some(installed) = with_controllers("a_disks_weight_holds_where_io_is_delegated") else {
        return;
    };
    let delegate = "uid=$(id -u termd-tester); cd /etc/systemd/system && \
        mkdir -p user@.service.d && \
        printf '[Service]\\nDelegate=cpu cpuset io memory pids\\n' >user@.service.d/io.conf && \
        systemctl daemon-reload && systemctl restart user@$uid.service && \
        cat /sys/fs/cgroup/user.slice/user-$uid.slice/user@$uid.service/cgroup.controllers";
    let done = installed.machine.as_root(&["sh", "-c", delegate]);
    assert!(
        done.status.success() && text(&done).contains("io"),
        "{}",
        text(&done)
    );
    // The kernel has the controller, but weights need CONFIG_BLK_CGROUP_IOCOST.
    let weights = ["sh", "-c", "ls /sys/fs/cgroup/*/io.weight"];
    if !installed.machine.as_root(&weights).status.success() {
        let _ = writeln!(
            io::stderr(),
            "SKIP a_disks_weight_holds_where_io_is_delegated: this kernel has no io.weight"
        );
        let refused = ["termctl", "--no-start", "create", "--", "dd"];
        let refused = text(&installed.machine.as_user(&refused));
        assert!(refused.contains("has no io.weight"), "{refused}");
        return;
    }
    let id = installed.create(&["dd"]);
    let facts = installed.facts(&id);
    assert_eq!(facts["confinement"]["held"][0], "io_weight", "{facts}");
    assert_eq!(installed.cgroup_file(&id, "io.weight"), "default 20");
}

#[test]
fn a_fork_bomb_is_held_by_its_tasks() {
    let Some(installed) = with_controllers("a_fork_bomb_is_held_by_its_tasks") else {
        return;
    };
    let bomb = "$| = 1; \
        for (1 .. 100) { my $p = fork; if (!defined $p) { $failed++ } elsif (!$p) { sleep 100; exit } } \
        print \"failed $failed \"; sleep 100";
    let id = installed.create(&["perl", "-e", bomb]);
    installed.read_until(&id, "failed");
    let said = installed.termctl(&["read", &id]);
    assert!(said.contains("failed 81"), "itself and 19 others: {said}");
    assert_eq!(installed.cgroup_file(&id, "pids.current"), "20");
    installed.termctl(&["kill", &id]);
    wait_until("the scope is gone", || installed.scopes().trim().is_empty());
}

#[test]
fn no_scope_outlives_its_service() {
    let Some(installed) = with_controllers("no_scope_outlives_its_service") else {
        return;
    };
    let id = installed.create(&["perl", "-e", EATER, "1"]);
    installed.read_until(&id, "ate");
    let pid = installed.pid_of(&id);
    let keeper = installed.property("termd.service", "MainPID");
    installed.ok(&["kill", "-9", &keeper]);
    wait_until("the command has ended", || !installed.is_alive(pid));
    wait_until("the scope is gone", || installed.scopes().trim().is_empty());
    // An ordinary stop, at the keeper's own pace.
    wait_until("it serves again", || {
        installed
            .machine
            .as_user(&["termctl", "--no-start", "list"])
            .status
            .success()
    });
    let id = installed.create(&["perl", "-e", EATER, "1"]);
    installed.read_until(&id, "ate");
    let begin = Instant::now();
    let stop = "systemctl --user stop termd.service termd.socket";
    installed.ok(&["sh", "-c", stop]);
    assert!(begin.elapsed() < DEADLINE);
    assert!(installed.scopes().trim().is_empty());
    let journal = installed.journal();
    assert!(!journal.contains("ordering cycle"), "{journal}");
}

//! Each terminal in a cgroup of its own below termd's unit, which systemd delegates: what ends with it,
//! limits, and what is left.

use std::io::{self, Write};

use crate::installed::{Installed, install, number, wait_until};
use crate::scopes::{CONFIG, EATER, unified};

/// A machine whose termd has the configuration of the tests of scopes.
fn started() -> Option<Installed> {
    let installed = install()?;
    let write = "mkdir -p ~/.config/termd && printf %s \"$1\" >~/.config/termd/config.toml";
    installed.ok(&["sh", "-c", write, "sh", CONFIG]);
    installed.enable_socket();
    installed.termctl(&["list"]);
    let own = installed.own_cgroup();
    assert!(own.ends_with("/termd.service/daemon"), "{own}");
    Some(installed)
}

impl Installed {
    /// The keeper's cgroup.
    fn own_cgroup(&self) -> String {
        let keeper = self.property("termd.service", "MainPID");
        let listed = self.ok(&["cat", &format!("/proc/{keeper}/cgroup")]);
        unified(&listed).to_owned()
    }

    /// The cgroups of terminals, by their directories.
    fn terminal_cgroups(&self) -> String {
        let list = "cd /sys/fs/cgroup/user.slice && find . -name 'term_*'";
        self.ok(&["sh", "-c", list])
    }

    fn sleeps(&self, seconds: u32) -> bool {
        let argv = ["pgrep", "-fx", &format!("sleep {seconds}")];
        self.machine.as_user(&argv).status.success()
    }

    /// Starts a terminal with a process that drops all but its cgroup. It is a sleep of `seconds`
    /// seconds. Then the terminal's command goes on so.
    fn start_fugitive(&self, seconds: u32, then: &str) -> String {
        let script = format!(
            "trap '' HUP; env -i setsid --fork sleep {seconds} </dev/null >/dev/null 2>&1; {then}"
        );
        let id = self.create(&["sh", "-c", &script]);
        wait_until("it sleeps", || self.sleeps(seconds));
        id
    }

    fn is_removed(&self, id: &str) {
        wait_until("its cgroup is gone", || {
            !self.terminal_cgroups().contains(id)
        });
    }
}

#[test]
fn what_drops_everything_ends_with_its_terminal() {
    let Some(installed) = started() else { return };
    for (seconds, then, end) in [
        (4711, "exec sleep 1000", "kill"),
        (4712, "exec sleep 1000", "close"),
        (4713, "exit 3", "kill"),
        (4714, "exit 3", "close"),
    ] {
        let id = installed.start_fugitive(seconds, then);
        let status = installed.termctl_json(&["status"]);
        assert_eq!(number(&status, "orphan_count"), 0);
        installed.termctl(&[end, &id]);
        assert!(!installed.sleeps(seconds), "{then}, {end}");
        if end == "close" {
            installed.is_removed(&id);
        }
    }
    // One that says it is another terminal's, in a cgroup that it has made below its own.
    let other = installed.create(&["sleep", "1000"]);
    let script = format!(
        "trap '' HUP; d=/sys/fs/cgroup$(sed -n s/^0:://p /proc/self/cgroup)/below; mkdir $d; \
         echo $$ >$d/cgroup.procs; TERMD_TERMINAL={other} setsid --fork sleep 4715 \
         </dev/null >/dev/null 2>&1; exit 0"
    );
    let id = installed.create(&["sh", "-c", &script]);
    wait_until("it sleeps", || installed.sleeps(4715));
    installed.termctl(&["close", &other]);
    assert!(installed.sleeps(4715), "it is not the other's");
    installed.termctl(&["close", &id]);
    assert!(!installed.sleeps(4715));
    installed.is_removed(&id);
    // A process that ends by itself leaves no cgroup either, before its terminal is closed.
    let id = installed.create(&["sh", "-c", "exit 0"]);
    installed.is_removed(&id);
}

#[test]
fn a_cgroup_outlives_servers_and_no_keeper() {
    let Some(installed) = started() else { return };
    let id = installed.start_fugitive(4721, "exec sleep 1000");
    let unit = installed.own_cgroup().replace("/daemon", "");
    assert_eq!(installed.cgroup(&id), format!("/sys/fs/cgroup{unit}/{id}"));
    installed.replace_server(&["systemctl", "--user", "reload", "termd.service"]);
    installed.replace_server(&["kill", "-9", &installed.server_pid().to_string()]);
    let server = installed.ok(&["cat", &format!("/proc/{}/cgroup", installed.server_pid())]);
    assert!(unified(&server).ends_with("/daemon"), "{server}");
    assert_eq!(installed.property("termd.service", "ActiveState"), "active");
    installed.termctl(&["close", &id]);
    assert!(!installed.sleeps(4721));
    // Everything ends with the keeper, and the next one finds nothing.
    installed.start_fugitive(4722, "exec sleep 1000");
    let keeper = installed.property("termd.service", "MainPID");
    installed.ok(&["kill", "-9", &keeper]);
    wait_until("it ends", || !installed.sleeps(4722));
    wait_until("it serves again", || {
        let list = ["termctl", "--no-start", "list"];
        installed.machine.as_user(&list).status.success()
    });
    assert_eq!(installed.terminal_cgroups(), "");
    assert!(installed.own_cgroup().ends_with("/daemon"));
    let id = installed.start_fugitive(4723, "exit 0");
    assert!(installed.terminal_cgroups().contains(&id));
    installed.ok(&[
        "sh",
        "-c",
        "systemctl --user stop termd.service termd.socket",
    ]);
    assert!(!installed.sleeps(4723));
    assert_eq!(installed.terminal_cgroups(), "");
}

#[test]
fn limits_hold_in_a_terminals_cgroup() {
    let Some(installed) = started() else { return };
    let id = installed.create(&["dash", "-c", "sleep 1000"]);
    assert!(installed.cgroup(&id).contains("/termd.service/term_"));
    let there = format!("{}/../cgroup.controllers", installed.cgroup(&id));
    let there = installed.ok(&["cat", &there]);
    let has = |name: &str| {
        there
            .split_whitespace()
            .any(|controller| controller == name)
    };
    if !["memory", "cpu", "pids"].into_iter().all(has) {
        let _ = writeln!(
            io::stderr(),
            "SKIP limits_hold_in_a_terminals_cgroup: memory, cpu and pids are not in this kernel's \
             unified hierarchy (tests/systemd/in-uml.sh has one with them)"
        );
        return;
    }
    let id = installed.create(&["bash"]);
    let facts = installed.facts(&id);
    let held = facts["confinement"]["held"].to_string();
    for limit in ["memory_max", "cpu_quota", "tasks_max"] {
        assert!(held.contains(limit), "{facts}");
    }
    for (file, value) in [
        ("memory.max", "67108864"),
        ("pids.max", "20"),
        ("cpu.max", "50000 100000"),
    ] {
        assert_eq!(installed.cgroup_file(&id, file), value, "{file}");
    }
    assert_eq!(installed.scopes().trim(), "", "none is needed");
    installed.replace_server(&["systemctl", "--user", "reload", "termd.service"]);
    let line = format!("exec perl -e '{EATER}' 200");
    installed.termctl(&["send", "--enter", "--confirmed", &id, &line]);
    wait_until("it is its end", || {
        installed.facts(&id)["end_cause"] == "out_of_memory"
    });
    let eater = installed.create(&["perl", "-e", EATER, "200"]);
    wait_until("the eater has ended", || {
        !installed.facts(&eater)["exit_status"].is_null()
    });
    assert_eq!(installed.facts(&eater)["end_cause"], "out_of_memory");
    // The daemon lives on, and so does a terminal without limits.
    let id = installed.create_repeater();
    installed.assert_answers(&id, "still here");
    assert_eq!(installed.cgroup_file(&id, "memory.max"), "max");
}

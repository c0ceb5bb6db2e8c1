//! The line of an agent's shell in `history`, `list`, `show` and `audit`, without what the agent writes
//! around it.

use serde_json::json;
use termd_test_support::{TestDaemon, wait_until};

use crate::termctl::ok;

const AROUND: [&str; 2] = [
    "source /home/u/.claude/shell-snapshots/snapshot-bash-1-a.sh 2>/dev/null || true && eval '",
    "' < /dev/null && pwd -P >| /dev/shm/claude-1-cwd",
];

#[test]
fn what_an_agents_shell_was_asked_for_is_shown() {
    let daemon = TestDaemon::start();
    let mut shell = daemon.client();
    let hello = json!({ "client": "claude-code", "front": "shell" });
    shell.ok("daemon.hello", &hello);
    let mut run = |text: &str| {
        let id = shell.create_terminal(&json!({
            "command": "/bin/bash", "args": ["-c", text], "arg0": "bash", "stdio": "pipes",
            "children": "keep",
        }));
        shell.ok("session.wait", &json!({ "id": id }));
        id
    };
    let [before, behind] = AROUND;
    let id = run(&format!("{before}echo seen --password hunter2{behind}"));
    // Something else stands at the top level too.
    let whole = format!("{before}echo seen{behind}; echo unseen");
    let other = run(&whole);
    let info = daemon.client().ok("session.show", &json!({ "id": other }));
    assert_eq!(info["agent_line"], *whole);

    let mut history = String::new();
    wait_until("the commands are in the database", || {
        history = ok(&daemon, &["history"]);
        history.lines().count() == 3
    });
    let list = ok(&daemon, &["list"]);
    let audit = ok(&daemon, &["audit", "--action", "terminal.create"]);
    for table in [&history, &audit] {
        let line = table.lines().find(|line| line.contains(&*id)).unwrap();
        assert!(
            line.contains("echo seen --password [redacted 7 bytes "),
            "{table}"
        );
        assert!(!line.contains("snapshot"), "{table}");
    }
    let of = |table: &str, id: &str| {
        let mut lines = table.lines();
        lines.find(|line| line.contains(id)).unwrap().to_owned()
    };
    let line = of(&list, &id);
    assert!(line.ends_with("echo seen --password hunter2"), "{list}");
    for table in [&history, &audit, &list] {
        let line = of(table, &other);
        assert!(
            line.contains("snapshot") && line.contains("echo unseen"),
            "{table}"
        );
    }
    let shown = ok(&daemon, &["show", &id]);
    let facts: Vec<&str> = shown.lines().filter(|line| line.contains("seen")).collect();
    let [command, argv] = facts.as_slice() else {
        panic!("{shown}");
    };
    assert!(
        command.starts_with("command ") && command.ends_with("hunter2"),
        "{shown}"
    );
    assert!(
        argv.starts_with("argv ") && argv.contains("snapshot"),
        "{shown}"
    );

    // Any client may say that it is a shell's call: the program is what counts.
    let id = shell.create_terminal(&json!({
        "command": "/usr/bin/env", "args": ["-c", "ls"], "arg0": "bash", "stdio": "pipes",
        "children": "keep",
    }));
    let info = daemon.client().ok("session.show", &json!({ "id": id }));
    assert!(info.get("agent_line").is_none(), "{info}");
}

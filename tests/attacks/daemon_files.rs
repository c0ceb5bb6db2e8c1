//! termd's own files and processes: a change of its configuration counts when a person asks for it.

use std::fs;

use serde_json::{Value, json};
use termd_test_support::TestDaemon;

use crate::Attack;
use crate::agents::{client, question, victim};

pub(crate) const ATTACKS: &[Attack] = &[
    ("a_killed_server_takes_no_new_configuration", killed_server),
    (
        "an_answer_for_always_brings_no_other_rule_into_force",
        always_beside_another_rule,
    ),
    (
        "only_a_person_agrees_to_what_reaches_termds_files_and_processes",
        files_and_processes,
    ),
];

const ALLOWED: &str = "[[policy.rules]]\neffect = \"allow\"\nprogram = \"rm\"\n";

/// Writes a file of termd's configuration directory, as any process of the user could.
fn write_own(daemon: &TestDaemon, name: &str, text: &str) {
    fs::write(daemon.path("config/termd").join(name), text).unwrap();
}

fn killed_server() {
    let daemon = TestDaemon::start();
    daemon.configure("[policy.fronts.mcp]\nconfirmed = \"never\"\n");
    daemon.replace_server();
    let (_, params) = victim(&daemon);
    question(&mut client(&daemon, "mcp", "an agent"), &params);

    write_own(&daemon, "config.toml", ALLOWED);
    for _ in 0..2 {
        daemon.kill_server();
        question(&mut client(&daemon, "mcp", "an agent"), &params);
    }
    let info = daemon.client().ok("daemon.info", &Value::Null);
    let fault = info["config_fault"].as_str().unwrap();
    assert!(fault.contains("config.toml has changed"), "{info}");

    // Nor what somebody has agreed to for always.
    let rule = "[[rules]]\neffect = \"allow\"\nfront = \"mcp\"\nclient = \"an agent\"\n";
    let command = format!("command = {}\n", json!(["rm", "-r", params["args"][1]]));
    let cwd = "cwd = \"/\"\n";
    write_own(&daemon, "approved.toml", &format!("{rule}{cwd}{command}"));
    daemon.kill_server();
    let info = daemon.client().ok("daemon.info", &Value::Null);
    let fault = info["approved_fault"].as_str().unwrap();
    assert!(fault.contains("approved.toml has changed"), "{info}");

    // A reload that was requested reads the file, also where the server is killed meanwhile.
    fs::remove_file(daemon.path("config/termd/approved.toml")).unwrap();
    daemon.replace_server();
    client(&daemon, "mcp", "an agent").create_terminal(&params);
    daemon.kill_server();
    let info = daemon.client().ok("daemon.info", &Value::Null);
    assert_eq!(info.get("config_fault"), None, "{info}");
    assert_eq!(info.get("approved_fault"), None, "{info}");
    let (_, params) = victim(&daemon);
    client(&daemon, "mcp", "an agent").create_terminal(&params);
}

fn always_beside_another_rule() {
    let daemon = TestDaemon::start();
    let mut person = client(&daemon, "cli", "a person");
    let mut agent = client(&daemon, "mcp", "an agent");
    let (victim, params) = victim(&daemon);
    let id = question(&mut agent, &params);
    let rule = json!({ "command": "rm", "args": ["-r", victim.with_extension("2")] });
    let planted = "[[rules]]\neffect = \"allow\"\nfront = \"mcp\"\nclient = \"an agent\"\n";
    let command = json!(["rm", "-r", victim.with_extension("2")]);
    let cwd = json!(daemon.user_home());
    let planted = format!("{planted}cwd = {cwd}\ncommand = {command}\n");
    write_own(&daemon, "approved.toml", &planted);
    let always = json!({ "id": id, "decision": "always" });
    person.err("approval.answer", &always);
    question(&mut agent, &rule);
    // A reload that was requested takes what is there.
    daemon.replace_server();
    let mut agent = client(&daemon, "mcp", "an agent");
    agent.create_terminal(&rule);
}

fn files_and_processes() {
    let daemon = TestDaemon::start();
    let mut agent = client(&daemon, "mcp", "an agent");
    let shell = agent.create_terminal(&json!({ "command": "bash" }));
    let (keeper, server) = (daemon.keeper_pid(), daemon.server().pid);
    let config = daemon.path("config/termd/config.toml");
    let state = daemon.path("state/termd");
    let (config, state) = (config.display(), state.display());
    for line in [
        format!("dd if=/dev/null of={config}"),
        format!("patch {config} /dev/null"),
        format!("rm {state}/agents.json"),
        format!("mv {state} /tmp"),
        format!("kill {server}"),
        format!("kill -STOP {keeper}"),
        format!("gdb -p {server}"),
        format!("echo 1000 > /proc/{keeper}/oom_score_adj"),
    ] {
        let line = line.as_str();
        let typed = json!({ "id": shell, "text": format!("{line}\r"), "confirmed": true });
        let created = json!({ "command": "bash", "args": ["-c", line], "confirmed": true });
        for (method, params) in [("session.create", created), ("session.send", typed)] {
            let error = agent.err(method, &params);
            assert_eq!(
                error.data["needs_person"], true,
                "{method} {line} {error:?}"
            );
        }
    }
    let read = format!("cat {config} {state}/termd.sqlite; ls /proc/{server}/");
    agent.create_terminal(&json!({ "command": "bash", "args": ["-c", read] }));
}

//! termd's own files and processes: a change of its configuration counts when a person asks for it.

use std::fs;

use serde_json::{Value, json};
use termd_test_support::TestDaemon;

use crate::Attack;
use crate::agents::{client, question, victim};

pub(crate) const ATTACKS: &[Attack] =
    &[("a_killed_server_takes_no_new_configuration", killed_server)];

const ALLOWED: &str = "[[policy.rules]]\neffect = \"allow\"\nprogram = \"rm\"\n";

/// A file of termd's configuration directory, whoever writes it.
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
    write_own(
        &daemon,
        "approved.toml",
        "[[approved]]\nargv = [\"touch\", \"x\"]\ncwd = \"/\"\n",
    );
    daemon.kill_server();
    let info = daemon.client().ok("daemon.info", &Value::Null);
    let fault = info["approved_fault"].as_str().unwrap();
    assert!(fault.contains("approved.toml"), "{info}");

    // A reload that was requested reads the file, also where the server is killed meanwhile.
    fs::remove_file(daemon.path("config/termd/approved.toml")).unwrap();
    daemon.replace_server();
    client(&daemon, "mcp", "an agent").create_terminal(&params);
    daemon.kill_server();
    let info = daemon.client().ok("daemon.info", &Value::Null);
    assert_eq!(info.get("config_fault"), None, "{info}");
    let (_, params) = victim(&daemon);
    client(&daemon, "mcp", "an agent").create_terminal(&params);
    assert_eq!(json!(null), info["approved_fault"], "{info}");
}

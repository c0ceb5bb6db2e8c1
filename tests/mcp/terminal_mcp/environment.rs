//! Commands run in the environment of the client, not in the daemon's.

use serde_json::{Value, json};
use termd_test_support::{Home, McpClient, TestDaemon};

/// A folder with a program, and a client whose settings put the folder on the PATH and set `MARK`.
fn client(home: &Home) -> (McpClient, String) {
    let folder = home.path("home/tools");
    std::fs::create_dir(&folder).unwrap();
    let program = home.install("greet", "#!/bin/sh\necho \"greet [$MARK] $*\"\n");
    std::fs::rename(program, folder.join("greet")).unwrap();
    let folder = folder.to_str().unwrap().to_owned();
    let path = format!("{folder}:/usr/bin:/bin");
    let env = [("MARK", "of the client"), ("PATH", path.as_str())];
    (McpClient::start_with(home, &env, &json!({})), folder)
}

#[track_caller]
fn waits_for(client: &mut McpClient, create: &Value, pattern: &str) {
    let created = client.call("session_create", create);
    let result = client.call(
        "session_wait_for",
        &json!({ "session_id": created["session_id"], "pattern": pattern, "timeout": 10 }),
    );
    assert_eq!(result["matched"], true, "{create}: {result}");
}

#[test]
fn exec_has_the_client_s_variables_and_path() {
    let daemon = TestDaemon::start();
    let (mut client, _) = client(&daemon);
    let result = client.call("session_exec", &json!({ "exec": "greet" }));
    assert_eq!(result["output"], "greet [of the client] \n", "{result}");
    assert_eq!(result["exit_code"], 0, "{result}");
}

#[test]
fn a_session_has_them_and_its_own_over_them() {
    let daemon = TestDaemon::start();
    let (mut client, folder) = client(&daemon);
    let marked = r"greet \[of the client\]";
    waits_for(&mut client, &json!({ "command": "greet" }), marked);
    // A program of the client's PATH is run with its arguments, not by a shell.
    waits_for(
        &mut client,
        &json!({ "command": "greet you" }),
        r"greet \[of the client\] you",
    );
    waits_for(
        &mut client,
        &json!({ "command": "greet", "env": { "MARK": "of the call" } }),
        r"greet \[of the call\]",
    );
    // The call's PATH is the one that is searched.
    let mut elsewhere = McpClient::start(&daemon);
    waits_for(
        &mut elsewhere,
        &json!({ "command": "greet you", "env": { "PATH": format!("{folder}:/usr/bin:/bin") } }),
        r"greet \[\] you",
    );
}

#[test]
fn what_the_daemon_keeps_from_commands_is_kept_from_these_too() {
    let daemon = TestDaemon::start();
    let env = [
        ("TERMD_MAX_SESSIONS", "7"),
        ("TMUX", "/tmp/x,1,0"),
        ("PAGER", "less"),
    ];
    let mut client = McpClient::start_with(&daemon, &env, &json!({}));
    let result = client.call(
        "session_exec",
        &json!({ "exec": "echo \"[$TMUX] [$PAGER] [$TERM]\"" }),
    );
    assert_eq!(result["output"], "[] [cat] [xterm-256color]\n", "{result}");
}

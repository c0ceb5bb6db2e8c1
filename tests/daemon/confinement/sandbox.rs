//! A sandbox from `config.toml` to the command, with the real daemon and a real shell.

use std::fs;

use serde_json::json;
use termd_test_support::{Home, TestDaemon, merged, sh, skip};

use crate::shell::marked_shell::MarkedShell;

/// A daemon whose terminals are all in a workspace sandbox with these lines in its profile. `None`
/// where the kernel supports no sandbox.
fn sandboxed(profile: &str) -> Option<TestDaemon> {
    let home = Home::create();
    home.configure(&format!(
        "kill_grace_ms = 300\n[policy.fronts.cli]\nprofile = 'boxed'\n\
         [policy.profiles.boxed]\nsandbox = 'workspace'\n{profile}"
    ));
    let user = home.user_home();
    fs::create_dir_all(user.join("work/.git/hooks")).unwrap();
    fs::create_dir_all(user.join(".ssh")).unwrap();
    fs::write(user.join(".bashrc"), "PS1='$ '\n").unwrap();
    fs::write(user.join(".ssh/key"), "the key").unwrap();
    let daemon = TestDaemon::start_in(home);
    let params = json!({ "command": "/bin/true", "cwd": work(&daemon) });
    match daemon.client().request("session.create", &params) {
        Ok(_) => Some(daemon),
        Err(error) => {
            skip("a sandbox", format!("this kernel holds none: {error:?}"));
            None
        }
    }
}

fn work(daemon: &TestDaemon) -> String {
    let work = fs::canonicalize(daemon.user_home().join("work")).unwrap();
    work.to_str().unwrap().to_owned()
}

/// An interactive bash with termd's integration, which it reads from the hidden socket directory.
fn bash(daemon: &TestDaemon) -> MarkedShell<'_> {
    let params = json!({ "command": "bash", "cwd": work(daemon) });
    MarkedShell::start_with(daemon, &params)
}

#[test]
fn a_sandboxed_shell_works_and_stays_inside() {
    let Some(daemon) = sandboxed("") else { return };
    let socket = daemon.socket();
    let state = daemon.state_dir();
    let mut shell = bash(&daemon);
    let pid = daemon.keeper_pid();
    for (line, expected) in [
        ("echo made > new; cat new", "made\n".to_owned()),
        ("(exit 3); echo $?", "3\n".to_owned()),
        (
            "cat ~/.ssh/key 2>/dev/null || echo hidden",
            "hidden\n".to_owned(),
        ),
        (
            "mv .git git 2>/dev/null || echo pinned",
            "pinned\n".to_owned(),
        ),
        (
            &format!("[ -e {} ] || echo no socket", socket.display()),
            "no socket\n".to_owned(),
        ),
        (
            &format!("ls -A {} | wc -l", state.display()),
            "0\n".to_owned(),
        ),
        (
            &format!("mv {}/.. /tmp/x 2>/dev/null || echo stays", state.display()),
            "stays\n".to_owned(),
        ),
        (
            &format!("kill -0 {pid} 2>/dev/null || echo unreached"),
            "unreached\n".to_owned(),
        ),
        ("[ -e /dev/pts/0 ] || echo none", "none\n".to_owned()),
        (
            "bash -c 'unshare -r true' 2>/dev/null || echo kept",
            "kept\n".to_owned(),
        ),
        ("ulimit -Hc", "0\n".to_owned()),
    ] {
        shell.run(line);
        assert_eq!(shell.newest_output(), expected, "{line}");
    }
    // The shell has reported its lines through the integration.
    let commands = shell.client.ok(
        "command.list",
        &json!({ "filter": { "terminal": shell.id } }),
    );
    let commands = commands["commands"].as_array().unwrap();
    assert!(
        commands
            .iter()
            .any(|command| command["text"] == "(exit 3); echo $?"),
        "{commands:?}"
    );
}

/// The sandbox belongs to the command, not to the server.
#[test]
fn a_sandbox_outlives_the_server() {
    let Some(daemon) = sandboxed("network = false\n") else {
        return;
    };
    let mut shell = bash(&daemon);
    let line = "echo x > /dev/tcp/127.0.0.1/1";
    shell.run(line);
    assert!(shell.newest_output().contains("Permission denied"));
    let denied = shell.text().matches("Permission denied").count();
    let id = shell.id.clone();
    let before = shell.client.ok("session.show", &json!({ "id": id }))["confinement"].clone();
    let held = before["held"].as_array().unwrap();
    assert!(held.contains(&json!("seccomp_network")), "{before}");
    daemon.replace_server();
    let mut client = daemon.client();
    let after = client.ok("session.show", &json!({ "id": id }))["confinement"].clone();
    assert_eq!(after, before);
    client.send_text(&id, "echo x > /dev/tcp/127.0.0.1/1; echo a''gain\r");
    let text = client.wait_for_text(&id, "again");
    assert_eq!(
        text.matches("Permission denied").count(),
        2 * denied,
        "{text}"
    );
    client.ok("session.kill", &json!({ "id": id }));
}

/// A directory that is hidden stays hidden when it is the requested workspace.
#[test]
fn the_daemons_own_directory_is_no_workspace() {
    let Some(daemon) = sandboxed("") else { return };
    let mut client = daemon.client();
    let state = daemon.state_dir();
    let mut params = sh("ls -A; touch planted || echo kept");
    params["cwd"] = json!(state);
    let info = client.ok("session.create", &params);
    let output = client.transcript(info["id"].as_str().unwrap());
    let output = String::from_utf8_lossy(&output);
    assert!(
        output.starts_with("touch: ") && output.ends_with("kept\r\n"),
        "{output}"
    );
    assert!(!state.join("planted").exists());
}

/// Landlock has rules for paths, and a pipe has none.
#[test]
fn a_sandboxed_command_may_be_on_pipes() {
    let Some(daemon) = sandboxed("") else { return };
    let mut client = daemon.client();
    let pipes = json!({ "stdio": "pipes", "stdin": "pipe", "cwd": work(&daemon) });
    let id = client.create_terminal(&merged(&sh("cat; echo made > new"), &pipes));
    client.ok(
        "session.send",
        &json!({ "id": id, "text": "given", "eof": true }),
    );
    let result = client.ok("session.wait", &json!({ "id": id }));
    assert_eq!(result["exit_status"]["exit_code"], 0, "{result}");
    assert_eq!(client.transcript(&id), b"given");
    assert!(daemon.user_home().join("work/new").exists());
}

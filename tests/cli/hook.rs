//! `termctl hook`: the gate's verdicts, and silence wherever there is none.

use std::io::{BufRead as _, BufReader, Write};
use std::process::Stdio;

use serde_json::json;
use termd_test_support::{Home, TestDaemon, wait_until};

use crate::termctl::{TermctlOutput, command};

fn hook(home: &Home, agent: &str, input: &str) -> TermctlOutput {
    let mut hook = command(home, &["hook", agent]);
    hook.stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = hook.spawn().unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(input.as_bytes())
        .unwrap();
    TermctlOutput::wait(child)
}

fn bash(command: &str) -> String {
    json!({ "tool_name": "Bash", "tool_input": { "command": command }, "cwd": "/tmp" }).to_string()
}

#[track_caller]
fn assert_silent(output: &TermctlOutput) {
    assert_eq!(
        (output.code, output.out.as_str(), output.err.as_str()),
        (Some(0), "", "")
    );
}

#[test]
fn the_gate_s_verdict_is_the_agent_s_own_answer() {
    let home = Home::create();
    home.configure(
        "kill_grace_ms = 300\n[[policy.rules]]\neffect = \"deny\"\nprogram = \"curl\"\nfront = \"shell\"\n",
    );
    let daemon = TestDaemon::start_in(home);
    assert_silent(&hook(&daemon, "claude", &bash("ls -la")));
    let asked = hook(&daemon, "claude", &bash("rm -rf src")).json();
    assert_eq!(
        asked["hookSpecificOutput"]["permissionDecision"], "ask",
        "{asked}"
    );
    let denied = hook(&daemon, "claude", &bash("curl x")).json();
    assert_eq!(
        denied["hookSpecificOutput"]["permissionDecision"], "deny",
        "{denied}"
    );
    let denied = hook(&daemon, "codex", &bash("rm -rf src")).json();
    assert_eq!(
        denied["hookSpecificOutput"]["permissionDecision"], "deny",
        "{denied}"
    );
    let gemini =
        json!({ "tool_name": "run_shell_command", "tool_input": { "command": "rm -rf src" } });
    assert_eq!(
        hook(&daemon, "gemini", &gemini.to_string()).json()["decision"],
        "ask"
    );
    let cursor = json!({ "command": "rm -rf src", "cwd": "/tmp" });
    assert_eq!(
        hook(&daemon, "cursor", &cursor.to_string()).json()["permission"],
        "ask"
    );
}

#[test]
fn a_shell_of_termd_s_asks_by_itself() {
    let home = Home::create();
    home.configure(
        "kill_grace_ms = 300\n[[policy.rules]]\neffect = \"deny\"\nprogram = \"curl\"\nfront = \"shell\"\n",
    );
    let daemon = TestDaemon::start_in(home);
    let shells = daemon.path("share/termd/shells");
    std::fs::create_dir_all(&shells).unwrap();
    std::fs::write(shells.join("bash"), "").unwrap();
    let answer = |agent: &str, variables: [(&str, &str); 3], line: &str| {
        let mut hook = command(&daemon, &["hook", agent]);
        hook.envs(variables)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut child = hook.spawn().unwrap();
        let input = match agent {
            "gemini" => {
                json!({ "tool_name": "run_shell_command", "tool_input": { "command": line } })
                    .to_string()
            }
            _ => bash(line),
        };
        (child.stdin.take().unwrap().write_all(input.as_bytes())).unwrap();
        TermctlOutput::wait(child).out
    };
    let ours = shells.join("bash").display().to_string();
    let (plain, with_ours) = (
        "/usr/bin:/bin",
        format!("{}:/usr/bin:/bin", shells.display()),
    );
    for (agent, claudes, shell, path, asks_itself) in [
        ("claude", ours.as_str(), "/bin/bash", plain, true),
        ("claude", "", &ours, plain, true),
        ("claude", "", "/bin/bash", &with_ours, false),
        ("claude", "/bin/bash", &ours, plain, false),
        ("gemini", "", "/bin/bash", &with_ours, true),
        ("gemini", &ours, &ours, plain, false),
    ] {
        let variables = [
            ("CLAUDE_CODE_SHELL", claudes),
            ("SHELL", shell),
            ("PATH", path),
        ];
        let is_silent = answer(agent, variables, "rm -rf src").is_empty();
        assert_eq!(is_silent, asks_itself, "{agent} {variables:?}");
        assert!(
            answer(agent, variables, "curl x").contains("deny"),
            "{agent}"
        );
    }
}

#[test]
fn nothing_is_said_where_nothing_is_known() {
    let daemon = TestDaemon::start();
    for input in ["", "{", "[1]", "{\"tool_name\":\"Read\"}", "\u{0}"] {
        assert_silent(&hook(&daemon, "claude", input));
    }
    let alone = Home::create();
    assert_silent(&hook(&alone, "claude", &bash("rm -rf src")));
    assert!(alone.processes().is_empty(), "no daemon was started");
}

#[test]
fn what_an_agent_wants_of_its_person_is_told_to_who_watches() {
    let daemon = TestDaemon::start();
    let mut watching = command(&daemon, &["approvals", "--watch"]);
    let mut watching = watching.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(watching.stdout.take().unwrap());
    let said = json!({ "hook_event_name": "Notification", "message": "may\nI?" }).to_string();
    let mut line = String::new();
    wait_until("it is told", || {
        assert_silent(&hook(&daemon, "claude", &said));
        rustix::io::ioctl_fionread(lines.get_ref()).unwrap() > 0
    });
    lines.read_line(&mut line).unwrap();
    assert!(
        line.contains("claude-code") && line.ends_with(" waits for you: may I?\n"),
        "{line}"
    );
    watching.kill().unwrap();
    watching.wait().unwrap();
}

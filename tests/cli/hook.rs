//! `termctl hook`: the gate's verdicts, and silence wherever there is none.

use std::io::Write;
use std::process::Stdio;

use serde_json::json;
use termd_test_support::{Home, TestDaemon};

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
    let answer = |variable: &str, value: &str, line: &str| {
        let mut hook = command(&daemon, &["hook", "claude"]);
        hook.env(variable, value)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut child = hook.spawn().unwrap();
        let input = bash(line);
        (child.stdin.take().unwrap().write_all(input.as_bytes())).unwrap();
        TermctlOutput::wait(child).out
    };
    let shell = shells.join("bash").display().to_string();
    let path = format!("{}:/usr/bin:/bin", shells.display());
    for (variable, value) in [("CLAUDE_CODE_SHELL", shell.as_str()), ("PATH", &path)] {
        assert_eq!(answer(variable, value, "rm -rf src"), "", "{variable}");
        assert!(
            answer(variable, value, "curl x").contains("deny"),
            "{variable}"
        );
    }
    assert!(answer("CLAUDE_CODE_SHELL", "/bin/bash", "rm -rf src").contains("ask"));
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

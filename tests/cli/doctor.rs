//! `termctl doctor`: what works, what does not, and what is not set up.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Stdio;

use serde_json::Value;
use termd_test_support::{Home, TestDaemon};

use crate::termctl::TermctlOutput;

/// Installs a `termctl` of the home's own, and beside it a `termd-shell` that runs the real shell.
fn install(home: &Home, run: &str) -> PathBuf {
    let termctl = home.path("bin/termctl");
    symlink(env!("CARGO_BIN_EXE_termctl"), &termctl).unwrap();
    let script = format!("#!/bin/sh\nexec {run} /bin/\"${{0##*/}}\" \"$@\"\n");
    home.install("termd-shell", &script);
    termctl
}

fn termctl(home: &Home, args: &[&str]) -> TermctlOutput {
    let mut command = home.command(home.path("bin/termctl"));
    command.args(args).stdin(Stdio::null());
    TermctlOutput::of(&command.output().unwrap())
}

/// The checks by their names.
fn doctor(home: &Home) -> (Value, Option<i32>) {
    let output = termctl(home, &["doctor", "--json"]);
    (output.json(), output.code)
}

#[track_caller]
fn check(checks: &Value, name: &str) -> (String, String) {
    let found = checks["checks"]
        .as_array()
        .unwrap()
        .iter()
        .find(|check| check["name"] == name);
    let check = found.unwrap_or_else(|| panic!("{name}: {checks}"));
    let text = |key: &str| check[key].as_str().unwrap().to_owned();
    (text("state"), text("detail"))
}

#[test]
fn each_shell_is_tried() {
    let daemon = TestDaemon::start();
    install(&daemon, "termctl run --pipes --raw --");
    daemon.install("claude", "#!/bin/sh\necho '2.1.330 (Claude Code)'\n");
    daemon.install("gemini", "#!/bin/sh\necho 0.61.0\n");
    daemon.install(
        "codex",
        "#!/bin/sh\n[ \"$1\" = --version ] && exec echo codex-cli 0.171.0\n\
         read -r line\necho '{\"id\":1,\"result\":{\"environmentInfo\":{\"shell\":{\"path\":\"/bin/bash\"}}}}'\ncat\n",
    );
    let (checks, code) = doctor(&daemon);
    assert_eq!(code, Some(0), "nothing is set up: {checks}");
    assert_eq!(check(&checks, "daemon").0, "works");
    assert_eq!(check(&checks, "links").0, "not_set_up");
    assert_eq!(check(&checks, "claude-code").0, "not_set_up");

    let clients = "claude-code,codex,gemini,opencode,vscode";
    let setup = termctl(&daemon, &["setup", "--shell", "--client", clients]);
    assert_eq!(setup.code, Some(0), "{setup:?}");
    let (checks, code) = doctor(&daemon);
    assert_eq!(code, Some(0), "{checks}");
    for (name, said) in [
        ("links", "bin/termd-shell"),
        ("shell", "ran `echo ok` in term_"),
        ("claude-code", "2.1.330 (Claude Code); "),
        ("codex", "codex-cli 0.171.0; "),
        ("gemini", "not first on PATH"),
        ("opencode", "opencode is not on PATH; "),
        ("vscode", "cannot be seen from here"),
    ] {
        let (state, detail) = check(&checks, name);
        assert!(
            state == "works" && detail.contains(said),
            "{name}: {state}: {detail}"
        );
    }
    let output = termctl(&daemon, &["doctor"]);
    assert_eq!(output.code, Some(0), "{output:?}");
    assert!(
        output.out.contains("\nclaude-code   works: 2.1.330"),
        "{output:?}"
    );
}

#[test]
fn what_does_not_work_is_named_with_its_reason() {
    let daemon = TestDaemon::start();
    // A shell that passes by the daemon.
    install(&daemon, "");
    let setup = termctl(
        &daemon,
        &["setup", "--shell", "--client", "claude-code,codex"],
    );
    assert_eq!(setup.code, Some(0), "{setup:?}");
    daemon.install("codex", "#!/bin/sh\nexit 1\n");
    let (checks, code) = doctor(&daemon);
    assert_eq!(code, Some(1), "{checks}");
    for (name, said) in [
        ("shell", "`termctl history` does not know of them"),
        ("claude-code", "not in termd"),
        ("codex", "ended without an answer"),
    ] {
        let (state, detail) = check(&checks, name);
        assert!(
            state == "fails" && detail.contains(said),
            "{name}: {state}: {detail}"
        );
    }
    let settings = daemon.user_home().join(".claude/settings.json");
    fs::write(&settings, r#"{"env": {"CLAUDE_CODE_SHELL": "/bin/zsh"}}"#).unwrap();
    let link = daemon.user_home().join(".local/share/termd/shells/bash");
    fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink("/bin/true", &link).unwrap();
    let (checks, _) = doctor(&daemon);
    // What setup would refuse is no advice.
    let stays = check(&checks, "claude-code").1;
    assert!(
        stays.contains("is set to something else, and stays"),
        "{stays}"
    );
    let stays = check(&checks, "links").1;
    assert!(stays.contains("it is not termctl's, and stays"), "{stays}");
    fs::write(&settings, "{\"env\": 3}").unwrap();
    let bash = daemon.user_home().join(".local/share/termd/shells/bash");
    fs::remove_file(&bash).unwrap();
    let (checks, _) = doctor(&daemon);
    assert!(
        check(&checks, "links").1.contains("bash leads nowhere"),
        "{checks}"
    );
    assert!(
        check(&checks, "claude-code")
            .1
            .contains("\"env\" is not an object"),
        "{checks}"
    );
}

#[test]
fn without_a_daemon_it_says_so_and_starts_none() {
    let home = Home::create();
    install(&home, "");
    let (checks, code) = doctor(&home);
    assert_eq!(code, Some(1), "{checks}");
    let (state, detail) = check(&checks, "daemon");
    assert!(
        state == "fails" && detail.contains("outside of termd"),
        "{detail}"
    );
    assert!(home.processes().is_empty());
}

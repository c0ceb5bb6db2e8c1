//! What the person does while a sandboxed command runs opens nothing to it.

use std::fs::{self, OpenOptions};
use std::io::Write;

use serde_json::json;
use termd_test_support::{TestDaemon, sh};

use super::{PRELUDE, outside, sandboxed};

/// Runs lines in a sandbox that wait in the middle, until the person has run others: what they print.
fn around(daemon: &TestDaemon, outside_lines: &str, after: &str) -> String {
    outside(daemon, "test -e work/go || mkfifo work/go");
    let mut client = daemon.client();
    let mut params = sh(&format!("{PRELUDE}read line < go; {after}"));
    params["confirmed"] = json!(true);
    let work = fs::canonicalize(daemon.user_home().join("work")).unwrap();
    params["cwd"] = json!(work);
    let info = client.request("session.create", &params).unwrap();
    outside(daemon, outside_lines);
    // Opens once the command reads.
    let mut go = OpenOptions::new()
        .write(true)
        .open(work.join("go"))
        .unwrap();
    go.write_all(b"go\n").unwrap();
    let id = info["id"].as_str().unwrap();
    let output = client.transcript(id);
    let ended = client.ok("session.show", &json!({ "id": id }));
    assert_eq!(ended["exit_status"]["exit_code"], 0, "{after}: {ended}");
    String::from_utf8_lossy(&output).into_owned()
}

/// Writes until it is refused.
fn refused(write: &str) -> String {
    format!(
        "n=0; while [ $n -lt 2000 ]; do (/bin/sh -c '{write}') 2>/dev/null || {{ echo held; break; }}; \
         n=$((n + 1)); done"
    )
}

pub(super) fn protection() {
    let Some(daemon) = sandboxed("private_tmp = true\n") else {
        return;
    };
    outside(
        &daemon,
        "mkdir .vscode; make_repository work; cd work; echo one > .envrc; mkdir .vscode; \
         echo one > .vscode/tasks.json; git config include.path ../included; echo > included; \
         git add .envrc .vscode; git commit -qm one; \
         echo two > .envrc; echo two > .vscode/tasks.json; git commit -qam two",
    );
    for (person, write) in [
        ("git -C work checkout -q HEAD~1", "echo x > .envrc"),
        (
            "git -C work checkout -q main",
            "echo x > .vscode/tasks.json",
        ),
        ("cd work; echo > new; mv new included", "echo x > included"),
        (
            "rm -rf work/.git; git init -q work",
            "echo x >> .git/config",
        ),
    ] {
        let said = around(&daemon, person, &refused(write));
        assert!(said.contains("held"), "{person}: {said}");
    }
}

pub(super) fn hiding() {
    let Some(daemon) = sandboxed("") else { return };
    for person in [
        "echo the secret > new; mv new .netrc",
        "rm .pgpass; echo the secret > .pgpass",
        "mv .ssh moved; mkdir .ssh; echo the secret > .ssh/key",
        "mv .config gone; mkdir -p .config/gh; echo the secret > .config/gh/hosts",
    ] {
        outside(
            &daemon,
            "rm -rf .ssh .config moved gone; mkdir -p work .ssh .config/gh; \
             echo the secret | tee .netrc .pgpass .ssh/key .config/gh/hosts >/dev/null",
        );
        let read = refused(
            "cat ~/.netrc ~/.pgpass ~/.ssh/key ~/.config/gh/hosts 2>/dev/null | grep secret",
        );
        let said = around(&daemon, person, &read);
        assert!(said.contains("held"), "{person}: {said}");
    }
}

//! `terminal_run` and `terminal_run_paged`: programs on pipes.

use std::process::Command;

use serde_json::{Value, json};
use termd_test_support::{Home, McpClient, TestDaemon, assert_members, wait_until};

use super::exec::refused;
use super::start::client;

fn repository(home: &Home) -> String {
    let folder = home.path("home/g");
    std::fs::create_dir(&folder).unwrap();
    let git = Command::new("git")
        .args(["init", "-q", "-b", "master"])
        .current_dir(&folder)
        .status();
    assert!(git.unwrap().success());
    std::fs::write(folder.join("a"), "1\n").unwrap();
    std::fs::write(folder.join("b"), "2\n").unwrap();
    let git = Command::new("git")
        .args(["add", "a"])
        .current_dir(&folder)
        .status();
    assert!(git.unwrap().success());
    folder.to_str().unwrap().to_owned()
}

#[test]
fn a_program_s_two_outputs_and_its_end_are_told_apart() {
    let daemon = TestDaemon::start();
    let mut client = client(&daemon);
    let result = client.call(
        "terminal_run",
        &json!({ "cmd": "echo out; echo err >&2; exit 3", "shell": true }),
    );
    assert_eq!(
        result["stdout"],
        json!({ "raw": "out\n", "parsed": null }),
        "{result}"
    );
    assert_eq!(result["stderr"], json!({ "raw": "err\n" }), "{result}");
    assert_members(&result, &json!({ "ok": false, "exitCode": 3 }));
    assert_members(&result, &json!({ "timedOut": false, "args": [] }));
    assert_eq!(result["cwd"], daemon.user_home().to_str().unwrap());
    assert!(result["durationMs"].is_u64(), "{result}");
    let result = client.call(
        "terminal_run",
        &json!({ "cmd": "false", "successExitCode": null }),
    );
    assert_members(&result, &json!({ "ok": true, "exitCodeIgnored": true }));
    assert_eq!(
        result["checks"],
        json!({ "exitCode": { "ok": true, "expected": null, "actual": 1 } })
    );
    std::fs::write(daemon.user_home().join("f"), "hi\n").unwrap();
    let result = client.call(
        "terminal_run",
        &json!({ "cmd": "true", "successFile": "f", "successFilePattern": "^hi$" }),
    );
    assert_eq!(
        result["checks"]["successFile"],
        json!({ "path": "f", "matched": true })
    );
    assert_eq!(result["ok"], true, "{result}");
    let error = refused(
        &mut client,
        "terminal_run",
        &json!({ "cmd": "touch ran", "shell": true, "successFile": "f" }),
    );
    assert_eq!(
        error,
        "successFile and successFilePattern must be provided together."
    );
    assert!(!daemon.user_home().join("ran").exists());
    let error = refused(
        &mut client,
        "terminal_run",
        &json!({ "cmd": "no_such_bin" }),
    );
    assert!(
        error.starts_with(
            "Failed to start command \"no_such_bin\": spawn no_such_bin ENOENT. Verify"
        ),
        "{error}"
    );
    assert_eq!(client.call("terminal_list", &json!({}))["count"], 0);
}

#[test]
fn known_formats_are_parsed_and_counted() {
    let daemon = TestDaemon::start();
    let folder = repository(&daemon);
    let mut client = client(&daemon);
    let mut run = |more: Value| {
        let base = json!({
            "cmd": "git", "args": ["status", "--porcelain", "--branch"], "cwd": folder,
        });
        client.call("terminal_run", &termd_test_support::merged(&base, &more))["stdout"].clone()
    };
    let parsed = json!({
        "branch": { "head": "No commits yet on master" },
        "staged": ["a"], "modified": [], "untracked": ["b"],
    });
    let raw = "## No commits yet on master\nA  a\n?? b\n";
    assert_eq!(run(json!({})), json!({ "raw": raw, "parsed": parsed }));
    assert_eq!(
        run(json!({ "parseOnly": true })),
        json!({ "raw": "", "parsed": parsed })
    );
    assert_eq!(
        run(json!({ "parse": false })),
        json!({ "raw": raw, "parsed": null })
    );
    let summary = json!({
        "stagedCount": 1, "modifiedCount": 0, "untrackedCount": 1, "branch": "No commits yet on master",
    });
    assert_eq!(
        run(json!({ "summary": true })),
        json!({ "raw": "", "parsed": null, "summary": summary })
    );
    let paged = client.call(
        "terminal_extra",
        &json!({
            "tool": "terminal_run_paged",
            "args": { "cmd": "git", "args": ["status"], "cwd": folder, "pageSize": 2 },
        }),
    );
    assert_eq!(paged["stdout"]["raw"], "On branch master\n", "{paged}");
    assert_members(&paged["pageInfo"], &json!({ "page": 0, "hasNext": true }));
    let error = refused(&mut client, "terminal_run_paged", &json!({ "cmd": "ls" }));
    assert!(error.starts_with("terminal_run_paged only supports read-only commands: git (branch,"));
}

#[test]
fn a_timeout_ends_all_that_was_started() {
    let daemon = TestDaemon::start();
    let env = [
        ("TERMCTL_MCP_TOOLS", "terminal"),
        ("TERMINAL_MCP_EXEC_TIMEOUT", "end"),
    ];
    let mut client = McpClient::start_with(&daemon, &env, &json!({}));
    let result = client.call(
        "terminal_run",
        &json!({ "cmd": "sleep 321 & sleep 322", "shell": true, "timeout": 1000 }),
    );
    assert_members(&result, &json!({ "ok": false, "timedOut": true }));
    assert_eq!(
        (&result["exitCode"], &result["signal"]),
        (&Value::Null, &json!("SIGTERM"))
    );
    wait_until("both are gone", || !is_running(&daemon, "sleep"));
}

#[test]
fn cancelling_ends_all_that_was_started() {
    let daemon = TestDaemon::start();
    let mut client = client(&daemon);
    let id = client.begin(
        "terminal_run",
        &json!({ "cmd": "sleep 323 & sleep 324", "shell": true }),
    );
    wait_until("it runs", || is_running(&daemon, "sleep"));
    client.notify(
        "notifications/cancelled",
        &json!({ "requestId": id, "reason": "enough" }),
    );
    wait_until("both are gone", || !is_running(&daemon, "sleep"));
}

fn is_running(home: &Home, program: &str) -> bool {
    home.processes().into_iter().any(|pid| {
        let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
        name.trim_end() == program
    })
}

#[test]
fn output_over_the_limit_is_named_and_can_be_read() {
    let daemon = TestDaemon::start();
    let mut client = client(&daemon);
    let result = client.call(
        "terminal_run",
        &json!({ "cmd": "seq", "args": ["1", "100000"], "maxOutputBytes": 1024 }),
    );
    assert_members(&result, &json!({ "ok": false, "maxOutputExceeded": true }));
    let raw = result["stdout"]["raw"].as_str().unwrap();
    assert!(raw.len() <= 1_024, "{}", raw.len());
    assert!(raw.starts_with("1\n2\n3\n"));
    assert!(raw.ends_with("\n99999\n100000\n"), "{raw}");
    let omitted = &result["omitted"][0];
    assert_eq!(omitted["stream"], "stdout", "{omitted}");
    let rest = client.call(
        "terminal_read",
        &json!({ "sessionId": result["sessionId"], "since": omitted["from"], "maxLines": 10 }),
    );
    let (head, _) = raw.split_once("\n...").unwrap();
    let last: u64 = head.lines().last().unwrap().parse().unwrap();
    let next: Vec<String> = (last + 1..=last + 10).map(|it| it.to_string()).collect();
    assert_eq!(rest["output"], next.join("\n"), "{rest}");
}

#[test]
fn what_is_dangerous_is_asked_about() {
    let daemon = TestDaemon::start();
    let mut client = client(&daemon);
    let risky = daemon.path("risky");
    std::fs::create_dir(&risky).unwrap();
    let arguments = json!({ "cmd": "rm", "args": ["-rf", risky] });
    let question = client.call("terminal_run", &arguments);
    assert_eq!(question["requires_confirmation"], true, "{question}");
    assert!(risky.exists());
    let confirmed = termd_test_support::merged(&arguments, &json!({ "confirmed": true }));
    assert_eq!(client.call("terminal_run", &confirmed)["ok"], true);
    assert!(!risky.exists());
}

//! Waiting for the end of a command: by the shell's marks, and by the reader of the tty where there
//! are none.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use termd_test_support::{Postgres, RawClient, TestDaemon, assert_members, is_installed, sh};

use super::pattern::{interact, line, text};
use crate::shell::marked_shell::MarkedShell;

const DONE: &str = "done";

#[test]
fn marks_end_a_command_with_its_exit_code() {
    let daemon = TestDaemon::start();
    for name in ["bash", "zsh", "fish"] {
        if !is_installed(name, "marks_end_a_command_with_its_exit_code") {
            continue;
        }
        let mut shell = MarkedShell::start(&daemon, &[name]);
        let id = shell.id.clone();
        let until = json!({ DONE: true });
        if name != "bash" {
            // zsh and fish discard input before their first prompt.
            shell.wait_for_prompts(1);
        }
        let first = interact(&mut shell.client, &id, &line("echo first"), &until);
        assert_members(&first, &json!({ "ended_by": "done", "done_by": "marks" }));
        let begun = Instant::now();
        let command = "sleep 0.5; echo out; sh -c 'exit 7'";
        let ended = interact(&mut shell.client, &id, &line(command), &until);
        assert!(begun.elapsed() >= Duration::from_millis(500), "{ended}");
        assert_eq!(ended["done_by"], "marks", "{ended}");
        assert_eq!(ended["command"]["exit_code"], 7, "{ended}");
        assert_eq!(ended["command"]["text"], command, "{ended}");
        let command = &ended["command"];
        let output = text(
            &mut shell.client,
            &id,
            &ended["output_start"],
            &command["end"],
        );
        assert_eq!(output, "out\n");
        // Nothing was typed since and nothing runs, so the wait ends at once.
        let params = json!({ "id": id, "since": ended["end"], "until": until });
        let begun = Instant::now();
        assert_eq!(
            shell.client.ok("session.wait_for", &params)["done_by"],
            "marks"
        );
        assert!(begun.elapsed() < Duration::from_secs(2));
        // Several lines are done when the last one is.
        let lines = json!({ "text": "sleep 0.2; echo A\nsleep 0.2; echo B\n" });
        let ended = interact(&mut shell.client, &id, &lines, &until);
        let all = text(
            &mut shell.client,
            &id,
            &ended["output_start"],
            &ended["end"],
        );
        assert!(all.contains("B\n"), "{all:?} {ended}");
    }
}

/// Marks with parameters such as `D;5;aid=1`, split over several writes.
#[test]
fn marks_of_other_programs_are_understood() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let script = r"printf '\033]133;A\007$ \033]133;B\007'; read x; printf '\033]13'; sleep 0.2; \
                   printf '3;C\007out\n'; sleep 0.2; printf '\033]133;D;5;aid='; sleep 0.2; \
                   printf '1\007\033]133;A\007$ \033]133;B\007'; read y";
    let id = client.create_terminal(&sh(script));
    client.wait_for_text(&id, "\u{1b}]133;B");
    let ended = interact(&mut client, &id, &line("out"), &json!({ DONE: true }));
    assert_members(&ended, &json!({ "ended_by": "done", "done_by": "marks" }));
    assert_eq!(ended["command"]["exit_code"], 5, "{ended}");
    let activity = client.ok("session.activity", &json!({ "id": id }));
    assert_eq!(activity["last_command"]["exit_code"], 5);
    assert_eq!(
        activity["prompt"],
        json!({ "by": "marks", "confidence": 1.0 })
    );
}

/// A program that reads lines itself: what is typed, the least time until it is done, and its
/// output.
fn program(argv: &[&str], prompt: &str, cases: &[(&str, u64, &str)], done_by: &str) {
    if !is_installed(argv[0], "programs_without_marks") {
        return;
    }
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let env = json!({ "PS1": "$ ", "PYTHON_HISTORY": "", "SQLITE_HISTORY": "" });
    let create = json!({ "command": argv[0], "args": argv[1..], "env": env });
    let id = client.create_terminal(&create);
    let until = json!({ "pattern": prompt });
    let params = json!({ "id": id, "since": 0, "until": until, "timeout_ms": 20_000 });
    let ready = client.ok("session.wait_for", &params);
    assert_eq!(ready["ended_by"], "matched", "{argv:?}: {ready}");
    for (typed, least_ms, output) in cases {
        let begun = Instant::now();
        let ended = interact(&mut client, &id, &line(typed), &json!({ DONE: true }));
        let (by, shown) = (&ended["done_by"], screen(&mut client, &id));
        assert_eq!(*by, done_by, "{argv:?} {typed}: {ended}\n{shown}");
        assert!(
            begun.elapsed() >= Duration::from_millis(*least_ms),
            "{argv:?} {typed}: {ended}\n{shown}"
        );
        let all = text(&mut client, &id, &ended["output_start"], &ended["end"]);
        assert!(all.starts_with(output), "{argv:?} {typed}: {all:?} {ended}");
    }
}

fn screen(client: &mut RawClient, id: &str) -> String {
    let screen: Value = client.ok("session.screen", &json!({ "id": id, "format": "text" }));
    screen["rendering"].as_str().unwrap().to_owned()
}

#[test]
fn dash_is_done_when_it_reads_again() {
    let cases = [
        ("echo hi", 0, "hi\n"),
        ("sleep 1; echo READY", 1_000, "READY\n"),
    ];
    program(&["env", "dash", "-i"], r"\$ $", &cases, "foreground");
}

#[test]
fn a_shell_without_marks_is_done_when_it_reads_again() {
    let daemon_less = [
        ("echo hi", 0, "hi\n"),
        ("sleep 1; echo READY", 1_000, "READY\n"),
    ];
    let argv = ["env", "bash", "--norc", "--noprofile", "-i"];
    program(&argv, r"\$ $", &daemon_less, "foreground");
}

#[test]
fn python_is_done_at_its_prompt() {
    let cases = [
        ("print('a' * 3)", 0, "aaa\n"),
        (
            "import time; time.sleep(1); print('READY')",
            1_000,
            "READY\n",
        ),
        ("sum(i for i in range(20_000_000))", 0, "199999990000000\n"),
    ];
    program(&["python3", "-q"], ">>> $", &cases, "prompt");
}

#[test]
fn sqlite_is_done_at_its_prompt() {
    let cases = [
        ("select 1+1;", 0, "2\n"),
        ("select 'x';", 0, "x\n"),
        ("select 3\n+\n4;", 0, "7\n"),
    ];
    program(&["sqlite3", ":memory:"], "sqlite> $", &cases, "prompt");
}

#[test]
fn psql_is_done_at_its_prompt() {
    let Some(postgres) = Postgres::start("psql_is_done_at_its_prompt") else {
        return;
    };
    let psql = [
        "psql",
        "-XAt",
        "-h",
        postgres.host(),
        "-U",
        "tester",
        "postgres",
    ];
    let cases = [
        ("select 6*7;", 0, "42\n"),
        ("select pg_sleep(1), 'slept';", 1_000, "|slept\n"),
        // psql asks for the rest of a statement with another prompt.
        ("select 'on'", 0, ""),
        ("  || 'wards';", 0, "onwards\n"),
        ("select 'all'\n|| ' at'\n|| ' once';", 0, "all at once\n"),
        (
            "select * from nowhere;",
            0,
            "ERROR:  relation \"nowhere\" does not exist\n",
        ),
        (
            "\\conninfo",
            0,
            "You are connected to database \"postgres\"",
        ),
    ];
    program(&psql, "postgres=# $", &cases, "prompt");
}

#[test]
fn node_is_done_at_its_prompt() {
    let cases = [("1+1", 0, "2\n"), ("console.log('x')", 0, "x\n")];
    program(&["node"], "> $", &cases, "prompt");
}

/// A shell begins its prompt on a new line. What it prints for that is not the command's output.
#[test]
fn output_without_a_last_line_break_ends_where_it_ends() {
    let daemon = TestDaemon::start();
    for name in ["bash", "zsh", "fish"] {
        if !is_installed(name, "output_without_a_last_line_break_ends_where_it_ends") {
            continue;
        }
        let mut shell = MarkedShell::start(&daemon, &[name]);
        shell.wait_for_prompts(1);
        let id = shell.id.clone();
        for (typed, output, code) in [
            ("printf hi", "hi", 0),
            ("echo hi", "hi\n", 0),
            ("printf no; sh -c 'exit 5'", "no", 5),
            ("true", "", 0),
        ] {
            let until = json!({ DONE: true });
            let ended = interact(&mut shell.client, &id, &line(typed), &until);
            let command = &ended["command"];
            assert_eq!(command["exit_code"], code, "{name} {typed}: {ended}");
            let (start, end) = (&ended["output_start"], &command["end"]);
            let shown = text(&mut shell.client, &id, start, end);
            assert_eq!(shown, output, "{name} {typed}: {ended}");
        }
    }
}

/// A program started in a shell with marks, and the return to the shell.
#[test]
fn a_program_in_a_shell_with_marks_is_waited_for_by_its_prompt() {
    let daemon = TestDaemon::start();
    let mut shell = MarkedShell::start(&daemon, &["bash"]);
    if !is_installed(
        "python3",
        "a_program_in_a_shell_with_marks_is_waited_for_by_its_prompt",
    ) {
        return;
    }
    let (id, until) = (shell.id.clone(), json!({ DONE: true }));
    let begun = interact(&mut shell.client, &id, &line("python3 -q"), &until);
    assert_eq!(begun["done_by"], "prompt", "{begun}");
    let ended = interact(&mut shell.client, &id, &line("print(6*7)"), &until);
    assert_eq!(ended["done_by"], "prompt", "{ended}");
    let all = text(
        &mut shell.client,
        &id,
        &ended["output_start"],
        &ended["end"],
    );
    assert!(all.starts_with("42\n"), "{all:?} {ended}");
    let ended = interact(&mut shell.client, &id, &line("exit(4)"), &until);
    assert_eq!(
        (
            &ended["done_by"],
            &ended["activity"]["last_command"]["exit_code"]
        ),
        (&json!("marks"), &json!(4))
    );
    // This output only looks like a prompt.
    let begun = Instant::now();
    let fake = line("printf 'me@host:~$ '; sleep 1.5");
    let ended = interact(&mut shell.client, &id, &fake, &until);
    assert_eq!(ended["done_by"], "marks", "{ended}");
    assert!(begun.elapsed() >= Duration::from_millis(1_500));
}

#[test]
fn activity_tells_what_goes_on() {
    let daemon = TestDaemon::start();
    let mut shell = MarkedShell::start(&daemon, &["bash"]);
    let id = shell.id.clone();
    interact(
        &mut shell.client,
        &id,
        &line("cd /usr && false"),
        &json!({ DONE: true }),
    );
    shell.wait_for_prompts(2);
    let activity = shell.client.ok("session.activity", &json!({ "id": id }));
    assert_eq!(activity["cwd"], "/usr", "{activity}");
    assert_eq!(activity["last_command"]["exit_code"], 1, "{activity}");
    assert_eq!(activity["foreground"]["program"], "bash", "{activity}");
    assert_eq!(activity["foreground"]["is_root"], true, "{activity}");
    assert_eq!(activity["awaiting_secret"], false);
    let until = json!({ "settle_ms": 300 });
    let running = interact(&mut shell.client, &id, &line("sleep 600"), &until);
    let activity = &running["activity"];
    assert_eq!(activity["command_state"], "running", "{activity}");
    assert_eq!(activity["foreground"]["program"], "sleep", "{activity}");
    assert_eq!(activity["foreground"]["is_root"], false, "{activity}");
    assert_eq!(activity["prompt"], Value::Null, "{activity}");
    assert!(activity["quiet_ms"].as_u64().unwrap() >= 250);
}

//! The verbs of scripts: `create`, `read`, `wait`, `send`, `kill`, `close`, `list`, `show`,
//! `resize`, `status`, `audit`.

use std::io::Write;
use std::process::Stdio;

use serde_json::{Value, json};
use termd_test_support::{TestDaemon, assert_members, wait_until};

use crate::termctl::{TermctlOutput, command, ok, ready_terminal, spawn, termctl};

/// The documented example of a terminal in a shell script.
#[test]
fn a_shell_script_uses_a_terminal() {
    let daemon = TestDaemon::start();
    let script = r#"
        set -eu
        id=$(termctl create -- sh -c 'echo started; sleep 1000')
        until termctl read "$id" | grep -q started; do :; done
        termctl read "$id"
        termctl kill "$id"
        code=0; termctl wait "$id" || code=$?
        echo "exit code $code"
        termctl close "$id"
    "#;
    let termctl = std::path::Path::new(env!("CARGO_BIN_EXE_termctl"));
    let path = format!(
        "{}:{}",
        termctl.parent().unwrap().display(),
        std::env::var("PATH").unwrap()
    );
    let mut shell = daemon.command("/bin/sh");
    shell.args(["-c", script]).env("PATH", path);
    let output = TermctlOutput::of(&shell.output().unwrap());
    assert_eq!(
        (output.code, output.out.as_str()),
        (Some(0), "started\nexit code 143\n"),
        "{output:?}"
    );
}

#[test]
fn create_prints_the_id_and_nothing_else() {
    let daemon = TestDaemon::start();
    let id = ok(
        &daemon,
        &["create", "--label", "web", "--", "sleep", "1000"],
    );
    assert!(id.starts_with("term_") && id.len() == 17, "{id:?}");
    let info = termctl(&daemon, &["create", "--json", "--", "sleep", "1000"]).json();
    assert_eq!(info["argv"], json!(["sleep", "1000"]));
    assert_eq!(info["owner"]["front"], "cli");
    let shown = termctl(&daemon, &["show", "--json", "web"]).json();
    assert_eq!(shown["id"], *id);
    assert_eq!(shown["state"], "running");
}

#[test]
fn a_label_still_names_a_closed_terminal_while_no_other_has_it() {
    let daemon = TestDaemon::start();
    let create = |text: &str| {
        let id = ok(&daemon, &["create", "--label", "job", "--", "echo", text]);
        ok(&daemon, &["wait", "job"]);
        id
    };
    let first = create("one");
    ok(&daemon, &["close", "job"]);
    assert_eq!(ok(&daemon, &["read", "job"]), "one");
    let shown = termctl(&daemon, &["show", "job", "--json"]).json();
    assert_eq!(shown["id"], *first);
    assert!(ok(&daemon, &["screen", "job"]).starts_with("one"));
    assert!(ok(&daemon, &["history", "job"]).contains("echo one"));
    // An open one goes before it.
    let second = create("two");
    assert_eq!(ok(&daemon, &["read", "job"]), "two");
    ok(&daemon, &["close", "job"]);
    let output = termctl(&daemon, &["read", "job"]);
    assert_eq!(output.code, Some(3), "{output:?}");
    output.assert_one_line();
    let newest_first = format!("job fits several terminals: {second}, {first}");
    assert!(output.err.contains(&newest_first), "{output:?}");
}

#[test]
fn the_label_of_a_closed_terminal_is_no_beginning_of_another_ones_id() {
    let daemon = TestDaemon::start();
    let other = ok(&daemon, &["create", "--", "sleep", "1000"]);
    let label = &other["term_".len()..][..3];
    ok(
        &daemon,
        &["create", "--label", label, "--", "sleep", "1000"],
    );
    ok(&daemon, &["close", label]);
    termctl(&daemon, &["kill", label]);
    let shown = termctl(&daemon, &["show", &other, "--json"]).json();
    assert_eq!(shown["state"], "running");
}

#[test]
fn create_takes_the_callers_directory_environment_and_size() {
    let daemon = TestDaemon::start();
    let directory = daemon.path("some where");
    std::fs::create_dir(&directory).unwrap();
    let args = [
        "create",
        "--env",
        "ONE=1",
        "--cols",
        "101",
        "--rows",
        "31",
        "--",
        "sh",
        "-c",
        "pwd; echo $ONE $TWO; stty size",
    ];
    let mut command = command(&daemon, &args);
    command.current_dir(&directory).env("TWO", "2");
    let id = TermctlOutput::of(&command.output().unwrap())
        .out
        .trim()
        .to_owned();
    ok(&daemon, &["wait", &id]);
    let text = ok(&daemon, &["read", &id]);
    assert_eq!(text, format!("{}\n1 2\n31 101", directory.display()));
}

#[test]
fn read_starts_where_it_is_told() {
    let daemon = TestDaemon::start();
    let id = ok(
        &daemon,
        &["create", "--", "printf", "one\\ntwo\\nthree\\nfour\\n"],
    );
    ok(&daemon, &["wait", &id]);
    for (args, expected) in [
        (&[][..], "one\ntwo\nthree\nfour\n"),
        (&["--tail", "2"], "three\nfour\n"),
        (&["--since", "5"], "two\nthree\nfour\n"),
        (&["--follow"], "one\ntwo\nthree\nfour\n"),
        (&["--raw"], "one\r\ntwo\r\nthree\r\nfour\r\n"),
    ] {
        let all = [&["read", &id], args].concat();
        let output = termctl(&daemon, &all);
        assert_eq!(
            (output.code, output.out.as_str()),
            (Some(0), expected),
            "{args:?}"
        );
    }
    let page = termctl(&daemon, &["read", "--json", &id]).json();
    assert_eq!(page["text"], "one\ntwo\nthree\nfour\n");
    assert_members(&page, &json!({ "start": 0, "end": 23 }));
    assert_eq!(
        page["exit_status"],
        json!({ "exit_code": 0, "signal": null })
    );
}

#[test]
fn read_gives_a_pipe_plain_text() {
    let daemon = TestDaemon::start();
    let bar = "\\033[1mbuild\\033[m\\n10%%\\r\\033[K100%%\\n";
    let id = ok(&daemon, &["create", "--", "printf", bar]);
    ok(&daemon, &["wait", &id]);
    for (args, expected) in [
        (&[][..], "build\n100%\n"),
        (&["--follow"], "build\n100%\n"),
        (&["--plain"], "build\n100%\n"),
        (&["--tail", "1"], "100%\n"),
        (&["--bytes", "7"], "build\n1"),
        (
            &["--raw"],
            "\u{1b}[1mbuild\u{1b}[m\r\n10%\r\u{1b}[K100%\r\n",
        ),
    ] {
        let all = [&["read", &id], args].concat();
        assert_eq!(termctl(&daemon, &all).out, expected, "{args:?}");
    }
    let page = termctl(&daemon, &["read", "--json", &id]).json();
    assert_eq!(page["text"], "build\n100%\n");
}

#[test]
fn read_gives_large_output_whole() {
    let daemon = TestDaemon::start();
    let id = ok(&daemon, &["create", "--", "seq", "1", "400000"]);
    let output = termctl(&daemon, &["read", "--follow", &id]);
    let expected: String = (1..=400_000).map(|n| format!("{n}\n")).collect();
    assert!(
        output.out == expected,
        "{} of {} bytes",
        output.out.len(),
        expected.len()
    );
    assert!(termctl(&daemon, &["read", &id]).out == expected);
}

#[test]
fn follow_goes_on_until_the_exit() {
    let daemon = TestDaemon::start();
    let id = ok(
        &daemon,
        &["create", "--", "sh", "-c", "echo one; read go; echo two"],
    );
    let child = command(&daemon, &["read", "--follow", &id])
        .stdout(Stdio::piped())
        .spawn();
    wait_until("it has said its first line", || {
        ok(&daemon, &["read", &id]).contains("one")
    });
    ok(&daemon, &["send", "--enter", &id]);
    let output = TermctlOutput::wait(child.unwrap());
    assert_eq!(output.code, Some(0));
    assert!(
        output.out.starts_with("one\n") && output.out.ends_with("two\n"),
        "{:?}",
        output.out
    );
}

#[test]
fn wait_passes_on_the_exit_code() {
    let daemon = TestDaemon::start();
    for (script, code) in [
        ("exit 0", 0),
        ("exit 7", 7),
        ("exit 255", 255),
        ("kill -9 $$", 137),
        ("kill -TERM $$", 143),
    ] {
        let id = ok(
            &daemon,
            &["create", "--confirmed", "--", "sh", "-c", script],
        );
        let output = termctl(&daemon, &["wait", &id]);
        assert_eq!(
            (output.code, output.out.as_str()),
            (Some(code), ""),
            "{script}"
        );
    }
    let id = ok(&daemon, &["create", "--", "sleep", "1000"]);
    assert_eq!(
        termctl(&daemon, &["wait", "--timeout", "100ms", &id]).code,
        Some(124)
    );
}

#[test]
fn wait_takes_several_terminals() {
    let daemon = TestDaemon::start();
    let create = |script: &str| ok(&daemon, &["create", "--", "sh", "-c", script]);
    let ids = ["exit 0", "exit 3", "exit 4", "exec sleep 1000"].map(create);
    let [zero, three, four, endless] = ids.each_ref().map(String::as_str);
    let short = "--timeout=100ms";
    for (args, code) in [
        (&[zero, four, three][..], 4),
        (&[three, zero, four], 3),
        (&[zero, zero], 0),
        (&[zero, endless, short], 124),
        (&[endless, three, "--any"], 3),
        (&[endless, zero, "--any"], 0),
        (&[endless, endless, "--any", short], 124),
        (&[endless, "nothing"], 125),
    ] {
        let output = termctl(&daemon, &[&["wait"], args].concat());
        assert_eq!(
            (output.code, output.out.as_str()),
            (Some(code), ""),
            "{args:?}"
        );
    }
    let lines = |args: &[&str]| -> Vec<Value> {
        let output = termctl(&daemon, &[&["wait", "--json"], args].concat());
        let lines = output.out.lines().map(serde_json::from_str);
        lines.collect::<Result<_, _>>().unwrap()
    };
    let both = lines(&[zero, three]);
    assert_eq!(both.len(), 2, "{both:?}");
    assert_eq!(both[0]["terminal"], zero);
    assert_eq!(both[1]["result"]["exit_status"]["exit_code"], 3);
    let any = lines(&["--any", endless, three]);
    assert_eq!((any.len(), &any[0]["terminal"]), (1, &json!(three)));
    assert_eq!(lines(&[zero])[0]["exited"], true);
}

#[test]
fn wait_for_output_prints_the_line_that_matches() {
    let daemon = TestDaemon::start();
    let create = |label: &str, script: &str| {
        ok(
            &daemon,
            &["create", "--label", label, "--", "sh", "-c", script],
        );
    };
    create("ready", "echo one; echo is READY now; exec sleep 1000");
    create("later", "stty -echo; read x; echo now $x; exec sleep 1000");
    create("ended", "echo no; exit 3");
    create("silent", "exec sleep 1000");
    ok(&daemon, &["wait", "ready", "--for", "READY"]);
    let short = "--timeout=100ms";
    for (args, out, code) in [
        (&["ready", "--for", "READY"][..], "is READY now\n", 0),
        (&["ready", "--for", "^READY", short], "", 124),
        (&["ended", "--for", "yes"], "", 1),
        (&["ended", "--for", "^n"], "no\n", 0),
        (
            &["ended", "ready", "--for", "o"],
            "ended: no\nready: one\n",
            0,
        ),
        (
            &["ended", "ready", "--for", "R.*Y", "--any"],
            "ready: is READY now\n",
            0,
        ),
        (&["ended", "ended", "--for", "yes", "--any"], "", 1),
        (
            &["silent", "ended", "--for", "yes", "--any", short],
            "",
            124,
        ),
        (
            &["silent", "ready", "--for", "READY", short],
            "ready: is READY now\n",
            124,
        ),
        (&["ready", "--for", "("], "", 125),
    ] {
        let output = termctl(&daemon, &[&["wait"], args].concat());
        assert_eq!(
            (output.out.as_str(), output.code),
            (out, Some(code)),
            "{args:?}: {}",
            output.err
        );
        match code {
            1 => assert!(output.err.contains("ended has exited"), "{output:?}"),
            2 => assert!(output.err.contains("--for \"(\""), "{output:?}"),
            _ => {}
        }
    }
    let waiting = spawn(&daemon, &["wait", "later", "--for", "now (.*)"]);
    ok(&daemon, &["send", "later", "it", "-e"]);
    let output = TermctlOutput::wait(waiting);
    assert_eq!((output.out.as_str(), output.code), ("now it\n", Some(0)));
    let output = termctl(&daemon, &["wait", "--json", "ready", "--for", "READY"]).json();
    assert_eq!(output["matched"]["text"], "READY", "{output}");
}

#[test]
fn send_types() {
    let daemon = TestDaemon::start();
    let id = ok(
        &daemon,
        &["create", "--", "sh", "-c", "stty -echo; echo ready; cat"],
    );
    wait_until("it is ready", || {
        ok(&daemon, &["read", &id]).contains("ready")
    });
    ok(&daemon, &["send", &id, "two", "words", "--enter"]);
    let mut child = command(&daemon, &["send", "--stdin", &id])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all("from stdin é\n".as_bytes())
        .unwrap();
    assert!(child.wait().unwrap().success());
    ok(&daemon, &["send", "--eof", &id]);
    assert_eq!(termctl(&daemon, &["wait", &id]).code, Some(0));
    assert_eq!(
        ok(&daemon, &["read", &id]),
        "ready\ntwo words\nfrom stdin é"
    );
    let id = ok(&daemon, &["create", "--", "sleep", "1000"]);
    ok(&daemon, &["send", "--ctrl", "c", &id]);
    assert_eq!(termctl(&daemon, &["wait", &id]).code, Some(130));
    let output = termctl(&daemon, &["send", &id, "x"]);
    assert_eq!(output.code, Some(1), "{output:?}");
    output.assert_one_line();
}

#[test]
fn kill_and_close_end_a_terminal() {
    let daemon = TestDaemon::start();
    let id = ok(
        &daemon,
        &[
            "create",
            "--",
            "sh",
            "-c",
            "trap 'exit 9' INT; echo r; while :; do sleep 0.02; done",
        ],
    );
    wait_until("it is ready", || ok(&daemon, &["read", &id]).contains('r'));
    ok(&daemon, &["kill", "-s", "INT", &id]);
    assert_eq!(termctl(&daemon, &["wait", &id]).code, Some(9));
    ok(&daemon, &["kill", &id]);
    let other = ok(&daemon, &["create", "--", "sleep", "1000"]);
    ok(&daemon, &["close", &id, &other]);
    assert!(!ok(&daemon, &["list"]).contains("term_"));
    let all = ok(&daemon, &["list", "--all"]);
    assert!(all.contains(&id) && all.contains(&other), "{all}");
    assert_eq!(termctl(&daemon, &["wait", &other]).code, Some(129));
    ok(&daemon, &["close", &id]);
}

/// The entries of `list --json`.
fn entries(listed: &Value) -> Vec<Value> {
    let array = listed.as_array().or_else(|| listed["terminals"].as_array());
    array.unwrap_or_else(|| panic!("no list: {listed}")).clone()
}

#[test]
fn list_and_show_tell_what_there_is() {
    let daemon = TestDaemon::start();
    assert_eq!(
        entries(&termctl(&daemon, &["list", "--json"]).json()),
        Vec::<Value>::new()
    );
    let running = ok(
        &daemon,
        &["create", "--label", "a label", "--", "sleep", "1000"],
    );
    let exited = ok(&daemon, &["create", "--", "sh", "-c", "exit 3"]);
    termctl(&daemon, &["wait", &exited]);
    let table = ok(&daemon, &["list"]);
    for text in [
        &running,
        &exited,
        "a label",
        "sleep 1000",
        "running",
        "exited",
    ] {
        assert!(table.contains(text), "{text:?} is not in\n{table}");
    }
    assert!(!ok(&daemon, &["list", "--running"]).contains(&exited));
    let listed = entries(&termctl(&daemon, &["list", "--json"]).json());
    assert_eq!(listed.len(), 2);
    assert_eq!(listed[0]["id"], *running, "oldest first");
    assert_eq!(
        listed[1]["exit_status"],
        json!({ "exit_code": 3, "signal": null })
    );
    let shown = ok(&daemon, &["show", &running[..12]]);
    for text in [running.as_str(), "a label", "sleep"] {
        assert!(shown.contains(text), "{text:?} is not in\n{shown}");
    }
    // More than one page is listed whole.
    for _ in 0..110 {
        daemon
            .client()
            .ok("session.create", &json!({ "command": "true" }));
    }
    assert_eq!(
        entries(&termctl(&daemon, &["list", "--json"]).json()).len(),
        112
    );
}

#[test]
fn list_gives_scripts_the_ids_alone() {
    let daemon = TestDaemon::start();
    assert_eq!(termctl(&daemon, &["list", "-q"]).out, "");
    let create = || ok(&daemon, &["create", "--", "sleep", "1000"]);
    let ids = [create(), create()];
    let output = termctl(&daemon, &["list", "--quiet"]);
    assert_eq!(output.out, format!("{}\n{}\n", ids[0], ids[1]));
    assert_eq!(
        termctl(&daemon, &["list", "-q", "--json"]).json(),
        json!(ids)
    );
}

#[test]
fn resize_sets_the_size() {
    let daemon = TestDaemon::start();
    let id = ok(&daemon, &["create", "--", "sh", "-c", "read go; stty size"]);
    ok(&daemon, &["resize", &id, "123x45"]);
    assert_eq!(termctl(&daemon, &["resize", &id, "1x1"]).code, Some(2));
    ok(&daemon, &["send", "--enter", &id]);
    termctl(&daemon, &["wait", &id]);
    assert!(ok(&daemon, &["read", &id]).ends_with("45 123"));
    let output = termctl(&daemon, &["resize", &id, "80x24"]);
    assert_eq!(output.code, Some(2), "it has exited: {output:?}");
    output.assert_one_line();
}

#[test]
fn status_tells_of_the_daemon() {
    let daemon = TestDaemon::start();
    let text = ok(&daemon, &["status"]);
    assert!(text.contains(&daemon.keeper_pid().to_string()), "{text}");
    let status = termctl(&daemon, &["status", "--json"]).json().to_string();
    assert!(
        status.contains(&format!("\"keeper_pid\":{}", daemon.keeper_pid())),
        "{status}"
    );
    assert!(status.contains("\"terminals_running\":0"), "{status}");
}

#[test]
fn audit_lists_filters_and_verifies() {
    let daemon = TestDaemon::start();
    let id = ok(&daemon, &["create", "--", "echo", "audited words"]);
    termctl(&daemon, &["wait", &id]);
    let other = ok(&daemon, &["create", "--", "true"]);
    termctl(&daemon, &["wait", &other]);
    let table = ok(&daemon, &["audit"]);
    assert!(
        table.contains("terminal.create") && table.contains("audited words"),
        "{table}"
    );
    let filtered = ok(
        &daemon,
        &["audit", "--terminal", &id, "--action", "terminal.create"],
    );
    assert!(
        filtered.contains(&id) && !filtered.contains(&other),
        "{filtered}"
    );
    let one = termctl(
        &daemon,
        &["audit", "--json", "-n", "1", "--action", "terminal.create"],
    );
    assert_eq!(one.code, Some(0));
    assert!(one.out.contains("termctl"), "who did it: {}", one.out);
    let output = termctl(&daemon, &["audit", "verify"]);
    assert_eq!(output.code, Some(0), "{output:?}");
    let verdict = termctl(&daemon, &["audit", "verify", "--json"]).json();
    assert!(verdict["checked"].as_u64().unwrap() >= 2, "{verdict}");
}

/// Control characters of labels, arguments and paths are escaped for a person's tty.
#[test]
fn control_characters_are_escaped() {
    let daemon = TestDaemon::start();
    let evil = "\u{1b}]0;owned\u{7}\u{9b}31m\r\n\u{202e}";
    let directory = daemon.path("dir\u{1b}[31m");
    std::fs::create_dir(&directory).unwrap();
    let mut create = command(&daemon, &["create", "--", "sleep", "1000", evil]);
    let output = TermctlOutput::of(&create.current_dir(&directory).output().unwrap());
    assert_eq!(output.code, Some(0), "{output:?}");
    let id = output.out.trim();
    for args in [
        &["list"][..],
        &["list", "--all"],
        &["show", id],
        &["audit"],
        &["status"],
    ] {
        let output = termctl(&daemon, args);
        let controls = |text: &str| {
            text.chars()
                .any(|c| c.is_control() && c != '\n' || c == '\u{202e}')
        };
        assert!(
            !controls(&output.out) && !controls(&output.err),
            "{args:?}: {output:?}"
        );
        assert_eq!(output.code, Some(0));
    }
    let output = termctl(&daemon, &["create", "--label", "\u{1b}[31m", "--", "true"]);
    assert_ne!(output.code, Some(0));
    assert!(!output.err.contains('\u{1b}'), "{output:?}");
    let output = termctl(&daemon, &["show", "\u{1b}[31m"]);
    assert_eq!(output.code, Some(3));
    assert!(!output.err.contains('\u{1b}'), "{output:?}");
}

#[test]
fn kill_takes_signals_as_kill_1_does() {
    let daemon = TestDaemon::start();
    for (signal, code) in [("-9", 137), ("-INT", 130)] {
        let id = ready_terminal(&daemon, "echo ready; exec sleep 1000");
        ok(&daemon, &["kill", signal, &id]);
        assert_eq!(
            termctl(&daemon, &["wait", &id]).code,
            Some(code),
            "{signal}"
        );
    }
    let names = ok(&daemon, &["kill", "-l"]);
    let names: Vec<&str> = names.split_whitespace().collect();
    assert_eq!(
        names.iter().position(|name| *name == "KILL"),
        Some(8),
        "{names:?}"
    );
    assert_eq!(names.last(), Some(&"SYS"));
}

#[test]
fn labels_are_changed_and_replaced() {
    let daemon = TestDaemon::start();
    let create = ["create", "--label", "one", "--", "sleep", "1000"];
    let first = ok(&daemon, &create);
    assert_eq!(ok(&daemon, &["rename", "one", "two"]), "");
    let shown = termctl(&daemon, &["show", "--json", "two"]).json();
    assert_eq!(shown["id"], *first);
    let second = ok(&daemon, &create);
    let taken = termctl(&daemon, &["rename", "one", "two"]);
    assert_eq!(taken.code, Some(1), "{taken:?}");
    assert!(taken.err.contains("two is taken"), "{taken:?}");
    ok(&daemon, &["rename", "two", ""]);
    let shown = termctl(&daemon, &["show", "--json", &first]).json();
    assert_eq!(shown["label"], Value::Null);

    assert_eq!(termctl(&daemon, &create).code, Some(1));
    let replacing = [
        "create",
        "--label",
        "one",
        "--replace",
        "--",
        "sleep",
        "1000",
    ];
    let third = ok(&daemon, &replacing);
    let open = ok(&daemon, &["list", "-q"]);
    assert_eq!(open.lines().collect::<Vec<_>>(), [&first, &third]);
    assert!(!open.contains(&second));
    let run = ["run", "--label", "one", "--replace", "--", "echo", "hi"];
    assert_eq!(ok(&daemon, &run), "hi");
    let alone = termctl(&daemon, &["create", "--replace", "--", "true"]);
    assert_eq!(alone.code, Some(2), "{alone:?}");
}

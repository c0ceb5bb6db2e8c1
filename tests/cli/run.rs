//! `termctl run`: the output and exit code of a command, as from the shell.

use std::io::{Read, Write};
use std::process::Stdio;

use rustix::process::Signal;
use serde_json::json;
use termd_test_support::{Home, Process, Pty, TestDaemon, skip, wait_until};

use crate::termctl::{TermctlOutput, command, ok, termctl};

#[test]
fn exit_codes_and_signals_are_passed_on() {
    let daemon = TestDaemon::start();
    for (script, code) in [
        ("exit 0", 0),
        ("exit 1", 1),
        ("exit 3", 3),
        ("exit 42", 42),
        ("exit 255", 255),
        ("kill -HUP $$", 129),
        ("kill -INT $$", 130),
        ("kill -KILL $$", 137),
        ("kill -TERM $$", 143),
    ] {
        let output = termctl(&daemon, &["run", "--confirmed", "--", "sh", "-c", script]);
        assert_eq!(output.code, Some(code), "{script}: {output:?}");
        assert_eq!(output.out, "", "{script}");
    }
}

#[test]
fn output_is_streamed_whole_with_the_programs_line_ends() {
    let daemon = TestDaemon::start();
    let output = termctl(&daemon, &["run", "-t", "--", "printf", "a\\nb\\r\\nc"]);
    assert_eq!((output.code, output.out.as_str()), (Some(0), "a\nb\nc"));
    let bar = "\\033[32m10%%\\r\\033[K100%%\\033[m\\n";
    let output = termctl(&daemon, &["run", "-t", "--", "printf", bar]);
    assert_eq!(output.out, "100%\n");
    let output = termctl(&daemon, &["run", "-t", "--raw", "--", "printf", "a\\nb"]);
    assert_eq!(output.out, "a\r\nb");
    let output = termctl(&daemon, &["run", "-t", "--", "seq", "1", "300000"]);
    let expected: String = (1..=300_000).map(|n| format!("{n}\n")).collect();
    assert!(
        output.out == expected,
        "{} of {} bytes",
        output.out.len(),
        expected.len()
    );
    let output = termctl(&daemon, &["run", "-t", "echo a && echo b"]);
    assert_eq!((output.code, output.out.as_str()), (Some(0), "a\nb\n"));
}

/// As by `docker exec`: termctl's process group is in a PID namespace above, and getpgrp(2) says 0.
#[test]
fn in_a_pid_namespace_its_group_may_be_outside() {
    let daemon = TestDaemon::start();
    let mut command = daemon.command("unshare");
    command
        .args(["--user", "--map-current-user", "--pid", "--fork", "--"])
        .arg(env!("CARGO_BIN_EXE_termctl"))
        .args(["run", "--", "echo", "ran"]);
    let output = TermctlOutput::of(&command.output().unwrap());
    if output.err.starts_with("unshare: ") {
        return skip(
            "in_a_pid_namespace_its_group_may_be_outside",
            output.err.trim_end(),
        );
    }
    assert_eq!(
        (output.code, output.out.as_str()),
        (Some(0), "ran\n"),
        "{output:?}"
    );
}

#[test]
fn output_comes_while_the_command_runs() {
    let daemon = TestDaemon::start();
    let mut child = command(
        &daemon,
        &[
            "run",
            "-i",
            "--",
            "sh",
            "-c",
            "echo first; read go; echo last",
        ],
    )
    .stdin(Stdio::piped())
    .stdout(Stdio::piped())
    .spawn()
    .unwrap();
    let mut first = [0; 6];
    child
        .stdout
        .as_mut()
        .unwrap()
        .read_exact(&mut first)
        .unwrap();
    assert_eq!(&first, b"first\n");
    child.stdin.take().unwrap().write_all(b"go\n").unwrap();
    let output = TermctlOutput::wait(child);
    assert_eq!(output.code, Some(0));
    assert!(output.out.ends_with("last\n"), "{output:?}");
}

#[test]
fn the_callers_directory_and_environment_are_the_commands() {
    let daemon = TestDaemon::start();
    let mut command = command(
        &daemon,
        &["run", "--env", "B=2", "--", "sh", "-c", "pwd; echo $A$B"],
    );
    command.env("A", "1").current_dir(daemon.path("bin"));
    let output = TermctlOutput::of(&command.output().unwrap());
    assert_eq!(
        output.out,
        format!("{}\n12\n", daemon.path("bin").display())
    );
}

#[test]
fn a_timeout_ends_the_command_and_exits_with_124() {
    let daemon = TestDaemon::start();
    let script = "echo \"pid $$;\"; exec sleep 1000";
    let output = termctl(
        &daemon,
        &["run", "--timeout", "300ms", "--", "sh", "-c", script],
    );
    assert_eq!(output.code, Some(124), "{output:?}");
    assert!(
        output.out.starts_with("pid "),
        "what it said is still shown: {output:?}"
    );
    let pid = output.out[4..].split(';').next().unwrap().parse().unwrap();
    wait_until("the command has ended", || {
        Process::open(pid).is_none_or(|process| !process.is_alive())
    });
    let output = termctl(
        &daemon,
        &["run", "--timeout", "60s", "--", "sh", "-c", "exit 5"],
    );
    assert_eq!(output.code, Some(5));
}

#[test]
fn the_terminal_is_closed_after_it_unless_kept() {
    let daemon = TestDaemon::start();
    ok(&daemon, &["run", "--label", "gone", "--", "true"]);
    assert!(!ok(&daemon, &["list"]).contains("gone"));
    assert!(
        ok(&daemon, &["list", "--all"]).contains("gone"),
        "its record stays"
    );
    ok(
        &daemon,
        &["run", "--keep", "--label", "kept", "--", "echo", "words"],
    );
    assert!(ok(&daemon, &["list"]).contains("kept"));
    assert_eq!(ok(&daemon, &["read", "kept"]), "words");
}

#[test]
fn json_is_one_object_at_the_end() {
    let daemon = TestDaemon::start();
    let output = termctl(
        &daemon,
        &["run", "--json", "--", "sh", "-c", "echo hello; exit 6"],
    );
    assert_eq!(output.code, Some(6));
    let result = output.json();
    assert!(
        result["id"]
            .as_str()
            .is_some_and(|id| id.starts_with("term_")),
        "{result}"
    );
    assert!(result.to_string().contains("\"exit_code\":6"), "{result}");
}

/// The only terminal of the daemon.
fn only_terminal(daemon: &TestDaemon) -> serde_json::Value {
    let page = daemon
        .client()
        .ok("session.list", &json!({ "scope": "all" }));
    page["terminals"][0].clone()
}

/// Starts `termctl run` of a script that prints its pid: termctl and the command's process.
pub(crate) fn running(daemon: &TestDaemon, args: &[&str]) -> (std::process::Child, Process) {
    let all = [
        &["run"],
        args,
        &["--", "sh", "-c", "echo \"pid $$;\"; exec sleep 1000"],
    ]
    .concat();
    let mut child = command(daemon, &all)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut output = Vec::new();
    let mut byte = [0];
    while !output.ends_with(b";") {
        child
            .stdout
            .as_mut()
            .unwrap()
            .read_exact(&mut byte)
            .unwrap();
        output.push(byte[0]);
    }
    let text = String::from_utf8(output).unwrap();
    let pid = text
        .trim_start_matches("pid ")
        .trim_end_matches(';')
        .parse()
        .unwrap();
    (child, Process::expect(pid))
}

#[test]
fn signals_to_termctl_end_the_command() {
    let daemon = TestDaemon::start();
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)] {
        let (mut child, command) = running(&daemon, &[]);
        Process::expect(child.id().into()).signal(signal);
        command.wait_for_end();
        assert_eq!(child.wait().unwrap().code(), Some(code), "{signal:?}");
    }
}

/// A killed termctl takes its terminal with it, unless the terminal is kept.
#[test]
fn a_killed_termctl_ends_its_command_unless_kept() {
    let daemon = TestDaemon::start();
    let (mut child, command) = running(&daemon, &[]);
    child.kill().unwrap();
    child.wait().unwrap();
    command.wait_for_end();
    wait_until("the terminal is closed", || {
        only_terminal(&daemon)["state"] == "closed"
    });
    let (mut child, command) = running(&daemon, &["--keep"]);
    child.kill().unwrap();
    child.wait().unwrap();
    daemon.client().ok("daemon.info", &serde_json::Value::Null);
    assert!(command.is_alive());
}

#[test]
fn closed_standard_output_ends_the_command() {
    let daemon = TestDaemon::start();
    let mut child = command(&daemon, &["run", "--", "yes"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut some = [0; 10];
    child.stdout.take().unwrap().read_exact(&mut some).unwrap();
    assert_eq!(&some, b"y\ny\ny\ny\ny\n");
    let process = Process::expect(child.id().into());
    process.wait_for_end();
    assert_eq!(child.wait().unwrap().code(), Some(141));
    wait_until("the command has ended", || {
        only_terminal(&daemon)["state"] == "closed"
    });
}

/// Ctrl-C at the person's tty is Ctrl-C at the command's tty.
#[test]
fn control_c_at_the_tty_reaches_the_command() {
    let daemon = TestDaemon::start();
    let mut pty = Pty::open(100, 30);
    let before = pty.modes();
    let script = "trap 'echo caught; exit 33' INT; echo ready; while :; do sleep 0.02; done";
    let mut child = pty.spawn(&command(&daemon, &["run", "--", "sh", "-c", script]));
    pty.read_until("ready");
    pty.write([3]);
    pty.read_until("caught");
    assert_eq!(pty.wait(&mut child).code(), Some(33));
    assert_eq!(pty.modes(), before);
}

#[test]
fn at_a_tty_the_command_has_its_size() {
    let daemon = TestDaemon::start();
    let mut pty = Pty::open(101, 31);
    let mut child = pty.spawn(&command(&daemon, &["run", "--", "stty", "size"]));
    pty.read_until("31 101");
    assert_eq!(pty.wait(&mut child).code(), Some(0));
}

/// Runs `termctl run` with this standard input.
fn filtered(daemon: &TestDaemon, args: &[&str], input: &[u8]) -> std::process::Output {
    let mut child = command(daemon, &[&["run"], args].concat())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let writing = std::thread::spawn(move || {
        // A command need not read all of it.
        let _ = stdin.write_all(&input);
    });
    let output = child.wait_with_output().unwrap();
    writing.join().unwrap();
    output
}

#[test]
fn in_a_pipeline_it_is_a_filter() {
    let daemon = TestDaemon::start();
    let counted = filtered(&daemon, &["--", "wc", "-l"], b"a\nb\n");
    assert_eq!(counted.stdout, b"2\n");
    // Longer than a tty's line, and nothing that a tty would take for a key.
    let mut bytes: Vec<u8> = (0..=255).cycle().take(300_000).collect();
    bytes.extend(vec![b'x'; 10_000]);
    for args in [
        &["--", "cat"][..],
        &["-T", "--", "cat"],
        &["-i", "--", "cat"],
    ] {
        let copied = filtered(&daemon, args, &bytes);
        assert!(
            copied.stdout == bytes,
            "{args:?}: {} bytes",
            copied.stdout.len()
        );
        assert_eq!((copied.status.code(), copied.stderr.len()), (Some(0), 0));
    }
    let script = "head -c 5; echo err >&2; exit 9";
    let output = filtered(&daemon, &["--", "sh", "-c", script], &bytes);
    assert_eq!(output.stdout, [0, 1, 2, 3, 4]);
    assert_eq!(
        (output.status.code(), &*output.stderr),
        (Some(9), &b"err\n"[..])
    );
}

#[test]
fn a_terminal_in_a_pipeline_gets_standard_input_by_request() {
    let daemon = TestDaemon::start();
    let script = "test -t 0 -a -t 1 && echo tty; cat";
    let output = filtered(&daemon, &["-t", "-i", "--", "sh", "-c", script], b"x\n");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    // The echo of the line comes before the first output or behind it.
    assert!(["tty\nx\nx\n", "x\ntty\nx\n"].contains(&&*said), "{said:?}");
    let output = filtered(&daemon, &["-t", "--", "tty"], b"x\n");
    assert!(output.stdout.starts_with(b"/dev/pts/"), "{output:?}");
}

/// Standard input that never ends holds up no command that does not read it.
#[test]
fn endless_standard_input_does_not_hold_the_end_up() {
    let daemon = TestDaemon::start();
    let mut child = command(&daemon, &["run", "--", "true"])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let _open = child.stdin.take();
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_shell_in_a_pipeline_is_judged_by_lines() {
    let daemon = TestDaemon::start();
    let lines = b"echo one\nrm -rf /nonexistent/a\necho two\n";
    for args in [&["-T"][..], &["-i", "-t"], &["--json", "-i", "-T"]] {
        let output = filtered(&daemon, &[args, &["--", "sh"]].concat(), lines);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains("needs a confirmation"), "{said}");
        assert_eq!(output.status.code(), Some(126), "{said}");
        let shown = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(shown.contains("one") && !shown.contains("two\n"), "{shown}");
        if args.contains(&"--json") {
            let report: serde_json::Value = serde_json::from_str(&shown).unwrap();
            assert_eq!(report["stdout"], "one\n", "{report}");
            let refused = report["input_refused"].as_str().unwrap();
            assert!(refused.contains("needs a confirmation"), "{report}");
        }
    }
    // What only the end of the input makes a line.
    for args in [&["-T"][..], &["-i", "-t"]] {
        let output = filtered(&daemon, &[args, &["--", "sh"]].concat(), b"rm -rf ./a");
        assert_eq!(output.status.code(), Some(126), "{args:?} {output:?}");
    }
    let output = filtered(&daemon, &["--confirmed", "--", "sh"], b"echo one\necho two");
    assert_eq!(output.stdout, b"one\ntwo\n");
}

#[test]
fn what_cannot_be_run_has_the_codes_of_env_and_docker() {
    let daemon = TestDaemon::start();
    ok(&daemon, &["create", "--label", "taken", "--", "cat"]);
    for (args, code) in [
        (&["--", "no-such-command"][..], 127),
        (&["--", "/no/such/command"], 127),
        (&["--", "/etc/passwd"], 126),
        (&["--", "/"], 126),
        (&["--", "rm", "-rf", "build"], 126),
        (&["--cwd", "/no/such/directory", "--", "true"], 125),
        (&["--label", "taken", "--", "true"], 125),
        (&["--label", "/", "--", "true"], 125),
    ] {
        let output = termctl(&daemon, &[&["run"], args].concat());
        assert_eq!(output.code, Some(code), "{args:?}: {output:?}");
        output.assert_one_line();
    }
    for args in [
        &["run"][..],
        &["run", "--no-such-option", "true"],
        &["run", "--timeout", "soon", "--", "true"],
        &["wait"],
    ] {
        assert_eq!(termctl(&daemon, args).code, Some(125), "{args:?}");
    }
    let output = termctl(&daemon, &["wait", "no-such-terminal"]);
    assert_eq!(output.code, Some(125), "{output:?}");
    output.assert_one_line();
    let unreached = termctl(&Home::create(), &["--no-start", "run", "--", "true"]);
    assert_eq!(unreached.code, Some(125), "{unreached:?}");
    assert_eq!(termctl(&daemon, &["run", "--help"]).code, Some(0));
}

#[test]
fn at_a_tty_a_shell_is_used_as_if_it_ran_there() {
    let daemon = TestDaemon::start();
    let mut pty = Pty::open(90, 20);
    let before = pty.modes();
    let shell = ["run", "--", "sh"];
    let mut child = pty.spawn(command(&daemon, &shell).env("PS1", "ready> "));
    pty.read_until("ready> ");
    assert_ne!(pty.modes(), before, "keys come one by one");
    pty.write(b"tty; test -t 2 && echo 'is a 'tty\r");
    pty.read_until("is a tty");
    pty.resize(70, 15);
    wait_until("the terminal has its size", || {
        only_terminal(&daemon)["cols"] == 70
    });
    pty.write(b"stty size\r");
    pty.read_until("15 70");
    pty.write(b"stty -echo; read word; stty echo; echo \"got $word.\"\r");
    pty.write(b"hidden\r");
    pty.read_until("got hidden.");
    pty.write(b"exit 9\r");
    assert_eq!(pty.wait(&mut child).code(), Some(9));
    assert_eq!(pty.modes(), before);
}

#[test]
fn the_detach_key_leaves_the_command_running() {
    let daemon = TestDaemon::start();
    let mut pty = Pty::open(90, 20);
    let before = pty.modes();
    let script = "echo ready; read line; exec sleep 1000";
    let mut child = pty.spawn(&command(&daemon, &["run", "--", "sh", "-c", script]));
    pty.read_until("ready");
    pty.write([0x1d]);
    pty.read_until("comes back]");
    assert_eq!(pty.wait(&mut child).code(), Some(0));
    assert_eq!(pty.modes(), before);
    assert_eq!(only_terminal(&daemon)["state"], "running");
    // And there it is again.
    let mut child = pty.spawn(&command(&daemon, &["attach"]));
    pty.read_until("detaches");
    pty.write("\x1dd");
    assert_eq!(pty.wait(&mut child).code(), Some(0));
}

/// The daemon is killed, and another client starts the next one.
#[test]
fn a_command_that_its_daemon_took_with_it_has_no_exit_code_of_its_own() {
    let mut daemon = TestDaemon::start();
    let mut pty = Pty::open(90, 20);
    let script = "echo ready; read line; exit 5";
    let mut child = pty.spawn(&command(&daemon, &["run", "--", "sh", "-c", script]));
    pty.read_until("ready");
    let server = daemon.server();
    daemon.signal(Signal::KILL);
    daemon.wait_exit();
    server.wait_for_end();
    pty.write("typed\r");
    let _next = TestDaemon::start_in(daemon.stop());
    let end = pty.read_until("lost: the daemon that ran it was killed");
    let in_doubt = "some of what was typed may not have arrived";
    assert!(end.contains(in_doubt), "{end:?}");
    assert_eq!(pty.wait(&mut child).code(), Some(125));
}

/// Whoever interrupts a command again, or suspends it, and has it before them still.
#[test]
fn the_key_that_leaves_is_named_to_who_looks_for_it() {
    let daemon = TestDaemon::start();
    for keys in [&[3, 3][..], &[0x1a]] {
        let mut pty = Pty::open(90, 20);
        let script = "trap '' INT; echo ready; read line; exit 5";
        let mut child = pty.spawn(&command(&daemon, &["run", "--", "sh", "-c", script]));
        let before = pty.read_until("ready");
        assert!(!before.contains("ctrl-]"), "not at entry: {before:?}");
        for key in keys {
            pty.write([*key]);
        }
        pty.read_until("[ctrl-] leaves it running]");
        pty.write("\r");
        assert_eq!(pty.wait(&mut child).code(), Some(5), "{keys:?}");
    }
}

#[test]
fn new_creates_and_attaches() {
    let daemon = TestDaemon::start();
    let refused = termctl(&daemon, &["new"]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    refused.assert_one_line();
    assert_eq!(ok(&daemon, &["list", "-q"]), "", "nothing was opened");
    let mut pty = Pty::open(90, 20);
    let new = ["new", "--label", "mine", "--", "sh", "-c", "read x; exit 4"];
    let mut child = pty.spawn(&command(&daemon, &new));
    pty.read_until("then d detaches: term_");
    pty.read_until("(mine)");
    pty.write(b"\r");
    assert_eq!(pty.wait(&mut child).code(), Some(4));
}

#[test]
fn attach_with_a_dash_takes_what_a_person_used_last() {
    let daemon = TestDaemon::start();
    let mut pty = Pty::open(90, 20);
    let mut child = pty.spawn(&command(&daemon, &["attach"]));
    pty.read_until("`termctl new` opens one");
    assert_eq!(pty.wait(&mut child).code(), Some(3));
    for label in ["one", "two"] {
        ok(&daemon, &["create", "--label", label, "--", "cat"]);
    }
    ok(&daemon, &["send", "one", "used", "-e"]);
    let mut child = pty.spawn(&command(&daemon, &["attach", "-"]));
    pty.read_until("(one)");
    // It is seen there already, and its output is no use of the other.
    let mut other = Pty::open(90, 20);
    let mut beside = other.spawn(&command(&daemon, &["attach", "-"]));
    other.read_until("(two)");
    ok(&daemon, &["send", "one", "printed", "-e"]);
    for (pty, child) in [(&mut pty, &mut child), (&mut other, &mut beside)] {
        pty.write("\x1dd");
        assert_eq!(pty.wait(child).code(), Some(0));
    }
    let mut child = pty.spawn(&command(&daemon, &["attach", "-"]));
    pty.read_until("(two)");
    pty.write("\x1dd");
    assert_eq!(pty.wait(&mut child).code(), Some(0));
}

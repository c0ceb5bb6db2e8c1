//! `termctl exec`: a line in a terminal's shell, its output and its exit code.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use termd_test_support::{TestDaemon, assert_members, is_installed};

use crate::termctl::{TermctlOutput, command, ok, ready_terminal, spawn, termctl};

/// A daemon with a bash at its prompt, called `sh`.
fn with_shell() -> TestDaemon {
    let daemon = TestDaemon::start();
    ok(&daemon, &["create", "--label", "sh", "--", "bash"]);
    daemon
}

fn exec(daemon: &TestDaemon, line: &str) -> TermctlOutput {
    termctl(daemon, &["exec", "sh", "--", line])
}

#[test]
fn output_and_exit_code_are_the_lines_own() {
    let daemon = with_shell();
    for (line, out, code) in [
        ("echo hi; false", "hi\n", 1),
        ("printf abc", "abc", 0),
        ("(exit 7)", "", 7),
        (" echo hidden", "hidden\n", 0),
        ("printf 'x\\n\\ny\\n'", "x\n\ny\n", 0),
        ("seq 30000 | tail -n 2", "29999\n30000\n", 0),
        ("printf '\\033[31mred\\033[0m\\n'", "red\n", 0),
        ("exec sh -c 'exit 9'", "", 9),
    ] {
        // The last one ends the shell.
        let output = exec(&daemon, line);
        assert_eq!(
            (output.out.as_str(), output.code, output.err.as_str()),
            (out, Some(code), ""),
            "{line}"
        );
    }
}

#[test]
fn a_line_that_is_printed_in_pieces_or_again_comes_once_and_whole() {
    let daemon = with_shell();
    for (line, out) in [
        (
            "echo one; for x in a b c; do printf $x; sleep 0.2; done; echo",
            "one\nabc\n",
        ),
        (
            "for i in 0 5 100; do printf \"\\r%s%%\" $i; sleep 0.2; done; echo",
            "100%\n",
        ),
        ("printf loading; sleep 0.2; printf '\\r\\033[Kdone'", "done"),
    ] {
        let output = exec(&daemon, line);
        assert_eq!((output.out.as_str(), output.code), (out, Some(0)), "{line}");
    }
}

#[test]
fn words_are_joined_and_the_shell_stays_as_it_was_left() {
    let daemon = with_shell();
    assert_eq!(ok(&daemon, &["exec", "sh", "--", "x=5;", "cd", "/"]), "");
    let said = ok(&daemon, &["exec", "sh", "echo", "$x", "$PWD"]);
    assert_eq!(said, "5 /");
}

#[test]
fn a_trace_shows_the_lines_own_commands() {
    let daemon = with_shell();
    exec(&daemon, "PS4='+ '; set -x");
    assert_eq!(exec(&daemon, "echo hi").out, "+ echo hi\nhi\n");
    exec(&daemon, "trap : DEBUG; set +x");
    assert_eq!(exec(&daemon, "echo hi").out, "hi\n");
}

#[test]
fn a_flood_is_whole() {
    let daemon = with_shell();
    let output = exec(&daemon, "seq 200000");
    let lines: Vec<&str> = output.out.lines().collect();
    assert_eq!(lines.len(), 200_000);
    assert_eq!(lines.last(), Some(&"200000"));
    assert_eq!(output.code, Some(0));
}

#[test]
fn output_comes_while_the_line_runs() {
    let daemon = with_shell();
    let mut child = command(&daemon, &["exec", "sh", "echo now; read x; echo got $x"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "now");
    ok(&daemon, &["send", "sh", "it", "-e"]);
    let rest: Vec<String> = lines.map(Result::unwrap).collect();
    assert_eq!(rest.last().unwrap(), "got it");
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_timeout_interrupts_the_line() {
    let daemon = with_shell();
    let output = termctl(
        &daemon,
        &[
            "exec",
            "sh",
            "--timeout",
            "300ms",
            "--",
            "echo a; sleep 1000",
        ],
    );
    assert_eq!(output.code, Some(124), "{output:?}");
    assert!(output.out.starts_with("a\n"), "{output:?}");
    assert_eq!(exec(&daemon, "echo free").out, "free\n");
}

#[test]
fn ctrl_c_interrupts_the_line() {
    let daemon = with_shell();
    let mut child = command(&daemon, &["exec", "sh", "echo now; sleep 1000"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "now");
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    kill_process(pid, Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(exec(&daemon, "echo free").out, "free\n");
}

#[test]
fn what_cannot_be_done_is_said_in_a_line_and_is_125() {
    let daemon = with_shell();
    ready_terminal(&daemon, "echo ready; exec sleep 1000");
    ok(
        &daemon,
        &["create", "--label", "plain", "--", "bash", "--norc"],
    );
    ok(
        &daemon,
        &[
            "create", "--label", "pipes", "--pipes", "--", "sleep", "1000",
        ],
    );
    ok(&daemon, &["create", "--label", "gone", "--", "true"]);
    ok(&daemon, &["wait", "gone"]);
    ok(&daemon, &["create", "--label", "busy", "--", "bash"]);
    ok(&daemon, &["exec", "busy", "true"]);
    ok(&daemon, &["send", "busy", "echo begun; sleep 1000", "-e"]);
    daemon.client().ok(
        "session.wait_for",
        &json!({ "id": "busy", "since": 0, "until": { "pattern": "^begun" } }),
    );
    ok(&daemon, &["create", "--label", "secret", "--", "bash"]);
    ok(&daemon, &["exec", "secret", "true"]);
    ok(&daemon, &["send", "secret", "read -rs -p PW: x", "-e"]);
    daemon.client().ok(
        "session.wait_for",
        &json!({ "id": "secret", "since": 0, "until": { "pattern": "^PW:" } }),
    );
    ok(&daemon, &["create", "--label", "half", "--", "bash"]);
    ok(&daemon, &["exec", "half", "true"]);
    ok(&daemon, &["send", "half", "echo 'abc", "-e"]);
    for (terminal, line, why) in [
        ("plain", "true", "no marks"),
        ("pipes", "true", "pipes"),
        ("gone", "true", "has exited"),
        ("busy", "true", "sleep 1000"),
        ("secret", "true", "secret"),
        ("nobody", "true", "nobody"),
        ("sh", "a\nb", "one line"),
        ("sh", " ", "nothing to run"),
        ("sh", "\u{3}echo x", "control character \\u{3}"),
        ("sh", "echo x\u{7f}", "control character \\u{7f}"),
        ("sh", "if ;", "ran nothing"),
        ("sh", "echo 'unclosed", "not complete"),
        ("sh", "cat <<X", "not complete"),
        ("half", "echo INJECTED", "rest of a line"),
    ] {
        let output = termctl(&daemon, &["exec", terminal, "--", line]);
        assert_eq!(
            (output.code, output.out.as_str()),
            (Some(125), ""),
            "{output:?}"
        );
        output.assert_one_line();
        assert!(output.err.contains(why), "{why}: {output:?}");
    }
}

/// The codes of two lines that were given to one shell at the same time.
fn at_once(daemon: &TestDaemon, lines: [&str; 2]) -> [TermctlOutput; 2] {
    lines
        .map(|line| spawn(daemon, &["exec", "sh", "--", line]))
        .map(TermctlOutput::wait)
}

#[test]
fn of_two_at_once_none_gets_the_others_output_or_code() {
    let daemon = with_shell();
    let mut ran = 0;
    for _ in 0..10 {
        let outputs = at_once(&daemon, ["echo A; (exit 3)", "echo B; (exit 4)"]);
        for (output, own) in outputs.iter().zip([("A\n", 3), ("B\n", 4)]) {
            let (out, code) = (output.out.as_str(), output.code);
            assert!(
                (out, code) == (own.0, Some(own.1)) || (out, code) == ("", Some(125)),
                "{outputs:?}"
            );
            ran += u32::from(code == Some(own.1));
        }
        // Nothing comes of a comment, and the other line's command is not its own.
        let [comment, output] = at_once(&daemon, ["# nothing", "echo B; (exit 4)"]);
        assert_eq!(
            (comment.out.as_str(), comment.code),
            ("", Some(125)),
            "{comment:?}"
        );
        assert!(matches!(output.code, Some(4 | 125)), "{output:?}");
    }
    assert!(ran >= 10, "one of the two runs: {ran}");
    let outputs = at_once(&daemon, ["sleep 2; echo A", "sleep 2; echo B"]);
    let mut codes = outputs.each_ref().map(|output| output.code);
    codes.sort_unstable();
    assert_eq!(codes, [Some(0), Some(125)], "{outputs:?}");
}

#[test]
fn a_line_that_is_not_whole_is_taken_back_in_each_shell() {
    let daemon = TestDaemon::start();
    for shell in ["bash", "zsh", "fish", "dash"] {
        if !is_installed(
            shell,
            "a_line_that_is_not_whole_is_taken_back_in_each_shell",
        ) {
            continue;
        }
        ok(&daemon, &["create", "--label", shell, "--", shell]);
        let output = termctl(&daemon, &["exec", shell, "--", "echo 'unclosed"]);
        // dash's second prompt, which comes behind its mark of a beginning, is no output.
        assert_eq!(
            (output.out.as_str(), output.code),
            ("", Some(125)),
            "{output:?}"
        );
        assert!(output.err.contains("not complete"), "{output:?}");
        assert_eq!(ok(&daemon, &["exec", shell, "echo", "free"]), "free");
        // Another program in the shell's place prints no marks.
        let output = termctl(&daemon, &["exec", shell, "--", "exec env ENV= dash"]);
        assert_eq!(output.code, Some(125), "{output:?}");
        assert!(output.err.contains("dash"), "{output:?}");
    }
}

#[test]
fn what_stands_at_the_prompt_is_no_part_of_the_line() {
    let daemon = with_shell();
    assert_eq!(exec(&daemon, "echo earlier").out, "earlier\n");
    for typed in [&["half"][..], &["-k", "up"], &["--ctrl", "r", "earl"]] {
        ok(&daemon, &[&["send", "sh"], typed].concat());
        let output = exec(&daemon, "echo INJECTED");
        assert_eq!(
            (output.out.as_str(), output.code),
            ("", Some(125)),
            "{typed:?} {output:?}"
        );
        assert!(output.err.contains("empty prompt"), "{output:?}");
        ok(&daemon, &["send", "sh", "--ctrl", "c"]);
        assert_eq!(exec(&daemon, "echo free").out, "free\n", "{typed:?}");
    }
    // A key for a program that has read it stands nowhere.
    let mut child = spawn(&daemon, &["exec", "sh", "--", "echo asks; read -rn1 key"]);
    let mut out = BufReader::new(child.stdout.take().unwrap());
    out.read_line(&mut String::new()).unwrap();
    ok(&daemon, &["send", "sh", "y"]);
    assert!(child.wait().unwrap().success());
    assert_eq!(exec(&daemon, "echo free").out, "free\n");
}

#[test]
fn what_nobody_read_is_no_part_of_the_line() {
    let daemon = with_shell();
    for shell in ["bash", "zsh", "dash"] {
        if !is_installed(shell, "what_nobody_read_is_no_part_of_the_line") {
            continue;
        }
        ok(&daemon, &["create", "--label", shell, "--", shell]);
        // What the terminal answers comes to the shell.
        for pause in ["", "; sleep 0.1"] {
            let asks = format!("printf '\\033[c\\033[6n'{pause}");
            for line in [&asks, "echo y", &asks, "echo y", &asks, "echo y"] {
                let output = termctl(&daemon, &["exec", shell, "--", line]);
                let is_right = line == asks || output.out == "y\n";
                assert!(
                    is_right && output.code == Some(0),
                    "{shell}{pause}: {output:?}"
                );
            }
        }
    }
    // What a person typed ahead stays, and is nobody else's line.
    let mut child = spawn(&daemon, &["exec", "sh", "--", "echo begun; sleep 0.5"]);
    let mut out = BufReader::new(child.stdout.take().unwrap());
    out.read_line(&mut String::new()).unwrap();
    ok(&daemon, &["send", "sh", "ahead"]);
    assert!(child.wait().unwrap().success());
    let output = exec(&daemon, "echo INJECTED");
    assert_eq!((output.out.as_str(), output.code), ("", Some(125)));
    assert!(output.err.contains("empty prompt"), "{output:?}");
}

#[test]
fn a_shell_that_has_lost_its_marks_is_no_endless_wait() {
    let daemon = TestDaemon::start();
    for (shell, line, code) in [
        ("bash", "echo out; PROMPT_COMMAND=", 125),
        // zsh has copied the list of its hooks.
        ("zsh", "echo out; precmd_functions=()", 0),
        ("dash", "echo out; PS1='n> '", 125),
    ] {
        if !is_installed(shell, "a_shell_that_has_lost_its_marks_is_no_endless_wait") {
            continue;
        }
        ok(&daemon, &["create", "--label", shell, "--", shell]);
        for (line, code) in [(line, code), ("echo next", 125)] {
            let output = termctl(&daemon, &["exec", shell, "--", line]);
            assert_eq!(output.code, Some(code), "{shell}: {line}: {output:?}");
            let is_told = output.err.contains("prompt");
            assert_eq!(is_told, code == 125, "{output:?}");
        }
    }
}

#[test]
fn a_line_that_is_too_long_for_dash_leaves_its_prompt_free() {
    let daemon = TestDaemon::start();
    if !is_installed(
        "dash",
        "a_line_that_is_too_long_for_dash_leaves_its_prompt_free",
    ) {
        return;
    }
    ok(&daemon, &["create", "--label", "sh", "--", "dash"]);
    let output = exec(&daemon, &format!(": {}", "x".repeat(6000)));
    assert_eq!(output.code, Some(125), "{output:?}");
    assert!(!output.err.contains("--force"), "{output:?}");
    assert_eq!(exec(&daemon, "echo free").out, "free\n");
}

#[test]
fn a_terminal_that_is_closed_meanwhile_is_said_to_be() {
    let daemon = with_shell();
    let mut child = command(&daemon, &["exec", "sh", "echo now; sleep 1000"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    out.read_line(&mut String::new()).unwrap();
    ok(&daemon, &["close", "sh"]);
    let output = TermctlOutput::wait(child);
    assert_eq!(output.code, Some(125), "{output:?}");
    assert!(output.err.contains("closed by "), "{output:?}");
}

#[test]
fn no_time_for_the_line_is_a_timeout() {
    let daemon = with_shell();
    ok(&daemon, &["send", "sh", "sleep 1000", "-e"]);
    let output = termctl(&daemon, &["exec", "sh", "--timeout", "1ms", "--", "echo x"]);
    assert_eq!(
        (output.out.as_str(), output.code),
        ("", Some(124)),
        "{output:?}"
    );
    assert!(output.err.contains("nothing was typed"), "{output:?}");
}

#[test]
fn what_the_gate_stops_is_126_and_confirmed_runs_it() {
    let daemon = with_shell();
    let output = exec(&daemon, "rm -rf ./nothing");
    assert_eq!(output.code, Some(126), "{output:?}");
    let args = ["exec", "--confirmed", "sh", "--", "rm -rf ./nothing"];
    assert_eq!(termctl(&daemon, &args).code, Some(0));
}

#[test]
fn json_has_it_in_one_object() {
    let daemon = with_shell();
    let output = termctl(&daemon, &["exec", "--json", "sh", "--", "echo hi; false"]);
    assert_eq!(output.code, Some(1), "{output:?}");
    let expected = json!({ "number": 1, "exit_code": 1, "timed_out": false, "output": "hi\n" });
    assert_members(&output.json(), &expected);
    let output = termctl(&daemon, &["exec", "--json", "nobody", "--", "x"]);
    assert_eq!(output.code, Some(125));
    assert!(output.err.contains("\"terminal_not_found\""), "{output:?}");
}

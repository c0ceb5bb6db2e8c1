//! `termctl send`: keys by name, secrets, and refusals.

use std::io::Write;
use std::process::Stdio;

use termd_test_support::{Pty, TestDaemon, wait_until};

use crate::termctl::{TermctlOutput, command, ok, ready_terminal, termctl};

/// Runs `termctl` with this standard input.
#[track_caller]
fn with_stdin(daemon: &TestDaemon, args: &[&str], input: &str) -> TermctlOutput {
    let mut child = command(daemon, args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A refused termctl may end without reading.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    TermctlOutput::wait(child)
}

#[test]
fn keys_are_sent_by_name() {
    let daemon = TestDaemon::start();
    let id = ready_terminal(&daemon, "echo ready; sleep 1000");
    ok(&daemon, &["send", &id, "--key", "ctrl-c"]);
    assert_eq!(termctl(&daemon, &["wait", &id]).code, Some(130));

    let id = ready_terminal(
        &daemon,
        "stty raw -echo; printf '\\033[?1hready'; head -c 11 | od -An -c",
    );
    let all = [
        "send",
        &id,
        "text",
        "--ctrl",
        "a",
        "-k",
        "up",
        "--key",
        "alt-x",
        "--enter",
        // A shell may take these for a line of its history, changed.
        "--confirmed",
    ];
    ok(&daemon, &all);
    assert_eq!(termctl(&daemon, &["wait", &id]).code, Some(0));
    let shown = ok(&daemon, &["read", &id]);
    assert!(
        shown.contains("t   e   x   t 001 033   O   A 033   x"),
        "{shown}"
    );

    let output = termctl(&daemon, &["send", &id, "--key", "nokey"]);
    assert_eq!(output.code, Some(2), "{output:?}");
    output.assert_one_line();
    assert!(output.err.contains("page-up, page-down"), "{output:?}");
}

#[test]
fn a_secret_comes_from_standard_input_and_goes_only_where_it_is_awaited() {
    let daemon = TestDaemon::start();
    let id = ready_terminal(
        &daemon,
        "stty -echo; echo ready; read p; stty echo; echo len ${#p}; read q; echo got $q",
    );
    let args = ["send", &id, "--secret", "--enter"];
    let output = with_stdin(&daemon, &args, "hunter2é\n");
    assert_eq!(
        (output.code, output.err.as_str()),
        (Some(0), ""),
        "{output:?}"
    );
    wait_until("it was taken", || {
        ok(&daemon, &["read", &id]).contains("len")
    });

    let output = with_stdin(&daemon, &args, "hunter2é\n");
    assert_eq!(output.code, Some(1), "{output:?}");
    output.assert_one_line();
    assert!(output.err.contains("does not wait for a secret") && !output.err.contains("hunter2"));
    let output = with_stdin(&daemon, &[&args[..], &["--force"]].concat(), "open\n");
    assert_eq!(output.code, Some(0), "{output:?}");
    assert_eq!(termctl(&daemon, &["wait", &id]).code, Some(0));
    let shown = ok(&daemon, &["read", &id]);
    assert!(
        shown.ends_with("got open") && !shown.contains("hunter2"),
        "{shown}"
    );

    let output = termctl(&daemon, &["send", &id, "--secret", "text"]);
    assert_eq!(output.code, Some(2), "{output:?}");
}

#[test]
fn a_line_that_would_be_cut_is_refused() {
    let daemon = TestDaemon::start();
    let id = ready_terminal(&daemon, "echo ready; cat > /dev/null");
    let long = "x".repeat(4_096);
    let output = termctl(&daemon, &["send", &id, &long]);
    assert_eq!(output.code, Some(1), "{output:?}");
    output.assert_one_line();
    assert!(output.err.contains("4095 bytes"), "{output:?}");
    ok(&daemon, &["send", &id, "--force", &long]);
}

#[test]
fn a_secret_typed_at_a_tty_is_not_shown_and_the_tty_is_as_it_was() {
    let daemon = TestDaemon::start();
    let id = ready_terminal(
        &daemon,
        "stty -echo; echo ready; read p; stty echo; echo len ${#p}",
    );
    let mut pty = Pty::open(80, 24);
    let before = pty.modes();
    let mut child = pty.spawn(&command(&daemon, &["send", &id, "--secret", "--enter"]));
    let mut shown = pty.read_until("Secret: ");
    wait_until("the tty shows nothing", || pty.modes() != before);
    pty.write("hunter2x\x7f\r");
    assert_eq!(pty.wait(&mut child).code(), Some(0));
    shown += &pty.read_now();
    assert_eq!(pty.modes(), before);
    assert!(!shown.contains("hunter"), "{shown:?}");
    assert_eq!(termctl(&daemon, &["wait", &id]).code, Some(0));
    assert!(ok(&daemon, &["read", &id]).ends_with("len 7"));
}

#[test]
fn text_and_keys_are_typed_in_the_order_in_which_they_stand() {
    let daemon = TestDaemon::start();
    let script = "stty raw -echo; echo ready; head -c 9 | od -An -c";
    let id = ready_terminal(&daemon, script);
    let all = [
        "send",
        &id,
        "-k",
        "escape",
        ":wq",
        "-e",
        "-k",
        "up",
        "z",
        "--confirmed",
    ];
    ok(&daemon, &all);
    assert_eq!(termctl(&daemon, &["wait", &id]).code, Some(0));
    let shown = ok(&daemon, &["read", &id]);
    assert!(
        shown.contains("033   :   w   q  \\r 033   [   A   z"),
        "{shown}"
    );

    // An option that stands before the text is no order.
    let id = ready_terminal(&daemon, "echo ready; read line; echo got $line");
    ok(&daemon, &["send", &id, "--enter", "a line"]);
    assert_eq!(termctl(&daemon, &["wait", &id]).code, Some(0));
    assert!(ok(&daemon, &["read", &id]).contains("got a line"));
}

#[test]
fn what_looks_like_a_key_is_refused_without_a_tty() {
    let daemon = TestDaemon::start();
    let id = ready_terminal(&daemon, "echo ready; read line; echo got $line; sleep 1000");
    for (words, key) in [
        (&["C-c"][..], "-k C-c"),
        (&["make", "Enter"], "-k enter"),
        (&["-k", "up", "M-x"], "-k M-x"),
        (&["up"], "-k up"),
        (&["Ctrl+C", "-e"], "-k Ctrl+C"),
        (&["ls", "KPEnter"], "-k kp-enter"),
        (&["<C-c>"], "-k C-c"),
    ] {
        let output = termctl(&daemon, &[&["send", &id], words].concat());
        assert_eq!(output.code, Some(2), "{output:?}");
        output.assert_one_line();
        assert!(
            output.err.contains(key) && output.err.contains("--literal"),
            "{output:?}"
        );
    }
    ok(&daemon, &["send", &id, "press Enter now,", "up", "end"]);
    ok(&daemon, &["send", &id, "-l", " C-c", "-e"]);
    wait_until("it was typed", || {
        ok(&daemon, &["read", &id]).contains("got press Enter now, up end C-c")
    });
}

#[test]
fn a_person_says_whether_a_key_or_its_letters_are_meant() {
    let daemon = TestDaemon::start();
    let mut pty = Pty::open(80, 24);
    for (reply, code) in [("k", Some(0)), ("l", Some(0)), ("", Some(2))] {
        let id = ready_terminal(&daemon, "stty raw -echo; echo ready; head -c 1 | od -An -c");
        let mut child = pty.spawn(&command(&daemon, &["send", &id, "C-c", "--confirmed"]));
        pty.read_until("type the letters C-c, or press the key? [l/k] ");
        pty.write(format!("{reply}\r"));
        assert_eq!(pty.wait(&mut child).code(), code, "{reply:?}");
        let want = match reply {
            "k" => "003",
            "l" => "C",
            _ => continue,
        };
        assert_eq!(termctl(&daemon, &["wait", &id]).code, Some(0));
        assert!(ok(&daemon, &["read", &id]).contains(want));
    }
}

#[test]
fn what_was_typed_before_a_refusal_is_said() {
    let daemon = TestDaemon::start();
    let id = ok(&daemon, &["create", "--", "bash"]);
    ok(&daemon, &["exec", &id, "true"]);
    let args = ["send", &id, "rm -rf", "-k", "space", "x", "-e"];
    let output = termctl(&daemon, &args);
    assert_eq!(output.code, Some(1), "{output:?}");
    output.assert_one_line();
    assert!(
        output.err.contains("still there: \"rm -rf\" space"),
        "{output:?}"
    );
    let output = termctl(&daemon, &["send", &id, "-e", "--json"]);
    assert!(!output.err.contains("typed"), "nothing was: {output:?}");
}

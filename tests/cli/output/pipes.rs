//! `--pipes`: standard output and standard error apart, in `run`, `create` and `read`.

use std::io::Read;

use termd_test_support::TestDaemon;

use crate::termctl::{command, ok, spawn, termctl};

#[test]
fn run_on_pipes_keeps_the_two_apart_and_passes_the_code_on() {
    let daemon = TestDaemon::start();
    let script = "printf 'out\\n\\377\\033[1m'; echo err >&2; cat; test -t 1 && echo tty; exit 42";
    let args = ["run", "--pipes", "--", "sh", "-c", script];
    let output = command(&daemon, &args).output().unwrap();
    assert_eq!(output.status.code(), Some(42));
    assert_eq!(output.stdout, b"out\n\xff\x1b[1m", "the exact bytes");
    assert_eq!(output.stderr, b"err\n");
    let json = termctl(&daemon, &["--json", "run", "--pipes", "echo a; echo b >&2"]).json();
    assert_eq!(
        (&json["stdout"], &json["stderr"]),
        (&"a\n".into(), &"b\n".into())
    );
    assert_eq!(json["output"].as_str().map(str::len), Some(4), "{json}");
}

#[test]
fn run_on_pipes_passes_both_on_while_the_command_runs() {
    let daemon = TestDaemon::start();
    let go = daemon.path("go");
    let script = format!(
        "mkfifo '{0}'; echo out; echo err >&2; read x <'{0}'; echo last >&2",
        go.display()
    );
    let mut child = spawn(&daemon, &["run", "--pipes", "--", "sh", "-c", &script]);
    let (mut out, mut err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let (mut first, mut second) = ([0; 4], [0; 4]);
    out.read_exact(&mut first).unwrap();
    err.read_exact(&mut second).unwrap();
    assert_eq!((&first, &second), (b"out\n", b"err\n"));
    std::fs::write(&go, "\n").unwrap();
    let mut rest = String::new();
    err.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "last\n");
    assert!(child.wait().unwrap().success());
}

#[test]
fn create_and_read_know_them_too() {
    let daemon = TestDaemon::start();
    let id = ok(
        &daemon,
        &[
            "create",
            "--pipes",
            "--",
            "sh",
            "-c",
            "echo out; echo err >&2",
        ],
    );
    ok(&daemon, &["wait", &id]);
    assert_eq!(ok(&daemon, &["read", "--stdout", &id]), "out");
    assert_eq!(ok(&daemon, &["read", "--stderr", &id]), "err");
    assert_eq!(
        ok(&daemon, &["read", "--raw", "-f", "--stderr", &id]),
        "err"
    );
    assert_eq!(ok(&daemon, &["read", &id]).len(), 7);
    let refused = termctl(&daemon, &["send", &id, "x"]);
    assert_eq!(refused.code, Some(1));
    let pty = ok(&daemon, &["create", "--", "true"]);
    let refused = termctl(&daemon, &["read", "--stderr", &pty]);
    refused.assert_one_line();
    assert!(
        refused.err.contains("only for commands on pipes"),
        "{refused:?}"
    );
}

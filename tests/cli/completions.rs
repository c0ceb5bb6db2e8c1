//! Completions in real shells, installed as docs/termctl.md says.

use std::fs;
use std::path::Path;
use std::process::Command;

use termd_test_support::{Home, Pty, TestDaemon, is_installed};

use crate::termctl::{command, ok, ready_terminal, termctl};

const TAB: &str = "\t";

/// Lines with a TAB at their end, and what is shown then.
const COMPLETED: [(&str, &str); 7] = [
    ("termctl attach we", "web-server"),
    ("termctl kill -s QU", "QUIT"),
    ("termctl setup --client claude-c", "claude-code"),
    ("termctl audit --action terminal.cr", "terminal.create"),
    ("termctl run -- printen", "printenv"),
    ("termctl delete gone-", "gone-away"),
    ("termctl send x -k page-u", "page-up"),
];

/// The same in bash, which gets its replies quoted.
const COMPLETED_IN_BASH: [(&str, &str); 9] = [
    ("termctl attach sp", "sp\\ ace "),
    ("termctl attach sp\\ a", "sp\\ ace "),
    ("termctl attach \"sp", "\"sp ace\" "),
    ("termctl attach quo", "quo\\\"te\\$x "),
    ("termctl attach \"quo", "\"quo\\\"te\\$x\" "),
    ("termctl attach 'quo", "'quo\"te$x' "),
    ("termctl audit --action=terminal.cr", "terminal.create "),
    ("termctl setup --client zed,claude-c", "zed,claude-code"),
    ("termctl create --cwd /pro", "/proc/"),
];

/// A shell that finds termctl on its `PATH`, if it is there.
fn shell(daemon: &TestDaemon, program: &str, args: &[&str], test: &str) -> Option<Command> {
    let termctl = Path::new(env!("CARGO_BIN_EXE_termctl"));
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{path}", termctl.parent().unwrap().display());
    let mut shell = daemon.command(program);
    shell
        .args(args)
        .env("PATH", path)
        .env("HOME", daemon.path("home"));
    is_installed(program, test).then_some(shell)
}

/// A shell a line: while it completes, what is typed is not its own to read.
fn completes_at_a_tty(shell: &Command, start: &str, lines: &[(&str, &str)]) {
    for (line, shown) in lines {
        let mut pty = Pty::open(120, 40);
        let mut child = pty.spawn(shell);
        pty.write(format!("{start}; echo load''ed\n"));
        pty.read_until("loaded\r\n");
        pty.write(format!("{line}{TAB}"));
        pty.read_until(shown);
        child.kill().unwrap();
        child.wait().unwrap();
    }
}

fn with_terminal() -> TestDaemon {
    let daemon = TestDaemon::start();
    let args = ["create", "--label", "web-server", "--", "sleep", "1000"];
    ok(&daemon, &args);
    for label in ["sp ace", "quo\"te$x", "gone-away"] {
        ok(
            &daemon,
            &["create", "--label", label, "--", "sleep", "1000"],
        );
    }
    ok(&daemon, &["close", "gone-away"]);
    fs::create_dir_all(daemon.path("home")).unwrap();
    daemon
}

#[test]
fn bash_completes() {
    let daemon = with_terminal();
    let args = ["--noprofile", "--norc", "-i"];
    if let Some(shell) = shell(&daemon, "bash", &args, "bash_completes") {
        let lines = [&COMPLETED[..], &COMPLETED_IN_BASH].concat();
        completes_at_a_tty(&shell, "source <(termctl completions bash)", &lines);
    }
}

#[test]
fn zsh_completes() {
    let daemon = with_terminal();
    let functions = daemon.path("home").join(".zfunc");
    fs::create_dir_all(&functions).unwrap();
    let script = termctl(&daemon, &["completions", "zsh"]).out;
    fs::write(functions.join("_termctl"), script).unwrap();
    if let Some(shell) = shell(&daemon, "zsh", &["-f", "-i"], "zsh_completes") {
        let start = "fpath+=~/.zfunc; autoload -Uz compinit; compinit -u";
        completes_at_a_tty(&shell, start, &COMPLETED);
    }
}

/// fish draws its line anew while it is typed, so its own builtin completes.
#[test]
fn fish_completes() {
    let daemon = with_terminal();
    let config = daemon.path("home").join(".config");
    fs::create_dir_all(config.join("fish/completions")).unwrap();
    let script = termctl(&daemon, &["completions", "fish"]).out;
    fs::write(config.join("fish/completions/termctl.fish"), script).unwrap();
    for (line, shown) in COMPLETED {
        let ask = format!("complete --do-complete '{line}'");
        let Some(mut fish) = shell(&daemon, "fish", &["-c", &ask], "fish_completes") else {
            return;
        };
        let output = fish.env("XDG_CONFIG_HOME", &config).output().unwrap();
        let found = String::from_utf8(output.stdout).unwrap();
        assert!(found.contains(shown), "{line}: {found}");
    }
}

#[test]
fn each_key_that_is_offered_is_one() {
    let daemon = TestDaemon::start();
    let id = ready_terminal(&daemon, "stty raw -echo; echo ready; sleep 1000");
    let mut tab = command(&daemon, &["--", "termctl", "send", "x", "-k", ""]);
    tab.env("TERMCTL_COMPLETE", "bash")
        .env("_CLAP_COMPLETE_INDEX", "4");
    let offered = String::from_utf8(tab.output().unwrap().stdout).unwrap();
    let keys = offered.lines().flat_map(|key| ["-k", key]);
    let send: Vec<&str> = ["send", &id, "--confirmed"]
        .into_iter()
        .chain(keys)
        .collect();
    assert!(send.len() > 50, "{offered}");
    ok(&daemon, &send);
}

#[test]
fn a_tab_starts_no_daemon() {
    let home = Home::create();
    let mut tab = command(&home, &["--", "termctl", "attach", ""]);
    tab.env("TERMCTL_COMPLETE", "bash")
        .env("_CLAP_COMPLETE_INDEX", "2");
    let output = tab.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(home.processes().is_empty(), "one was started");
}

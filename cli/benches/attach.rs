//! What `termctl attach` adds to a key: from the write of a byte to the PTY until the same byte is back from
//! the program. A bare PTY, `termctl attach` and `tmux attach` get each key in turn.
//!
//! `cargo build --release && cargo bench -p termctl --bench attach`. Ends with 1 if the median is more than
//! 1 ms beyond the bare PTY's.

use std::process::{Child, Command, ExitCode};
use std::time::{Duration, Instant};

use termd_test_support::figures::{Limit, Report, median, micros};
use termd_test_support::{Pty, TestDaemon};

/// Most that a key may take longer, in microseconds.
const MOST: f64 = 1_000.0;
/// Keys before the first one counts.
const WARM_UP: usize = 50;
/// Keys that count.
const KEYS: usize = 2_000;
/// The program that answers each key with itself.
const ECHO: [&str; 3] = ["sh", "-c", "stty raw -echo; echo ready; exec cat"];
/// Keys that no control function which a picture needs has in it.
const TYPED: [&str; 2] = ["+", "*"];

/// A tty with a program on it that echoes.
struct Echo {
    pty: Pty,
    child: Child,
    samples: Vec<Duration>,
}

impl Echo {
    fn start(program: &Command) -> Self {
        let mut pty = Pty::open(80, 24);
        let child = pty.spawn(program);
        pty.read_until("ready");
        Self {
            pty,
            child,
            samples: Vec::new(),
        }
    }

    fn press(&mut self, key: &str) {
        self.pty.read_now();
        let begun = Instant::now();
        self.pty.write(key);
        self.pty.read_until(key);
        self.samples.push(begun.elapsed());
    }

    /// The median and the 99th percentile of the keys that count, in microseconds.
    fn figures(&self) -> (f64, f64) {
        let mut samples: Vec<_> = self.samples.iter().skip(WARM_UP).copied().collect();
        samples.sort_unstable();
        let high = samples.get(samples.len() * 99 / 100).copied();
        (micros(median(samples)), micros(high.unwrap_or_default()))
    }
}

impl Drop for Echo {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn main() -> ExitCode {
    let daemon = TestDaemon::start();
    let mut report = Report::new();
    let echo = |mut command: Command| {
        command.args(ECHO);
        command
    };
    let [shell, arguments @ ..] = ECHO;
    let mut bare = daemon.command(shell);
    bare.args(arguments);
    let attached = echo({
        let mut command = daemon.command(env!("CARGO_BIN_EXE_termctl"));
        command.args(["new", "--"]);
        command
    });
    let socket = daemon.path("tmux");
    let tmux = || {
        let mut command = daemon.command("tmux");
        command.args(["-f", "/dev/null", "-S"]).arg(&socket);
        command
    };
    let mut ttys = vec![
        ("a bare PTY", Echo::start(&bare)),
        ("termctl attach", Echo::start(&attached)),
    ];
    if tmux().arg("-V").output().is_ok() {
        let mut command = tmux();
        command.arg("new-session");
        ttys.push(("tmux", Echo::start(&echo(command))));
    } else {
        report.skipped("a key and its echo, tmux", "there is no tmux");
    }
    for round in 0..WARM_UP + KEYS {
        let key = TYPED[round % TYPED.len()];
        for (_, tty) in &mut ttys {
            tty.press(key);
        }
    }
    let _ = tmux().arg("kill-server").output();
    let mut bare = None;
    for (name, tty) in &ttys {
        let (median, high) = tty.figures();
        report.beside(&format!("a key and its echo, {name}: median"), "µs", median);
        report.beside(&format!("a key and its echo, {name}: p99"), "µs", high);
        let added = median - *bare.get_or_insert(median);
        if *name == "termctl attach" {
            let what = "termctl attach adds to a key and its echo";
            report.figure(what, "µs", added, Limit::AtMost(MOST));
        }
    }
    report.exit_code()
}

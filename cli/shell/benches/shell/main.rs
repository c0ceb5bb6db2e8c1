//! What `termd-shell` adds to a command, beside the real shell in the same run and in turn.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, Stdio};
use std::time::{Duration, Instant};

use termd_test_support::TestDaemon;
use termd_test_support::figures::{Limit, Report, median, millis};

/// Calls of each shell.
const CALLS: usize = 200;
/// The same with output of 5 MB.
const LONG_CALLS: usize = 40;
/// The most that a call may take beyond the real shell's.
const MAX_ADDED_MS: f64 = 5.0;
/// The most that output of 5 MB may take, of the real shell's time.
const MAX_RATIO: f64 = 1.3;

fn main() -> ExitCode {
    let daemon = TestDaemon::start();
    let ours = daemon.path("bin/shell-of-agents");
    let linked = symlink(env!("CARGO_BIN_EXE_termd-shell"), &ours);
    let mut report = Report::new();
    if let Err(error) = linked {
        report.skipped("all", &error.to_string());
        return ExitCode::FAILURE;
    }
    let real = PathBuf::from("/bin/bash");
    let (bash, shell) = in_turn(&daemon, &real, &ours, "true", CALLS);
    report.beside("`bash -c true`", "ms", millis(bash));
    let added = millis(shell) - millis(bash);
    report.figure("termd-shell adds", "ms", added, Limit::AtMost(MAX_ADDED_MS));
    let (bash, shell) = in_turn(&daemon, &real, &ours, "seq 1 700000", LONG_CALLS);
    report.beside("5 MB of output by bash", "ms", millis(bash));
    let ratio = millis(shell) / millis(bash);
    report.figure(
        "by termd-shell, of that",
        "",
        ratio,
        Limit::AtMost(MAX_RATIO),
    );
    report.exit_code()
}

/// The medians of both shells.
fn in_turn(
    daemon: &TestDaemon,
    real: &Path,
    ours: &Path,
    line: &str,
    calls: usize,
) -> (Duration, Duration) {
    let call = |shell: &Path| {
        let mut command = daemon.command(shell);
        command.args(["-c", line]).stdin(Stdio::null());
        let began = Instant::now();
        let output = command.output();
        let taken = began.elapsed();
        assert!(
            output.is_ok_and(|output| output.status.success()),
            "{}",
            shell.display()
        );
        taken
    };
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for _ in 0..calls {
        first.push(call(real));
        second.push(call(ours));
    }
    (median(first), median(second))
}

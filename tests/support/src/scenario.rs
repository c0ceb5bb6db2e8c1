//! Scenarios: Python scripts that make named checks against a daemon of their own.

use std::fs::{self, File};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use crate::binaries::{repository, termctl_binary};
use crate::{Deadline, Process, TestDaemon};

/// How long a scenario may take. The slowest makes some 40 checks that wait for seconds.
const MAX_DURATION: Duration = Duration::from_mins(5);

/// A scenario that has run.
#[derive(Debug)]
pub struct Outcome {
    /// What it printed.
    pub report: String,
    /// Why it counts as failed.
    pub failure: Option<String>,
}

/// Runs `python tests/FOLDER/run.py SCENARIO` and fails with its report where it fails.
///
/// Lines of the report that begin with SKIP are printed.
#[track_caller]
pub fn run(
    daemon: &TestDaemon,
    python: &Path,
    folder: &str,
    scenario: &str,
    env: &[(&str, &Path)],
) {
    let Outcome { report, failure } = outcome(daemon, python, folder, scenario, env, MAX_DURATION);
    for line in report.lines().filter(|line| line.starts_with("SKIP")) {
        eprintln!("{line}");
    }
    assert_eq!(failure, None, "{scenario}\n{report}");
}

/// Runs `python tests/FOLDER/run.py SCENARIO`, which may take this long.
///
/// The script finds the home in its environment, `termctl` in `TERMCTL`, and the folder of
/// `report.py` in `TERMD_TEST_SUPPORT`.
pub fn outcome(
    daemon: &TestDaemon,
    python: &Path,
    folder: &str,
    scenario: &str,
    env: &[(&str, &Path)],
    max_duration: Duration,
) -> Outcome {
    let tests = repository().join("tests");
    let report = daemon.path("report");
    let out = File::create(&report).unwrap();
    let mut child = daemon
        .command(python)
        .arg(tests.join(folder).join("run.py"))
        .arg(scenario)
        .env("TERMCTL", termctl_binary())
        .env("TERMD_TEST_SUPPORT", tests.join("support"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .envs(env.iter().copied())
        .stdin(Stdio::null())
        .stdout(out.try_clone().unwrap())
        .stderr(out)
        .spawn()
        .unwrap();
    let process = Process::expect(child.id().into());
    let is_over = process.ends_by(Deadline::after(max_duration));
    if !is_over {
        child.kill().unwrap();
    }
    let status = child.wait().unwrap();
    let report = String::from_utf8_lossy(&fs::read(&report).unwrap()).into_owned();
    let failure = if is_over {
        (!status.success()).then(|| status.to_string())
    } else {
        Some(format!("it is not over after {max_duration:?}"))
    };
    Outcome { report, failure }
}

//! Stories told in Python: a script that makes named checks against a daemon of the test's own.

use std::fs::{self, File};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use super::{Deadline, Process, TestDaemon};

/// The longest that a story may take: the slowest makes some 40 checks that wait for seconds.
const STORY: Duration = Duration::from_mins(5);

/// Runs `python SCRIPTS/run.py STORY`, and fails with its report where it fails.
///
/// The script finds the home in its environment, this crate's `termctl` in `TERMCTL`, and the
/// folder of `report.py` in `TERMD_TEST_SUPPORT`.
#[track_caller]
pub(crate) fn tell(
    daemon: &TestDaemon,
    python: &Path,
    scripts: &str,
    story: &str,
    env: &[(&str, &Path)],
) {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests");
    let report = daemon.path("report");
    let out = File::create(&report).unwrap();
    let Some(termctl) = option_env!("CARGO_BIN_EXE_termctl") else {
        panic!("this is no test of termctl's");
    };
    let mut child = daemon
        .command(python)
        .arg(tests.join(scripts).join("run.py"))
        .arg(story)
        .env("TERMCTL", termctl)
        .env("TERMD_TEST_SUPPORT", tests.join("support"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .envs(env.iter().copied())
        .stdin(Stdio::null())
        .stdout(out.try_clone().unwrap())
        .stderr(out)
        .spawn()
        .unwrap();
    let process = Process::must(child.id().into());
    let is_over = process.ends_by(Deadline::after(STORY));
    if !is_over {
        child.kill().unwrap();
    }
    let status = child.wait().unwrap();
    let report = String::from_utf8_lossy(&fs::read(&report).unwrap()).into_owned();
    for line in report.lines().filter(|line| line.starts_with("SKIP")) {
        eprintln!("{line}");
    }
    assert!(is_over, "{story} is not over after {STORY:?}\n{report}");
    assert!(status.success(), "{story}: {status}\n{report}");
}

//! The Python SDK: a virtual environment for each version, and stories run in it.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

use crate::support::{Deadline, Process, TestDaemon, skip};

/// The longest that a story may take: the slowest makes some 40 checks that wait for seconds.
const STORY: Duration = Duration::from_mins(5);

/// One version of the SDK.
#[derive(Debug)]
pub(crate) struct Sdk {
    version: &'static str,
    ready: OnceLock<Result<PathBuf, String>>,
}

/// The last of the releases that speak `initialize` alone.
#[allow(non_upper_case_globals)]
pub(crate) static initialize: Sdk = Sdk::of("1.30.0");
/// One that speaks 2026-07-28 where the server does.
#[allow(non_upper_case_globals)]
pub(crate) static discover: Sdk = Sdk::of("2.3.0");

impl Sdk {
    const fn of(version: &'static str) -> Self {
        Self {
            version,
            ready: OnceLock::new(),
        }
    }

    /// Its Python; or why there is none here.
    fn python(&self) -> Result<PathBuf, String> {
        let make = || {
            let folder = cache().join(format!("python-mcp-{}", self.version));
            let python = folder.join("bin/python");
            let done = folder.join("complete");
            if done.exists() {
                return Ok(python);
            }
            // What a run before this one left unfinished is in the way.
            let _ = fs::remove_dir_all(&folder);
            let package = format!("mcp=={}", self.version);
            run(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
            let pip = [
                "-m",
                "pip",
                "install",
                "--quiet",
                "--disable-pip-version-check",
            ];
            run(Command::new(&python)
                .args(pip)
                .args([&package, "jsonschema==4.26.0"]))?;
            File::create(&done).map_err(|error| error.to_string())?;
            Ok(python)
        };
        self.ready.get_or_init(make).clone()
    }
}

/// Where fetched clients are kept from run to run.
pub(crate) fn cache() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mcp-clients");
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// Runs a command to its end; its last words where it fails.
pub(crate) fn run(command: &mut Command) -> Result<String, String> {
    let said = |output: &Output| {
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        let last: Vec<&str> = text.lines().rev().take(3).collect();
        last.into_iter().rev().collect::<Vec<_>>().join(" / ")
    };
    match command.stdin(Stdio::null()).output() {
        Ok(output) if output.status.success() => {
            Ok(String::from_utf8_lossy(&output.stdout).into_owned())
        }
        Ok(output) => Err(format!("{command:?}: {}: {}", output.status, said(&output))),
        Err(error) => Err(format!("{command:?}: {error}")),
    }
}

/// Runs one story by one SDK, against a daemon of its own.
#[track_caller]
pub(crate) fn tell(sdk: &Sdk, story: &str) {
    let python = match sdk.python() {
        Ok(python) => python,
        Err(reason) => return skip(story, &format!("no Python SDK {}: {reason}", sdk.version)),
    };
    let daemon = TestDaemon::start();
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/mcp/clients");
    let report = daemon.path("report");
    let out = File::create(&report).unwrap();
    let mut child = daemon
        .command(python)
        .arg(scripts.join("run.py"))
        .arg(story)
        .env("TERMCTL", env!("CARGO_BIN_EXE_termctl"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
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
    assert!(
        status.success(),
        "mcp {}, {story}: {status}\n{report}",
        sdk.version
    );
}

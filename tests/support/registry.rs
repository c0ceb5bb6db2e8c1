//! Packages of other people that tests talk to, fetched from their registries once, by exact version.
//!
//! They are kept in `target/tmp/registries` from run to run. What cannot be fetched is a reason to
//! skip, in words; it never fails a test, and never hangs it.

use std::fs::{self, File};
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

use super::process::Process;
use super::wait::Deadline;

/// The longest that fetching one set of packages may take. What needs longer is too heavy for tests.
const FETCHING: Duration = Duration::from_mins(3);

/// A virtual environment of Python with packages from `PyPI`.
#[derive(Debug)]
pub(crate) struct Venv {
    name: &'static str,
    packages: &'static [&'static str],
    /// The oldest minor version of Python 3 that will do.
    since: u32,
    ready: OnceLock<Result<PathBuf, String>>,
}

/// A folder with packages from npm.
#[derive(Debug)]
pub(crate) struct NodeModules {
    name: &'static str,
    packages: &'static [&'static str],
    ready: OnceLock<Result<PathBuf, String>>,
}

impl Venv {
    /// Of these packages, each with its version, on Python 3.`since` or newer.
    pub(crate) const fn of(
        name: &'static str,
        since: u32,
        packages: &'static [&'static str],
    ) -> Self {
        Self {
            name,
            packages,
            since,
            ready: OnceLock::new(),
        }
    }

    /// The path of one of its programs, such as `python`; or why there is none here.
    pub(crate) fn program(&self, name: &str) -> Result<PathBuf, String> {
        let make = || {
            fetched(self.name, self.packages, |folder| {
                let python = python(self.since)?;
                run(Command::new(python).args(["-m", "venv"]).arg(folder))?;
                let pip = [
                    "-m",
                    "pip",
                    "install",
                    "--quiet",
                    "--disable-pip-version-check",
                ];
                run(Command::new(folder.join("bin/python"))
                    .args(pip)
                    .args(self.packages))
            })
        };
        let folder = self.ready.get_or_init(make).clone()?;
        Ok(folder.join("bin").join(name))
    }
}

impl NodeModules {
    /// Of these packages, each with its version.
    pub(crate) const fn of(name: &'static str, packages: &'static [&'static str]) -> Self {
        Self {
            name,
            packages,
            ready: OnceLock::new(),
        }
    }

    /// The folder that holds `node_modules`; or why there is none here.
    pub(crate) fn folder(&self) -> Result<PathBuf, String> {
        let make = || {
            fetched(self.name, self.packages, |folder| {
                let mut npm = Command::new("npm");
                npm.args(["install", "--no-audit", "--no-fund", "--ignore-scripts"]);
                run(npm.arg("--prefix").arg(folder).args(self.packages))
            })
        };
        self.ready.get_or_init(make).clone()
    }
}

/// A folder that holds what `fetch` puts there, once for each list of packages.
fn fetched(
    name: &str,
    packages: &[&str],
    fetch: impl Fn(&Path) -> Result<String, String>,
) -> Result<PathBuf, String> {
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("registries");
    let failed = |error: io::Error| format!("{}: {error}", cache.display());
    fs::create_dir_all(&cache).map_err(failed)?;
    // Test binaries may run side by side.
    let lock = File::create(cache.join(format!("{name}.lock"))).map_err(failed)?;
    lock.lock().map_err(failed)?;
    let folder = cache.join(name);
    let complete = folder.join("complete");
    let wanted = packages.join("\n");
    if fs::read_to_string(&complete).is_ok_and(|has| has == wanted) {
        return Ok(folder);
    }
    // What an older version, or a run that was broken off, left is in the way.
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).map_err(failed)?;
    fetch(&folder)?;
    fs::write(&complete, wanted).map_err(failed)?;
    Ok(folder)
}

/// A Python 3 of this minor version or newer: on PATH, or among pyenv's.
fn python(since: u32) -> Result<PathBuf, String> {
    let is_new_enough = |python: &PathBuf| {
        let says = format!("import sys, venv; sys.exit(sys.version_info < (3, {since}))");
        run(Command::new(python).args(["-c", &says])).is_ok()
    };
    let newest_first = (since..=since + 8).rev();
    let named = newest_first.map(|minor| PathBuf::from(format!("python3.{minor}")));
    let on_path = std::iter::once(PathBuf::from("python3")).chain(named);
    on_path
        .chain(pyenv_pythons())
        .find(is_new_enough)
        .ok_or_else(|| format!("there is no Python 3.{since} or newer with venv"))
}

/// What pyenv has: its `python3.N` on PATH only say that another version is chosen.
fn pyenv_pythons() -> Vec<PathBuf> {
    let root = std::env::var_os("PYENV_ROOT").map(PathBuf::from);
    let root = root.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".pyenv")));
    let versions = root.map(|root| fs::read_dir(root.join("versions")));
    let mut pythons: Vec<PathBuf> = (versions.into_iter().flatten().flatten().flatten())
        .map(|version| version.path().join("bin/python3"))
        .collect();
    pythons.sort();
    pythons
}

/// Runs a command to its end; what it printed, or its last words where it fails.
pub(crate) fn run(command: &mut Command) -> Result<String, String> {
    let what = format!("{command:?}");
    let failed = |error: io::Error| format!("{what}: {error}");
    let mut out = tempfile::tempfile().map_err(failed)?;
    let mut err = tempfile::tempfile().map_err(failed)?;
    let mut child = command
        .stdin(Stdio::null())
        .stdout(out.try_clone().map_err(failed)?)
        .stderr(err.try_clone().map_err(failed)?)
        .spawn()
        .map_err(failed)?;
    let process = Process::must(child.id().into());
    if !process.ends_by(Deadline::after(FETCHING)) {
        child.kill().map_err(failed)?;
    }
    let status = child.wait().map_err(failed)?;
    if status.success() {
        return text_of(&mut out).map_err(failed);
    }
    let text = text_of(&mut err).map_err(failed)?;
    let last: Vec<&str> = text.lines().rev().take(3).collect();
    let last = last.into_iter().rev().collect::<Vec<_>>().join(" / ");
    Err(format!("{what}: {status}: {last}"))
}

fn text_of(file: &mut File) -> io::Result<String> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

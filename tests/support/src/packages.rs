//! Packages of `PyPI` and npm that tests run, fetched once by exact version.
//!
//! They are kept in `target/tmp/registries` from run to run. A package that cannot be fetched is a
//! reason to skip the test: it neither fails nor hangs it.

use std::fs::{self, File};
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

use crate::binaries::target_tmp;
use crate::process::Process;
use crate::wait::Deadline;

/// How long fetching one set of packages may take. Larger sets are too heavy for tests.
const MAX_FETCH: Duration = Duration::from_mins(3);

/// Why a package cannot be had here.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{0}")]
pub struct Unavailable(String);

impl Unavailable {
    /// The packages are there, and this file of theirs is not.
    pub(crate) fn missing(file: &Path) -> Self {
        Self(format!("no package has {}", file.display()))
    }
}

/// A virtual environment of Python with packages of `PyPI`.
#[derive(Debug)]
pub struct Venv {
    name: &'static str,
    packages: &'static [&'static str],
    /// The oldest minor version of Python 3 that runs the packages.
    min_python: u32,
    ready: OnceLock<Result<PathBuf, Unavailable>>,
}

/// A folder with packages of npm.
#[derive(Debug)]
pub struct NodeModules {
    name: &'static str,
    packages: &'static [&'static str],
    ready: OnceLock<Result<PathBuf, Unavailable>>,
}

impl Venv {
    /// An environment of these packages, each with its version, on Python 3.`min_python` or newer.
    pub const fn new(
        name: &'static str,
        min_python: u32,
        packages: &'static [&'static str],
    ) -> Self {
        Self {
            name,
            packages,
            min_python,
            ready: OnceLock::new(),
        }
    }

    /// The path of a program of the environment, such as `python`.
    pub fn program(&self, name: &str) -> Result<PathBuf, Unavailable> {
        let make = || {
            fetched(self.name, self.packages, |folder| {
                let python = python(self.min_python)?;
                run_to_end(Command::new(python).args(["-m", "venv"]).arg(folder))?;
                let pip = [
                    "-m",
                    "pip",
                    "install",
                    "--quiet",
                    "--disable-pip-version-check",
                ];
                run_to_end(
                    Command::new(folder.join("bin/python"))
                        .args(pip)
                        .args(self.packages),
                )
            })
        };
        let folder = self.ready.get_or_init(make).clone()?;
        Ok(folder.join("bin").join(name))
    }
}

impl NodeModules {
    /// A folder of these packages, each with its version.
    pub const fn new(name: &'static str, packages: &'static [&'static str]) -> Self {
        Self {
            name,
            packages,
            ready: OnceLock::new(),
        }
    }

    /// The folder that holds `node_modules`.
    pub fn folder(&self) -> Result<PathBuf, Unavailable> {
        let make = || {
            fetched(self.name, self.packages, |folder| {
                let mut npm = Command::new("npm");
                npm.args(["install", "--no-audit", "--no-fund", "--ignore-scripts"]);
                run_to_end(npm.arg("--prefix").arg(folder).args(self.packages))
            })
        };
        self.ready.get_or_init(make).clone()
    }
}

/// A folder that `fetch` fills, once for each list of packages.
fn fetched(
    name: &str,
    packages: &[&str],
    fetch: impl Fn(&Path) -> Result<String, Unavailable>,
) -> Result<PathBuf, Unavailable> {
    let cache = target_tmp().join("registries");
    let failed = |error: io::Error| Unavailable(format!("{}: {error}", cache.display()));
    let folder = cache.join(name);
    let complete = folder.join("complete");
    let wanted = packages.join("\n");
    let is_complete = || fs::read_to_string(&complete).is_ok_and(|has| has == wanted);
    // Before the lock, which a test that runs as another user cannot take.
    if is_complete() {
        return Ok(folder);
    }
    fs::create_dir_all(&cache).map_err(failed)?;
    // Several test binaries may run at the same time.
    let lock = File::create(cache.join(format!("{name}.lock"))).map_err(failed)?;
    lock.lock().map_err(failed)?;
    if is_complete() {
        return Ok(folder);
    }
    // An older list of packages, or a run that was interrupted, may have left files.
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).map_err(failed)?;
    fetch(&folder)?;
    fs::write(&complete, wanted).map_err(failed)?;
    Ok(folder)
}

/// A Python 3 of this minor version or newer, on PATH or among those of pyenv.
pub fn python(min_minor: u32) -> Result<PathBuf, Unavailable> {
    let is_new_enough = |python: &PathBuf| {
        let says = format!("import sys, venv; sys.exit(sys.version_info < (3, {min_minor}))");
        run_to_end(Command::new(python).args(["-c", &says])).is_ok()
    };
    let newest_first = (min_minor..=min_minor + 8).rev();
    let named = newest_first.map(|minor| PathBuf::from(format!("python3.{minor}")));
    let on_path = std::iter::once(PathBuf::from("python3")).chain(named);
    on_path
        .chain(pyenv_pythons())
        .find(is_new_enough)
        .ok_or_else(|| {
            Unavailable(format!(
                "there is no Python 3.{min_minor} or newer with venv"
            ))
        })
}

/// The Pythons of pyenv. Its `python3.N` on PATH only say that another version is selected.
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

/// Runs a command to its end: what it printed, or the end of stderr where it fails.
pub fn run_to_end(command: &mut Command) -> Result<String, Unavailable> {
    let what = format!("{command:?}");
    let failed = |error: io::Error| Unavailable(format!("{what}: {error}"));
    let mut out = tempfile::tempfile().map_err(failed)?;
    let mut err = tempfile::tempfile().map_err(failed)?;
    let mut child = command
        .stdin(Stdio::null())
        .stdout(out.try_clone().map_err(failed)?)
        .stderr(err.try_clone().map_err(failed)?)
        .spawn()
        .map_err(failed)?;
    let process = Process::expect(child.id().into());
    if !process.ends_by(Deadline::after(MAX_FETCH)) {
        child.kill().map_err(failed)?;
    }
    let status = child.wait().map_err(failed)?;
    if status.success() {
        return text_of(&mut out).map_err(failed);
    }
    let text = text_of(&mut err).map_err(failed)?;
    let last: Vec<&str> = text.lines().rev().take(3).collect();
    let last = last.into_iter().rev().collect::<Vec<_>>().join(" / ");
    Err(Unavailable(format!("{what}: {status}: {last}")))
}

fn text_of(file: &mut File) -> io::Result<String> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

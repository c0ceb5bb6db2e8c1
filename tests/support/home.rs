//! A home of its own for one daemon: XDG directories in a short temporary path.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::SystemTime;

use rustix::process::Signal;
use tempfile::TempDir;

use super::process::{Process, processes_with_environment};
use super::wait::{DEADLINE, Deadline};

/// A Unix socket's path may be 107 bytes long (unix(7)), of which termd's own part is 22.
const LONGEST_ROOT: usize = 70;

/// Directories for one daemon, and the environment that leads there.
#[derive(Debug)]
pub(crate) struct Home {
    root: PathBuf,
    /// Removes the directories; a view has none.
    owned: Option<TempDir>,
}

impl Home {
    /// Fresh and empty, but for a short kill grace so that tests end soon.
    pub(crate) fn new() -> Self {
        let mut builder = tempfile::Builder::new();
        builder.prefix("td");
        let mut root = builder.tempdir().unwrap();
        if root.path().as_os_str().len() > LONGEST_ROOT {
            root = builder.tempdir_in("/tmp").unwrap();
        }
        let home = Self {
            root: root.path().to_owned(),
            owned: Some(root),
        };
        for name in ["home", "run", "state", "config", "bin"] {
            let path = home.path(name);
            fs::create_dir(&path).unwrap();
            fs::set_permissions(&path, Permissions::from_mode(0o700)).unwrap();
        }
        home.configure("kill_grace_ms = 300\n");
        home
    }

    /// The same directories again, for whoever looks at them and does not own them.
    pub(crate) fn view(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
            owned: None,
        }
    }

    /// A path below the root of it all.
    pub(crate) fn path(&self, below: impl AsRef<Path>) -> PathBuf {
        self.root.join(below)
    }

    /// The user's home directory.
    pub(crate) fn user_home(&self) -> PathBuf {
        self.path("home")
    }

    /// Where the daemon listens.
    pub(crate) fn socket(&self) -> PathBuf {
        self.path("run/termd/termd.sock")
    }

    /// Where its database and locks are.
    pub(crate) fn state_dir(&self) -> PathBuf {
        self.path("state/termd")
    }

    /// Where stderr of a daemon started by these tests goes.
    pub(crate) fn log_path(&self) -> PathBuf {
        self.path("termd.log")
    }

    /// What the daemon wrote to stderr so far.
    pub(crate) fn log(&self) -> String {
        String::from_utf8_lossy(&fs::read(self.log_path()).unwrap_or_default()).into_owned()
    }

    /// Writes `config.toml`.
    pub(crate) fn configure(&self, toml: &str) {
        fs::create_dir_all(self.path("config/termd")).unwrap();
        fs::write(self.path("config/termd/config.toml"), toml).unwrap();
    }

    /// Puts an executable script of this name first on the daemon's PATH.
    pub(crate) fn install(&self, name: &str, script: &str) -> PathBuf {
        let path = self.path("bin").join(name);
        fs::write(&path, script).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// The variable that marks every process begun in this home.
    pub(crate) fn marker(&self) -> String {
        format!("XDG_RUNTIME_DIR={}", self.path("run").display())
    }

    /// A command with this home's environment and nothing of the tests' own but PATH.
    pub(crate) fn command(&self, program: impl AsRef<Path>) -> Command {
        let path = std::env::var("PATH").unwrap_or_else(|_| "/usr/bin:/bin".to_owned());
        let mut command = Command::new(program.as_ref());
        command
            .env_clear()
            .env("PATH", format!("{}:{path}", self.path("bin").display()))
            .env("HOME", self.user_home())
            .env("SHELL", "/bin/bash")
            .env("LANG", "C.UTF-8")
            .env("XDG_RUNTIME_DIR", self.path("run"))
            .env("XDG_STATE_HOME", self.path("state"))
            .env("XDG_CONFIG_HOME", self.path("config"))
            .env("RUST_BACKTRACE", "1")
            .current_dir(self.user_home());
        command
    }

    /// Every process begun in this home that still runs.
    pub(crate) fn processes(&self) -> Vec<i32> {
        processes_with_environment(&self.marker())
    }

    /// Kills what is left, until nothing is; says what there was.
    fn kill_leftovers(&self) -> Vec<String> {
        let mut names = Vec::new();
        let deadline = Deadline::after(DEADLINE);
        loop {
            let left: Vec<Process> = (self.processes().into_iter())
                .filter_map(Process::open)
                .collect();
            if left.is_empty() || deadline.passed() {
                return names;
            }
            for process in &left {
                let cmdline = fs::read(format!("/proc/{}/cmdline", process.pid));
                let line = String::from_utf8_lossy(&cmdline.unwrap_or_default()).replace('\0', " ");
                names.push(format!("{} {}", process.pid, line.trim_end()));
                process.signal(Signal::KILL);
            }
            for process in &left {
                process.ends_by(deadline);
            }
        }
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        if self.owned.is_none() {
            return;
        }
        let left = self.kill_leftovers();
        if std::thread::panicking() {
            eprintln!("--- termd's log\n{}--- end of the log", self.log());
        } else {
            assert!(left.is_empty(), "left behind by the daemon: {left:#?}");
        }
    }
}

/// The daemon's binary. Cargo names it to the daemon's own tests; others find it beside their
/// binary, where `cargo test --workspace` puts it, and build it if it is missing or stale.
pub(crate) fn termd_binary() -> PathBuf {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    let find = || match (
        option_env!("CARGO_BIN_EXE_termd"),
        option_env!("CARGO_BIN_EXE_termctl"),
    ) {
        (Some(termd), _) => PathBuf::from(termd),
        (None, Some(termctl)) => built_beside(Path::new(termctl)),
        (None, None) => panic!("neither binary is known to this test"),
    };
    BINARY.get_or_init(find).clone()
}

fn built_beside(termctl: &Path) -> PathBuf {
    let termd = termctl.with_file_name("termd");
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let newest_source = ["daemon/src", "proto/src", "migrations"]
        .iter()
        .filter_map(|folder| newest_in(&workspace.join(folder)))
        .max();
    let built = fs::metadata(&termd).and_then(|meta| meta.modified()).ok();
    if built.is_none() || built < newest_source {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--package", "termd", "--target-dir"]);
        cargo.arg(termctl.parent().and_then(Path::parent).unwrap());
        if termctl
            .parent()
            .is_some_and(|folder| folder.ends_with("release"))
        {
            cargo.arg("--release");
        }
        let status = cargo.current_dir(workspace).status().unwrap();
        assert!(status.success(), "cargo build --package termd: {status}");
    }
    termd
}

fn newest_in(folder: &Path) -> Option<SystemTime> {
    let modified = |entry: fs::DirEntry| {
        let kind = entry.file_type().ok()?;
        if kind.is_dir() {
            newest_in(&entry.path())
        } else {
            entry.metadata().ok()?.modified().ok()
        }
    };
    fs::read_dir(folder)
        .ok()?
        .flatten()
        .filter_map(modified)
        .max()
}

//! A home for one daemon: XDG directories in a short temporary path.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::process::Signal;
use tempfile::TempDir;

use crate::binaries::termd_binary;
use crate::process::{Process, processes_with_environment};
use crate::wait::{DEADLINE, Deadline};

/// The path of a Unix socket may be 107 bytes long (unix(7)). termd's own part of it is 22.
const MAX_ROOT_LENGTH: usize = 70;

/// Directories for one daemon, and the environment that names them.
#[derive(Debug)]
pub struct Home {
    /// Removes the directories when it is dropped.
    root: TempDir,
}

impl Home {
    /// Creates a fresh home. Its configuration has a short kill grace, so that tests end soon.
    pub fn create() -> Self {
        let mut builder = tempfile::Builder::new();
        builder.prefix("td");
        let mut root = builder.tempdir().unwrap();
        if root.path().as_os_str().len() > MAX_ROOT_LENGTH {
            root = builder.tempdir_in("/tmp").unwrap();
        }
        // A test whose own streams are pipes would look like a wrapper around an MCP server.
        let nothing = File::open("/dev/null").unwrap();
        rustix::stdio::dup2_stdin(nothing).unwrap();
        let home = Self { root };
        for name in ["home", "run", "state", "config", "bin"] {
            let path = home.path(name);
            fs::create_dir(&path).unwrap();
            fs::set_permissions(&path, Permissions::from_mode(0o700)).unwrap();
        }
        home.configure("kill_grace_ms = 300\n");
        home
    }

    /// A path below the root of the home.
    pub fn path(&self, below: impl AsRef<Path>) -> PathBuf {
        self.root.path().join(below)
    }

    /// The user's home directory.
    pub fn user_home(&self) -> PathBuf {
        self.path("home")
    }

    /// The daemon's socket.
    pub fn socket(&self) -> PathBuf {
        self.path("run/termd/termd.sock")
    }

    /// The directory of the database and the locks.
    pub fn state_dir(&self) -> PathBuf {
        self.path("state/termd")
    }

    /// The file that takes the daemon's stderr.
    pub fn log_path(&self) -> PathBuf {
        self.path("termd.log")
    }

    /// What the daemon has written to stderr so far.
    pub fn log(&self) -> String {
        String::from_utf8_lossy(&fs::read(self.log_path()).unwrap_or_default()).into_owned()
    }

    /// Writes `config.toml`.
    pub fn configure(&self, toml: &str) {
        fs::create_dir_all(self.path("config/termd")).unwrap();
        fs::write(self.path("config/termd/config.toml"), toml).unwrap();
    }

    /// Writes an executable script into the first folder of the daemon's PATH: its path.
    pub fn install(&self, name: &str, script: &str) -> PathBuf {
        let path = self.path("bin").join(name);
        fs::write(&path, script).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// The `NAME=value` that every process started in this home has in its environment.
    pub fn marker(&self) -> String {
        format!("XDG_RUNTIME_DIR={}", self.path("run").display())
    }

    /// A command with the environment of this home. Of the test's own environment it has PATH alone.
    pub fn command(&self, program: impl AsRef<Path>) -> Command {
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

    /// Runs a `termd` that must refuse to start: what it says on stderr.
    #[track_caller]
    pub fn refused_start(&self, env: &[(&str, &str)]) -> String {
        let mut child = self
            .command(termd_binary())
            .envs(env.iter().copied())
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let process = Process::expect(child.id().into());
        if !process.ends_by(Deadline::after(DEADLINE)) {
            process.signal(Signal::TERM);
            process.ends_by(Deadline::after(DEADLINE));
            let _ = child.kill();
            let _ = child.wait();
            panic!("termd started where it must refuse");
        }
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success(), "{stderr}");
        assert!(!stderr.contains("panicked"), "{stderr}");
        assert!(!stderr.trim().is_empty(), "no reason was given");
        stderr
    }

    /// The files of the state directory, and the log, that hold this text.
    pub fn files_with_text(&self, text: &str) -> Vec<PathBuf> {
        let mut files = vec![self.log_path()];
        add_files_below(&self.state_dir(), &mut files);
        files.retain(|path| {
            let bytes = fs::read(path).unwrap_or_default();
            bytes
                .windows(text.len())
                .any(|window| window == text.as_bytes())
        });
        files
    }

    /// The running processes that were started in this home.
    pub fn processes(&self) -> Vec<i32> {
        processes_with_environment(&self.marker())
    }

    /// Kills the processes that are left, until there are none: their command lines.
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
        let left = self.kill_leftovers();
        if std::thread::panicking() {
            eprintln!("--- termd's log\n{}--- end of the log", self.log());
        } else {
            assert!(left.is_empty(), "left behind by the daemon: {left:#?}");
        }
    }
}

fn add_files_below(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        if entry.path().is_dir() {
            add_files_below(&entry.path(), files);
        } else {
            files.push(entry.path());
        }
    }
}

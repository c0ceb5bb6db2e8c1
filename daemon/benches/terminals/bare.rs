//! What the limits are made of: the same work without termd.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use nix::pty::openpty;

/// A page and a frame header: what the database's log grows by for the smallest row.
const LOG_FRAME_BYTES: usize = 4096 + 24;
/// One read(2) returns 4,095 bytes of a PTY at the most; room for more costs nothing.
const READ_BYTES: usize = 64 * 1024;

/// `cat FILE` on a PTY that is read to its end and forgotten; from the start to the exit.
pub(crate) fn drain_pty(file: &Path) -> anyhow::Result<Duration> {
    let start = Instant::now();
    let pty = openpty(None, None)?;
    let slave = pty.slave;
    let mut child = Command::new("cat")
        .arg(file)
        .stdin(Stdio::from(slave.try_clone()?))
        .stdout(Stdio::from(slave.try_clone()?))
        .stderr(Stdio::from(slave))
        .spawn()?;
    let mut master = File::from(pty.master);
    let mut buffer = vec![0; READ_BYTES];
    // EIO is a PTY's end of file.
    while let Ok(1..) = master.read(&mut buffer) {}
    ensure!(child.wait()?.success(), "cat failed");
    Ok(start.elapsed())
}

/// fork, exec and wait of `true`.
pub(crate) fn run_true() -> anyhow::Result<Duration> {
    let start = Instant::now();
    let mut command = Command::new("/bin/true");
    // Asking for a user id, if only our own, makes std fork(2) in place of posix_spawn(3).
    command.uid(rustix::process::geteuid().as_raw());
    ensure!(command.status()?.success(), "true failed");
    Ok(start.elapsed())
}

/// A file that grows by one database log frame at a time, each written through to the disk.
pub(crate) struct SyncedLog(File);

impl SyncedLog {
    pub(crate) fn create(directory: &Path) -> io::Result<Self> {
        let path = directory.join("synced");
        Ok(Self(
            OpenOptions::new().create(true).append(true).open(path)?,
        ))
    }

    pub(crate) fn append(&mut self) -> io::Result<Duration> {
        let start = Instant::now();
        self.0.write_all(&[7; LOG_FRAME_BYTES])?;
        self.0.sync_data()?;
        Ok(start.elapsed())
    }
}

/// A tmux server of the benchmark's own, already running; dropping it ends it.
pub(crate) struct Tmux {
    socket: PathBuf,
}

impl Tmux {
    /// `None` where there is no tmux.
    pub(crate) fn start(directory: &Path) -> Option<Self> {
        let tmux = Self {
            socket: directory.join("tmux"),
        };
        let started = tmux.command().args(["new-session", "-d", "cat"]).status();
        started.is_ok_and(|status| status.success()).then_some(tmux)
    }

    /// tmux without a configuration, with a server of its own.
    fn command(&self) -> Command {
        let mut command = Command::new("tmux");
        command
            .args(["-f", "/dev/null", "-S"])
            .arg(&self.socket)
            .env_remove("TMUX");
        command.stdin(Stdio::null()).stderr(Stdio::null());
        command
    }

    /// The whole of `tmux new-session -d true`.
    pub(crate) fn new_session(&self) -> anyhow::Result<Duration> {
        let start = Instant::now();
        let status = self
            .command()
            .args(["new-session", "-d", "true"])
            .status()?;
        ensure!(status.success(), "tmux new-session failed");
        Ok(start.elapsed())
    }

    /// `cat FILE` in a session, until it has ended.
    pub(crate) fn cat(&self, file: &Path) -> anyhow::Result<Duration> {
        let start = Instant::now();
        let file = file.to_str().context("our own path")?;
        let socket = self.socket.to_str().context("our own path")?;
        let line = format!("cat '{file}'; tmux -S '{socket}' wait-for -S drained");
        ensure!(
            self.command()
                .args(["new-session", "-d", &line])
                .status()?
                .success(),
            "tmux"
        );
        ensure!(
            self.command()
                .args(["wait-for", "drained"])
                .status()?
                .success(),
            "tmux wait-for"
        );
        Ok(start.elapsed())
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        let _ = self.command().arg("kill-server").status();
    }
}

//! `termd --detach`: the keeper in a session of its own, and a caller who waits until it serves.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use rustix::pipe::PipeFlags;

use super::KeeperStartError;
use super::sys::{self, Forked};

/// What of the log a caller is shown when the server gave up: its last lines.
const MAX_SHOWN_LOG: u64 = 4 * 1024;

/// The first byte of a report that all is well; any other is the exit code of a failure.
const READY: u8 = 0;

/// Which process returned from [`fork`].
pub(super) enum Side {
    /// The one that was started: it waits for the report and leaves.
    Caller(Report),
    /// The one that stays.
    Keeper(Reporter),
}

/// Forks, and puts the child into the background: a session of its own, `/`, no tty, and none of
/// the caller's descriptors.
pub(super) fn fork(log: Option<&Path>) -> Result<Side, KeeperStartError> {
    let (reader, writer) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)
        .map_err(|errno| KeeperStartError::system("make a pipe", errno))?;
    match sys::fork() {
        Err(errno) => Err(KeeperStartError::system(
            "fork",
            io::Error::from_raw_os_error(errno),
        )),
        Ok(Forked::Parent(_)) => Ok(Side::Caller(Report(reader))),
        Ok(Forked::Child) => {
            // Its number is about to be closed, and then to be another file's.
            drop(reader);
            // Whoever started us may wait for the end of a pipe that they let us inherit: it would
            // not come before the daemon's. Nothing but the report is ours yet.
            sys::close_all_but(writer.as_fd());
            let reporter = Reporter(Some(Told { writer, log: None }));
            match settle(log) {
                Ok(log) => Ok(Side::Keeper(reporter.with_log(log))),
                Err(error) => {
                    reporter.failed(1, &error.to_string());
                    sys::exit_child(1);
                }
            }
        }
    }
}

/// Leaves the caller's session, directory and tty.
fn settle(log: Option<&Path>) -> Result<Option<(PathBuf, u64)>, KeeperStartError> {
    let null = OpenOptions::new()
        .read(true)
        .write(true)
        .open("/dev/null")
        .map_err(|source| KeeperStartError::Io {
            doing: "open",
            path: "/dev/null".into(),
            source,
        })?;
    let opened = log.map(open_log).transpose()?;
    rustix::process::setsid().map_err(|errno| KeeperStartError::system("make a session", errno))?;
    rustix::process::chdir("/").map_err(|errno| KeeperStartError::system("chdir to /", errno))?;
    let stderr = opened
        .as_ref()
        .map_or(null.as_fd(), |(file, _)| file.as_fd());
    rustix::stdio::dup2_stdin(&null)
        .and_then(|()| rustix::stdio::dup2_stdout(&null))
        .and_then(|()| rustix::stdio::dup2_stderr(stderr))
        .map_err(|errno| KeeperStartError::system("replace stdin, stdout and stderr", errno))?;
    Ok(log
        .map(Path::to_owned)
        .zip(opened.map(|(_, length)| length)))
}

/// The log, and how long it was.
fn open_log(path: &Path) -> Result<(File, u64), KeeperStartError> {
    let io_error = |source| KeeperStartError::Io {
        doing: "open the log",
        path: path.to_owned(),
        source,
    };
    let file = OpenOptions::new()
        .append(true)
        .create(true)
        .mode(0o600)
        .custom_flags(nix::libc::O_NOFOLLOW)
        .open(path)
        .map_err(io_error)?;
    let length = file.metadata().map_err(io_error)?.len();
    Ok((file, length))
}

/// The caller's end.
pub(super) struct Report(OwnedFd);

impl Report {
    /// Waits until the keeper serves, or prints on stderr why it does not.
    pub(super) fn wait(self) -> ExitCode {
        let mut report = Vec::new();
        let read = File::from(self.0).read_to_end(&mut report);
        match (read, report.split_first()) {
            (Ok(_), Some((&READY, _))) => ExitCode::SUCCESS,
            (Ok(_), Some((&code, message))) => {
                let _ = writeln!(
                    io::stderr(),
                    "termd: {}",
                    String::from_utf8_lossy(message).trim()
                );
                ExitCode::from(code)
            }
            _ => {
                let _ = writeln!(io::stderr(), "termd: it ended before it was ready");
                ExitCode::FAILURE
            }
        }
    }
}

/// The keeper's end: tells the caller once, and then nobody.
#[derive(Debug)]
pub(super) struct Reporter(Option<Told>);

#[derive(Debug)]
struct Told {
    writer: OwnedFd,
    log: Option<(PathBuf, u64)>,
}

impl Reporter {
    /// Nobody waits: the keeper runs in the foreground.
    pub(super) fn nobody() -> Self {
        Self(None)
    }

    fn with_log(self, log: Option<(PathBuf, u64)>) -> Self {
        Self(self.0.map(|told| Told { log, ..told }))
    }

    /// The daemon serves.
    pub(super) fn ready(self) {
        self.tell(READY, b"");
    }

    /// It never will.
    pub(super) fn failed(self, code: u8, message: &str) {
        self.tell(code, message.as_bytes());
    }

    /// The first server gave up with this code, and its reason is on its stderr.
    pub(super) fn server_failed(self, code: u8) {
        let shown = self
            .0
            .as_ref()
            .and_then(|told| told.log.as_ref())
            .and_then(|(path, before)| tail(path, *before).ok())
            .filter(|shown| !shown.trim().is_empty());
        let message = shown.unwrap_or_else(|| format!("the server ended with code {code}"));
        self.failed(code, &message);
    }

    fn tell(self, first: u8, rest: &[u8]) {
        if let Some(told) = self.0 {
            let mut pipe = File::from(told.writer);
            // A caller who left does not need to know.
            let _ = pipe.write_all(&[first]).and_then(|()| pipe.write_all(rest));
            if first != READY {
                // The caller reads to the end of the pipe: it is not to say that there is no daemon
                // while this process is still leaving.
                std::mem::forget(pipe);
            }
        }
    }
}

/// What was added to a file since it had this length, its last part.
fn tail(path: &Path, before: u64) -> io::Result<String> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(
        before.max(length.saturating_sub(MAX_SHOWN_LOG)),
    ))?;
    let mut shown = Vec::new();
    file.take(MAX_SHOWN_LOG).read_to_end(&mut shown)?;
    Ok(String::from_utf8_lossy(&shown).into_owned())
}

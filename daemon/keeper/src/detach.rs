//! `termd --detach`: the keeper in a session of its own, and a caller that waits until it serves.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use rustix::pipe::PipeFlags;

use crate::error::KeeperStartError;
use crate::sys::{self, Forked};

/// How much of the log's end a caller is shown when the server gave up, in bytes.
const MAX_SHOWN_LOG: u64 = 4 * 1024;

/// The first byte of a report that all is well; any other is the exit code of a failure.
const READY: u8 = 0;

/// Which process returned from [`fork`].
pub(crate) enum Side {
    /// The caller's process: it waits for the report and exits.
    Caller(Report),
    /// The new process, which stays.
    Keeper(Reporter),
}

/// Forks, and puts the child into the background: a session of its own, `/`, no tty, and none of
/// the caller's descriptors.
pub(crate) fn fork(log: Option<&Path>) -> Result<Side, KeeperStartError> {
    let (reader, writer) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)
        .map_err(|errno| KeeperStartError::system("make a pipe", errno))?;
    match sys::fork() {
        Err(errno) => Err(KeeperStartError::system("fork", errno)),
        Ok(Forked::Parent(_)) => Ok(Side::Caller(Report(reader))),
        Ok(Forked::Child) => {
            // `close_all_but` closes its number, which is then another file's.
            drop(reader);
            // A caller may wait for the end of a pipe that this process inherited, which would
            // come only with the daemon's end. So far only the report's pipe is our own.
            sys::close_all_but(writer.as_fd());
            let mut reporter = Reporter(Some(Caller { writer, log: None }));
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
pub(crate) struct Report(OwnedFd);

impl Report {
    /// Waits until the keeper serves, or prints on stderr why it does not.
    pub(crate) fn wait(self) -> ExitCode {
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

/// The keeper's end: reports to the caller once.
#[derive(Debug)]
pub(crate) struct Reporter(Option<Caller>);

#[derive(Debug)]
struct Caller {
    writer: OwnedFd,
    log: Option<(PathBuf, u64)>,
}

impl Reporter {
    /// For a keeper in the foreground, which has no caller.
    pub(crate) fn none() -> Self {
        Self(None)
    }

    fn with_log(self, log: Option<(PathBuf, u64)>) -> Self {
        Self(self.0.map(|caller| Caller { log, ..caller }))
    }

    /// The daemon serves.
    pub(crate) fn ready(&mut self) {
        self.report(READY, b"");
    }

    /// The daemon never will serve.
    pub(crate) fn failed(&mut self, code: u8, message: &str) {
        self.report(code, message.as_bytes());
    }

    /// The first server gave up with this code, and its reason is on its stderr.
    pub(crate) fn server_failed(&mut self, code: u8) {
        let shown = self
            .0
            .as_ref()
            .and_then(|caller| caller.log.as_ref())
            .and_then(|(path, before)| tail(path, *before).ok())
            .filter(|shown| !shown.trim().is_empty());
        let message = shown.unwrap_or_else(|| format!("the server ended with code {code}"));
        self.failed(code, &message);
    }

    fn report(&mut self, first: u8, rest: &[u8]) {
        if let Some(caller) = self.0.take() {
            let mut pipe = File::from(caller.writer);
            // It fails only where the caller is gone.
            let _ = pipe.write_all(&[first]).and_then(|()| pipe.write_all(rest));
            if first != READY {
                // The caller reads to the end of the pipe, which is then this process's end: it
                // must not report that there is no daemon while this process still runs.
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

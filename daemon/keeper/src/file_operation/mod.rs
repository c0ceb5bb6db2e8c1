//! Operations on one file, done by a child in the place of a command: under its user's rights and the
//! sandbox of its request, and nothing else.
//!
//! **Invariant:** a write or a read follows no symbolic link, so the path that was judged is the path
//! that is used. Only regular files are opened: no other kind of file can block or has an effect of
//! its own.

mod place;
mod resolve;
#[cfg(test)]
mod tests;
mod write;

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{BorrowedFd, RawFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

use nix::libc::SIGXFSZ;
use rustix::io::Errno;

use self::place::Place;
use crate::protocol::confinement::Temporary;
use crate::protocol::file_operation::{
    FileAction, FileAnswer, FileFailure, FileOperation, FileProblem, MAX_READ_BYTES,
};
use crate::protocol::message::SpawnRequest;
use crate::sys;

/// Directories of their own that all sandboxes have.
const OWN_DEVICES: &[&str] = &["/dev", "/dev/shm"];
/// Those of sandboxes with temporary files of their own, too.
const OWN_TEMPORARY: &[&str] = &["/dev", "/dev/shm", "/tmp", "/var/tmp"];

/// A file operation, prepared before the fork.
#[derive(Debug)]
pub(crate) struct FileTask {
    action: FileAction,
    path: PathBuf,
    limits: PathLimits,
    /// The name of the new file until it replaces the other one.
    new_name: OsString,
}

/// Where no file is read or written.
#[derive(Debug, Default)]
struct PathLimits {
    /// Directories beneath which nothing is.
    excluded: Vec<PathBuf>,
    /// Directories that a sandbox has for itself. What is written there nobody else sees.
    own_of_sandbox: &'static [&'static str],
}

impl FileTask {
    /// The operation of a request that has one.
    pub(crate) fn new(request: &SpawnRequest) -> Option<Self> {
        let FileOperation {
            action,
            path,
            excluded,
        } = request.file.as_ref()?;
        let path_of = |bytes: &Vec<u8>| PathBuf::from(OsString::from_vec(bytes.clone()));
        let sandbox = request.confinement.sandbox.as_ref();
        Some(Self {
            action: *action,
            path: path_of(path),
            limits: PathLimits {
                excluded: excluded.iter().map(path_of).collect(),
                own_of_sandbox: match sandbox.map(|sandbox| sandbox.temporary) {
                    None => &[],
                    Some(Temporary::Shared) => OWN_DEVICES,
                    Some(Temporary::Private) => OWN_TEMPORARY,
                },
            },
            new_name: format!(".{}.tmp", request.id).into(),
        })
    }

    /// Does it, answers on standard output, and exits. `content` is what is written. Only in a forked
    /// child.
    pub(crate) fn run(&self, content: RawFd) -> ! {
        // A limit of the file's size is an error like any other then, and the new file is removed.
        sys::ignore_signal(SIGXFSZ);
        let content = sys::borrow_fd(content);
        let stdout = rustix::stdio::stdout();
        // Where nobody reads the answer, nobody is there to be told.
        let code = match self.answer(content, stdout) {
            Ok(()) => 0,
            Err(_) => 1,
        };
        sys::exit_child(code)
    }

    fn answer(&self, content: BorrowedFd<'_>, output: BorrowedFd<'_>) -> io::Result<()> {
        let mut output = File::from(output.try_clone_to_owned()?);
        let mut read = None;
        let done = match self.action {
            FileAction::Resolve(target) => resolve::resolve(&self.path, target),
            FileAction::Write(mode) => Place::make(&self.path, &self.limits)
                .and_then(|place| write::write(&place, mode, content, &self.new_name))
                .map(|bytes| (self.path.clone(), bytes)),
            FileAction::Read => Place::open(&self.path, &self.limits)
                .and_then(|place| place.open_to_read())
                .map(|(file, bytes)| {
                    read = Some(file);
                    (self.path.clone(), bytes)
                }),
        };
        let answer = match done {
            Ok((path, bytes)) => FileAnswer::Done {
                path: path.as_os_str().as_bytes().to_vec(),
                bytes,
            },
            Err(failure) => FileAnswer::Failed(failure),
        };
        output.write_all(&answer.to_bytes())?;
        if let Some(file) = read {
            io::copy(&mut file.take(MAX_READ_BYTES), &mut output)?;
        }
        Ok(())
    }
}

fn system(error: impl Into<io::Error>) -> FileFailure {
    failure(FileProblem::System, error)
}

fn failure(problem: FileProblem, error: impl Into<io::Error>) -> FileFailure {
    FileFailure {
        problem,
        errno: error
            .into()
            .raw_os_error()
            .unwrap_or(Errno::IO.raw_os_error()),
    }
}

fn refusal(problem: FileProblem) -> FileFailure {
    FileFailure { problem, errno: 0 }
}

//! Operations on files, done by children of the keeper.

use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::libc::SIGKILL;
use termd_proto::TerminalId;
use termd_proto::terminal::Stdio;
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe::Receiver;
use tokio::sync::{Semaphore, SemaphorePermit};

use super::paths::{OwnDirectories, lossy};
use crate::keeper_client::{KeeperClient, KeeperError};
use crate::service::random::random_bits;
use crate::service::sandbox::SandboxLease;
use crate::terminal::error::TerminalError;
use crate::terminal::file_error::FileError;
use termd_keeper::protocol::file_operation::{
    FileAction, FileAnswer, FileOperation, MAX_READ_BYTES,
};
use termd_keeper::protocol::message::{EndTree, SpawnRequest, TerminalFds};

/// Uses of files at once. Each holds its content and what is read in memory.
const MAX_USES: usize = 8;
/// The longest time that a use waits for its turn, and that an operation takes: a file system that
/// does not answer holds up nobody for longer.
const MAX_DURATION: Duration = Duration::from_secs(20);
/// The longest answer: a path and some numbers, and what was read.
const MAX_ANSWER_BYTES: u64 = MAX_READ_BYTES + 64 * 1024;
/// The keeper's notes on an operation, which is no terminal. A later server ends it.
const NOTES: &[u8] = b"file operation";

/// Whether these are the notes on a file operation.
pub(crate) fn is_file_operation(notes: &[u8]) -> bool {
    notes == NOTES
}

/// Has operations on files done.
#[derive(Debug)]
pub(crate) struct FileOperator {
    keeper: KeeperClient,
    own_directories: OwnDirectories,
    turns: Semaphore,
}

/// An operation that was done.
#[derive(Debug)]
pub(super) struct Done {
    pub(super) path: PathBuf,
    /// The file's size.
    pub(super) bytes: u64,
    pub(super) read: Vec<u8>,
}

impl FileOperator {
    pub(crate) fn new(keeper: KeeperClient, own_directories: OwnDirectories) -> Self {
        Self {
            keeper,
            own_directories,
            turns: Semaphore::new(MAX_USES),
        }
    }

    /// Waits until another file may be used.
    pub(super) async fn turn(&self) -> Result<SemaphorePermit<'_>, TerminalError> {
        let turn = tokio::time::timeout(MAX_DURATION, self.turns.acquire()).await;
        let turn = turn.map_err(|_| FileError::Busy { max: MAX_USES })?;
        turn.map_err(|_| TerminalError::Stopping)
    }

    /// Whether no client writes to this path, which has no links.
    pub(super) fn excludes_writing(&self, path: &Path) -> bool {
        self.own_directories.hold(path)
    }

    /// Has something done with a file, under this confinement.
    pub(super) async fn run(
        &self,
        action: FileAction,
        path: &Path,
        lease: &SandboxLease,
        content: Option<OwnedFd>,
    ) -> Result<Done, TerminalError> {
        let id = TerminalId::from_random(random_bits()?);
        let request = SpawnRequest {
            notes: NOTES.to_vec(),
            confinement: lease.confinement.clone(),
            file: Some(FileOperation {
                action,
                path: path.as_os_str().as_bytes().to_vec(),
                excluded: self.own_directories.excluded(action),
            }),
            ..SpawnRequest::bare(id.clone(), "", Stdio::Pipes)
        };
        let unfinished = |problem: String| {
            let path = lossy(path);
            TerminalError::File(FileError::Unfinished { path, problem })
        };
        let keeper = self.keeper.clone();
        let (id_of_task, path_of_task) = (id.clone(), path.to_owned());
        // A task of its own: where it takes too long, it is still forgotten at its end.
        let mut operation = tokio::spawn(async move {
            let answer = ask(&keeper, request, content, &path_of_task).await;
            if let Err(error) = keeper.forget(&id_of_task).await {
                tracing::debug!(%error, "a file operation was not forgotten");
            }
            answer
        });
        let Ok(ended) = tokio::time::timeout(MAX_DURATION, &mut operation).await else {
            self.kill(&id).await;
            let seconds = MAX_DURATION.as_secs();
            return Err(unfinished(format!("it took more than {seconds} s")));
        };
        let answer = ended.map_err(|_| TerminalError::Stopping)??;
        match FileAnswer::from_bytes(&answer) {
            Ok((FileAnswer::Done { path, bytes }, read)) => Ok(Done {
                path: OsString::from_vec(path).into(),
                bytes,
                read: read.to_vec(),
            }),
            Ok((FileAnswer::Failed(failure), _)) => {
                let path = lossy(path);
                Err(FileError::Failed { path, failure }.into())
            }
            // It was killed: by a limit of its profile, most likely.
            Err(_) => Err(unfinished("it ended without an answer".to_owned())),
        }
    }

    async fn kill(&self, id: &TerminalId) {
        let end = EndTree {
            signal: SIGKILL,
            grace: Duration::ZERO,
        };
        if let Err(error) = self.keeper.end_tree(id, end).await {
            tracing::debug!(%error, "a file operation was not killed");
        }
    }
}

/// Starts an operation, and reads what it answers until it has ended.
async fn ask(
    keeper: &KeeperClient,
    request: SpawnRequest,
    content: Option<OwnedFd>,
    path: &Path,
) -> Result<Vec<u8>, TerminalError> {
    let spawned = keeper.operate_on_file(request, content).await;
    let spawned = spawned.map_err(|error| match error {
        KeeperError::Spawn(failure) => TerminalError::Spawn {
            command: path.to_owned(),
            failure,
        },
        other => other.into(),
    })?;
    let stdout = match spawned.fds {
        TerminalFds::Pipes { stdout, .. } => stdout,
        TerminalFds::Pty { master, .. } => master,
    };
    let mut answer = Vec::new();
    let pipe = Receiver::from_owned_fd(stdout)?;
    pipe.take(MAX_ANSWER_BYTES).read_to_end(&mut answer).await?;
    Ok(answer)
}

//! `[attention] command`: the person's own program, which is run for what terminals want.
//!
//! **Promises:** the server does not fork: the program is a child of the keeper, as a terminal's is, and no
//! terminal. It ends after [`MAX_DURATION`] with all that it has started. Beyond [`MAX_AT_ONCE`] none is
//! run, which the log says. What it prints is dropped.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Seek as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use nix::libc::SIGTERM;
use rustix::fs::MemfdFlags;
use termd_keeper::protocol::message::{EndTree, SpawnRequest, Spawned, TerminalFds};
use termd_proto::TerminalId;
use termd_proto::terminal::{Inherited, Stdin, Stdio, TerminalInfo};
use tokio::io::{copy, sink};
use tokio::net::unix::pipe::Receiver;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::keeper_client::{KeeperClient, SpawnCommand};
use crate::service::ending::process_end;
use crate::service::random::random_bits;
use crate::terminal::error::TerminalError;
use crate::terminal::lifecycle::launch::{
    Creator, Launch, LaunchRequest, environment_block, inherited_environment,
};

/// Programs at once: a flood of news is not to be a flood of processes.
const MAX_AT_ONCE: usize = 4;
/// How long the program may take: to tell somebody over a network.
const MAX_DURATION: Duration = Duration::from_secs(10);
/// How long what it leaves has from SIGTERM to SIGKILL.
const GRACE: Duration = Duration::from_secs(1);
/// The keeper's notes on the program, which is no terminal.
const NOTES: &[u8] = b"attention command";

/// Whether these are the notes on such a program.
pub(crate) fn is_attention_command(notes: &[u8]) -> bool {
    notes == NOTES
}

/// Runs the program. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct AttentionCommand {
    keeper: KeeperClient,
    /// Not empty.
    argv: Arc<[String]>,
    turns: Arc<Semaphore>,
}

impl AttentionCommand {
    /// `None`: no program is configured.
    pub(crate) fn new(keeper: KeeperClient, argv: &[String]) -> Option<Self> {
        (!argv.is_empty()).then(|| Self {
            keeper,
            argv: argv.into(),
            turns: Arc::new(Semaphore::new(MAX_AT_ONCE)),
        })
    }

    /// Runs the program for a terminal as it is now.
    pub(super) fn run(&self, info: TerminalInfo) {
        let Ok(turn) = Arc::clone(&self.turns).try_acquire_owned() else {
            tracing::warn!(terminal = %info.id, max = MAX_AT_ONCE, "[attention] command is not run: others run");
            return;
        };
        let this = self.clone();
        tokio::spawn(async move {
            if let Err(error) = this.execute(&info).await {
                tracing::warn!(terminal = %info.id, %error, "[attention] command is not run");
            }
            drop(turn);
        });
    }

    async fn execute(&self, info: &TerminalInfo) -> Result<(), TerminalError> {
        let id = TerminalId::from_random(random_bits()?);
        let launch = tokio::task::block_in_place(|| self.launch())?;
        let command = SpawnCommand {
            request: spawn_request(id.clone(), launch),
            inherited: Arc::new([event(info)?]),
        };
        let Spawned { process, fds, .. } = self.keeper.spawn(command).await?;
        let ended = async {
            tokio::select! {
                () = process_end(process.pid, process.start_time) => {}
                () = drain(fds) => {}
            }
        };
        if timeout(MAX_DURATION, ended).await.is_err() {
            let seconds = MAX_DURATION.as_secs();
            tracing::warn!(terminal = %info.id, seconds, "[attention] command is ended: it takes too long");
        }
        let end = EndTree {
            signal: SIGTERM,
            grace: GRACE,
        };
        self.keeper.end_tree(&id, end).await?;
        Ok(self.keeper.forget(&id).await?)
    }

    /// What is executed, in the daemon's own environment, which is the user's.
    fn launch(&self) -> Result<Launch, TerminalError> {
        let mut words = self.argv.iter().cloned();
        let home = std::env::home_dir().filter(|home| home.is_absolute());
        let request = LaunchRequest {
            command: words.next(),
            args: words.collect(),
            base_env: inherited_environment(std::env::vars_os()),
            env: BTreeMap::new(),
            creator: Creator::Person,
            cwd: home.unwrap_or_else(|| PathBuf::from("/")),
            login_shell: || PathBuf::from("/bin/sh"),
        };
        Ok(request.resolve()?)
    }
}

fn spawn_request(id: TerminalId, launch: Launch) -> SpawnRequest {
    SpawnRequest {
        program: launch.program.into_os_string().into_vec(),
        argv: launch.argv.into_iter().map(String::into_bytes).collect(),
        env: environment_block(launch.env),
        cwd: launch.cwd.into_os_string().into_vec(),
        notes: NOTES.to_vec(),
        stdin: Stdin::Inherited,
        inherited: Inherited {
            fds: vec![0],
            ..Inherited::default()
        },
        ..SpawnRequest::bare(id, "", Stdio::Pipes)
    }
}

/// A line of JSON that a program can read from the start.
fn event(info: &TerminalInfo) -> Result<OwnedFd, TerminalError> {
    let memory = rustix::fs::memfd_create("termd-attention", MemfdFlags::CLOEXEC);
    let mut memory = File::from(memory.map_err(std::io::Error::from)?);
    let mut line = serde_json::to_vec(info).map_err(std::io::Error::from)?;
    line.push(b'\n');
    memory.write_all(&line)?;
    memory.rewind()?;
    Ok(memory.into())
}

/// Reads what the program prints, so that it is not held up, until this is dropped.
async fn drain(fds: TerminalFds) {
    if let TerminalFds::Pipes { stdout, stderr, .. } = fds {
        tokio::join!(drop_output(stdout), drop_output(stderr));
    }
    std::future::pending::<()>().await;
}

async fn drop_output(pipe: OwnedFd) {
    if let Ok(mut pipe) = Receiver::from_owned_fd(pipe) {
        // A pipe that cannot be read is closed, so that no reader waits for it.
        let _ = copy(&mut pipe, &mut sink()).await;
    }
}

//! Reads one terminal from the daemon.

use std::sync::Arc;
use std::time::Duration;

use termd_client::escape::command_line;
use termd_client::{ClientError, Pool};
use termd_proto::terminal::{
    Encoding, Front, ReadFrom, ReadResult, ReadTerminal, ShowTerminal, TerminalState,
};
use termd_proto::{Offset, TerminalId, TerminalRef, code};
use tokio::time::timeout;

use super::terminal::{Exit, Terminal};
use super::view::{Life, View};

/// Longest wait of a line for what the daemon knows of a terminal.
pub(crate) const READ_DEADLINE: Duration = Duration::from_secs(2);
/// Output that is read for a view, in bytes. Escape sequences and redraws are a part of it.
const VIEW_BYTES: u64 = 128 << 10;
/// Longest wait for output; another one follows.
const WAIT_MS: u64 = 600_000;
/// Longest wait for lines. A terminal that is redrawn all the time is never quiet, and is first shown
/// after this.
const LINES_WAIT_MS: u64 = 10_000;
/// The daemon knows of an exit slightly before its cause is known here.
const CAUSE_DEADLINE: Duration = Duration::from_millis(250);
/// Fewest bytes that a read accepts, for reads of which only the wake-up matters.
const MIN_READ_BYTES: u64 = 4;

/// A terminal of an ACP session, to be read.
#[derive(Debug)]
pub(crate) struct TerminalReader {
    pub(crate) id: TerminalId,
    pub(crate) command: String,
    pub(crate) cwd: Option<String>,
    /// Absent for a terminal of an earlier connection.
    terminal: Option<Arc<Terminal>>,
}

/// Why a wait for output failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WaitError {
    /// The daemon does not know the terminal.
    NotFound,
    /// The daemon cannot be reached.
    Unreachable,
}

impl TerminalReader {
    pub(crate) fn new(terminal: Arc<Terminal>) -> Self {
        Self {
            id: terminal.id.clone(),
            command: terminal.command.clone(),
            cwd: terminal.cwd.clone(),
            terminal: Some(terminal),
        }
    }

    /// Finds a terminal of an earlier connection that the daemon still knows as this session's.
    pub(crate) async fn find(pool: &Pool, session: &str, id: &str) -> Option<Self> {
        let id: TerminalId = id.parse().ok()?;
        let show = ShowTerminal {
            id: TerminalRef::from(&id),
        };
        let shown = timeout(READ_DEADLINE, pool.repeat(&show)).await;
        let info = shown.ok()?.ok()?;
        let owner = &info.owner;
        if owner.front != Front::Acp || owner.session.as_deref() != Some(session) {
            return None;
        }
        Some(Self {
            id,
            command: command_line(&info.argv),
            cwd: Some(info.cwd),
            terminal: None,
        })
    }

    /// Whether the terminal is of this connection, and so followed while its command runs.
    pub(crate) fn is_live(&self) -> bool {
        self.terminal.is_some()
    }

    /// Reads the current view and the offset of its end; `None` if the daemon does not answer.
    pub(crate) async fn view(&self, pool: &Pool) -> Option<(View, Offset)> {
        let request = ReadTerminal {
            // Includes an unfinished line.
            until: Some(Offset(u64::MAX)),
            max_bytes: Some(VIEW_BYTES),
            encoding: Some(Encoding::Text),
            ..ReadTerminal::new(TerminalRef::from(&self.id), ReadFrom::TailBytes(VIEW_BYTES))
        };
        let (read, life) = self.read_with_life(pool, &request).await?;
        let text = read.text.unwrap_or_default();
        Some((View::of(text, read.start.0, life), read.end))
    }

    /// Reads up to `bytes` after an offset, including an unfinished line.
    pub(crate) async fn since(
        &self,
        pool: &Pool,
        offset: Offset,
        bytes: u64,
    ) -> Option<(ReadResult, Life)> {
        let request = ReadTerminal {
            max_bytes: Some(bytes),
            ..ReadTerminal::new(TerminalRef::from(&self.id), ReadFrom::Offset(offset))
        };
        self.read_with_life(pool, &request).await
    }

    /// The offset at which the last `bytes` of output begin.
    pub(crate) async fn tail_start(&self, pool: &Pool, bytes: u64) -> Option<Offset> {
        let request = ReadTerminal {
            max_bytes: Some(MIN_READ_BYTES),
            encoding: Some(Encoding::Base64),
            ..ReadTerminal::new(TerminalRef::from(&self.id), ReadFrom::TailBytes(bytes))
        };
        Some(self.read(pool, &request).await?.start)
    }

    /// Waits for output after an offset, or for the end of the command.
    pub(crate) async fn wait_for_output(
        &self,
        pool: &Pool,
        since: Offset,
    ) -> Result<(), WaitError> {
        let request = ReadTerminal {
            max_bytes: Some(MIN_READ_BYTES),
            encoding: Some(Encoding::Base64),
            wait_ms: Some(WAIT_MS),
            ..ReadTerminal::new(TerminalRef::from(&self.id), ReadFrom::Offset(since))
        };
        self.wait(pool, &request).await.map(|_| ())
    }

    /// Waits for up to `bytes` of whole lines after an offset, for an unfinished line once the
    /// terminal is quiet, or for the end of the command.
    pub(crate) async fn wait_for_lines(
        &self,
        pool: &Pool,
        since: Offset,
        bytes: u64,
    ) -> Result<ReadResult, WaitError> {
        let request = ReadTerminal {
            max_bytes: Some(bytes),
            wait_ms: Some(LINES_WAIT_MS),
            ..ReadTerminal::new(TerminalRef::from(&self.id), ReadFrom::Offset(since))
        };
        self.wait(pool, &request).await
    }

    async fn wait(&self, pool: &Pool, request: &ReadTerminal) -> Result<ReadResult, WaitError> {
        pool.wait(request).await.map_err(|error| match error {
            ClientError::Refused(refusal)
                if matches!(
                    refusal.code(),
                    code::RESOURCE_NOT_FOUND | code::INVALID_PARAMS
                ) =>
            {
                WaitError::NotFound
            }
            _ => WaitError::Unreachable,
        })
    }

    async fn read(&self, pool: &Pool, request: &ReadTerminal) -> Option<ReadResult> {
        timeout(READ_DEADLINE, pool.repeat(request))
            .await
            .ok()?
            .ok()
    }

    async fn read_with_life(
        &self,
        pool: &Pool,
        request: &ReadTerminal,
    ) -> Option<(ReadResult, Life)> {
        let read = async {
            let mut read = self.read(pool, request).await?;
            if read.state != TerminalState::Running && read.exit_status.is_none() {
                // The command ended during the read, which may lack the last output.
                read = self.read(pool, request).await?;
            }
            let life = self.life(&read).await;
            Some((read, life))
        };
        timeout(READ_DEADLINE, read).await.ok()?
    }

    /// Whether the command had ended at the time of this read.
    async fn life(&self, read: &ReadResult) -> Life {
        if read.state == TerminalState::Running {
            return Life::Running;
        }
        let recorded = match &self.terminal {
            Some(terminal) => timeout(CAUSE_DEADLINE, terminal.wait_for_exit()).await,
            None => Ok(None),
        };
        let reported = read.exit_status.clone().map(|status| Exit {
            status,
            cause: None,
        });
        Life::Over(recorded.ok().flatten().or(reported))
    }
}

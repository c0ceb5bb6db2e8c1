//! A terminal that a tool call embeds: where its text comes from.

use std::sync::Arc;
use std::time::Duration;

use termd_client::ClientError;
use termd_client::escape::command_line;
use termd_proto::terminal::{
    Encoding, Front, ReadFrom, ReadResult, ReadTerminal, ShowTerminal, TerminalState,
};
use termd_proto::{Offset, TerminalId, TerminalRef, code};
use tokio::time::timeout;

use super::block::{Life, View};
use crate::Shared;
use crate::terminals::{Ended, Tracked};

/// How long a line of the agent's waits for what the daemon says of a terminal.
pub(super) const READ_DEADLINE: Duration = Duration::from_secs(2);
/// How much output is resolved for a view, in bytes: escape sequences and redraws take some of it
/// that is no text.
const VIEW_BYTES: u64 = 128 << 10;
/// How long one wait for output is: the next one follows.
const WAIT_MS: u64 = 600_000;
/// How long one wait for lines is. What is redrawn all the time is never quiet: then, this is how
/// soon it is seen for the first time.
const LINES_WAIT_MS: u64 = 10_000;
/// The daemon knows that a command has ended a moment before it is known here why.
const CAUSE_DEADLINE: Duration = Duration::from_millis(250);
/// The fewest bytes that a read may be asked for: it only wakes.
const WAKING_BYTES: u64 = 4;

/// A terminal of an ACP session.
#[derive(Debug)]
pub(super) struct Source {
    /// Its id.
    pub(super) id: TerminalId,
    /// What runs in it.
    pub(super) command: String,
    /// Where, if that is known.
    pub(super) cwd: Option<String>,
    /// What is known of it here; of one of an earlier connection, nothing.
    tracked: Option<Arc<Tracked>>,
}

/// A wait for output that will not end well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lost {
    /// The daemon does not know the terminal.
    Gone,
    /// The daemon was not there.
    Away,
}

impl Source {
    /// One that was made through this proxy.
    pub(super) fn tracked(tracked: Arc<Tracked>) -> Self {
        Self {
            id: tracked.id.clone(),
            command: tracked.command.clone(),
            cwd: tracked.cwd.clone(),
            tracked: Some(tracked),
        }
    }

    /// One of an earlier connection, where the daemon still knows it as this session's.
    pub(super) async fn recorded(shared: &Shared, session: &str, id: &str) -> Option<Self> {
        let id: TerminalId = id.parse().ok()?;
        let show = ShowTerminal {
            id: TerminalRef::from(&id),
        };
        let shown = timeout(READ_DEADLINE, shared.pool.repeat(&show)).await;
        let info = shown.ok()?.ok()?;
        let owner = &info.owner;
        if owner.front != Front::Acp || owner.session.as_deref() != Some(session) {
            return None;
        }
        Some(Self {
            id,
            command: command_line(&info.argv),
            cwd: Some(info.cwd),
            tracked: None,
        })
    }

    /// Whether it is followed while its command runs.
    pub(super) fn is_live(&self) -> bool {
        self.tracked.is_some()
    }

    /// What it shows now, and where its output ends; `None` where the daemon does not say.
    pub(super) async fn view(&self, shared: &Shared) -> Option<(View, Offset)> {
        let request = ReadTerminal {
            // All of it, a line that is not ended included.
            until: Some(Offset(u64::MAX)),
            max_bytes: Some(VIEW_BYTES),
            encoding: Some(Encoding::Text),
            ..ReadTerminal::new(TerminalRef::from(&self.id), ReadFrom::TailBytes(VIEW_BYTES))
        };
        let (read, life) = self.read_with_life(shared, &request).await?;
        let text = read.text.unwrap_or_default();
        Some((View::of(text, read.start.0, life), read.end))
    }

    /// What follows an offset, at the most so many bytes, an unfinished line included.
    pub(super) async fn since(
        &self,
        shared: &Shared,
        offset: Offset,
        bytes: u64,
    ) -> Option<(ReadResult, Life)> {
        let request = ReadTerminal {
            max_bytes: Some(bytes),
            ..ReadTerminal::new(TerminalRef::from(&self.id), ReadFrom::Offset(offset))
        };
        self.read_with_life(shared, &request).await
    }

    /// Where the last so many bytes of output begin.
    pub(super) async fn tail_start(&self, shared: &Shared, bytes: u64) -> Option<Offset> {
        let request = ReadTerminal {
            max_bytes: Some(WAKING_BYTES),
            encoding: Some(Encoding::Base64),
            ..ReadTerminal::new(TerminalRef::from(&self.id), ReadFrom::TailBytes(bytes))
        };
        Some(self.read(shared, &request).await?.start)
    }

    /// Waits until there is output past an offset, or the command has ended.
    pub(super) async fn wait_for_output(&self, shared: &Shared, since: Offset) -> Result<(), Lost> {
        let request = ReadTerminal {
            max_bytes: Some(WAKING_BYTES),
            encoding: Some(Encoding::Base64),
            wait_ms: Some(WAIT_MS),
            ..ReadTerminal::new(TerminalRef::from(&self.id), ReadFrom::Offset(since))
        };
        self.wait(shared, &request).await.map(|_| ())
    }

    /// Waits for ended lines past an offset, at the most so many bytes, or for what is not ended
    /// once the terminal is quiet, or for the command's end.
    pub(super) async fn wait_for_lines(
        &self,
        shared: &Shared,
        since: Offset,
        bytes: u64,
    ) -> Result<ReadResult, Lost> {
        let request = ReadTerminal {
            max_bytes: Some(bytes),
            wait_ms: Some(LINES_WAIT_MS),
            ..ReadTerminal::new(TerminalRef::from(&self.id), ReadFrom::Offset(since))
        };
        self.wait(shared, &request).await
    }

    async fn wait(&self, shared: &Shared, request: &ReadTerminal) -> Result<ReadResult, Lost> {
        shared
            .pool
            .wait(request)
            .await
            .map_err(|error| match error {
                ClientError::Refused(refusal)
                    if matches!(
                        refusal.code(),
                        code::RESOURCE_NOT_FOUND | code::INVALID_PARAMS
                    ) =>
                {
                    Lost::Gone
                }
                _ => Lost::Away,
            })
    }

    async fn read(&self, shared: &Shared, request: &ReadTerminal) -> Option<ReadResult> {
        timeout(READ_DEADLINE, shared.pool.repeat(request))
            .await
            .ok()?
            .ok()
    }

    async fn read_with_life(
        &self,
        shared: &Shared,
        request: &ReadTerminal,
    ) -> Option<(ReadResult, Life)> {
        let read = self.read_to_the_end(shared, request);
        timeout(READ_DEADLINE, read).await.ok()?
    }

    async fn read_to_the_end(
        &self,
        shared: &Shared,
        request: &ReadTerminal,
    ) -> Option<(ReadResult, Life)> {
        let read = self.read(shared, request).await?;
        if read.state == TerminalState::Running || read.exit_status.is_some() {
            let life = self.life(&read).await;
            return Some((read, life));
        }
        // It ended while it was read: its last output may not be in the answer.
        let again = self.read(shared, request).await?;
        let life = self.life(&again).await;
        Some((again, life))
    }

    /// Whether it has ended as of this answer, which then holds the end of the output.
    async fn life(&self, read: &ReadResult) -> Life {
        if read.state == TerminalState::Running {
            return Life::Running;
        }
        let of_daemon = read.exit_status.clone().map(|status| Ended {
            status,
            cause: None,
        });
        let Some(tracked) = &self.tracked else {
            return Life::Over(of_daemon);
        };
        let mut ended = tracked.ended.clone();
        let known = timeout(CAUSE_DEADLINE, ended.wait_for(Option::is_some)).await;
        let of_here = match known {
            Ok(Ok(ended)) => ended.clone(),
            _ => None,
        };
        Life::Over(of_here.or(of_daemon))
    }
}

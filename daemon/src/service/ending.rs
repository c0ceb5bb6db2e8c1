//! Ending terminals: kill, close, release, and those that end with their connection.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use termd_proto::event::TerminalEvent;
use termd_proto::terminal::{CloseCause, EndCause, Owner, TerminalState, WaitResult};

use super::Terminals;
use crate::clock::now_ms;
use crate::keeper_client::KeeperError;
use crate::terminal::error::TerminalError;
use crate::terminal::handle::Terminal;
use crate::terminal::input::send::{queue_input, wait_until_taken};
use crate::terminal::input::{Care, LineCare, Secrecy};
use crate::terminal::lifecycle::exit_status::signal_number;
use termd_keeper::protocol::message::EndTree;

/// After every process is gone, how long the exit may take to be published: the drain's own
/// deadline and some more.
const EXIT_DEADLINE: Duration = Duration::from_secs(5);

/// How a terminal is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Closing {
    /// `session.close`, and what termd closes by itself.
    Close {
        /// Why, where nobody asked for it.
        cause: Option<CloseCause>,
        /// Type end of file first, and wait so long for the command to go by itself.
        eof: Option<Duration>,
    },
    /// `terminal/release`: after it ACP's `terminal/*` may no longer name it.
    Release,
}

impl Closing {
    fn cause(self) -> Option<CloseCause> {
        match self {
            Self::Close { cause, .. } => cause,
            Self::Release => None,
        }
    }
}

impl Terminals {
    /// Ends the command and all that it started: SIGTERM, grace, SIGKILL. The terminal stays.
    pub async fn kill(
        &self,
        terminal: &Terminal,
        actor: &Owner,
    ) -> Result<WaitResult, TerminalError> {
        self.audit(
            "terminal.kill",
            "ok",
            actor,
            Some(terminal.id()),
            Map::new(),
        )
        .await?;
        self.end_processes(terminal, nix::libc::SIGTERM).await?;
        Ok(Self::wait_result(terminal))
    }

    /// Sends one signal, by name or number, to the command and all that it started.
    pub async fn signal(
        &self,
        terminal: &Terminal,
        actor: &Owner,
        signal: &str,
    ) -> Result<WaitResult, TerminalError> {
        let number = signal_number(signal).ok_or_else(|| TerminalError::Invalid {
            field: "signal",
            problem: "is no signal: give a name such as SIGINT, or a number".to_owned(),
        })?;
        let mut detail = Map::new();
        detail.insert("signal".to_owned(), Value::from(signal));
        self.audit("terminal.signal", "ok", actor, Some(terminal.id()), detail)
            .await?;
        match self.inner.keeper.signal_tree(terminal.id(), number).await {
            Ok(()) | Err(KeeperError::UnknownTerminal(_)) => Ok(Self::wait_result(terminal)),
            Err(error) => Err(error.into()),
        }
    }

    /// Ends a terminal (SIGHUP, grace, SIGKILL) and takes it off the list; its record and
    /// transcript stay.
    pub async fn close(
        &self,
        terminal: &Arc<Terminal>,
        actor: &Owner,
    ) -> Result<WaitResult, TerminalError> {
        let closing = Closing::Close {
            cause: None,
            eof: None,
        };
        self.finish(terminal, actor, closing).await
    }

    /// As [`close`](Self::close), but end of file is typed first, and the command may go by itself
    /// for so long.
    pub async fn close_by_eof(
        &self,
        terminal: &Arc<Terminal>,
        actor: &Owner,
        longest: Duration,
    ) -> Result<WaitResult, TerminalError> {
        let closing = Closing::Close {
            cause: None,
            eof: Some(longest),
        };
        self.finish(terminal, actor, closing).await
    }

    /// ACP's release: ends a terminal (SIGTERM, grace, SIGKILL), and its id for `terminal/*`.
    pub async fn release(
        &self,
        terminal: &Arc<Terminal>,
        actor: &Owner,
    ) -> Result<WaitResult, TerminalError> {
        self.finish(terminal, actor, Closing::Release).await
    }

    pub(super) async fn finish(
        &self,
        terminal: &Arc<Terminal>,
        actor: &Owner,
        closing: Closing,
    ) -> Result<WaitResult, TerminalError> {
        if terminal.state() == TerminalState::Closed {
            return Ok(Self::wait_result(terminal));
        }
        let (action, signal) = match closing {
            Closing::Close { .. } => ("terminal.close", nix::libc::SIGHUP),
            Closing::Release => ("terminal.release", nix::libc::SIGTERM),
        };
        let mut detail = Map::new();
        if let Some(cause) = closing.cause() {
            detail.insert("cause".to_owned(), Value::from(cause.as_str()));
        }
        if let (Some(CloseCause::Idle), Some(timeout)) =
            (closing.cause(), terminal.record.idle_timeout)
        {
            detail.insert("idle_timeout_ms".to_owned(), Value::from(timeout.ms()));
        }
        self.audit(action, "ok", actor, Some(terminal.id()), detail)
            .await?;
        if let Closing::Close {
            eof: Some(longest), ..
        } = closing
        {
            Self::end_input(terminal, longest).await;
        }
        let now = now_ms();
        terminal.update(|progress| {
            if progress.closed_at_ms.is_none() {
                progress.closed_at_ms = Some(now);
                progress.close_cause = closing.cause();
                if closing.cause() == Some(CloseCause::Idle) && progress.exit.is_none() {
                    progress.end_cause.get_or_insert(EndCause::IdleTimeout);
                }
            }
            if closing == Closing::Release {
                progress.released_at_ms = Some(now);
            }
        });
        self.free_label(terminal);
        self.end_closed(terminal, signal).await?;
        Ok(Self::wait_result(terminal))
    }

    /// Types the tty's end-of-file character, once, and waits for the exit. A shell at its prompt
    /// and whatever reads to the end of its input go by themselves then, with an exit status of
    /// their own. In raw mode it is typed too: a line editor takes it for what it is.
    async fn end_input(terminal: &Terminal, longest: Duration) {
        let gone = async {
            if let Some(character) = terminal.end_of_file_character().await {
                // What cannot be typed is no reason not to close.
                let care = Care {
                    lines: LineCare::Any,
                    secrecy: Secrecy::NotShown,
                };
                if let Ok(queued) = queue_input(terminal, vec![character], care).await {
                    let _ = wait_until_taken(terminal, queued, longest).await;
                }
            }
            terminal.exit().await
        };
        if tokio::time::timeout(longest, gone).await.is_err() {
            tracing::debug!(terminal = %terminal.id(), "end of file did not end it");
        }
    }

    /// Ends what was closed, and sees to it that nothing but its record is left.
    pub(super) async fn end_closed(
        &self,
        terminal: &Arc<Terminal>,
        signal: i32,
    ) -> Result<(), TerminalError> {
        self.end_processes(terminal, signal).await?;
        self.inner.store.put_terminal(terminal.row()).await?;
        self.inner.store.flush().await?;
        let id = terminal.id().clone();
        let _ = self.inner.events.send(TerminalEvent::Closed { id });
        // One whose task still stores its output is forgotten by that.
        let task_has_ended = self.index().ended.contains(terminal.id());
        if task_has_ended {
            self.forget(terminal).await;
        }
        Ok(())
    }

    pub(super) async fn end_processes(
        &self,
        terminal: &Terminal,
        signal: i32,
    ) -> Result<(), TerminalError> {
        let end = EndTree {
            signal,
            grace: self.inner.options.kill_grace,
        };
        match self.inner.keeper.end_tree(terminal.id(), end).await {
            // The keeper has let go of a terminal that ended under an earlier daemon.
            Ok(()) | Err(KeeperError::UnknownTerminal(_)) => {}
            Err(error) => return Err(error.into()),
        }
        let exited = tokio::time::timeout(EXIT_DEADLINE, terminal.exit()).await;
        if exited.is_err() {
            tracing::warn!(terminal = %terminal.id(), "was killed and its exit is not seen yet");
        }
        Ok(())
    }

    /// Ties a terminal to something that ends: it is closed with the last one that holds it.
    pub fn hold(
        &self,
        terminal: &Arc<Terminal>,
        actor: Owner,
        ended: impl Future<Output = ()> + Send + 'static,
    ) {
        terminal.connections.bind();
        let terminals = self.clone();
        let terminal = Arc::clone(terminal);
        tokio::spawn(async move {
            let mut watch = terminal.watch_unattended();
            let closed = watch.wait_for(|progress| progress.closed_at_ms.is_some());
            tokio::select! {
                () = ended => {}
                _ = closed => return,
            }
            // When the server ends, its connections do too: the next one will hear from them.
            if terminal.connections.unbind() && !terminals.is_refusing() {
                terminals.close_unheld(&terminal, &actor).await;
            }
        });
    }

    pub(super) async fn close_unheld(&self, terminal: &Arc<Terminal>, actor: &Owner) {
        let closing = Closing::Close {
            cause: Some(CloseCause::Disconnect),
            eof: None,
        };
        if terminal.connections.is_unbound()
            && let Err(error) = self.finish(terminal, actor, closing).await
        {
            tracing::warn!(terminal = %terminal.id(), %error, "cannot close what nobody holds");
        }
    }

    /// What a terminal has come to.
    pub fn wait_result(terminal: &Terminal) -> WaitResult {
        let progress = terminal.progress();
        WaitResult {
            exited: progress.exit.is_some(),
            end_cause: progress.end_cause,
            exit_status: progress.exit.and_then(|exit| exit.status),
            end: progress.end,
        }
    }
}

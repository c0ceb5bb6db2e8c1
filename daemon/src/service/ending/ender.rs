//! Ending a terminal because somebody asks for it, or because termd closes it.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use termd_proto::event::TerminalEvent;
use termd_proto::terminal::{CloseCause, EndCause, Owner, Stdin, TerminalState, WaitResult};
use tokio::sync::broadcast;

use super::closing::Closing;
use super::retirement::Retirement;
use super::tree_end::TreeEnd;
use crate::clock::now_ms;
use crate::service::audit_log::AuditLog;
use crate::service::registry::Registry;
use crate::store::{AuditAction, AuditOutcome, Store, StoreError};
use crate::terminal::error::TerminalError;
use crate::terminal::handle::Terminal;
use crate::terminal::input::send::{queue_input, wait_until_taken};
use crate::terminal::input::{Care, LineCare, PipePosition, Place, Secrecy};
use crate::terminal::lifecycle::exit_status::signal_number;

/// Ends terminals. What is done is recorded before, or as soon as it can be.
#[derive(Debug)]
pub(crate) struct Ender {
    tree_end: TreeEnd,
    registry: Arc<Registry>,
    retirement: Arc<Retirement>,
    audit: AuditLog,
    store: Store,
    events: broadcast::Sender<TerminalEvent>,
}

impl Ender {
    pub(crate) fn new(
        tree_end: TreeEnd,
        registry: Arc<Registry>,
        retirement: Arc<Retirement>,
        audit: AuditLog,
        store: Store,
        events: broadcast::Sender<TerminalEvent>,
    ) -> Self {
        Self {
            tree_end,
            registry,
            retirement,
            audit,
            store,
            events,
        }
    }

    async fn record(
        &self,
        action: AuditAction,
        actor: &Owner,
        terminal: &Terminal,
        detail: Map<String, Value>,
    ) -> Result<(), TerminalError> {
        let (outcome, id) = (AuditOutcome::Ok, Some(terminal.id()));
        self.audit.record(action, outcome, actor, id, detail).await
    }

    /// Ends the command and all that it started: SIGTERM, grace, SIGKILL. The terminal stays.
    pub(crate) async fn kill(
        &self,
        terminal: &Terminal,
        actor: &Owner,
    ) -> Result<WaitResult, TerminalError> {
        self.record(AuditAction::TerminalKill, actor, terminal, Map::new())
            .await?;
        self.tree_end.end(terminal, nix::libc::SIGTERM).await?;
        Ok(wait_result(terminal))
    }

    /// Sends one signal, by name or number, to the command and all that it started.
    pub(crate) async fn signal(
        &self,
        terminal: &Terminal,
        actor: &Owner,
        signal: &str,
    ) -> Result<WaitResult, TerminalError> {
        let number = signal_number(signal).ok_or_else(|| TerminalError::Invalid {
            field: "signal",
            problem: "is no signal: give a name such as SIGINT, or a number".to_owned(),
        })?;
        let detail = Map::from_iter([("signal".to_owned(), Value::from(signal))]);
        self.record(AuditAction::TerminalSignal, actor, terminal, detail)
            .await?;
        self.tree_end.signal(terminal, number).await?;
        Ok(wait_result(terminal))
    }

    /// Ends a terminal (SIGHUP, grace, SIGKILL) and takes it off the list. Its record and its
    /// transcript stay. With `eof`, end of file is typed first, and the command may end by itself for
    /// that long.
    pub(crate) async fn close(
        &self,
        terminal: &Arc<Terminal>,
        actor: &Owner,
        eof: Option<Duration>,
    ) -> Result<WaitResult, TerminalError> {
        let closing = Closing::Close { cause: None, eof };
        self.finish(terminal, actor, closing).await
    }

    /// ACP's release: ends a terminal (SIGTERM, grace, SIGKILL), and its id for `terminal/*`.
    pub(crate) async fn release(
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
            return Ok(wait_result(terminal));
        }
        let (action, signal) = match closing {
            Closing::Close { .. } => (AuditAction::TerminalClose, nix::libc::SIGHUP),
            Closing::Release => (AuditAction::TerminalRelease, nix::libc::SIGTERM),
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
        self.record(action, actor, terminal, detail).await?;
        if let Closing::Close { eof: Some(max), .. } = closing {
            end_input(terminal, max).await;
        }
        mark_closed(terminal, closing);
        self.registry.free_label(terminal);
        self.end_closed(terminal, signal).await?;
        Ok(wait_result(terminal))
    }

    /// Ends the processes of a terminal that is marked as closed, stores its row, and forgets it. Where
    /// nothing reaches the disk, the row is stored later.
    pub(crate) async fn end_closed(
        &self,
        terminal: &Arc<Terminal>,
        signal: i32,
    ) -> Result<(), TerminalError> {
        self.tree_end.end(terminal, signal).await?;
        let id = terminal.id().clone();
        let _ = self.events.send(TerminalEvent::Closed { id });
        let stored = store_closed(
            Arc::clone(terminal),
            self.store.clone(),
            Arc::clone(&self.retirement),
        );
        tokio::select! {
            stored = tokio::spawn(stored) => match stored {
                Ok(stored) => Ok(stored?),
                Err(_) => Err(TerminalError::Stopping),
            },
            _ = self.store.stalled() => Ok(()),
        }
    }
}

async fn store_closed(
    terminal: Arc<Terminal>,
    store: Store,
    retirement: Arc<Retirement>,
) -> Result<(), StoreError> {
    store.put_terminal(terminal.row()).await?;
    store.flush().await?;
    // A task that still stores output forgets its terminal itself.
    if retirement.contains(terminal.id()) {
        retirement.forget(&terminal).await;
    }
    Ok(())
}

fn mark_closed(terminal: &Terminal, closing: Closing) {
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
}

/// Types the tty's end-of-file character, once, or ends the input of a pipe, and waits for the exit, `max` at the longest. A shell
/// at its prompt, and whatever reads to the end of its input, ends by itself then, with an exit
/// status of its own. The character is typed in raw mode too: a line editor understands it.
async fn end_input(terminal: &Terminal, max: Duration) {
    let ended = async {
        let (bytes, position) = match terminal.record.stdin {
            Stdin::Null | Stdin::Inherited => {
                let character = terminal.end_of_file_character().await;
                (Vec::from_iter(character), PipePosition::default())
            }
            Stdin::Pipe => {
                let is_last = true;
                (
                    Vec::new(),
                    PipePosition {
                        offset: None,
                        is_last,
                    },
                )
            }
        };
        if position.is_last || !bytes.is_empty() {
            // A terminal that takes no input is closed all the same.
            let care = Care {
                lines: LineCare::Any,
                secrecy: Secrecy::NotShown,
                place: Place::Anywhere,
            };
            if let Ok(queued) = queue_input(terminal, bytes, care, position).await {
                let _ = wait_until_taken(terminal, queued, max).await;
            }
        }
        terminal.exit().await
    };
    if tokio::time::timeout(max, ended).await.is_err() {
        tracing::debug!(terminal = %terminal.id(), "end of file did not end it");
    }
}

/// How far a terminal has come.
pub(crate) fn wait_result(terminal: &Terminal) -> WaitResult {
    let progress = terminal.progress();
    WaitResult {
        exited: progress.exit.is_some(),
        end_cause: progress.end_cause,
        exit_status: progress.exit.and_then(|exit| exit.status),
        end: progress.end,
    }
}

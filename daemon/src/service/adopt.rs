//! Taking over what there is when a server starts: the keeper's terminals, and those that only
//! the database remembers.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Map;
use termd_proto::Offset;
use termd_proto::terminal::{Gap, GapCause, TerminalState};

use super::{ENDED_LISTED, Terminals};
use crate::clock::now_ms;
use crate::store::TerminalRow;
use crate::terminal::error::TerminalError;
use crate::terminal::handle::Terminal;
use crate::terminal::lifecycle::actor::Actor;
use crate::terminal::lifecycle::progress::{Exit, Progress, ScreenState};
use crate::terminal::lifecycle::record::Record;
use crate::terminal::output::flow::Flow;
use crate::terminal::output::pump::OutputPump;
use crate::terminal::output::quota::Gaps;
use crate::terminal::output::shell_commands::{ShellCommands, Trust};
use crate::terminal::output::source::Opened;
use crate::terminal::output::transcript::Transcript;
use crate::terminal::screen::Screen;
use crate::terminal::screen::restore::{Restored, restore};
use crate::terminal::screen::size::Size;
use termd_keeper::protocol::message::InventoryTerminal;
use termd_vt::Model;

/// How long a terminal that is to end with its connection waits for that client to come back
/// after the server was replaced.
const HOLDER_RETURNS_WITHIN: Duration = Duration::from_secs(30);

impl Terminals {
    /// Takes over the keeper's terminals, then lists those that ended under an earlier server.
    pub async fn adopt(&self, inventory: Vec<InventoryTerminal>) -> Result<(), TerminalError> {
        self.start_disk_watch().await;
        for found in inventory {
            let id = found.id.clone();
            if let Err(error) = self.adopt_one(found).await {
                tracing::error!(terminal = %id, %error, "cannot take over a terminal");
            }
        }
        let limit = u32::try_from(ENDED_LISTED).unwrap_or(u32::MAX);
        for row in self.inner.store.open_terminals(limit).await? {
            let known = self.index().by_id.contains_key(&row.id);
            if !known {
                self.remember(row).await?;
            }
        }
        self.remove_leftovers().await;
        self.start_idle_timer();
        self.start_lapsing();
        Ok(())
    }

    async fn adopt_one(&self, found: InventoryTerminal) -> Result<(), TerminalError> {
        let row = self.inner.store.terminal(&found.id).await?;
        let Some(fds) = found.fds else {
            // All of it is stored. The keeper remembers it for the sake of what it left running.
            if row.is_none_or(|row| row.closed_at_ms.is_some()) {
                self.inner.keeper.forget(&found.id).await?;
            }
            return Ok(());
        };
        let Some(record) = Record::from_notes(&found.notes, row.as_ref()) else {
            tracing::error!(terminal = %found.id, "has neither notes nor a row");
            return Ok(());
        };
        // The notes were written before there was a process; and what it is read by is the keeper's
        // to say, who made it.
        let record = Record {
            pid: found.process.pid,
            stdio: fds.stdio(),
            ..record
        };
        let Opened {
            source,
            writer,
            spool,
            streams,
        } = Opened::adopt(fds)?;
        let stored = row.as_ref().map_or(Offset::ZERO, |row| row.end);
        let window = self.window(record.output_byte_limit);
        let flow = Flow::resume(stored, spool.start(), spool.end(), window, Instant::now());
        let disk_lacks = unrecorded(stored, flow.stored());
        let first_size = record.first_size();
        let ttys_size = source.pty().map(rustix::termios::tcgetwinsize);
        let size = match ttys_size {
            Some(Ok(winsize)) => Size {
                cols: winsize.ws_col,
                rows: winsize.ws_row,
            },
            // Where there is no tty, only the database has later ones.
            Some(Err(_)) | None => row.as_ref().map_or(first_size, |row| Size {
                cols: row.cols,
                rows: row.rows,
            }),
        };
        let mut progress = Progress {
            end: spool.end(),
            size,
            screen: ScreenState::still(0),
            exit: None,
            released_at_ms: row.as_ref().and_then(|row| row.released_at_ms),
            closed_at_ms: row.as_ref().and_then(|row| row.closed_at_ms),
            close_cause: row.as_ref().and_then(|row| row.close_cause),
            end_cause: row.as_ref().and_then(|row| row.end_cause),
        };
        let store = self.inner.store.clone();
        let transcript = Transcript::live(found.id.clone(), spool, streams, store);
        transcript.set_gaps(Gaps::of(self.inner.store.gaps(&found.id).await?));
        let store = &self.inner.store;
        let Restored { mut model, events } =
            restore(store, &record, &transcript, progress.end).await?;
        if ttys_size.is_some() {
            // One that was given a moment before the last server died may not be in the database.
            model.resize(size.into());
        } else {
            progress.size = Size::of(&model);
        }
        progress.screen = ScreenState::still(model.seq());
        let screen = Screen::new(model);
        let (terminal, ends) = Terminal::new(record, transcript, screen, progress);
        if row.is_none() {
            self.inner.store.put_terminal(terminal.row()).await?;
        }
        let newest = self.inner.store.command(&found.id, -1).await?;
        let trust = Trust::new(terminal.record.shell_nonce.as_ref());
        let commands = match &newest {
            Some(newest) => ShellCommands::resume(trust, newest),
            None => ShellCommands::new(trust),
        };
        let pump = OutputPump::new(writer, Arc::clone(&terminal), commands, events);
        let state = terminal.screen.look(Model::command_state);
        terminal.shell(|log| log.resume(state.unwrap_or_default(), newest));
        let disk = self.disk_share(&terminal, disk_lacks);
        let (of, context) = (Arc::clone(&terminal), self.task_context());
        let actor = Actor::new(of, context, ends, source, pump, flow, disk);
        {
            let mut index = self.index();
            index.running += 1;
            if let Some(label) = &terminal.record.label {
                index.labels.insert(label.clone(), terminal.id().clone());
            }
        }
        match found.status {
            Some(status) => terminal.root_was_reaped(status),
            None => self.adopt_scope(&terminal),
        }
        self.start(Arc::clone(&terminal), actor);
        self.watch_limits(&terminal);
        self.go_on_holding(&terminal);
        self.go_on_closing(&terminal);
        Ok(())
    }

    /// What the last server was about to end, or a connection held that is gone with it.
    fn go_on_closing(&self, terminal: &Arc<Terminal>) {
        let terminals = self.clone();
        let terminal = Arc::clone(terminal);
        let actor = terminal.record.owner.clone();
        if terminal.state() == TerminalState::Closed {
            tokio::spawn(async move {
                if let Err(error) = terminals.end_closed(&terminal, nix::libc::SIGTERM).await {
                    tracing::warn!(terminal = %terminal.id(), %error, "cannot end it");
                }
            });
        } else if terminal.record.close_on_disconnect {
            tokio::spawn(async move {
                tokio::time::sleep(HOLDER_RETURNS_WITHIN).await;
                terminals.close_unheld(&terminal, &actor).await;
            });
        }
    }

    /// Lists a terminal that only the database knows. One without an exit was lost together with
    /// the daemon that ran it: that is recorded now.
    async fn remember(&self, mut row: TerminalRow) -> Result<(), TerminalError> {
        if row.exited_at_ms.is_none() {
            row.exited_at_ms = Some(now_ms());
            self.inner.store.put_terminal(row.clone()).await?;
            self.audit(
                "terminal.exit",
                "lost",
                &row.owner,
                Some(&row.id),
                Map::new(),
            )
            .await?;
        }
        let terminal = self.stored(&row);
        let mut index = self.index();
        index.ended.push_back(row.id.clone());
        if let Some(label) = &row.label {
            index.labels.insert(label.clone(), row.id.clone());
        }
        index.by_id.insert(row.id, terminal);
        Ok(())
    }

    /// A terminal as the database knows it, without a task.
    pub(super) fn stored(&self, row: &TerminalRow) -> Arc<Terminal> {
        let exit = row.exited_at_ms.or(row.closed_at_ms).map(|at_ms| Exit {
            status: row.exit_status.clone(),
            at_ms,
        });
        let progress = Progress {
            end: row.end,
            size: Size {
                cols: row.cols,
                rows: row.rows,
            },
            screen: ScreenState::still(0),
            exit,
            released_at_ms: row.released_at_ms,
            closed_at_ms: row.closed_at_ms,
            close_cause: row.close_cause,
            end_cause: row.end_cause,
        };
        let transcript = self.stored_transcript(&row.id);
        let (terminal, _no_task) = Terminal::new(
            Record::from_row(row),
            transcript,
            Screen::default(),
            progress,
        );
        let known = [row.last_activity_ms, row.closed_at_ms, row.exited_at_ms];
        let last = known.into_iter().flatten().next();
        terminal
            .activity
            .was_last_at(last.unwrap_or(row.created_at_ms));
        terminal
    }
}

/// What neither the database nor the spool has, where the database has the output up to `stored`,
/// and it goes on at `resumed_at`.
fn unrecorded(stored: Offset, resumed_at: Offset) -> Option<Gap> {
    (resumed_at > stored).then_some(Gap {
        start: stored,
        end: resumed_at,
        cause: GapCause::Lost,
    })
}

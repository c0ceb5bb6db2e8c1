//! Taking over what there is when a server starts: the keeper's terminals, and those that only
//! the database remembers.

use std::sync::Arc;
use std::time::Instant;

use serde_json::Map;
use termd_proto::terminal::{Gap, GapCause, Stdin, TerminalState};
use termd_proto::{Offset, TerminalId};

use super::attention::is_attention_command;
use super::audit_log::AuditLog;
use super::ending::{ConnectionBinding, Ender, MAX_LISTED, Retirement};
use super::files::is_file_operation;
use super::registry::{Registry, stored_terminal_of};
use super::sandbox::Sandboxes;
use super::scopes::Scopes;
use super::tasks::{NewTask, TerminalTasks};
use crate::clock::{boottime_ms, now_ms};
use crate::config::SpoolConfig;
use crate::keeper_client::KeeperClient;
use crate::store::{Arrival, AuditAction, AuditOutcome, Store, TerminalRow};
use crate::terminal::error::TerminalError;
use crate::terminal::handle::Terminal;
use crate::terminal::lifecycle::agents::TerminalAgents;
use crate::terminal::lifecycle::progress::{Progress, ScreenState};
use crate::terminal::lifecycle::record::Record;
use crate::terminal::output::arrival_log::ArrivalLog;
use crate::terminal::output::flow::Flow;
use crate::terminal::output::pump::OutputPump;
use crate::terminal::output::quota::Gaps;
use crate::terminal::output::shell_commands::{ShellCommands, Trust};
use crate::terminal::output::source::Opened;
use crate::terminal::output::transcript::Transcript;
use crate::terminal::screen::Screen;
use crate::terminal::screen::restore::{Restored, restore};
use crate::terminal::screen::size::Size;
use termd_keeper::protocol::message::{InventoryTerminal, TerminalFds, WaitStatus};
use termd_vt::Model;

/// Takes over terminals.
#[derive(Debug)]
pub(crate) struct Adopter {
    pub(crate) registry: Arc<Registry>,
    pub(crate) retirement: Arc<Retirement>,
    pub(crate) tasks: Arc<TerminalTasks>,
    pub(crate) scopes: Scopes,
    pub(crate) sandboxes: Sandboxes,
    pub(crate) ender: Arc<Ender>,
    pub(crate) binding: ConnectionBinding,
    pub(crate) audit: AuditLog,
    pub(crate) store: Store,
    pub(crate) keeper: KeeperClient,
    pub(crate) spool: SpoolConfig,
}

impl Adopter {
    /// Takes over the keeper's terminals, then lists those that ended under an earlier server.
    pub(crate) async fn adopt(
        &self,
        inventory: Vec<InventoryTerminal>,
    ) -> Result<(), TerminalError> {
        for found in inventory {
            let id = found.id.clone();
            if let Err(error) = self.adopt_one(found).await {
                tracing::error!(terminal = %id, %error, "cannot take over a terminal");
            }
        }
        let limit = u32::try_from(MAX_LISTED).unwrap_or(u32::MAX);
        for row in self.store.open_terminals(limit).await? {
            if self.registry.get(&row.id).is_none() {
                self.remember(Record::from_row(&row), row).await?;
            }
        }
        self.sandboxes.remove_leftovers().await;
        Ok(())
    }

    async fn adopt_one(&self, found: InventoryTerminal) -> Result<(), TerminalError> {
        if is_file_operation(&found.notes) || is_attention_command(&found.notes) {
            // The client was told that the connection broke. The person's program ends by itself.
            return Ok(self.keeper.forget(&found.id).await?);
        }
        let row = self.store.terminal(&found.id).await?;
        let Some(fds) = found.fds else {
            // All of the terminal is stored. The keeper remembers it for the processes it left.
            let Some(row) = row.filter(|row| row.closed_at_ms.is_none()) else {
                return Ok(self.keeper.forget(&found.id).await?);
            };
            let noted = Record::from_notes(&found.notes, Some(&row));
            let record = noted.unwrap_or_else(|| Record::from_row(&row));
            let record = Record {
                pid: row.pid,
                ..record
            };
            return self.remember(record, row).await;
        };
        let Some(record) = Record::from_notes(&found.notes, row.as_ref()) else {
            tracing::error!(terminal = %found.id, "has neither notes nor a row");
            return Ok(());
        };
        let agents = TerminalAgents::from_notes(&found.notes);
        // The notes are older than the process. What the terminal is read from is the keeper's to
        // say, because the keeper opened it.
        let record = Record {
            created_at_boottime_ms: Some(record.start_by_boottime()),
            pid: found.process.pid,
            stdio: fds.stdio(),
            stdin: match fds.stdin() {
                Some(_) => Stdin::Pipe,
                None => record.stdin,
            },
            ..record
        };
        self.resume(record, agents, fds, row, found.status).await
    }

    /// Starts the task of a terminal that an earlier server has started.
    async fn resume(
        &self,
        record: Record,
        agents: TerminalAgents,
        fds: TerminalFds,
        row: Option<TerminalRow>,
        status: Option<WaitStatus>,
    ) -> Result<(), TerminalError> {
        let (store, id) = (&self.store, record.id.clone());
        let Opened {
            source,
            writer,
            spool,
            streams,
        } = Opened::adopt(fds)?;
        let stored = row.as_ref().map_or(Offset::ZERO, |row| row.end);
        let window = self.spool.window(record.output_byte_limit);
        let flow = Flow::resume(stored, spool.start(), spool.end(), window, Instant::now());
        let lost = lost(stored, flow.stored());
        let ttys_size = source.pty().map(rustix::termios::tcgetwinsize);
        let size = match ttys_size {
            Some(Ok(winsize)) => Size {
                cols: winsize.ws_col,
                rows: winsize.ws_row,
            },
            // Where there is no tty, only the database has later sizes than the first.
            Some(Err(_)) | None => row.as_ref().map_or(record.first_size(), |row| Size {
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
        let age_ms = boottime_ms().saturating_sub(record.start_by_boottime());
        let settled = flow.settled();
        let known = stored_arrivals(store, &id, settled, stored).await?;
        let arrivals = ArrivalLog::take_over((settled, progress.end), known, age_ms);
        let transcript = Transcript::live(id.clone(), spool, streams, arrivals, store.clone());
        transcript.set_gaps(Gaps::of(store.gaps(&id).await?));
        let Restored { mut model, events } =
            restore(store, &record, &transcript, progress.end).await?;
        if ttys_size.is_some() {
            // A size that was set a moment before the last server died may not be in the database.
            model.resize(size.into());
        } else {
            progress.size = Size::of(&model);
        }
        progress.screen = ScreenState::still(model.seq());
        let screen = Screen::new(model);
        let (terminal, ends) = Terminal::new(record, transcript, screen, progress);
        terminal.agents.replace(agents);
        let seen_at_ms = row.as_ref().and_then(|row| row.seen_at_ms);
        terminal.attention.was_last_seen_at(seen_at_ms);
        if row.is_none() {
            store.put_terminal(terminal.row()).await?;
        }
        let newest = store.command(&id, -1).await?;
        let trust = Trust::new(terminal.record.shell_nonce.as_ref());
        let commands = match &newest {
            Some(newest) => ShellCommands::resume(trust, newest),
            None => ShellCommands::new(trust),
        };
        let pump = OutputPump::new(writer, Arc::clone(&terminal), commands, events);
        let state = terminal.screen.look(Model::command_state);
        terminal.shell(|log| log.resume(state.unwrap_or_default(), newest));
        self.registry.adopt(&terminal);
        match status {
            Some(status) => terminal.root_was_reaped(status),
            None => self.scopes.adopt(&terminal),
        }
        self.tasks.start(NewTask {
            terminal: Arc::clone(&terminal),
            ends,
            source,
            pump,
            flow,
            lost,
        });
        self.sandboxes.adopt(&terminal);
        self.resume_closing(&terminal);
        Ok(())
    }

    /// Ends what the last server was about to end, and what was bound to a connection of that server.
    fn resume_closing(&self, terminal: &Arc<Terminal>) {
        if terminal.state() == TerminalState::Closed {
            let (ender, terminal) = (Arc::clone(&self.ender), Arc::clone(terminal));
            tokio::spawn(async move {
                if let Err(error) = ender.end_closed(&terminal, nix::libc::SIGTERM).await {
                    tracing::warn!(terminal = %terminal.id(), %error, "cannot end it");
                }
            });
        } else if terminal.record.close_on_disconnect {
            self.binding.expect_client(terminal);
        }
    }

    /// Lists a terminal whose output only the database has. A terminal without an exit was lost together
    /// with the daemon that ran it, which is recorded now.
    async fn remember(&self, record: Record, mut row: TerminalRow) -> Result<(), TerminalError> {
        if row.exited_at_ms.is_none() {
            row.exited_at_ms = Some(now_ms());
            let (action, outcome) = (AuditAction::TerminalExit, AuditOutcome::Lost);
            let (owner, id) = (&row.owner, Some(&row.id));
            let recorded = self.audit.record(action, outcome, owner, id, Map::new());
            match recorded.await {
                Ok(()) => self.store.put_terminal(row.clone()).await?,
                // The next server finds it without an exit, too.
                Err(error) => {
                    tracing::error!(terminal = %row.id, %error, "cannot record that it is lost");
                }
            }
        }
        let terminal = stored_terminal_of(record, &row, &self.store);
        self.tasks.attention.watch(&terminal);
        self.retirement.insert_stored(Arc::clone(&terminal));
        if terminal.record.close_on_disconnect {
            self.binding.expect_client(&terminal);
        }
        Ok(())
    }
}

/// What the database knows of the arrivals of the block that is being filled.
async fn stored_arrivals(
    store: &Store,
    id: &TerminalId,
    start: Offset,
    stored: Offset,
) -> Result<Vec<Arrival>, TerminalError> {
    let parts = store.arrivals(id, (start, stored)).await?;
    let block = parts.into_iter().find(|(first, _)| *first == start);
    Ok(block.map_or_else(Vec::new, |(_, arrivals)| arrivals))
}

/// The output that neither the database nor the spool has, where the database has it up to `stored`
/// and it goes on at `resumed_at`.
fn lost(stored: Offset, resumed_at: Offset) -> Option<Gap> {
    (resumed_at > stored).then_some(Gap {
        start: stored,
        end: resumed_at,
        cause: GapCause::Lost,
    })
}

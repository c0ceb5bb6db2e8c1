//! The one task that owns a terminal: it reads the PTY or the pipes, feeds the store, types the
//! input, and says when the command has ended. Nothing else writes to the terminal.

mod requests;
mod storing;

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use termd_proto::Offset;
use termd_proto::event::TerminalEvent;
use termd_proto::terminal::{Confinement, EndCause, ReachedLimit, Stdio};
use tokio::sync::{broadcast, watch};
use tokio::task::coop::consume_budget;
use tokio::time::sleep_until;

use super::exit_limit::{limit_of_command, limit_shown};
use super::record::{Exit, ScreenState, exit_status};
use crate::clock::now_ms;
use crate::keeper_client::KeeperClient;
use crate::store::{CommandWrite, Store};
use crate::terminal::handle::{TaskEnds, Terminal};
use crate::terminal::input::keyboard::{Keyboard, Write};
use crate::terminal::output::backlog::{Backlog, BacklogShare};
use crate::terminal::output::disk::DiskShare;
use crate::terminal::output::flow::{Due, Flow};
use crate::terminal::output::pump::Reading;
use crate::terminal::output::shell_commands::CommandChange;
use crate::terminal::output::source::Source;
use crate::terminal::output::spool::PumpStop;
use crate::terminal::screen::checkpoints::Checkpoints;
use termd_keeper::protocol::message::WaitStatus;
use termd_vt::Model;

/// After the exit, how long a PTY that somebody still holds open must be quiet before its output
/// counts as drained. The kernel hangs the PTY up when a session leader ends, so this is only for
/// a leader that had given its terminal away.
const DRAIN_QUIET: Duration = Duration::from_millis(100);
/// After the exit, how long a PTY that is never quiet is read at the longest.
const DRAIN_LONGEST: Duration = Duration::from_secs(2);
/// A program may close the terminal and open it again: how often a hung-up PTY is looked at.
const HUNG_UP_RETRY: Duration = Duration::from_millis(250);
/// At most one output event in this time.
const OUTPUT_EVENT_PAUSE: Duration = Duration::from_millis(50);

/// Where the terminal is in its life, as its task sees it.
#[derive(Debug)]
enum Phase {
    /// The root process lives.
    Running,
    /// It was reaped; output may still come.
    Draining {
        status: WaitStatus,
        quiet_until: Instant,
        until: Instant,
    },
    /// All output is here and the exit is published; the store has the rest to do.
    Storing,
}

/// Whether the PTY has another end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line {
    Open,
    /// No process has the slave side open; readiness says nothing any more.
    HungUp {
        look_at: Instant,
    },
    /// Pipes without a writer: nobody can open them again.
    Closed,
}

/// What the task works with.
#[derive(Debug)]
pub struct Surroundings {
    /// Where blocks and records go.
    pub store: Store,
    /// Who holds the terminal's other half.
    pub keeper: KeeperClient,
    /// What all terminals have waiting for the store.
    pub backlog: Backlog,
    /// Who is told of events.
    pub events: broadcast::Sender<TerminalEvent>,
}

/// The task.
#[derive(Debug)]
pub struct Actor {
    terminal: Arc<Terminal>,
    around: Surroundings,
    ends: TaskEnds,
    source: Source,
    reading: Reading,
    keyboard: Keyboard,
    flow: Flow,
    disk: DiskShare,
    backlog: BacklogShare,
    committed: watch::Sender<Offset>,
    phase: Phase,
    line: Line,
    output_event_at: Instant,
    checkpoints: Checkpoints,
}

impl Actor {
    /// Prepares the task; must be called inside the runtime.
    pub fn new(
        terminal: Arc<Terminal>,
        around: Surroundings,
        ends: TaskEnds,
        source: Source,
        reading: Reading,
        flow: Flow,
        disk: DiskShare,
    ) -> Self {
        // Whoever made the terminal has fed its screen so far.
        let fed = terminal.end();
        let mut backlog = around.backlog.share();
        backlog.set(flow.unstored());
        Self {
            reading,
            terminal,
            around,
            ends,
            source,
            keyboard: Keyboard::default(),
            flow,
            disk,
            backlog,
            committed: watch::Sender::new(Offset::ZERO),
            phase: Phase::Running,
            line: Line::Open,
            output_event_at: Instant::now(),
            checkpoints: Checkpoints::new(fed, Instant::now()),
        }
    }

    /// Runs until the command has ended and everything of it is stored.
    pub async fn run(mut self) {
        let mut committed = self.committed.subscribe();
        // A child that ended while there was no server: the keeper told us at the start.
        self.ends.reaped.mark_changed();
        loop {
            // A terminal that is always ready must leave the others their turn.
            consume_budget().await;
            let told = !self.reading.has_changes();
            let step = self.disk.step(&self.flow, self.checkpoints.at());
            let is_stored = self.flow.unstored() == 0 && told && step.is_none();
            if matches!(self.phase, Phase::Storing) && is_stored {
                break;
            }
            let now = Instant::now();
            let has_room = !self.disk.has_no_room();
            let spools = self.backlog.spools();
            let due = self.flow.due(spools, now).filter(|_| has_room);
            let reading = self.flow.may_read(spools) && !matches!(self.phase, Phase::Storing);
            let wake_at = self.wake_at(now, reading, due);
            tokio::select! {
                changed = self.ends.reaped.changed(), if matches!(self.phase, Phase::Running) => {
                    // The sender lives in the terminal, which this task holds.
                    if changed.is_ok() { self.look_whether_reaped(); }
                }
                ready = self.source.pty_readable(), if reading && self.line == Line::Open => {
                    match ready {
                        Ok(mut guard) => {
                            let stop = self.reading.pump(guard.get_inner(), self.keyboard.queue());
                            let once_closed = guard.ready().is_read_closed();
                            if !matches!(stop, Ok(PumpStop::Budget)) { guard.clear_ready(); }
                            if once_closed && matches!(stop, Ok(PumpStop::Drained)) {
                                self.renew_pty();
                            }
                            self.pumped(stop);
                        }
                        Err(error) => self.pumped(Err(error)),
                    }
                }
                ready = self.source.pipes_readable(), if reading && self.line == Line::Open => {
                    let stop = ready.and_then(|()| self.pump());
                    self.pumped(stop);
                }
                ready = self.source.pty_writable(), if self.keyboard.may_write() => {
                    match ready {
                        Ok(mut guard) => {
                            let write = self.keyboard.write(guard.get_inner(), now);
                            let once_closed = guard.ready().is_write_closed();
                            if write == Write::Full { guard.clear_ready(); }
                            if once_closed && write == Write::Full {
                                self.keyboard.await_reader(now);
                                self.renew_pty();
                            }
                            self.typed(write);
                        }
                        Err(_) => self.abandon_input(),
                    }
                }
                Some(command) = self.ends.commands.recv() => self.obey(command),
                () = self.disk.changed() => {}
                permit = self.around.store.reserve_block(),
                    if due.is_some() || step.is_some() || !told =>
                {
                    // A store that is closed for good: the server ends, the spool stays.
                    let Ok(permit) = permit else { return };
                    if let Some(change) = self.reading.next_change() {
                        self.tell_of_limit(self.limit_in(&change));
                        let terminal = self.terminal.id().clone();
                        permit.send_command(CommandWrite { terminal, change });
                    } else if let Some(step) = step {
                        self.let_go(step, permit);
                    } else if let Some(due) = due {
                        self.store_block(due, permit);
                    }
                }
                changed = committed.changed() => {
                    if changed.is_ok() {
                        self.flow.committed(*committed.borrow_and_update());
                        self.give_back_memory();
                    }
                }
                () = sleep_until(wake_at.unwrap_or(now).into()), if wake_at.is_some() => {
                    self.woken(reading);
                }
            }
        }
        self.record_exit().await;
    }

    /// When something is to be done although nothing happens.
    fn wake_at(&self, now: Instant, reading: bool, due: Option<Due>) -> Option<Instant> {
        // What is due waits for a place in the store's queue and not for a time.
        let tail = self.flow.next_due(self.backlog.spools());
        let tail = tail.filter(|_| due.is_none() && !self.disk.has_no_room());
        let line = match self.line {
            Line::HungUp { look_at } if reading => Some(look_at),
            _ => None,
        };
        let drained = match self.phase {
            Phase::Draining {
                quiet_until, until, ..
            } if reading => Some(quiet_until.min(until)),
            // What cannot be read yet is not quiet: the store has to catch up first.
            Phase::Draining { .. } => Some(now + DRAIN_QUIET),
            _ => None,
        };
        let held = self.keyboard.look_at();
        [tail, line, drained, held].into_iter().flatten().min()
    }

    fn woken(&mut self, reading: bool) {
        let now = Instant::now();
        if let Some(master) = self.source.pty() {
            let refused = self.keyboard.look(master, now);
            self.terminal.input_left(refused);
        }
        if reading
            && let Line::HungUp { look_at } = self.line
            && look_at <= now
        {
            self.line = Line::Open;
            let stop = self.pump();
            self.pumped(stop);
        }
        if reading
            && let Phase::Draining {
                quiet_until, until, ..
            } = self.phase
            && quiet_until.min(until) <= now
        {
            self.publish_exit();
        }
    }

    fn look_whether_reaped(&mut self) {
        let Some(status) = *self.ends.reaped.borrow_and_update() else {
            return;
        };
        let now = Instant::now();
        self.phase = Phase::Draining {
            status,
            quiet_until: now + DRAIN_QUIET,
            until: now + DRAIN_LONGEST,
        };
        self.abandon_input();
        if self.flow.may_read(self.backlog.spools()) {
            let stop = self.pump();
            self.pumped(stop);
        }
    }

    fn pump(&mut self) -> io::Result<PumpStop> {
        match &mut self.source {
            Source::Pty(master) => self.reading.pump(master.get_ref(), self.keyboard.queue()),
            Source::Pipes(pipes) => {
                let stop = self.reading.pump_pipes(pipes, self.keyboard.queue());
                self.abandon_input();
                stop
            }
        }
    }

    fn hung_up(&self, now: Instant) -> Line {
        match self.source.stdio() {
            Stdio::Pty => Line::HungUp {
                look_at: now + HUNG_UP_RETRY,
            },
            Stdio::Pipes => Line::Closed,
        }
    }

    fn pumped(&mut self, stop: io::Result<PumpStop>) {
        let now = Instant::now();
        let end = self.reading.end();
        if end > self.terminal.end() {
            let screen = self.screen_state(now);
            self.terminal.update(|progress| {
                progress.end = end;
                progress.screen = screen;
            });
            self.terminal.touch();
            self.flow.grew(end, now);
            let fed = self.reading.fed();
            self.checkpoints
                .look(&self.terminal, &self.around.store, fed, now);
            self.give_back_memory();
            self.tell_of_output(end, now);
            if let Phase::Draining { quiet_until, .. } = &mut self.phase {
                *quiet_until = now + DRAIN_QUIET;
            }
        }
        match stop {
            Ok(PumpStop::Budget | PumpStop::Drained) => {}
            Ok(PumpStop::HungUp) => match self.phase {
                Phase::Draining { .. } => self.publish_exit(),
                _ => self.line = self.hung_up(now),
            },
            Err(error) => {
                tracing::error!(terminal = %self.terminal.id(), %error, "cannot read the terminal");
                // It may be for want of memory: what is in a pipe stays there meanwhile.
                self.line = Line::HungUp {
                    look_at: now + HUNG_UP_RETRY,
                };
            }
        }
    }

    fn screen_state(&self, now: Instant) -> ScreenState {
        let look = |model: &Model| (model.seq(), model.is_drawing());
        let (seq, drawing) = self.terminal.screen.look(look).unwrap_or_default();
        ScreenState {
            seq,
            drawing,
            changed_at: now,
        }
    }

    fn tell_of_output(&mut self, end: Offset, now: Instant) {
        if now >= self.output_event_at && self.around.events.receiver_count() > 0 {
            self.output_event_at = now + OUTPUT_EVENT_PAUSE;
            let id = self.terminal.id().clone();
            let _ = self.around.events.send(TerminalEvent::Output { id, end });
        }
    }

    fn publish_exit(&mut self) {
        let Phase::Draining { status, .. } = self.phase else {
            return;
        };
        self.phase = Phase::Storing;
        self.reading.finish(self.keyboard.queue());
        self.flow.finish();
        let exit = Exit {
            status: Some(exit_status(status)),
            at_ms: now_ms(),
        };
        let limit = limit_shown(status, self.held_to());
        self.terminal.update(|progress| {
            if let Some((cause, _)) = limit {
                progress.end_cause.get_or_insert(cause);
            }
            progress.exit = Some(exit);
        });
        self.tell_of_limit(limit);
        let _ = self.around.events.send(TerminalEvent::Exited {
            id: self.terminal.id().clone(),
            exit_status: exit_status(status),
            end: self.terminal.end(),
        });
    }

    fn held_to(&self) -> Option<&Confinement> {
        self.terminal.record.held_to.as_ref()
    }

    /// The limit that ended a line in its shell, if one did.
    fn limit_in(&self, change: &CommandChange) -> Option<(EndCause, u64)> {
        match change {
            CommandChange::Ended(ended) => limit_of_command(ended.exit_code?, self.held_to()),
            CommandChange::Started(_) => None,
        }
    }

    /// Tells of a limit of a process, which the kernel held it to by itself.
    fn tell_of_limit(&self, limit: Option<(EndCause, u64)>) {
        let Some((limit, value)) = limit else {
            return;
        };
        let id = self.terminal.id().clone();
        tracing::info!(terminal = %id, limit = limit.as_str(), value, "a limit is reached");
        let limit = ReachedLimit::Ends(limit);
        let event = TerminalEvent::LimitReached { id, limit, value };
        let _ = self.around.events.send(event);
    }

    fn typed(&mut self, write: Write) {
        match write {
            Write::Taken(bytes) => self.terminal.input_left(bytes),
            Write::Full | Write::Held => {}
            Write::Failed => self.abandon_input(),
        }
    }

    fn renew_pty(&mut self) {
        if let Err(error) = self.source.renew_pty() {
            tracing::error!(terminal = %self.terminal.id(), %error, "cannot watch the terminal anew");
            self.line = Line::HungUp {
                look_at: Instant::now() + HUNG_UP_RETRY,
            };
        }
    }

    fn abandon_input(&mut self) {
        let dropped = self.keyboard.abandon(self.source.pty());
        self.terminal.input_left(dropped);
    }
}

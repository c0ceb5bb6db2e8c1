//! The one task that owns a terminal: it reads the PTY or the pipes, feeds the store, types the input, and
//! says when the command has ended. Nothing else writes to the terminal.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::termios::SpecialCodeIndex;
use termd_proto::Offset;
use termd_proto::event::TerminalEvent;
use termd_proto::terminal::{Confinement, EndCause, ReachedLimit, Stdio};
use tokio::sync::{broadcast, watch};
use tokio::task::coop::consume_budget;
use tokio::time::sleep_until;

use super::backlog::{Backlog, BacklogShare};
use super::checkpoints::Checkpoints;
use super::clock::now_ms;
use super::commands::CommandChange;
use super::disk::{DiskShare, Reached, Step};
use super::flow::{Due, Flow};
use super::handle::{Command, TaskEnds, Terminal};
use super::intake::Reading;
use super::keyboard::{Keyboard, Write};
use super::limit_shown::{limit_of_command, limit_shown};
use super::record::{Exit, ScreenState, Size, exit_status};
use super::source::Source;
use super::spool::PumpStop;
use super::tty;
use crate::control::client::KeeperClient;
use crate::control::message::WaitStatus;
use crate::store::{
    AuditEntry, BLOCK_BYTES, Block, BlockPermit, CommandWrite, GapWrite, Store, StoreError,
    own_actor,
};
use crate::term::Model;

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
/// Wait after the database refused an audit record of an exit, before it is tried again.
const EXIT_RECORD_RETRY: Duration = Duration::from_secs(1);
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
            // A server before may have given one here.
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

    fn obey(&mut self, command: Command) {
        match command {
            Command::Input(input) => {
                let left = match self.source.pty() {
                    Some(master) => self.keyboard.push(input, &self.terminal, master),
                    None => input.bytes.len(),
                };
                self.terminal.input_left(left);
                if !matches!(self.phase, Phase::Running) {
                    self.abandon_input();
                }
            }
            Command::Resize(size, done) => {
                self.resize(size);
                // Whoever asked may be gone.
                let _ = done.send(());
            }
            Command::LineDiscipline(answer) => {
                // Dropped where the tty cannot say, or the command has ended: nobody asks for a
                // password any more.
                if !matches!(self.phase, Phase::Storing)
                    && let Some(master) = self.source.pty()
                    && let Some(tty) = tty::line_discipline(master)
                {
                    let _ = answer.send(tty);
                }
            }
            Command::Foreground(answer) => {
                // Dropped where there is none, or nobody is left to be in it.
                if !matches!(self.phase, Phase::Storing)
                    && let Some(master) = self.source.pty()
                    && let Ok(group) = rustix::termios::tcgetpgrp(master)
                {
                    let _ = answer.send(group.as_raw_nonzero().get());
                }
            }
            Command::EndOfFileCharacter(answer) => {
                // 0 is _POSIX_VDISABLE: the tty has none. Then, too, the answer is dropped.
                if let Some(master) = self.source.pty()
                    && let Ok(termios) = rustix::termios::tcgetattr(master)
                    && let character @ 1.. = termios.special_codes[SpecialCodeIndex::VEOF]
                {
                    let _ = answer.send(character);
                }
            }
        }
    }

    fn resize(&mut self, size: Size) {
        let winsize = rustix::termios::Winsize {
            ws_row: size.rows,
            ws_col: size.cols,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        if let Some(master) = self.source.pty() {
            // The kernel sends SIGWINCH if the size is another one. After the exit nobody is there.
            let _ = rustix::termios::tcsetwinsize(master, winsize);
        }
        self.reading.feed_all(self.keyboard.queue());
        let (store, fed) = (&self.around.store, self.reading.fed());
        let answer = self.checkpoints.resize(&self.terminal, store, fed, size);
        self.terminal
            .answer_queued(self.keyboard.queue().push_answer(answer));
        if self.source.stdio() == Stdio::Pipes {
            self.abandon_input();
        }
        let screen = self.screen_state(Instant::now());
        self.terminal.update(|progress| {
            progress.size = size;
            progress.screen = screen;
        });
        let id = self.terminal.id().clone();
        let event = TerminalEvent::Resized {
            id,
            cols: size.cols,
            rows: size.rows,
        };
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

    fn store_block(&mut self, due: Due, permit: BlockPermit) {
        let length = usize::try_from(due.end.since(due.start)).unwrap_or(BLOCK_BYTES);
        let transcript = &self.terminal.transcript;
        let spool = transcript.spool();
        let read = spool.map_or(Ok(None), |spool| spool.read(due.start, length));
        let read =
            read.and_then(|read| Ok((read, transcript.origins_of_block(due.start, length)?)));
        self.flow.queued(due, Instant::now());
        match read {
            Ok((Some(bytes), origins)) => permit.send(Block {
                terminal: self.terminal.id().clone(),
                start: due.start,
                bytes,
                origins,
                committed: self.committed.clone(),
            }),
            failed => {
                // Trying again would fail again, and for ever.
                tracing::error!(
                    terminal = %self.terminal.id(), start = %due.start, end = %due.end,
                    error = ?failed.err(), "output cannot be read from the spool and is not stored"
                );
                self.flow.committed(due.end);
            }
        }
    }

    /// Some output goes, or its screen is kept before that.
    fn let_go(&mut self, step: Step, permit: BlockPermit) {
        let now = Instant::now();
        let terminal = Arc::clone(&self.terminal);
        let gap = match step {
            Step::Screen => {
                self.reading.feed_all(self.keyboard.queue());
                let screen = self.checkpoints.take(&terminal, self.reading.fed());
                if let Some(screen) = screen {
                    permit.send_screen(terminal.id().clone(), screen);
                }
                self.disk.has_screen_for(&self.flow);
                return;
            }
            Step::Gap(gap) => gap,
        };
        let was_stored = gap.end <= self.flow.stored();
        let (gap, reached) = self.disk.let_go(&terminal, gap);
        let committed = (!was_stored).then(|| {
            self.flow.give_up(gap.end, now);
            self.committed.clone()
        });
        permit.send_gap(GapWrite {
            terminal: terminal.id().clone(),
            gap,
            at_ms: now_ms(),
            committed,
        });
        if let Some(reached) = reached {
            self.tell_of_disk(reached);
        }
    }

    /// Says that output is not kept, once for each limit. The record comes when it can: the output
    /// that it tells of is not kept either way, and its gap is recorded with it.
    fn tell_of_disk(&self, reached: Reached) {
        let Reached { limit, value } = reached;
        let id = self.terminal.id().clone();
        tracing::info!(terminal = %id, limit = limit.as_str(), value, "output is not kept");
        let _ = self.around.events.send(TerminalEvent::LimitReached {
            id: id.clone(),
            limit: ReachedLimit::Disk(limit),
            value,
        });
        let entry = AuditEntry {
            at_ms: now_ms(),
            action: "limit.reached",
            outcome: "ok".to_owned(),
            actor: own_actor(),
            detail: serde_json::Map::from_iter([
                ("limit".to_owned(), limit.as_str().into()),
                ("value".to_owned(), value.into()),
                ("output_bytes".to_owned(), self.terminal.end().0.into()),
            ]),
            terminal: Some(id.clone()),
        };
        let store = self.around.store.clone();
        tokio::spawn(async move {
            if let Err(error) = store.audit(entry).await {
                tracing::error!(terminal = %id, %error, "cannot record that a limit was reached");
            }
        });
    }

    fn give_back_memory(&mut self) {
        self.backlog.set(self.flow.unstored());
        self.terminal.set_unstored(self.flow.unstored());
        let transcript = &self.terminal.transcript;
        if let Err(error) = transcript.give_back_before(self.flow.expendable()) {
            tracing::warn!(terminal = %self.terminal.id(), %error, "cannot shrink the spool");
        }
    }

    /// The exit's row and audit record, and then the keeper may let go. A server that dies before
    /// that leaves it to the next one, which finds the terminal in the inventory again.
    async fn record_exit(&self) {
        let terminal = &self.terminal;
        let progress = terminal.progress();
        let (store, fed) = (&self.around.store, self.reading.fed());
        let kept = self.checkpoints.finish(terminal, store, fed).await;
        if kept.is_err() {
            return;
        }
        let mut detail = serde_json::Map::new();
        let status = progress.exit.as_ref().and_then(|exit| exit.status.as_ref());
        detail.insert(
            "exit_code".to_owned(),
            status.and_then(|s| s.exit_code).into(),
        );
        detail.insert(
            "signal".to_owned(),
            status.and_then(|s| s.signal.clone()).into(),
        );
        detail.insert("output_bytes".to_owned(), progress.end.0.into());
        if !self.disk.gaps().is_empty() {
            let gaps = serde_json::to_value(self.disk.gaps()).unwrap_or_default();
            detail.insert("gaps".to_owned(), gaps);
        }
        if let Some(cause) = progress.end_cause {
            detail.insert("limit".to_owned(), cause.as_str().into());
        }
        let entry = AuditEntry {
            at_ms: now_ms(),
            action: "terminal.exit",
            outcome: "ok".to_owned(),
            actor: terminal.record.owner.clone(),
            terminal: Some(terminal.id().clone()),
            detail,
        };
        loop {
            match self.store_exit(entry.clone()).await {
                Ok(()) => break,
                Err(StoreError::Closed) => return,
                Err(error) => {
                    tracing::error!(terminal = %terminal.id(), %error, "cannot record an exit");
                    tokio::time::sleep(EXIT_RECORD_RETRY).await;
                }
            }
        }
        if let Err(error) = self.around.keeper.release(terminal.id()).await {
            tracing::debug!(terminal = %terminal.id(), %error, "the keeper did not release it");
        }
    }

    async fn store_exit(&self, entry: AuditEntry) -> Result<(), StoreError> {
        self.around.store.put_terminal(self.terminal.row()).await?;
        self.around.store.audit(entry).await?;
        self.around.store.flush().await
    }
}

//! The one task that owns a terminal: it reads the PTY or the pipes, hands output to the store, types
//! the input, and publishes the command's exit. Nothing else writes to the terminal.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::termios::{Winsize, tcsetwinsize};
use termd_proto::event::TerminalEvent;
use termd_proto::terminal::{Confinement, EndCause, Stdio};
use termd_vt::Model;
use tokio::sync::{broadcast, oneshot};
use tokio::task::coop::consume_budget;
use tokio::task::yield_now;
use tokio::time::sleep_until;

use super::audit::{record_disk_limit, record_exit};
use super::drain::{Drain, DrainStep, DrainTimes, StoreState};
use super::exit_limit::{limit_of_command, limit_shown};
use super::exit_status::exit_status;
use super::progress::{Exit, ScreenState};
use super::request::Request;
use super::task_events::TaskEvents;
use crate::clock::now_ms;
use crate::keeper_client::KeeperClient;
use crate::store::{BlockPermit, CommandWrite, Store};
use crate::terminal::handle::{TaskEnds, Terminal};
use crate::terminal::input::keyboard::{Keyboard, Write};
use crate::terminal::input::stdin_pipe::Progress;
use crate::terminal::input::tty;
use crate::terminal::output::backlog::Backlog;
use crate::terminal::output::block_writer::{BlockWriter, Work};
use crate::terminal::output::disk::DiskShare;
use crate::terminal::output::flood_turn::{FloodTurn, FloodTurns};
use crate::terminal::output::flow::Flow;
use crate::terminal::output::pump::OutputPump;
use crate::terminal::output::shell_commands::CommandChange;
use crate::terminal::output::source::Source;
use crate::terminal::output::spool_writer::PumpStop;
use crate::terminal::screen::checkpoints::Checkpoints;
use crate::terminal::screen::size::Size;

/// How often a hung-up PTY is looked at: a program may close the terminal and open it again.
const HUNG_UP_RETRY: Duration = Duration::from_millis(250);

/// Where the terminal is in its life.
#[derive(Debug)]
enum Phase {
    /// The root process lives.
    Running,
    /// The root process was reaped; output may still come.
    Draining(Drain),
    /// All output is here and the exit is published; the store has the rest to do.
    Storing,
}

/// Whether the PTY or the pipes have another end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line {
    Open,
    /// No process has the other side open, so readiness means nothing.
    HungUp {
        look_at: Instant,
    },
    /// The pipes have no writer, and can never have one again.
    Closed,
}

/// What every terminal's task needs of the daemon.
#[derive(Debug)]
pub struct TaskContext {
    pub store: Store,
    pub keeper: KeeperClient,
    /// What all terminals have waiting for the store.
    pub backlog: Backlog,
    pub events: broadcast::Sender<TerminalEvent>,
    pub flood_turns: FloodTurns,
}

/// The task.
#[derive(Debug)]
pub struct Actor {
    terminal: Arc<Terminal>,
    store: Store,
    keeper: KeeperClient,
    events: TaskEvents,
    ends: TaskEnds,
    source: Source,
    pump: OutputPump,
    keyboard: Keyboard,
    blocks: BlockWriter,
    checkpoints: Checkpoints,
    phase: Phase,
    line: Line,
    flood_turn: FloodTurn,
}

impl Actor {
    /// Prepares the task of a terminal whose screen is fed so far. Must be called inside the runtime.
    pub fn new(
        terminal: Arc<Terminal>,
        context: TaskContext,
        ends: TaskEnds,
        source: Source,
        pump: OutputPump,
        flow: Flow,
        disk: DiskShare,
    ) -> Self {
        let backlog = context.backlog.share();
        if let Some(stdin) = source.stdin() {
            // What the last server has left.
            terminal.input_budget.add(stdin.queued());
        }
        Self {
            store: context.store,
            keeper: context.keeper,
            events: TaskEvents::new(terminal.id().clone(), context.events),
            ends,
            source,
            pump,
            keyboard: Keyboard::default(),
            blocks: BlockWriter::new(Arc::clone(&terminal), flow, disk, backlog),
            checkpoints: Checkpoints::new(terminal.end(), Instant::now()),
            phase: Phase::Running,
            line: Line::Open,
            flood_turn: FloodTurn::new(context.flood_turns, Instant::now()),
            terminal,
        }
    }

    /// Runs until the command has ended and everything of it is stored.
    pub async fn run(mut self) {
        let mut committed = self.blocks.watch_committed();
        // A child may have ended while there was no server: the keeper says so at the start.
        self.ends.reaped.mark_changed();
        loop {
            // A terminal that is always ready must leave the others their turn.
            if self.flood_turn.ends_at().is_some() {
                yield_now().await;
            } else {
                consume_budget().await;
            }
            let now = Instant::now();
            let work = self.blocks.next_work(self.checkpoints.at(), now);
            let has_changes = self.pump.has_changes();
            let is_storing = matches!(self.phase, Phase::Storing);
            if is_storing && self.blocks.is_all_stored() && work.is_none() && !has_changes {
                break;
            }
            let may_read = self.blocks.may_read() && !is_storing;
            let may_pump = may_read && self.line == Line::Open;
            // What is left of a command that has ended is read at once.
            if may_pump && matches!(self.phase, Phase::Running) {
                self.flood_turn.expire(now);
            } else {
                self.flood_turn.leave();
            }
            let may_pump = may_pump && self.flood_turn.may_read();
            let wake_at = self.wake_at(now, may_read, work.is_some());
            tokio::select! {
                changed = self.ends.reaped.changed(), if matches!(self.phase, Phase::Running) => {
                    // The sender lives in the terminal, which this task holds.
                    if changed.is_ok() { self.check_reaped(); }
                }
                () = self.flood_turn.turn() => {}
                ready = self.source.readable(), if may_pump => {
                    match ready {
                        Ok(Some(mut guard)) => {
                            let stop = self.pump.pump(guard.get_inner(), self.keyboard.queue());
                            let once_closed = guard.ready().is_read_closed();
                            if !matches!(stop, Ok(PumpStop::Budget)) { guard.clear_ready(); }
                            if once_closed && matches!(stop, Ok(PumpStop::Drained)) {
                                self.renew_pty();
                            }
                            self.pumped(stop);
                        }
                        Ok(None) => {
                            let stop = self.pump();
                            self.pumped(stop);
                        }
                        Err(error) => self.pumped(Err(error)),
                    }
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
                            self.written(write);
                        }
                        Err(_) => self.abandon_input(),
                    }
                }
                ready = self.source.stdin_ready() => self.feed_stdin(ready.is_ok()),
                Some(request) = self.ends.requests.recv() => self.execute(request),
                () = self.blocks.disk_changed() => {}
                permit = self.store.reserve_block(), if work.is_some() || has_changes => {
                    // The store is closed for good when the server ends. The spool stays.
                    let Ok(permit) = permit else { return };
                    self.do_work(work, permit);
                }
                changed = committed.changed() => {
                    if changed.is_ok() {
                        let stored = *committed.borrow_and_update();
                        self.blocks.committed(stored, self.pump.fed());
                    }
                }
                () = sleep_until(wake_at.unwrap_or(now).into()), if wake_at.is_some() => {
                    self.woken(may_read);
                }
            }
        }
        let (terminal, store, fed) = (&self.terminal, &self.store, self.pump.fed());
        if self.checkpoints.finish(terminal, store, fed).await.is_ok() {
            record_exit(terminal, store, &self.keeper, self.blocks.gaps()).await;
        }
    }

    /// When something is to be done although nothing happens.
    fn wake_at(&self, now: Instant, may_read: bool, has_work: bool) -> Option<Instant> {
        // Work that is due waits for a place in the store's queue, not for a time.
        let due = self.blocks.next_due().filter(|_| !has_work);
        let line = match self.line {
            Line::HungUp { look_at } if may_read => Some(look_at),
            _ => None,
        };
        let drained = match self.phase {
            Phase::Draining(drain) => Some(drain.wake_at(now, may_read)),
            Phase::Running | Phase::Storing => None,
        };
        let held = self.keyboard.look_at();
        let turn = self.flood_turn.ends_at();
        [due, line, drained, held, turn].into_iter().flatten().min()
    }

    fn woken(&mut self, may_read: bool) {
        let now = Instant::now();
        if let Some(master) = self.source.pty() {
            let refused = self.keyboard.look(&self.terminal, master, now);
            self.terminal.input_budget.release(refused);
        }
        if may_read
            && let Line::HungUp { look_at } = self.line
            && look_at <= now
        {
            self.line = Line::Open;
            let stop = self.pump();
            self.pumped(stop);
        }
        if let Phase::Draining(drain) = self.phase {
            let store = StoreState {
                may_read,
                is_stalled: self.store.stall().is_some(),
            };
            match drain.step(self.pump.end(), now, store) {
                DrainStep::Wait => {}
                DrainStep::Read => {
                    let stop = self.pump();
                    self.pumped(stop);
                }
                DrainStep::Publish => self.publish_exit(),
            }
        }
    }

    fn check_reaped(&mut self) {
        let Some(status) = *self.ends.reaped.borrow_and_update() else {
            return;
        };
        let times = match self.terminal.record.children {
            Some(_) => DrainTimes::CALL,
            None => DrainTimes::TERMINAL,
        };
        let own_end = self.pump.end() + self.source.waiting_in_pipes();
        self.phase = Phase::Draining(Drain::new(status, times, own_end, Instant::now()));
        self.blocks.drain();
        self.abandon_input();
        self.close_stdin();
        if self.blocks.may_read() {
            let stop = self.pump();
            self.pumped(stop);
        }
    }

    fn pump(&mut self) -> io::Result<PumpStop> {
        match &mut self.source {
            Source::Pty(master) => self.pump.pump(master.get_ref(), self.keyboard.queue()),
            Source::Pipes(pipes) => {
                let stop = self.pump.pump_pipes(pipes, self.keyboard.queue());
                self.abandon_input();
                stop
            }
        }
    }

    /// Publishes what was pumped, and sees why the pump stopped.
    fn pumped(&mut self, stop: io::Result<PumpStop>) {
        let now = Instant::now();
        let end = self.pump.end();
        if end > self.terminal.end() {
            self.flood_turn.add(end.since(self.terminal.end()), now);
            self.terminal.transcript.grew(end, self.terminal.age_ms());
            let screen = self.screen_state(now);
            self.terminal.update(|progress| {
                progress.end = end;
                progress.screen = screen;
            });
            self.terminal.touch();
            let fed = self.pump.fed();
            self.blocks.grew(end, fed, now);
            self.checkpoints
                .keep_if_due(&self.terminal, &self.store, fed, now);
            self.events.output(end, now);
            if let Phase::Draining(drain) = &mut self.phase {
                drain.grew(now);
            }
        }
        match stop {
            Ok(PumpStop::Budget | PumpStop::Drained) => {}
            Ok(PumpStop::HungUp) => match self.phase {
                Phase::Draining(_) => self.publish_exit(),
                _ => self.line = self.hung_up(now),
            },
            Err(error) => {
                tracing::error!(terminal = %self.terminal.id(), %error, "cannot read the terminal");
                // The cause may be a lack of memory; the output stays in the PTY or the pipe.
                self.line = look_again(now);
            }
        }
    }

    fn hung_up(&self, now: Instant) -> Line {
        match self.source.stdio() {
            Stdio::Pty => look_again(now),
            Stdio::Pipes => Line::Closed,
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

    fn publish_exit(&mut self) {
        let Phase::Draining(Drain { status, .. }) = self.phase else {
            return;
        };
        self.phase = Phase::Storing;
        self.pump.finish(self.keyboard.queue());
        self.blocks.finish();
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
        if let Some((limit, value)) = limit {
            self.events.process_limit(limit, value);
        }
        self.events.exited(exit_status(status), self.terminal.end());
    }

    fn held_to(&self) -> Option<&Confinement> {
        self.terminal.record.held_to.as_ref()
    }

    /// The limit that ended a command in its shell, if one did.
    fn limit_in(&self, change: &CommandChange) -> Option<(EndCause, u64)> {
        match change {
            CommandChange::Ended(ended) => limit_of_command(ended.exit_code?, self.held_to()),
            CommandChange::Started(_) => None,
        }
    }

    /// Uses a place in the store's queue.
    fn do_work(&mut self, work: Option<Work>, permit: BlockPermit) {
        if let Some(change) = self.pump.next_change() {
            if let Some((limit, value)) = self.limit_in(&change) {
                self.events.process_limit(limit, value);
            }
            let terminal = self.terminal.id().clone();
            permit.send_command(CommandWrite { terminal, change });
            return;
        }
        match work {
            Some(Work::KeepScreen) => {
                self.pump.feed_all(self.keyboard.queue());
                let screen = self.checkpoints.take(&self.terminal, self.pump.fed());
                if let Some(screen) = screen {
                    permit.send_screen(self.terminal.id().clone(), screen);
                }
                self.blocks.screen_was_kept();
            }
            Some(Work::Drop(gap)) => {
                if let Some(reached) = self.blocks.drop_range(gap, permit, self.pump.fed()) {
                    self.events.disk_limit(reached);
                    record_disk_limit(&self.terminal, &self.store, reached);
                }
            }
            Some(Work::Store(due)) => self.blocks.store(due, permit),
            None => {}
        }
    }

    fn execute(&mut self, request: Request) {
        match request {
            Request::Input(input) => {
                let left = match &mut self.source {
                    Source::Pty(master) => {
                        self.keyboard.push(input, &self.terminal, master.get_ref())
                    }
                    Source::Pipes(pipes) => pipes.send(input),
                };
                self.terminal.input_budget.release(left);
                if !matches!(self.phase, Phase::Running) {
                    self.abandon_input();
                    self.close_stdin();
                }
            }
            Request::Resize(size, done) => {
                self.resize(size);
                answer(done, Some(()));
            }
            Request::LineDiscipline(to) => {
                answer(to, self.pty_in_use().and_then(tty::line_discipline));
            }
            Request::HasOutput(to) => answer(to, self.source.pty().map(tty::has_output)),
            Request::Foreground(to) => {
                answer(to, self.pty_in_use().and_then(tty::foreground_group));
            }
            Request::StdinInode(to) => {
                answer(to, self.source.stdin().and_then(|stdin| stdin.inode().ok()));
            }
            Request::EndOfFileCharacter(to) => {
                answer(to, self.source.pty().and_then(tty::end_of_file_character));
            }
        }
    }

    /// The PTY, while a program may use it.
    fn pty_in_use(&self) -> Option<&OwnedFd> {
        let is_storing = matches!(self.phase, Phase::Storing);
        self.source.pty().filter(|_| !is_storing)
    }

    fn resize(&mut self, size: Size) {
        let winsize = Winsize {
            ws_row: size.rows,
            ws_col: size.cols,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        if let Some(master) = self.source.pty() {
            // The kernel sends SIGWINCH if the size changes. After the exit no process gets it.
            let _ = tcsetwinsize(master, winsize);
        }
        self.pump.feed_all(self.keyboard.queue());
        let fed = self.pump.fed();
        let replies = self
            .checkpoints
            .resize(&self.terminal, &self.store, fed, size);
        let queued = self.keyboard.queue().push_answer(replies);
        self.terminal.input_budget.add(queued);
        if self.source.stdio() == Stdio::Pipes {
            self.abandon_input();
        }
        let screen = self.screen_state(Instant::now());
        self.terminal.update(|progress| {
            progress.size = size;
            progress.screen = screen;
        });
        self.events.resized(size);
    }

    fn written(&mut self, write: Write) {
        match write {
            Write::Taken(bytes) => self.terminal.input_budget.release(bytes),
            Write::Full | Write::Held => {}
            Write::Failed => self.abandon_input(),
        }
    }

    fn renew_pty(&mut self) {
        if let Err(error) = self.source.renew_pty() {
            tracing::error!(terminal = %self.terminal.id(), %error, "cannot watch the terminal anew");
            self.line = look_again(Instant::now());
        }
    }

    /// Moves input into the pipe that the command reads, and closes it at its end.
    fn feed_stdin(&mut self, is_ready: bool) {
        let Some(stdin) = self.source.stdin_mut() else {
            return;
        };
        let (progress, moved) = stdin.pump();
        self.terminal.input_budget.release(moved);
        if is_ready && progress == Progress::Moved {
            return;
        }
        self.close_stdin();
        let (keeper, id) = (self.keeper.clone(), self.terminal.id().clone());
        tokio::spawn(async move {
            if let Err(error) = keeper.close_stdin(&id).await {
                tracing::warn!(terminal = %id, %error, "cannot end the input");
            }
        });
    }

    /// Closes this server's end of the pipe that the command reads.
    fn close_stdin(&mut self) {
        if let Some(stdin) = self.source.take_stdin() {
            self.terminal.input_budget.release(stdin.close());
        }
    }

    fn abandon_input(&mut self) {
        let dropped = self.keyboard.abandon(self.source.pty());
        self.terminal.input_budget.release(dropped);
    }
}

fn look_again(now: Instant) -> Line {
    Line::HungUp {
        look_at: now + HUNG_UP_RETRY,
    }
}

/// Answers, or drops the sender where there is no answer. The asker may be gone.
fn answer<T>(to: oneshot::Sender<T>, answer: Option<T>) {
    if let Some(answer) = answer {
        let _ = to.send(answer);
    }
}

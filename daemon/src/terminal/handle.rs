//! A terminal as the rest of the server holds it: what it is, how far it has come, and a way to
//! ask its task for more.

mod connections;
mod input;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use termd_proto::terminal::{TerminalInfo, TerminalState};
use termd_proto::{Offset, TerminalId};
use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;

use crate::clock::Moment;
use crate::store::TerminalRow;
use crate::terminal::error::TerminalError;
use crate::terminal::input::input_audit::Tallies;
use crate::terminal::input::queue::Input;
use crate::terminal::input::typed_log::{Typed, TypedLog};
use crate::terminal::lifecycle::activity::{Activity, IdleTimeout};
use crate::terminal::lifecycle::presence::{Presence, Watch};
use crate::terminal::lifecycle::record::{Exit, Progress, Record, Size};
use crate::terminal::output::shell_log::ShellLog;
use crate::terminal::output::transcript::Transcript;
use crate::terminal::screen::Screen;
use termd_keeper::protocol::message::WaitStatus;
use termd_policy::TypedLines;

/// Requests that wait for a terminal's task; each sender waits for its place.
pub const COMMAND_QUEUE: usize = 64;

/// What a terminal's task is asked for.
#[derive(Debug)]
pub enum Command {
    /// Type this.
    Input(Input),
    /// Take this size, and say when it is taken and queued for the database.
    Resize(Size, oneshot::Sender<()>),
    /// Say how the tty reads.
    LineDiscipline(oneshot::Sender<LineDiscipline>),
    /// Say which character ends input (VEOF).
    EndOfFileCharacter(oneshot::Sender<u8>),
    /// Say which process group the tty has in the foreground; dropped where it has none.
    Foreground(oneshot::Sender<i32>),
}

/// How a tty takes what is typed (termios(3)).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineDiscipline {
    /// ECHO.
    pub echo: bool,
    /// ICANON.
    pub canonical: bool,
}

impl LineDiscipline {
    /// A line is read and not shown: what getpass(3), `read -s` and sudo(8) set for a secret.
    pub fn awaits_secret(self) -> bool {
        self.canonical && !self.echo
    }
}

/// One terminal.
#[derive(Debug)]
pub struct Terminal {
    /// What it is.
    pub record: Record,
    /// Its output.
    pub transcript: Transcript,
    /// What a person would see.
    pub screen: Screen,
    /// When something last happened in it, and who is there.
    pub(crate) activity: Activity,
    progress: watch::Sender<Progress>,
    reaped: watch::Sender<Option<WaitStatus>>,
    commands: mpsc::Sender<Command>,
    input_queued: AtomicUsize,
    unstored: AtomicU64,
    /// How much of its output the quota of all lets it keep.
    tight: watch::Sender<Option<u64>>,
    /// Connections that it ends with.
    holders: AtomicUsize,
    typists: Mutex<BTreeSet<u64>>,
    /// What was typed since the last record of it.
    tallies: Mutex<Tallies>,
    /// Connections that are attached, and how they are told that they are no more.
    attached: Mutex<BTreeMap<u64, CancellationToken>>,
    typed: Mutex<TypedLog>,
    shell: Mutex<ShellLog>,
    /// Waits that look at its output.
    waits: AtomicUsize,
    /// What was typed since the last line, for the gate; held while a line is judged, so that
    /// lines are judged in the order in which they are typed.
    pub(crate) typed_lines: tokio::sync::Mutex<TypedLines>,
}

/// What a terminal's task needs of it beside the terminal itself.
#[derive(Debug)]
pub struct TaskEnds {
    /// What it is asked for.
    pub commands: mpsc::Receiver<Command>,
    /// Told when its root process was reaped.
    pub reaped: watch::Receiver<Option<WaitStatus>>,
}

impl Terminal {
    /// Gives back the memory of its output: from now on the database is read. It must have ended,
    /// and be stored.
    pub fn leave_memory(&self) {
        self.screen.discard();
        if let Err(error) = self.transcript.discard() {
            tracing::warn!(terminal = %self.id(), %error, "cannot give back a spool");
        }
    }

    /// A terminal, and the ends for its task. Without a task the ends are dropped.
    pub fn new(
        record: Record,
        transcript: Transcript,
        screen: Screen,
        progress: Progress,
    ) -> (Arc<Self>, TaskEnds) {
        let (commands, commands_end) = mpsc::channel(COMMAND_QUEUE);
        let (reaped, reaped_end) = watch::channel(None);
        let terminal = Self {
            record,
            transcript,
            screen,
            activity: Activity::new(Moment::now()),
            progress: watch::Sender::new(progress),
            reaped,
            commands,
            input_queued: AtomicUsize::new(0),
            unstored: AtomicU64::new(0),
            tight: watch::Sender::new(None),
            holders: AtomicUsize::new(0),
            typists: Mutex::default(),
            tallies: Mutex::default(),
            attached: Mutex::default(),
            typed: Mutex::default(),
            shell: Mutex::default(),
            waits: AtomicUsize::new(0),
            typed_lines: tokio::sync::Mutex::default(),
        };
        (
            Arc::new(terminal),
            TaskEnds {
                commands: commands_end,
                reaped: reaped_end,
            },
        )
    }

    /// Its id.
    pub fn id(&self) -> &TerminalId {
        &self.record.id
    }

    /// How far it has come.
    pub fn progress(&self) -> Progress {
        self.progress.borrow().clone()
    }

    /// Watches how far it has come; whoever does is there meanwhile, so that it is not idle.
    pub fn watch(&self) -> Watch<'_> {
        Watch::new(self.watch_from_afar(), self.attend())
    }

    /// Watches how far it has come, without being there: for what the daemon does by itself.
    pub(crate) fn watch_from_afar(&self) -> watch::Receiver<Progress> {
        self.progress.subscribe()
    }

    /// Somebody is there, until what this returns is dropped: it is not idle meanwhile.
    pub fn attend(&self) -> Presence<'_> {
        Presence::at(self)
    }

    /// Somebody typed or read, or something was printed.
    pub fn touch(&self) {
        self.activity.touch(Moment::now());
    }

    /// Changes how far it has come. Only its task, and for its end the service, do.
    pub(crate) fn update(&self, change: impl FnOnce(&mut Progress)) {
        self.progress.send_modify(change);
    }

    /// The end of its output now.
    pub fn end(&self) -> Offset {
        self.progress.borrow().end
    }

    /// The keeper has reaped its root process.
    pub fn root_was_reaped(&self, status: WaitStatus) {
        self.reaped.send_replace(Some(status));
    }

    /// Where it is in its life.
    pub fn state(&self) -> TerminalState {
        state_of(&self.progress.borrow())
    }

    /// All that is known of it.
    pub fn info(&self) -> TerminalInfo {
        let progress = self.progress();
        let exit = progress.exit.as_ref();
        TerminalInfo {
            id: self.record.id.clone(),
            label: self.record.label.clone(),
            argv: self.record.argv.clone(),
            cwd: self.record.cwd.clone(),
            pid: self.record.pid,
            state: state_of(&progress),
            exit_status: exit.and_then(|exit| exit.status.clone()),
            cols: progress.size.cols,
            rows: progress.size.rows,
            owner: self.record.owner.clone(),
            created_at_ms: self.record.created_at_ms,
            exited_at_ms: exit.map(|exit| exit.at_ms),
            start: Offset::ZERO,
            end: progress.end,
            gaps: self.transcript.known_gaps().all().to_vec(),
            output_byte_limit: self.record.output_byte_limit,
            stdio: self.record.stdio,
            last_activity_ms: self.activity.last_ms(Moment::now()),
            idle_timeout_ms: self.record.idle_timeout.map(IdleTimeout::ms),
            close_cause: progress.close_cause,
            end_cause: progress.end_cause,
            confinement: self.record.held_to.clone(),
            meta: self.record.meta.clone(),
        }
    }

    /// From now on no more than this of its output is kept, in bytes; never more again.
    pub(crate) fn tighten(&self, bytes: u64) {
        self.tight.send_if_modified(|tight| {
            let is_less = tight.is_none_or(|tight| bytes < tight);
            if is_less {
                *tight = Some(bytes);
            }
            is_less
        });
    }

    /// Watches that.
    pub(crate) fn tightened(&self) -> watch::Receiver<Option<u64>> {
        self.tight.subscribe()
    }

    /// The database's row for it as it is now.
    pub(crate) fn row(&self) -> TerminalRow {
        TerminalRow {
            last_activity_ms: Some(self.activity.last_ms(Moment::now())),
            ..self.record.to_row(&self.progress())
        }
    }

    /// Waits for the exit; without end if there is none. Whoever waits is there meanwhile.
    pub async fn wait_for_exit(&self) -> Result<Exit, TerminalError> {
        let _present = self.attend();
        self.exit().await
    }

    /// Resolves with the exit; without end if there is none. Nobody is there for it.
    pub(crate) async fn exit(&self) -> Result<Exit, TerminalError> {
        let mut watch = self.watch_from_afar();
        let progress = watch
            .wait_for(|progress| progress.exit.is_some())
            .await
            .map_err(|_| TerminalError::Stopping)?;
        progress.exit.clone().ok_or(TerminalError::Stopping)
    }

    /// Waits for output after `offset`, or for the exit, `longest` at the longest.
    pub async fn wait_for_output(&self, offset: Offset, longest: Duration) {
        let mut watch = self.watch();
        let grown = watch.wait_for(|progress| progress.end > offset || progress.exit.is_some());
        // Nothing came: the caller looks at what there is.
        let _ = tokio::time::timeout(longest, grown).await;
    }

    /// Sets its size; resolves when it has it. On an exited terminal: nothing.
    pub(crate) async fn resize(&self, size: Size) {
        let (done, told) = oneshot::channel();
        // Its task is gone only when it has exited.
        if (self.commands.send(Command::Resize(size, done)).await).is_ok() {
            let _ = told.await;
        }
    }

    /// Asks its task for something; false: it has none any more.
    pub(crate) async fn ask(&self, command: Command) -> bool {
        self.commands.send(command).await.is_ok()
    }

    /// How its tty reads now; `None` once it has exited.
    pub async fn line_discipline(&self) -> Option<LineDiscipline> {
        let (answer, told) = oneshot::channel();
        if !self.ask(Command::LineDiscipline(answer)).await {
            return None;
        }
        told.await.ok()
    }

    /// The character that ends input at its tty (VEOF, termios(3)); `None` once it has exited, and
    /// where there is none.
    pub(crate) async fn end_of_file_character(&self) -> Option<u8> {
        let (answer, told) = oneshot::channel();
        let asked = self.commands.send(Command::EndOfFileCharacter(answer));
        asked.await.ok()?;
        told.await.ok()
    }

    /// Bytes of its output that are not in the database yet.
    pub fn unstored(&self) -> u64 {
        self.unstored.load(Ordering::Relaxed)
    }

    /// Its task says how many bytes are not in the database yet.
    pub(crate) fn set_unstored(&self, bytes: u64) {
        self.unstored.store(bytes, Ordering::Relaxed);
    }

    /// Resolves when its task has ended: it has exited and all of it is stored.
    pub(crate) async fn task_has_ended(&self) {
        self.commands.closed().await;
    }

    /// Remembers what was typed, for whoever waits for what comes of it.
    pub fn remember_typed(&self, typed: Typed) {
        self.touch();
        let mut log = self.typed.lock().unwrap_or_else(PoisonError::into_inner);
        log.push(typed);
    }

    /// What was typed whose echo may lie at or after `since`, oldest first.
    pub fn typed_since(&self, since: Offset) -> Vec<Typed> {
        let log = self.typed.lock().unwrap_or_else(PoisonError::into_inner);
        log.since(since)
    }

    /// What its shell has said lately: looks at it, or adds to it. Held for no longer than that.
    pub(crate) fn shell<T>(&self, with: impl FnOnce(&mut ShellLog) -> T) -> T {
        with(&mut self.shell.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Waits that look at its output now.
    pub(crate) fn waits(&self) -> &AtomicUsize {
        &self.waits
    }

    /// Looks at what was typed since the last record of it, or adds to it. Held for no longer.
    pub(crate) fn tallies<T>(&self, with: impl FnOnce(&mut Tallies) -> T) -> T {
        with(&mut self.tallies.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn state_of(progress: &Progress) -> TerminalState {
    match (&progress.closed_at_ms, &progress.exit) {
        (Some(_), _) => TerminalState::Closed,
        (None, Some(_)) => TerminalState::Exited,
        (None, None) => TerminalState::Running,
    }
}

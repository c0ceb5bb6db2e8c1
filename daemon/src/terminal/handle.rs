//! A terminal as the rest of the server holds it: what it is, how far it has come, and a way to
//! its task.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use termd_keeper::protocol::message::WaitStatus;
use termd_policy::TypedLines;
use termd_proto::terminal::{Agent, Owner, Stdin, Stdio, TerminalInfo, TerminalState};
use termd_proto::{Label, Offset, Tags, TerminalId};
use tokio::sync::{mpsc, oneshot, watch};

use super::error::TerminalError;
use super::input::budget::InputBudget;
use super::input::input_audit::InputAudit;
use super::input::tty::LineDiscipline;
use super::input::typed_log::TypedLog;
use super::lifecycle::activity::Activity;
use super::lifecycle::agents::TerminalAgents;
use super::lifecycle::attention_log::AttentionLog;
use super::lifecycle::connections::Connections;
use super::lifecycle::idle_timeout::IdleTimeout;
use super::lifecycle::presence::{Presence, Watch};
use super::lifecycle::progress::{Exit, Progress};
use super::lifecycle::record::Record;
use super::lifecycle::request::{REQUEST_QUEUE, Request};
use super::output::shell_log::ShellLog;
use super::output::transcript::Transcript;
use super::read::plain_cache::PlainCache;
use super::screen::Screen;
use super::screen::size::Size;
use crate::clock::{Moment, boottime_ms};
use crate::store::TerminalRow;

/// One terminal.
#[derive(Debug)]
pub struct Terminal {
    pub record: Record,
    /// The label now. The record has that of its creation.
    label: Mutex<Option<Label>>,
    /// The tags now, as the label.
    tags: Mutex<Tags>,
    pub transcript: Transcript,
    /// Where readers of plain text go on from.
    pub(crate) plain: PlainCache,
    pub screen: Screen,
    pub(crate) activity: Activity,
    pub(crate) connections: Connections,
    pub(crate) agents: TerminalAgents,
    pub(crate) attention: AttentionLog,
    pub(crate) input_budget: InputBudget,
    pub(crate) typed: TypedLog,
    /// Lines that are being typed, for the gate. The lock is held while a line is judged, so that
    /// lines are judged in the order in which they are typed.
    pub(crate) typed_lines: tokio::sync::Mutex<TypedLines>,
    /// Waits that look at the output now.
    pub(crate) waits: AtomicUsize,
    progress: watch::Sender<Progress>,
    reaped: watch::Sender<Option<WaitStatus>>,
    requests: mpsc::Sender<Request>,
    /// Bytes of output that are not in the database yet.
    unstored: AtomicU64,
    /// How much of the output the quota of all terminals leaves, in bytes.
    total_quota: watch::Sender<Option<u64>>,
    input_audit: Mutex<InputAudit>,
    shell: Mutex<ShellLog>,
}

/// The receiving ends for a terminal's task.
#[derive(Debug)]
pub struct TaskEnds {
    pub requests: mpsc::Receiver<Request>,
    /// Set once the root process was reaped.
    pub reaped: watch::Receiver<Option<WaitStatus>>,
}

impl Terminal {
    /// Makes a terminal, and the ends for its task. Without a task the ends are dropped.
    pub fn new(
        record: Record,
        transcript: Transcript,
        screen: Screen,
        progress: Progress,
    ) -> (Arc<Self>, TaskEnds) {
        let (requests, requests_end) = mpsc::channel(REQUEST_QUEUE);
        let (reaped, reaped_end) = watch::channel(None);
        let terminal = Self {
            label: Mutex::new(record.label.clone()),
            tags: Mutex::new(record.tags.clone()),
            record,
            transcript,
            plain: PlainCache::default(),
            screen,
            activity: Activity::new(Moment::now()),
            connections: Connections::default(),
            agents: TerminalAgents::default(),
            attention: AttentionLog::default(),
            input_budget: InputBudget::default(),
            typed: TypedLog::default(),
            typed_lines: tokio::sync::Mutex::default(),
            waits: AtomicUsize::new(0),
            progress: watch::Sender::new(progress),
            reaped,
            requests,
            unstored: AtomicU64::new(0),
            total_quota: watch::Sender::new(None),
            input_audit: Mutex::default(),
            shell: Mutex::default(),
        };
        let ends = TaskEnds {
            requests: requests_end,
            reaped: reaped_end,
        };
        (Arc::new(terminal), ends)
    }

    pub fn id(&self) -> &TerminalId {
        &self.record.id
    }

    /// What the keeper keeps of the terminal for the next server.
    pub(crate) fn notes(&self) -> Vec<u8> {
        let record = Record {
            label: self.label(),
            tags: self.tags(),
            ..self.record.clone()
        };
        record.to_notes(&self.agents)
    }

    /// The label, if it has one.
    pub(crate) fn label(&self) -> Option<Label> {
        self.label
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Sets the label. Only the registry does, which knows whose a label is.
    pub(crate) fn set_label(&self, label: Option<Label>) {
        *self.label.lock().unwrap_or_else(PoisonError::into_inner) = label;
    }

    /// The words that group it with others.
    pub(crate) fn tags(&self) -> Tags {
        self.tags
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Changes the tags that it has now.
    pub(crate) fn change_tags<E>(
        &self,
        change: impl FnOnce(&Tags) -> Result<Tags, E>,
    ) -> Result<(), E> {
        let mut tags = self.tags.lock().unwrap_or_else(PoisonError::into_inner);
        *tags = change(&tags)?;
        Ok(())
    }

    /// The agent whose processes work in the terminal: that which opened it, or has typed into it.
    pub(crate) fn agent(&self) -> Option<Agent> {
        self.record.owner.agent().or_else(|| self.agents.typist())
    }

    /// Whether the caller is the agent that has opened the terminal.
    pub(crate) fn is_opened_by(&self, caller: &Owner) -> bool {
        let opened_by = &self.record.owner;
        match (&opened_by.agent, &caller.agent) {
            (Some(opened_by), Some(agent)) => opened_by.is_same_process(agent),
            // The database does not know agents, and has ended terminals alone.
            (None, Some(_)) => {
                let client = |owner: &Owner| (owner.front, owner.pid, owner.client.clone());
                opened_by.agent().is_some() && client(opened_by) == client(caller)
            }
            (_, None) => false,
        }
    }

    pub fn progress(&self) -> Progress {
        self.progress.borrow().clone()
    }

    /// Watches the progress. The watcher counts as present, so that the terminal is not idle.
    pub fn watch(&self) -> Watch<'_> {
        Watch::new(self.watch_unattended(), self.attend())
    }

    /// Watches the progress without being present: for what the daemon does by itself.
    pub(crate) fn watch_unattended(&self) -> watch::Receiver<Progress> {
        self.progress.subscribe()
    }

    /// Counts somebody as present until the guard is dropped.
    pub fn attend(&self) -> Presence<'_> {
        Presence::at(&self.activity)
    }

    /// Restarts the idle time: somebody typed or read, or something was printed.
    pub fn touch(&self) {
        self.activity.touch(Moment::now());
    }

    /// Changes the progress. Only the terminal's task does, and the service for its end.
    pub(crate) fn update(&self, change: impl FnOnce(&mut Progress)) {
        self.progress.send_modify(change);
    }

    /// The end of the output that was published.
    pub fn end(&self) -> Offset {
        self.progress.borrow().end
    }

    /// Milliseconds since the terminal's start.
    pub(crate) fn age_ms(&self) -> u64 {
        boottime_ms().saturating_sub(self.record.created_at_boottime_ms.unwrap_or_default())
    }

    /// Tells the task that the keeper has reaped the root process.
    pub fn root_was_reaped(&self, status: WaitStatus) {
        self.reaped.send_replace(Some(status));
    }

    pub fn state(&self) -> TerminalState {
        state_of(&self.progress.borrow())
    }

    pub fn info(&self) -> TerminalInfo {
        let progress = self.progress();
        let exit = progress.exit.as_ref();
        TerminalInfo {
            id: self.record.id.clone(),
            label: self.label(),
            tags: self.tags(),
            argv: self.record.argv.clone(),
            agent_line: self.record.agent_line.clone(),
            cwd: self.record.cwd.clone(),
            pid: self.record.pid,
            state: state_of(&progress),
            attention: self
                .attention
                .now()
                .filter(|_| progress.closed_at_ms.is_none()),
            exit_status: exit.and_then(|exit| exit.status.clone()),
            cols: progress.size.cols,
            rows: progress.size.rows,
            owner: self.record.owner.clone(),
            created_at_ms: self.record.created_at_ms,
            exited_at_ms: exit.map(|exit| exit.at_ms),
            imported_at_ms: self.record.imported_at_ms,
            closed_at_ms: progress.closed_at_ms,
            start: Offset::ZERO,
            end: progress.end,
            gaps: self.transcript.known_gaps().all().to_vec(),
            output_byte_limit: self.record.output_byte_limit,
            stdio: self.record.stdio,
            last_activity_ms: self.activity.last_ms(Moment::now()),
            seen_at_ms: self.attention.seen_at_ms(),
            idle_timeout_ms: self.record.idle_timeout.map(IdleTimeout::ms),
            close_cause: progress.close_cause,
            end_cause: progress.end_cause,
            viewers: self.connections.viewers(),
            confinement: self.record.held_to.clone(),
            meta: self.record.meta.clone(),
        }
    }

    /// The database's row as it is now.
    pub(crate) fn row(&self) -> TerminalRow {
        TerminalRow {
            label: self.label(),
            tags: self.tags(),
            last_activity_ms: Some(self.activity.last_ms(Moment::now())),
            seen_at_ms: self.attention.seen_at_ms(),
            ..self.record.to_row(&self.progress())
        }
    }

    /// Waits for the exit, for ever if there is none. The waiter counts as present.
    pub async fn wait_for_exit(&self) -> Result<Exit, TerminalError> {
        let _present = self.attend();
        self.exit().await
    }

    /// Waits for the exit without being present.
    pub(crate) async fn exit(&self) -> Result<Exit, TerminalError> {
        let mut watch = self.watch_unattended();
        let progress = watch
            .wait_for(|progress| progress.exit.is_some())
            .await
            .map_err(|_| TerminalError::Stopping)?;
        progress.exit.clone().ok_or(TerminalError::Stopping)
    }

    /// Waits for output after `offset` or for the exit, at most `timeout`. The caller looks at what
    /// there is then.
    pub async fn wait_for_output(&self, offset: Offset, timeout: Duration) {
        let mut watch = self.watch();
        let grown = watch.wait_for(|progress| progress.end > offset || progress.exit.is_some());
        let _ = tokio::time::timeout(timeout, grown).await;
    }

    /// Sends a request to the task; false if the task has ended.
    pub(crate) async fn request(&self, request: Request) -> bool {
        self.requests.send(request).await.is_ok()
    }

    /// Asks the task; `None` if it has ended, or has no answer.
    pub(crate) async fn ask<T>(
        &self,
        request: impl FnOnce(oneshot::Sender<T>) -> Request,
    ) -> Option<T> {
        let (answer, answered) = oneshot::channel();
        if !self.request(request(answer)).await {
            return None;
        }
        answered.await.ok()
    }

    /// Sets the size, and returns when it is set. An exited terminal is left as it is.
    pub(crate) async fn resize(&self, size: Size) {
        self.ask(|done| Request::Resize(size, done)).await;
    }

    /// How the tty reads now; `None` once the command has exited.
    pub async fn line_discipline(&self) -> Option<LineDiscipline> {
        self.ask(Request::LineDiscipline).await
    }

    /// The character that ends input at the tty (VEOF, termios(3)); `None` where there is none, and
    /// once the command has exited.
    pub(crate) async fn end_of_file_character(&self) -> Option<u8> {
        self.ask(Request::EndOfFileCharacter).await
    }

    /// Waits until the task has ended: the command has exited and everything is stored.
    pub(crate) async fn task_has_ended(&self) {
        self.requests.closed().await;
    }

    /// Fails where nothing can ever be typed: a command on pipes has no input, unless that is a pipe.
    pub fn takes_input(&self) -> Result<(), TerminalError> {
        match (self.record.stdio, self.record.stdin) {
            (Stdio::Pty, _) | (Stdio::Pipes, Stdin::Pipe) => Ok(()),
            (Stdio::Pipes, Stdin::Null | Stdin::Inherited) => {
                Err(TerminalError::NoInput(self.id().clone()))
            }
        }
    }

    /// Why nothing can be typed any more.
    pub fn takes_no_input(&self) -> TerminalError {
        let id = self.id().clone();
        match self.progress.borrow().close_cause {
            Some(cause) => TerminalError::Closed {
                id,
                cause,
                idle_timeout: self.record.idle_timeout,
            },
            None => TerminalError::Exited(id),
        }
    }

    /// Why a pipe takes nothing any more.
    pub(crate) fn input_has_ended(&self) -> TerminalError {
        match self.state() {
            TerminalState::Running => TerminalError::InputEnded(self.id().clone()),
            TerminalState::Exited | TerminalState::Closed => self.takes_no_input(),
        }
    }

    /// Lowers how much output is kept, in bytes. The bound never rises again.
    pub(crate) fn lower_total_quota(&self, bytes: u64) {
        self.total_quota.send_if_modified(|quota| {
            let is_lower = quota.is_none_or(|quota| bytes < quota);
            if is_lower {
                *quota = Some(bytes);
            }
            is_lower
        });
    }

    pub(crate) fn watch_total_quota(&self) -> watch::Receiver<Option<u64>> {
        self.total_quota.subscribe()
    }

    /// Bytes of output that are not in the database yet.
    pub fn unstored(&self) -> u64 {
        self.unstored.load(Ordering::Relaxed)
    }

    pub(crate) fn set_unstored(&self, bytes: u64) {
        self.unstored.store(bytes, Ordering::Relaxed);
    }

    /// Gives back the memory of screen and output. The terminal must have ended and be stored: from
    /// now on the database is read.
    pub fn leave_memory(&self) {
        self.screen.discard();
        if let Err(error) = self.transcript.discard() {
            tracing::warn!(terminal = %self.id(), %error, "cannot give back a spool");
        }
    }

    /// Looks at the shell's marks, or adds to them. The lock is held only for the call.
    pub(crate) fn shell<T>(&self, with: impl FnOnce(&mut ShellLog) -> T) -> T {
        with(&mut self.shell.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Looks at the audit of input, or adds to it. The lock is held only for the call.
    pub(crate) fn input_audit<T>(&self, with: impl FnOnce(&mut InputAudit) -> T) -> T {
        let audit = self.input_audit.lock();
        with(&mut audit.unwrap_or_else(PoisonError::into_inner))
    }
}

fn state_of(progress: &Progress) -> TerminalState {
    match (&progress.closed_at_ms, &progress.exit) {
        (Some(_), _) => TerminalState::Closed,
        (None, Some(_)) => TerminalState::Exited,
        (None, None) => TerminalState::Running,
    }
}

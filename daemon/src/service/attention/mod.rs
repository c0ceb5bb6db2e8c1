//! What each terminal wants of a person: one task a terminal, which looks when something has happened.
//!
//! **Promises:** a terminal that prints is looked at four times a second at the most. One that is quiet is
//! looked at again each time that the quiet has doubled, since a program may begin to read without a word.
//! Each change is an event.
//! Must not know: who is told, but for the person's own program ([`command`]).

mod command;
mod foreground;
mod table;

use std::sync::Arc;
use std::time::Duration;

use termd_proto::TerminalId;
use termd_proto::attention::{Attention, AttentionState, MAX_WHY_BYTES};
use termd_proto::event::TerminalEvent;
use termd_proto::terminal::ExitStatus;
use tokio::sync::broadcast;
use tokio::time::sleep;

pub(crate) use self::command::{AttentionCommand, is_attention_command};
use self::foreground::own_command;
use self::table::{Fact, Facts, Foreground, Outcome, judge};
use super::one_line::one_line;
use super::output_secrets::OutputSecrets;
use crate::approval::{Approvals, WaitingQuestion, WaitingQuestions};
use crate::clock::monotonic_ms;
use crate::store::Store;
use crate::terminal::handle::Terminal;

/// How long after output, a key or another event a terminal is looked at: what comes at once after it is
/// waited for.
const SETTLE: Duration = Duration::from_millis(250);
/// From this quiet on terminals are looked at on whole seconds: a hundred that are quiet share one wake-up.
const LONG_QUIET: Duration = Duration::from_secs(2);

/// Watches terminals. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct AttentionWatch {
    pub(crate) approvals: Approvals,
    pub(crate) store: Store,
    pub(crate) secrets: OutputSecrets,
    pub(crate) events: broadcast::Sender<TerminalEvent>,
    /// The person's own program; `None`: there is none.
    pub(crate) command: Option<AttentionCommand>,
    /// When this server started.
    pub(crate) started_at_ms: i64,
}

/// How long after this moment of the monotonic clock a terminal is looked at that has been quiet for so long.
fn until_look(quiet: Duration, now_ms: u64) -> Duration {
    if quiet < LONG_QUIET {
        return quiet;
    }
    let quiet_ms = u64::try_from(quiet.as_millis()).unwrap_or(u64::MAX);
    let due_ms = now_ms.saturating_add(quiet_ms);
    let whole_ms = due_ms.div_ceil(1_000).saturating_mul(1_000);
    Duration::from_millis(whole_ms.saturating_sub(now_ms))
}

impl AttentionWatch {
    /// Watches a terminal until it is closed.
    pub(crate) fn watch(&self, terminal: &Arc<Terminal>) {
        let (this, terminal) = (self.clone(), Arc::clone(terminal));
        tokio::spawn(async move { this.follow(&terminal).await });
    }

    async fn follow(&self, terminal: &Terminal) {
        let mut progress = terminal.watch_unattended();
        let mut notes = terminal.attention.watch();
        if terminal.progress().exit.is_none() {
            // What has just been started runs, and is no cause to look at it.
            let runs = Foreground::Runs(foreground::own_command_runs(terminal));
            let questions = self.approvals.waiting_of(terminal.id());
            self.set(terminal, runs, &questions).await;
            settle(terminal).await;
        }
        // What an earlier server has found it has told.
        let was_there = terminal.record.created_at_ms < self.started_at_ms;
        let mut was_news = (!was_there).then_some(false);
        let mut quiet = SETTLE;
        loop {
            notes.mark_unchanged();
            let (is_closed, has_exited) = {
                let seen = progress.borrow_and_update();
                (seen.closed_at_ms.is_some(), seen.exit.is_some())
            };
            if is_closed {
                if was_news == Some(true) {
                    self.tell(terminal);
                }
                return;
            }
            let questions = self.approvals.waiting_of(terminal.id());
            let before = terminal.attention.now();
            self.look(terminal, &questions).await;
            let now = terminal.attention.now();
            let is_news = now.as_ref().is_some_and(is_news);
            if now != before && was_news.is_some_and(|was_news| was_news || is_news) {
                self.tell(terminal);
            }
            was_news = Some(is_news);
            tokio::select! {
                changed = progress.changed() => if changed.is_err() { return },
                changed = notes.changed() => if changed.is_err() { return },
                () = self.other_questions(terminal.id(), &questions) => continue,
                () = sleep(until_look(quiet, monotonic_ms())), if !has_exited => {
                    quiet = quiet.saturating_mul(2);
                    continue;
                }
            }
            quiet = SETTLE;
            if !has_exited {
                settle(terminal).await;
            }
        }
    }

    async fn look(&self, terminal: &Terminal, questions: &WaitingQuestions) {
        match foreground::look(&self.store, &self.secrets, terminal).await {
            Ok(foreground) => {
                let is_secret = matches!(foreground, Foreground::AwaitsSecret(_));
                let at = is_secret.then(|| terminal.end());
                terminal.attention.set_awaits_secret(at);
                self.set(terminal, foreground, questions).await;
            }
            Err(error) => {
                tracing::debug!(terminal = %terminal.id(), %error, "cannot look at a terminal");
            }
        }
    }

    /// Tells the person's program how a terminal is.
    fn tell(&self, terminal: &Terminal) {
        if let Some(command) = &self.command {
            command.run(terminal.info());
        }
    }

    async fn store_seen(&self, terminal: &Terminal) {
        match self.store.reserve_row().await {
            Ok(permit) => permit.send_terminal(terminal.row()),
            Err(error) => {
                tracing::debug!(terminal = %terminal.id(), %error, "what was seen is not stored");
            }
        }
    }

    /// Resolves when other questions wait that concern a terminal.
    async fn other_questions(&self, id: &TerminalId, before: &WaitingQuestions) {
        let mut changes = self.approvals.watch();
        while self.approvals.waiting_of(id) == *before {
            if changes.changed().await.is_err() {
                return;
            }
        }
    }

    async fn set(&self, terminal: &Terminal, foreground: Foreground, questions: &WaitingQuestions) {
        let now = attention(terminal, foreground, questions);
        let end = end_of(terminal).filter(|_| now.state == AttentionState::Idle);
        if end.is_some_and(|(_, end)| terminal.attention.saw_end(end.since_ms)) {
            // So that the next server does not tell it again.
            self.store_seen(terminal).await;
        }
        if let Some(attention) = terminal.attention.set(now) {
            let _ = self.events.send(TerminalEvent::Attention {
                id: terminal.id().clone(),
                attention,
            });
        }
    }
}

/// Whether a person is wanted who has not looked yet.
fn is_news(attention: &Attention) -> bool {
    attention.state.is_waiting() && !attention.seen
}

/// Waits for what comes at once, or for the exit.
async fn settle(terminal: &Terminal) {
    tokio::select! {
        () = sleep(SETTLE) => {}
        _ = terminal.exit() => {}
    }
}

fn attention(
    terminal: &Terminal,
    foreground: Foreground,
    questions: &WaitingQuestions,
) -> Attention {
    let fact = |question: &WaitingQuestion| Fact {
        why: one_line(&question.text, MAX_WHY_BYTES),
        since_ms: question.asked_at_ms,
    };
    let log = &terminal.attention;
    let unseen_end = end_of(terminal).filter(|(_, fact)| !log.was_seen_since(fact.since_ms));
    judge(Facts {
        question: questions.gate.as_ref().map(fact),
        secret_question: questions.secret.as_ref().map(fact),
        said: log.said(),
        foreground,
        unseen_end,
    })
}

/// How the command, or the last one in its shell, has ended; `None` while it runs, and where none ran.
fn end_of(terminal: &Terminal) -> Option<(Outcome, Fact)> {
    if let Some(exit) = terminal.progress().exit {
        let is_good = exit.status.as_ref().is_some_and(is_good);
        let fact = Fact {
            why: own_command(terminal),
            since_ms: exit.at_ms,
        };
        return Some((outcome(is_good), fact));
    }
    let last = terminal.shell(|log| log.now()).command?;
    let fact = Fact {
        why: one_line(&last.text, MAX_WHY_BYTES),
        since_ms: last.ended_at_ms?,
    };
    // A line that the shell did not run has no code, and is nothing to look at.
    Some((outcome(last.exit_code? == 0), fact))
}

fn outcome(is_good: bool) -> Outcome {
    if is_good {
        Outcome::Well
    } else {
        Outcome::Failed
    }
}

fn is_good(status: &ExitStatus) -> bool {
    status.exit_code == Some(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminals_that_are_quiet_for_long_are_looked_at_together() {
        let until = |quiet_ms, now_ms| {
            let now = Duration::from_millis(now_ms);
            let due = now + until_look(Duration::from_millis(quiet_ms), now_ms);
            due.as_millis()
        };
        assert_eq!(until(250, 1_001), 1_251);
        assert_eq!(until(1_000, 1_001), 2_001);
        for now_ms in [1_001, 1_500, 2_000] {
            assert_eq!(until(8_000, now_ms), 10_000);
        }
    }
}

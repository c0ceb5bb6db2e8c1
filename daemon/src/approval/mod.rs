//! The gate's questions to a person, and their answers.
//!
//! `QuestionTable` decides and is pure. [`Approvals`] shares it, and wakes those who wait.
//!
//! **Promises:** a question is answered once. An approval is used once, by the caller that asked, for
//! the command, environment, directory and terminal of the question. A denial holds for ten minutes,
//! whatever the caller says, and under the next server, which reads it from the audit. Everything else
//! is in memory: a server that takes over asks again.

mod attentions;
mod people;
mod question_table;
mod secret_questions;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant as ClockInstant};

use termd_policy::Pids;
use termd_policy::secrets::redact::RedactionKey;
use termd_proto::TerminalId;
use termd_proto::approval::{
    AnswerWay, ApprovalId, ApprovalInfo, ApprovalList, ApprovalState, Decision,
};
use termd_proto::attention::AttentionReport;
use termd_proto::secret::SecretQuestion;
use termd_proto::terminal::Owner;
use tokio::sync::{oneshot, watch};
use tokio::time::Instant;

use crate::clock::{Moment, now_ms};
use attentions::Attentions;
use people::People;
use question_table::QuestionTable;
use secret_questions::SecretQuestions;

pub use people::{PersonInReach, Reach};
pub use question_table::{
    Always, Doubt, NotAnswered, Part, PastDenial, Standing, Subject, SubjectHashes,
};
pub(crate) use secret_questions::SecretReply;

/// The questions of this server. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Approvals {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    /// Locked for a look and a change, never across a wait.
    table: Mutex<QuestionTable>,
    /// The same.
    secrets: Mutex<SecretQuestions>,
    /// The same.
    attentions: Mutex<Attentions>,
    /// Counts changes. Each server begins elsewhere, so that who waits for a change sees another one.
    changes: watch::Sender<u64>,
    people: Arc<People>,
}

/// A question without an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WaitingQuestion {
    /// The command, or the prompt.
    pub(crate) text: String,
    /// When it was asked, in milliseconds since the epoch.
    pub(crate) asked_at_ms: i64,
}

/// The questions that wait of one terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WaitingQuestions {
    /// The gate's.
    pub(crate) gate: Option<WaitingQuestion>,
    /// A program's, for a secret.
    pub(crate) secret: Option<WaitingQuestion>,
}

/// A caller that waits for the answer to its question.
#[derive(Debug)]
pub(crate) struct WaitingAsker {
    approvals: Approvals,
    id: ApprovalId,
}

impl Drop for WaitingAsker {
    fn drop(&mut self) {
        (self.approvals).change(|table, now| table.remove_asker(&self.id, now));
    }
}

impl Approvals {
    /// No questions yet. Each waits `answer_within` for an answer. The key is that of the subjects'
    /// hashes. `watchers` is told which processes watch the questions.
    pub fn new(answer_within: Duration, key: RedactionKey, watchers: Pids) -> Self {
        Self {
            inner: Arc::new(Inner {
                table: Mutex::new(QuestionTable::new(answer_within, key)),
                secrets: Mutex::default(),
                attentions: Mutex::default(),
                changes: watch::Sender::new(u64::try_from(now_ms()).unwrap_or(0)),
                people: Arc::new(People::new(watchers)),
            }),
        }
    }

    /// Whether a command is approved, denied, or asked about from now on.
    pub fn ask(
        &self,
        subject: Subject,
        asked_by: &Owner,
        doubt: Doubt,
        id: ApprovalId,
    ) -> Standing {
        self.change(|table, now| table.ask(subject, asked_by, doubt, id, now))
    }

    /// The caller's own word is the answer. A question that waits is answered by that. Returns a
    /// person's denial, which is stronger.
    pub fn confirm(&self, subject: &Subject, by: &Owner) -> Result<(), Box<ApprovalInfo>> {
        let confirmed = self.change(|table, now| table.confirm(subject, by, now));
        if confirmed.is_ok() && by.agent().is_none() {
            // `termctl` says so where it has asked at the tty, and no question was kept.
            self.inner.people.note_answer(ClockInstant::now());
        }
        confirmed
    }

    /// Whether a person's denial of this holds.
    pub fn is_denied(&self, subject: &Subject) -> bool {
        self.table().is_denied(subject)
    }

    /// Counts a connection of a process as one through which a person can be asked, until the value is dropped.
    pub fn join(&self, reach: Reach, pid: Option<i32>) -> PersonInReach {
        self.inner.people.join(reach, pid)
    }

    /// Whether somebody watches the questions, or has watched or answered in the last ten minutes.
    pub fn is_watched(&self) -> bool {
        let (people, now) = (&self.inner.people, ClockInstant::now());
        people.has(Reach::Watch, now) || people.has_answered(now)
    }

    /// Whether a front that asks its own person is connected, or was in the last ten minutes.
    pub fn has_asking_front(&self) -> bool {
        self.inner.people.has(Reach::Front, ClockInstant::now())
    }

    /// Whether a connection watches the questions, and each change of that.
    pub fn watched(&self) -> watch::Receiver<bool> {
        self.inner.people.watched()
    }

    /// Takes over what holds of an earlier server: its denials, when a person has last answered and
    /// when the last one has ceased to watch, both as times ago.
    pub fn restore(
        &self,
        denials: Vec<PastDenial>,
        answered: Option<Duration>,
        watched: Option<Duration>,
    ) {
        let at = |ago| {
            let now = ClockInstant::now();
            now.checked_sub(ago).unwrap_or(now)
        };
        let people = &self.inner.people;
        if let Some(ago) = answered {
            people.note_answer(at(ago));
        }
        if let Some(ago) = watched {
            people.note_left(Reach::Watch, at(ago));
        }
        self.change(|table, now| {
            for denial in denials {
                table.restore(denial, now);
            }
        });
    }

    /// Takes an answer. The first answer holds.
    pub fn answer(
        &self,
        id: &ApprovalId,
        decision: Decision,
        by: (&Owner, AnswerWay),
    ) -> Result<ApprovalInfo, NotAnswered> {
        let answered = self.change(|table, now| table.answer(id, decision, by, now));
        if answered.is_ok() {
            self.inner.people.note_answer(ClockInstant::now());
        }
        answered
    }

    /// Whether a question takes this answer.
    pub fn takes_answer(info: &ApprovalInfo, decision: Decision, by: (&Owner, AnswerWay)) -> bool {
        question_table::takes_answer(info, decision, by.0, by.1)
    }

    /// The hashes of what a question is about.
    pub fn hashes_of(&self, id: &ApprovalId) -> Option<SubjectHashes> {
        self.table().hashes_of(id).cloned()
    }

    /// The rule that would let a question's command run for always; `None` where it may run only once.
    pub fn rule_of(&self, id: &ApprovalId) -> Option<String> {
        self.table().rule_of(id).map(str::to_owned)
    }

    /// Notes the file and the line of the rule that an answer for always has written. Returns the
    /// question.
    pub fn set_rule_at(&self, id: &ApprovalId, at: (String, usize)) -> Option<ApprovalInfo> {
        self.change(|table, _| table.set_rule_at(id, at))
    }

    /// Counts changes of what is asked and said.
    pub(crate) fn watch(&self) -> watch::Receiver<u64> {
        self.inner.changes.subscribe()
    }

    /// The oldest questions that wait of what runs in a terminal, or would be typed into it.
    pub(crate) fn waiting_of(&self, terminal: &TerminalId) -> WaitingQuestions {
        WaitingQuestions {
            gate: self.table().waiting_of(terminal),
            secret: self.secrets().waiting_of(terminal),
        }
    }

    /// A question as it is now.
    pub fn get(&self, id: &ApprovalId) -> Option<ApprovalInfo> {
        self.table().get(id).cloned()
    }

    /// All questions, oldest first, once something has changed since `after`, or at the deadline.
    pub async fn list(&self, after: Option<u64>, deadline: Instant) -> ApprovalList {
        let mut changes = self.inner.changes.subscribe();
        if let Some(after) = after {
            // The sender lives as long as this does.
            let _ = tokio::time::timeout_at(deadline, changes.wait_for(|seq| *seq != after)).await;
        }
        let seq = *changes.borrow_and_update();
        ApprovalList {
            seq,
            approvals: self.table().list(),
            secrets: self.secrets().list(),
            attention: self.attentions().list(),
        }
    }

    /// Waits until a question is answered, or until the deadline; `None` where there is no such
    /// question.
    pub async fn wait(&self, id: &ApprovalId, deadline: Instant) -> Option<ApprovalInfo> {
        let mut changes = self.inner.changes.subscribe();
        loop {
            changes.mark_unchanged();
            let info = self.get(id)?;
            if info.state != ApprovalState::Pending {
                return Some(info);
            }
            let changed = tokio::time::timeout_at(deadline, changes.changed()).await;
            if !matches!(changed, Ok(Ok(()))) {
                return self.get(id);
            }
        }
    }

    /// Counts a caller that waits for the answer to a question, until the value is dropped. The question is
    /// over when the last of them has gone.
    pub(crate) fn wait_as_asker(&self, id: ApprovalId) -> WaitingAsker {
        self.table().add_asker(&id);
        WaitingAsker {
            approvals: self.clone(),
            id,
        }
    }

    /// Waits until questions have expired, and returns them.
    pub async fn expired(&self) -> Vec<ApprovalInfo> {
        let mut changes = self.inner.changes.subscribe();
        loop {
            changes.mark_unchanged();
            let next = self.table().next_expiry();
            let due = async {
                match next {
                    Some(at) => tokio::time::sleep_until(at.into()).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = due => {
                    let expired = self.change(QuestionTable::expire);
                    if !expired.is_empty() {
                        return expired;
                    }
                }
                // The sender lives as long as this does.
                _ = changes.changed() => {}
            }
        }
    }

    /// Tells those who watch what an agent has said of itself.
    pub(crate) fn attend(&self, attention: AttentionReport) {
        self.attentions().add(attention);
        self.inner.changes.send_modify(|seq| *seq += 1);
    }

    fn attentions(&self) -> MutexGuard<'_, Attentions> {
        let attentions = self.inner.attentions.lock();
        attentions.unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks those who watch for a secret: where the answer comes. `None`: too many questions wait.
    pub(crate) fn ask_secret(
        &self,
        question: SecretQuestion,
    ) -> Option<oneshot::Receiver<SecretReply>> {
        self.change_secrets(|secrets| secrets.ask(question))
    }

    /// Gives an answer to who asked for a secret; false: nobody waits for it any more.
    pub(crate) fn answer_secret(&self, id: &ApprovalId, reply: SecretReply) -> bool {
        self.inner.people.note_answer(ClockInstant::now());
        self.change_secrets(|secrets| secrets.answer(id, reply))
    }

    /// Whether a question for a secret waits.
    pub(crate) fn awaits_secret(&self, id: &ApprovalId) -> bool {
        let secrets = self.secrets().list();
        secrets.iter().any(|question| question.id == *id)
    }

    /// Takes a question for a secret back.
    pub(crate) fn withdraw_secret(&self, id: &ApprovalId) {
        self.change_secrets(|secrets| secrets.withdraw(id));
    }

    fn change_secrets<T>(&self, change: impl FnOnce(&mut SecretQuestions) -> T) -> T {
        let changed = change(&mut self.secrets());
        self.inner.changes.send_modify(|seq| *seq += 1);
        changed
    }

    fn secrets(&self) -> MutexGuard<'_, SecretQuestions> {
        let secrets = self.inner.secrets.lock();
        secrets.unwrap_or_else(PoisonError::into_inner)
    }

    fn change<T>(&self, change: impl FnOnce(&mut QuestionTable, Moment) -> T) -> T {
        let changed = change(&mut self.table(), Moment::now());
        self.inner.changes.send_modify(|seq| *seq += 1);
        changed
    }

    fn table(&self) -> MutexGuard<'_, QuestionTable> {
        let table = self.inner.table.lock();
        table.unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use termd_proto::terminal::Front;

    use super::*;

    /// Each command of each client is looked up so. Who waits for a change would wake each time.
    #[test]
    fn to_look_for_a_denial_is_no_change() {
        let approvals = Approvals::new(
            Duration::from_mins(1),
            RedactionKey::default(),
            Pids::default(),
        );
        let changes = approvals.watch();
        let subject = Subject {
            front: Front::Mcp,
            uid: 1000,
            client: None,
            session: None,
            agent: None,
            terminal: None,
            program: None,
            cwd: "/".to_owned(),
            command: "true".to_owned(),
            parts: Vec::new(),
            values: Vec::new(),
            env_sha256: None,
            earlier_sha256: None,
            earlier_text: String::new(),
            agent_line: None,
        };
        assert!(!approvals.is_denied(&subject));
        assert!(!changes.has_changed().unwrap());
    }
}

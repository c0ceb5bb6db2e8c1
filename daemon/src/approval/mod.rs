//! The gate's questions to a person, and their answers.
//!
//! `QuestionTable` decides and is pure. [`Approvals`] shares it, and wakes those who wait.
//!
//! **Promises:** a question is answered once. An approval is used once, by the caller that asked, for
//! the command, environment, directory and terminal of the question. A denial holds for ten minutes,
//! whatever the caller says. Questions are in memory: a server that takes over asks again.

mod people;
mod question_table;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use termd_proto::approval::{
    AnswerWay, ApprovalId, ApprovalInfo, ApprovalList, ApprovalState, Decision,
};
use termd_proto::terminal::Owner;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::clock::Moment;
use people::People;
use question_table::QuestionTable;

pub use people::{PersonInReach, Reach};
pub use question_table::{Always, Doubt, NotAnswered, Standing, Subject};

/// The questions of this server. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Approvals {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    /// Locked for a look and a change, never across a wait.
    table: Mutex<QuestionTable>,
    /// Counts changes.
    changes: watch::Sender<u64>,
    people: Arc<People>,
}

impl Approvals {
    /// No questions yet. Each waits `answer_within` for an answer.
    pub fn new(answer_within: Duration) -> Self {
        Self {
            inner: Arc::new(Inner {
                table: Mutex::new(QuestionTable::new(answer_within)),
                changes: watch::Sender::new(0),
                people: Arc::default(),
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
        self.change(|table, now| table.confirm(subject, by, now))
    }

    /// Counts a connection as one through which a person can be asked, until the value is dropped.
    pub fn join(&self, reach: Reach) -> PersonInReach {
        self.inner.people.join(reach)
    }

    /// Whether somebody watches the questions, or has answered one in the last ten minutes.
    pub fn is_watched(&self) -> bool {
        self.inner.people.has(Reach::Watch) || self.table().has_answers()
    }

    /// Whether a front is connected that asks its own person.
    pub fn has_asking_front(&self) -> bool {
        self.inner.people.has(Reach::Front)
    }

    /// Takes an answer. The first answer holds.
    pub fn answer(
        &self,
        id: &ApprovalId,
        decision: Decision,
        by: (&Owner, AnswerWay),
    ) -> Result<ApprovalInfo, NotAnswered> {
        self.change(|table, now| table.answer(id, decision, by, now))
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

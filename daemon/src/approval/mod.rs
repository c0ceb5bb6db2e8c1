//! What the gate wants a person to agree to: questions, and who has answered them.
//!
//! `table` is pure and decides; here it is shared, and whoever waits is told of changes.
//!
//! It promises: a question is answered once; an approval is used once, by the caller that asked, for
//! the command, directory and terminal that were asked about; what nobody answers in time is denied.
//! Questions are in memory: a server that takes over asks again.
//! Must not know: terminals, sockets, the database, the gate's rules.

mod table;
#[cfg(test)]
mod table_tests;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use termd_proto::approval::{ApprovalId, ApprovalInfo, ApprovalList, ApprovalState, Decision};
use termd_proto::terminal::Owner;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::clock::Moment;
use table::Table;

pub use table::{Always, Doubt, NotAnswered, Standing, Subject};

/// The questions of this server. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Approvals {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    /// Held for a look and a change, never across a wait.
    table: Mutex<Table>,
    /// Counts changes.
    changes: watch::Sender<u64>,
}

impl Approvals {
    /// No questions yet; each waits so long for an answer.
    pub fn new(answer_within: Duration) -> Self {
        Self {
            inner: Arc::new(Inner {
                table: Mutex::new(Table::new(answer_within)),
                changes: watch::Sender::new(0),
            }),
        }
    }

    /// A caller comes with this: whether it is approved, denied, or asked about from now on.
    pub fn ask(
        &self,
        subject: Subject,
        asked_by: &Owner,
        doubt: Doubt,
        id: ApprovalId,
    ) -> Standing {
        self.change(|table, now| table.ask(subject, asked_by, doubt, id, now))
    }

    /// The front that asked says that its person agrees. The question, where one waited.
    pub fn confirmed(&self, subject: &Subject, by: &Owner) -> Option<ApprovalInfo> {
        self.change(|table, now| table.confirmed(subject, by, now))
    }

    /// Somebody answers. The first answer holds.
    pub fn answer(
        &self,
        id: &ApprovalId,
        decision: Decision,
        by: &Owner,
    ) -> Result<ApprovalInfo, NotAnswered> {
        self.change(|table, now| table.answer(id, decision, by, now))
    }

    /// The rule that would let a question's command run for always; `None`: there may be none.
    pub fn rule_of(&self, id: &ApprovalId) -> Option<String> {
        self.table().rule_of(id).map(str::to_owned)
    }

    /// An answer for always has written its rule: the file and the line. The question, now.
    pub fn ruled(&self, id: &ApprovalId, at: (String, usize)) -> Option<ApprovalInfo> {
        self.change(|table, _| table.ruled(id, at))
    }

    /// One question, now.
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

    /// Waits until a question is answered, or until the deadline; `None`: there is none.
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

    /// Waits until questions have lapsed, and tells which; for ever where there are none.
    pub async fn lapsed(&self) -> Vec<ApprovalInfo> {
        let mut changes = self.inner.changes.subscribe();
        loop {
            changes.mark_unchanged();
            let next = self.table().next_lapse();
            let due = async {
                match next {
                    Some(at) => tokio::time::sleep_until(at.into()).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = due => {
                    let lapsed = self.change(Table::lapse);
                    if !lapsed.is_empty() {
                        return lapsed;
                    }
                }
                // The sender lives as long as this does.
                _ = changes.changed() => {}
            }
        }
    }

    fn change<T>(&self, change: impl FnOnce(&mut Table, Moment) -> T) -> T {
        let changed = change(&mut self.table(), Moment::now());
        self.inner.changes.send_modify(|seq| *seq += 1);
        changed
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        let table = self.inner.table.lock();
        table.unwrap_or_else(PoisonError::into_inner)
    }
}

//! The writer's other half: what does not wait for a batch.
//!
//! An audit record is answered after its commit is on the disk, or at once with the reason why it
//! is not; those that wait together are committed together. **Invariant:** the head of the chain
//! is only ever what was committed; after a failure it is read again.

use super::StoreError;
use super::audit::{self, Head};
use super::queue::{AuditRequest, Urgent};
use super::refusal::classified;
use super::retention::{self, Pruned, Step};
use super::writer::{Writer, execute};

impl Writer {
    pub(super) async fn serve(&mut self, urgent: Urgent) {
        if let Urgent::Audit(first) = urgent {
            let (mut audits, other) = self.waiting_audits();
            audits.insert(0, first);
            self.audit(audits).await;
            if let Some(other) = other {
                self.serve_other(other).await;
            }
        } else {
            self.serve_other(urgent).await;
        }
    }

    /// The records that wait now, and what waits behind them if it is something else.
    pub(super) fn waiting_audits(&mut self) -> (Vec<AuditRequest>, Option<Urgent>) {
        let mut audits = Vec::new();
        while let Ok(next) = self.queues.urgent.try_recv() {
            if let Urgent::Audit(request) = next {
                audits.push(request);
            } else {
                return (audits, Some(next));
            }
        }
        (audits, None)
    }

    pub(super) async fn serve_other(&mut self, urgent: Urgent) {
        match urgent {
            Urgent::Audit(request) => self.audit_alone(request).await,
            Urgent::Prune(step, done) => {
                let _ = done.send(self.prune(step).await.map_err(StoreError::from));
            }
            #[cfg(test)]
            Urgent::LimitPages(pages, done) => {
                let pragma = sqlx::AssertSqlSafe(format!("PRAGMA max_page_count = {pages}"));
                let limited = sqlx::query(pragma).execute(&mut self.connection).await;
                let _ = done.send(limited.map(|_| ()).map_err(StoreError::from));
            }
        }
    }

    /// Commits records together: one write to the disk for all who wait.
    async fn audit(&mut self, mut audits: Vec<AuditRequest>) {
        if audits.len() == 1 {
            if let Some(request) = audits.pop() {
                self.audit_alone(request).await;
            }
            return;
        }
        if let Err(error) = self.may_write().await {
            return self.refuse_all(audits, error).await;
        }
        let begun = execute(&mut self.connection, "BEGIN IMMEDIATE").await;
        let begun = begun.map_err(|error| classified(error.into()));
        if let Err(error @ StoreError::Locked) = begun {
            // Each alone would wait for the lock as long again.
            return self.refuse_all(audits, error).await;
        }
        let committed = match begun {
            Ok(()) => match self.append_all(&audits).await {
                Ok(head) => execute(&mut self.connection, "COMMIT")
                    .await
                    .map(|()| head)
                    .map_err(StoreError::from),
                Err(error) => Err(error.into()),
            },
            Err(error) => Err(error),
        };
        if let Ok(head) = committed {
            self.publish_and_answer(head, audits);
            return;
        }
        self.roll_back().await;
        // Each gets the error that is its own, or its record.
        for request in audits {
            self.audit_alone(request).await;
        }
    }

    /// One record in a transaction of its own: a lone statement is one, and saves two trips to
    /// the connection's thread.
    pub(super) async fn audit_alone(&mut self, request: AuditRequest) {
        let outcome = async {
            self.may_write().await?;
            let head = self.current_head().await?;
            let appended = audit::append(&mut self.connection, &head, &request.entry).await;
            appended.map_err(StoreError::from)
        };
        let answer = match outcome.await {
            Ok(head) => {
                let seq = head.seq;
                self.publish(Some(head));
                Ok(seq)
            }
            Err(error) => {
                tracing::error!(%error, action = request.entry.action.as_str(), "no audit record could be written");
                self.roll_back().await;
                Err(self.refuse(&request.entry, error).await)
            }
        };
        let _ = request.done.send(answer);
    }

    /// Nothing can be written for a reason that is the same for all of them.
    async fn refuse_all(&mut self, audits: Vec<AuditRequest>, error: StoreError) {
        tracing::error!(%error, records = audits.len(), "no audit records could be written");
        let mut error = Some(error);
        for request in audits {
            // Errors of SQLite cannot be copied; the ones that come here can be told again.
            let own = match error.take() {
                Some(StoreError::Replaced { path }) => {
                    error = Some(StoreError::Replaced { path: path.clone() });
                    StoreError::Replaced { path }
                }
                Some(StoreError::DiskFull) => {
                    error = Some(StoreError::DiskFull);
                    StoreError::DiskFull
                }
                _ => {
                    error = Some(StoreError::Locked);
                    StoreError::Locked
                }
            };
            let own = self.refuse(&request.entry, own).await;
            let _ = request.done.send(Err(own));
        }
    }

    /// Appends records in the open transaction. Gives the new head, or `None` where there are none.
    pub(super) async fn append_all(
        &mut self,
        audits: &[AuditRequest],
    ) -> Result<Option<Head>, sqlx::Error> {
        if audits.is_empty() {
            return Ok(None);
        }
        let mut head = self.current_head().await?;
        for request in audits {
            head = audit::append(&mut self.connection, &head, &request.entry).await?;
        }
        Ok(Some(head))
    }

    async fn prune(&mut self, step: Step) -> Result<Pruned, sqlx::Error> {
        let outcome = async {
            let head = self.current_head().await?;
            execute(&mut self.connection, "BEGIN IMMEDIATE").await?;
            let (pruned, head) = retention::run(&mut self.connection, step, &head).await?;
            execute(&mut self.connection, "COMMIT").await?;
            Ok((pruned, head))
        };
        match outcome.await {
            Ok((pruned, head)) => {
                self.publish(head);
                Ok(pruned)
            }
            Err(error) => {
                self.roll_back().await;
                Err(error)
            }
        }
    }

    pub(super) async fn current_head(&mut self) -> Result<Head, sqlx::Error> {
        match &self.head {
            Some(head) => Ok(head.clone()),
            None => audit::head(&mut self.connection).await,
        }
    }

    /// The records up to this head are on the disk.
    pub(super) fn publish(&mut self, head: Option<Head>) {
        if let Some(head) = head {
            self.queues.head.send_replace(head.clone());
            self.head = Some(head);
        }
    }

    /// Tells those who wait the numbers of their records, of which `head` is the last.
    pub(super) fn publish_and_answer(&mut self, head: Option<Head>, audits: Vec<AuditRequest>) {
        if let Some(head) = &head {
            for (seq, request) in (0..=head.seq).rev().zip(audits.into_iter().rev()) {
                let _ = request.done.send(Ok(seq));
            }
        }
        self.publish(head);
    }

    /// Ends a transaction that failed. SQLite may have ended it already, and says so by an error.
    pub(super) async fn roll_back(&mut self) {
        let _ = execute(&mut self.connection, "ROLLBACK").await;
        self.head = None;
    }
}

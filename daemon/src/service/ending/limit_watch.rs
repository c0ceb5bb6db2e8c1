//! Ends what has run or printed for as long as its profile allows: one task for each terminal with
//! such a limit, and none for the others.
//!
//! **Promises:** a deadline survives the server, because it is a reading of a clock that the next
//! server shares. What reaches a limit is ended as `session.kill` does, and says so in the audit
//! chain, to subscribers, and in its own facts. It is ended also where the record cannot be written.

use std::sync::Arc;
use std::time::Duration;

use termd_proto::terminal::EndCause;

use super::limit_recorder::LimitRecorder;
use super::tree_end::TreeEnd;
use crate::clock::monotonic_ms;
use crate::store::Store;
use crate::terminal::handle::Terminal;

/// Ends terminals that reach their deadline or their output quota. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct LimitWatch {
    recorder: LimitRecorder,
    tree_end: TreeEnd,
    store: Store,
}

impl LimitWatch {
    pub(crate) fn new(recorder: LimitRecorder, tree_end: TreeEnd, store: Store) -> Self {
        Self {
            recorder,
            tree_end,
            store,
        }
    }

    /// Watches a terminal from now on, where it has a deadline or a quota.
    pub(crate) fn watch(&self, terminal: &Arc<Terminal>) {
        let quota = terminal.record.held_to.as_ref();
        let quota = quota.and_then(|held_to| held_to.output_bytes);
        let deadline = terminal.record.deadline_ms;
        if quota.is_none() && deadline.is_none() {
            return;
        }
        let (this, terminal) = (self.clone(), Arc::clone(terminal));
        tokio::spawn(async move {
            let mut watch = terminal.watch_unattended();
            let over = watch.wait_for(|progress| {
                let has_ended = progress.exit.is_some();
                has_ended || quota.is_some_and(|quota| progress.end.0 > quota)
            });
            let limit = tokio::select! {
                () = until(deadline) => EndCause::Timeout,
                reached = over => match reached {
                    // A command that exited has ended by itself, also where its last output is over
                    // the quota.
                    Ok(progress) if progress.exit.is_none() => EndCause::OutputBytes,
                    Ok(_) | Err(_) => return,
                },
            };
            this.end(&terminal, limit).await;
        });
    }

    async fn end(&self, terminal: &Terminal, limit: EndCause) {
        let id = terminal.id();
        let value = self.recorder.record(terminal, limit).await;
        // A command that ended while this was recorded ended by itself.
        terminal.update(|progress| {
            if progress.exit.is_none() {
                progress.end_cause = Some(limit);
            }
        });
        if terminal.progress().end_cause.is_none() {
            return;
        }
        match self.store.reserve_row().await {
            Ok(permit) => permit.send_terminal(terminal.row()),
            // The row is stored at the exit, too.
            Err(error) => {
                tracing::error!(terminal = %id, %error, "cannot store which limit was reached");
            }
        }
        self.recorder.publish(terminal, limit, value);
        if let Err(error) = self.tree_end.end(terminal, nix::libc::SIGTERM).await {
            tracing::error!(terminal = %id, %error, "cannot end what reached a limit");
        }
    }
}

/// Resolves at a time of the monotonic clock; never where there is none.
async fn until(deadline_ms: Option<u64>) {
    let Some(deadline_ms) = deadline_ms else {
        return std::future::pending().await;
    };
    // A timer may be early by its granularity.
    loop {
        let left = deadline_ms.saturating_sub(monotonic_ms());
        if left == 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(left)).await;
    }
}

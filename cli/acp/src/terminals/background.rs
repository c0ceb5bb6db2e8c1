//! Tasks that run on after the call that started them.

use tokio::sync::watch;

/// Counts background tasks, so that the end of the proxy can wait for them.
#[derive(Debug, Default)]
pub(crate) struct Background(watch::Sender<usize>);

/// Counts one task until it is dropped.
#[derive(Debug)]
pub(crate) struct TaskGuard(watch::Sender<usize>);

impl Drop for TaskGuard {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count = count.saturating_sub(1));
    }
}

impl Background {
    /// Begins a task.
    pub(crate) fn begin(&self) -> TaskGuard {
        self.0.send_modify(|count| *count += 1);
        TaskGuard(self.0.clone())
    }

    /// Waits until there is no task.
    pub(crate) async fn finished(&self) {
        // The sender outlives the wait.
        let _ = self.0.subscribe().wait_for(|count| *count == 0).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_end_waits_for_all_work() {
        let background = Background::default();
        background.finished().await;
        let tasks = [background.begin(), background.begin()];
        let over = tokio::time::timeout(std::time::Duration::ZERO, background.finished());
        assert!(over.await.is_err());
        drop(tasks);
        background.finished().await;
    }
}

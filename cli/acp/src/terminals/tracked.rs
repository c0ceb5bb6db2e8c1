//! What is known here of one terminal that the agent has created.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use termd_proto::TerminalId;
use termd_proto::terminal::ExitStatus;
use tokio::sync::watch;

/// One terminal, from its create on, past its release.
#[derive(Debug)]
pub(crate) struct Tracked {
    /// Its id.
    pub(crate) id: TerminalId,
    /// The ACP session that it is of.
    pub(crate) session: String,
    /// What runs in it, as a person would type it.
    pub(crate) command: String,
    /// Where, if that is known.
    pub(crate) cwd: Option<String>,
    /// How it ended, once it has.
    pub(crate) ended: watch::Receiver<Option<Ended>>,
}

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ended {
    /// Its exit code, or the signal; neither where nobody can say any more.
    pub(crate) status: ExitStatus,
    /// Ended by us, for this.
    pub(crate) cause: Option<EndCause>,
}

/// Why a command was ended from here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EndCause {
    /// It ran longer than `--default-timeout`, or than the agent has asked for.
    TimedOut(Duration),
}

/// How a command ended that nobody knows of: the daemon is gone.
pub(super) const UNKNOWN: ExitStatus = ExitStatus {
    exit_code: None,
    signal: None,
};

/// A terminal, and what this room alone knows and says of it.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) tracked: Arc<Tracked>,
    /// How long its command may run.
    pub(super) timeout: Option<Duration>,
    ended: watch::Sender<Option<Ended>>,
    timed_out: AtomicBool,
}

impl Entry {
    pub(super) fn new(
        id: TerminalId,
        session: String,
        command: String,
        cwd: Option<String>,
        timeout: Option<Duration>,
    ) -> Self {
        let (sender, ended) = watch::channel(None);
        let tracked = Tracked {
            id,
            session,
            command,
            cwd,
            ended,
        };
        Self {
            tracked: Arc::new(tracked),
            timeout,
            ended: sender,
            timed_out: AtomicBool::new(false),
        }
    }

    /// Its command is about to be ended for the time that it has run.
    pub(super) fn time_is_over(&self) {
        self.timed_out.store(true, Ordering::Release);
    }

    /// Why it was ended from here, if it was.
    pub(super) fn cause(&self) -> Option<EndCause> {
        let timed_out = self.timed_out.load(Ordering::Acquire);
        self.timeout.filter(|_| timed_out).map(EndCause::TimedOut)
    }

    /// Its command has ended: whoever hears of it first says so.
    pub(super) fn learn(&self, status: ExitStatus) {
        let cause = self.cause();
        self.ended.send_if_modified(|ended| {
            let is_news = ended.is_none();
            if is_news {
                *ended = Some(Ended { status, cause });
            }
            is_news
        });
    }

    /// Whether its command runs, as far as is known.
    pub(super) fn is_running(&self) -> bool {
        self.ended.borrow().is_none()
    }

    /// How its command has ended, once that is known.
    pub(super) async fn end(&self) -> ExitStatus {
        let mut ended = self.tracked.ended.clone();
        match ended.wait_for(Option::is_some).await {
            Ok(ended) => ended.as_ref().map_or(UNKNOWN, |ended| ended.status.clone()),
            // The sender is here.
            Err(_) => UNKNOWN,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(timeout: Option<Duration>) -> Entry {
        let id = "term_aaaaaaaaaaaa".parse().unwrap();
        Entry::new(id, "s".to_owned(), "true".to_owned(), None, timeout)
    }

    fn exited(exit_code: u32) -> ExitStatus {
        ExitStatus {
            exit_code: Some(exit_code),
            signal: None,
        }
    }

    #[tokio::test]
    async fn the_first_word_of_an_exit_stands() {
        let entry = entry(Some(Duration::from_secs(1)));
        assert!(entry.is_running());
        entry.learn(exited(3));
        entry.time_is_over();
        entry.learn(UNKNOWN);
        assert!(!entry.is_running());
        assert_eq!(entry.end().await, exited(3));
        let ended = entry.tracked.ended.borrow().clone();
        assert_eq!(ended.unwrap().cause, None);
    }

    #[test]
    fn what_ran_too_long_was_ended_for_that() {
        let timeout = Duration::from_secs(1);
        let entry = entry(Some(timeout));
        entry.time_is_over();
        entry.learn(exited(0));
        let ended = entry.tracked.ended.borrow().clone();
        assert_eq!(ended.unwrap().cause, Some(EndCause::TimedOut(timeout)));
    }
}

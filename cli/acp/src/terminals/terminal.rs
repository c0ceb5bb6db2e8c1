//! One terminal that the agent created.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use termd_proto::TerminalId;
use termd_proto::terminal::ExitStatus;
use tokio::sync::watch;

/// The status of a command whose end is unknown because the daemon is gone.
pub(crate) const UNKNOWN: ExitStatus = ExitStatus {
    exit_code: None,
    signal: None,
};

/// A terminal, from its create until after its release.
#[derive(Debug)]
pub(crate) struct Terminal {
    pub(crate) id: TerminalId,
    /// The ACP session that the terminal belongs to.
    pub(crate) session: String,
    /// The command as a person would type it.
    pub(crate) command: String,
    pub(crate) cwd: Option<String>,
    /// Longest run of the command.
    pub(crate) timeout: Option<Duration>,
    exit: watch::Sender<Option<Exit>>,
    timed_out: AtomicBool,
}

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Exit {
    pub(crate) status: ExitStatus,
    /// Why the proxy ended the command, if it did.
    pub(crate) cause: Option<EndCause>,
}

/// Why the proxy ended a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EndCause {
    /// It ran longer than `--default-timeout` or the agent's own limit.
    TimedOut(Duration),
}

impl Terminal {
    pub(crate) fn new(
        id: TerminalId,
        session: String,
        command: String,
        cwd: Option<String>,
        timeout: Option<Duration>,
    ) -> Self {
        Self {
            id,
            session,
            command,
            cwd,
            timeout,
            exit: watch::Sender::new(None),
            timed_out: AtomicBool::new(false),
        }
    }

    /// Records that the command is about to be ended for its timeout.
    pub(crate) fn mark_timed_out(&self) {
        self.timed_out.store(true, Ordering::Release);
    }

    /// Records how the command ended. The first record counts.
    pub(crate) fn record_exit(&self, status: ExitStatus) {
        let timed_out = self.timed_out.load(Ordering::Acquire);
        let cause = self.timeout.filter(|_| timed_out).map(EndCause::TimedOut);
        self.exit.send_if_modified(|exit| {
            let is_first = exit.is_none();
            if is_first {
                *exit = Some(Exit { status, cause });
            }
            is_first
        });
    }

    /// How the command ended, if that is known.
    pub(crate) fn exit(&self) -> Option<Exit> {
        self.exit.borrow().clone()
    }

    /// Whether the command runs, as far as is known.
    pub(crate) fn is_running(&self) -> bool {
        self.exit.borrow().is_none()
    }

    /// Waits until it is known how the command ended.
    pub(crate) async fn wait_for_exit(&self) -> Option<Exit> {
        let mut exit = self.exit.subscribe();
        // The sender outlives the wait.
        exit.wait_for(Option::is_some).await.ok()?.clone()
    }

    /// Waits for the status of the command.
    pub(crate) async fn exit_status(&self) -> ExitStatus {
        let exit = self.wait_for_exit().await;
        exit.map_or(UNKNOWN, |exit| exit.status)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terminal(timeout: Option<Duration>) -> Terminal {
        let id = "term_aaaaaaaaaaaa".parse().unwrap();
        Terminal::new(id, "s".to_owned(), "true".to_owned(), None, timeout)
    }

    fn exited(exit_code: u32) -> ExitStatus {
        ExitStatus {
            exit_code: Some(exit_code),
            signal: None,
        }
    }

    #[tokio::test]
    async fn the_first_word_of_an_exit_stands() {
        let terminal = terminal(Some(Duration::from_secs(1)));
        assert!(terminal.is_running());
        terminal.record_exit(exited(3));
        terminal.mark_timed_out();
        terminal.record_exit(UNKNOWN);
        assert!(!terminal.is_running());
        assert_eq!(terminal.exit_status().await, exited(3));
        let exit = terminal.exit();
        assert_eq!(exit.unwrap().cause, None);
    }

    #[test]
    fn what_ran_too_long_was_ended_for_that() {
        let timeout = Duration::from_secs(1);
        let terminal = terminal(Some(timeout));
        terminal.mark_timed_out();
        terminal.record_exit(exited(0));
        let exit = terminal.exit();
        assert_eq!(exit.unwrap().cause, Some(EndCause::TimedOut(timeout)));
    }
}

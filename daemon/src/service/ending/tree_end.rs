//! Ending a command and all that it has started.

use std::time::Duration;

use crate::keeper_client::{KeeperClient, KeeperError};
use crate::terminal::error::TerminalError;
use crate::terminal::handle::Terminal;
use termd_keeper::protocol::message::EndTree;

/// How long an exit may take to be published after every process is gone: the drain's own deadline
/// and some more.
const EXIT_DEADLINE: Duration = Duration::from_secs(5);

/// Asks the keeper to end process trees. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct TreeEnd {
    keeper: KeeperClient,
    /// From the first signal to SIGKILL.
    grace: Duration,
}

impl TreeEnd {
    pub(crate) fn new(keeper: KeeperClient, grace: Duration) -> Self {
        Self { keeper, grace }
    }

    /// Sends `signal` to a terminal's processes, and SIGKILL after the grace. Waits for the exit.
    pub(crate) async fn end(&self, terminal: &Terminal, signal: i32) -> Result<(), TerminalError> {
        let grace = self.grace;
        let ended = self
            .keeper
            .end_tree(terminal.id(), EndTree { signal, grace });
        match ended.await {
            // The keeper forgets a terminal that ended under an earlier server.
            Ok(()) | Err(KeeperError::UnknownTerminal(_)) => {}
            Err(error) => return Err(error.into()),
        }
        let exited = tokio::time::timeout(EXIT_DEADLINE, terminal.exit()).await;
        if exited.is_err() {
            tracing::warn!(terminal = %terminal.id(), "was killed and its exit is not seen yet");
        }
        Ok(())
    }

    /// Sends one signal to a terminal's processes.
    pub(crate) async fn signal(
        &self,
        terminal: &Terminal,
        signal: i32,
    ) -> Result<(), TerminalError> {
        match self.keeper.signal_tree(terminal.id(), signal).await {
            Ok(()) | Err(KeeperError::UnknownTerminal(_)) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

//! Looking at a terminal's screen, which one that ended long ago is given again first, and sizes.

use std::time::Duration;

use termd_proto::screen::{Screen, ScreenRows};

use super::Terminals;
use crate::terminal::error::TerminalError;
use crate::terminal::handle::Terminal;
use crate::terminal::record::Size;
use crate::terminal::restore::restore;
use termd_vt::Model;

/// How long a new size may take into the database before whoever gave it is answered all the same.
const LONGEST_SIZE_STORING: Duration = Duration::from_secs(1);

impl Terminals {
    /// Sees to it that a terminal has its screen, which one that ended long ago has not at once.
    async fn wake_screen(&self, terminal: &Terminal) -> Result<(), TerminalError> {
        if terminal.screen.look(|_| ()).is_some() {
            return Ok(());
        }
        let (store, end) = (&self.inner.store, terminal.end());
        let restored = restore(store, &terminal.record, &terminal.transcript, end).await?;
        terminal.screen.put(restored.model);
        Ok(())
    }

    /// What a terminal's screen shows.
    pub async fn screen(
        &self,
        terminal: &Terminal,
        rows: ScreenRows,
    ) -> Result<Screen, TerminalError> {
        let tty = terminal.line_discipline().await;
        let screen = self.look_at(terminal, |model| model.screen(rows)).await?;
        Ok(Screen {
            echo: tty.map(|tty| tty.echo),
            canonical: tty.map(|tty| tty.canonical),
            ..screen
        })
    }

    /// Sets a terminal's size, and keeps where in the output it was given, so that a server that
    /// dies right after it loses nothing. A database that takes nothing holds nobody up.
    pub async fn resize(&self, terminal: &Terminal, size: Size) {
        terminal.resize(size).await;
        let stored = self.inner.store.flush();
        if tokio::time::timeout(LONGEST_SIZE_STORING, stored)
            .await
            .is_err()
        {
            tracing::warn!(terminal = %terminal.id(), "a size is not in the database yet");
        }
    }

    /// Looks at a terminal's model, for somebody who reads it.
    pub async fn look_at<T>(
        &self,
        terminal: &Terminal,
        look: impl FnOnce(&Model) -> T,
    ) -> Result<T, TerminalError> {
        terminal.touch();
        self.wake_screen(terminal).await?;
        terminal.screen.look(look).ok_or(TerminalError::Stopping)
    }
}

//! Looking at a terminal's screen, which one that ended long ago is given again first, and sizes.

use std::time::Duration;

use termd_proto::screen::{Screen, ScreenRows};

use super::Terminals;
use crate::terminal::error::TerminalError;
use crate::terminal::handle::Terminal;
use crate::terminal::screen::restore::look_at;
use crate::terminal::screen::size::Size;
use termd_vt::Model;

/// How long a new size may take into the database before whoever gave it is answered all the same.
const LONGEST_SIZE_STORING: Duration = Duration::from_secs(1);

impl Terminals {
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
        look_at(&self.inner.store, terminal, look).await
    }
}

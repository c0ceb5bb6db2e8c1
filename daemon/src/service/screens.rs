//! Screens of terminals, and their sizes.

use std::time::Duration;

use termd_proto::Offset;
use termd_proto::recording::Keyframe;
use termd_proto::screen::{Screen, ScreenRows};

use crate::store::Store;
use crate::terminal::error::TerminalError;
use crate::terminal::handle::Terminal;
use crate::terminal::screen::history::{self, Past, PastScreen};
use crate::terminal::screen::restore::look_at;
use crate::terminal::screen::size::Size;
use termd_vt::Model;

/// How long a new size may take into the database before the caller is answered all the same.
const MAX_SIZE_STORING: Duration = Duration::from_secs(1);

/// Reads screens. A screen that is no longer in memory is made again from the database. Cheap to
/// clone.
#[derive(Debug, Clone)]
pub(crate) struct Screens {
    store: Store,
}

impl Screens {
    pub(crate) fn new(store: Store) -> Self {
        Self { store }
    }

    /// What a terminal's screen shows, with what its model does not know.
    pub(crate) async fn screen(
        &self,
        terminal: &Terminal,
        look: impl FnOnce(&Model) -> Screen,
    ) -> Result<Screen, TerminalError> {
        let tty = terminal.line_discipline().await;
        let screen = self.look_at(terminal, look).await?;
        Ok(Screen {
            echo: tty.map(|tty| tty.echo),
            canonical: tty.map(|tty| tty.canonical),
            ..screen
        })
    }

    /// Looks at a terminal's model for a reader, which counts as activity.
    pub(crate) async fn look_at<T>(
        &self,
        terminal: &Terminal,
        look: impl FnOnce(&Model) -> T,
    ) -> Result<T, TerminalError> {
        terminal.touch();
        look_at(&self.store, terminal, look).await
    }

    /// What a terminal's screen showed then.
    pub(crate) async fn screen_at(
        &self,
        terminal: &Terminal,
        past: Past,
        rows: ScreenRows,
        look: impl Fn(&Model) -> Screen,
    ) -> Result<PastScreen, TerminalError> {
        history::screen_at(&self.store, terminal, past, rows, look).await
    }

    /// The last screen of a terminal that is kept at or before an offset.
    pub(crate) async fn keyframe(
        &self,
        terminal: &Terminal,
        range: (Offset, Offset),
    ) -> Result<Keyframe, TerminalError> {
        history::keyframe(&self.store, terminal, range).await
    }

    /// Gives a terminal the size of a viewer, unless it has it.
    pub(crate) async fn follow(&self, terminal: &Terminal, size: Size) {
        if terminal.progress().size != size {
            self.resize(terminal, size).await;
        }
    }

    /// Sets a terminal's size, and stores at which offset of the output it was set, so that a server
    /// that dies right after it loses nothing. A database that takes nothing delays the answer by
    /// [`MAX_SIZE_STORING`] at the most.
    pub(crate) async fn resize(&self, terminal: &Terminal, size: Size) {
        terminal.resize(size).await;
        let stored = self.store.settle();
        if tokio::time::timeout(MAX_SIZE_STORING, stored)
            .await
            .is_err()
        {
            tracing::warn!(terminal = %terminal.id(), "a size is not in the database yet");
        }
    }
}

//! When a terminal's screen is kept in the database, so that the next server can make it again:
//! checkpoints, and the sizes between them.
//!
//! Promises: what is fed again after a checkpoint is little; and no size that changed a screen is
//! missing from both. It never waits: where the store has no room, the next chance is taken.

use std::time::{Duration, Instant};

use termd_proto::Offset;

use crate::store::{ScreenCheckpoint, SizeChange, Store, StoreError};
use crate::terminal::handle::Terminal;
use crate::terminal::lifecycle::record::Size;
use termd_vt::Model;

/// So much output after a checkpoint is worth another one: it is fed again in milliseconds.
const CHECKPOINT_BYTES: u64 = 1 << 20;
/// And so much at the end: a screen that nobody feeds any more is made from it when it is asked for.
const LAST_CHECKPOINT_BYTES: u64 = 256 << 10;
/// No checkpoint sooner after the last.
const CHECKPOINT_PAUSE: Duration = Duration::from_secs(2);

/// The checkpoints of one terminal.
#[derive(Debug)]
pub(crate) struct Checkpoints {
    /// The output up to here is in the last one.
    at: Offset,
    /// When the next may be.
    not_before: Instant,
    /// Where its last new size was given.
    resized_at: Option<Offset>,
}

impl Checkpoints {
    /// Of a terminal whose screen shows the output up to `fed` and can be made again so far.
    pub(crate) fn new(fed: Offset, now: Instant) -> Self {
        Self {
            at: fed,
            not_before: now + CHECKPOINT_PAUSE,
            resized_at: Some(fed),
        }
    }

    /// The output that is in the last one.
    pub(crate) fn at(&self) -> Offset {
        self.at
    }

    /// The screen now, which the caller keeps; `None`: there is none.
    pub(crate) fn take(&mut self, terminal: &Terminal, fed: Offset) -> Option<ScreenCheckpoint> {
        let checkpoint = checkpoint(terminal, fed)?;
        self.at = fed;
        Some(checkpoint)
    }

    /// Keeps the screen, when so much has come since the last time that feeding it again would take
    /// long.
    pub(crate) fn look(&mut self, terminal: &Terminal, store: &Store, fed: Offset, now: Instant) {
        if fed.since(self.at) >= CHECKPOINT_BYTES && now >= self.not_before {
            self.not_before = now + CHECKPOINT_PAUSE;
            self.keep(terminal, store, fed);
        }
    }

    fn keep(&mut self, terminal: &Terminal, store: &Store, fed: Offset) {
        if let Some(checkpoint) = checkpoint(terminal, fed)
            && store.try_put_screen(terminal.id().clone(), checkpoint)
        {
            self.at = fed;
        }
    }

    /// Gives the screen another size, and keeps that. Returns what the program is to be told.
    pub(crate) fn resize(
        &mut self,
        terminal: &Terminal,
        store: &Store,
        fed: Offset,
        size: Size,
    ) -> Vec<u8> {
        let resized = terminal
            .screen
            .change(|model| model.resize(size.into()))
            .unwrap_or_default();
        let change = SizeChange {
            at: fed,
            cols: size.cols,
            rows: size.rows,
        };
        // Two sizes without output between them: the database has one for each offset, and what
        // the first did to the screen is only in the screen.
        if self.resized_at.replace(fed) == Some(fed) {
            self.keep(terminal, store, fed);
        }
        if !store.try_put_size(terminal.id().clone(), change) {
            tracing::warn!(terminal = %terminal.id(), "a size is not in the database");
        }
        resized.replies
    }

    /// Keeps the last screen, where making it again would take long.
    pub(crate) async fn finish(
        &self,
        terminal: &Terminal,
        store: &Store,
        fed: Offset,
    ) -> Result<(), StoreError> {
        if fed.since(self.at) < LAST_CHECKPOINT_BYTES {
            return Ok(());
        }
        match checkpoint(terminal, fed) {
            Some(checkpoint) => store.put_screen(terminal.id().clone(), checkpoint).await,
            None => Ok(()),
        }
    }
}

fn checkpoint(terminal: &Terminal, fed: Offset) -> Option<ScreenCheckpoint> {
    let dump = terminal.screen.look(Model::dump)?;
    Some(ScreenCheckpoint { at: fed, dump })
}

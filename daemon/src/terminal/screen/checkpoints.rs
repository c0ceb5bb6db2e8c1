//! When a terminal's screen is kept in the database: checkpoints, so that the next server can make it
//! again, keyframes for looking back, and the sizes between them.
//!
//! Little output is fed again after a checkpoint. No size that changed a screen is missing from both.
//! Nothing here waits: where the store has no room, the next chance is taken.

use std::time::{Duration, Instant};

use termd_proto::Offset;
use termd_vt::Model;

use super::size::Size;
use crate::store::{ScreenCheckpoint, SizeChange, Store, StoreError};
use crate::terminal::handle::Terminal;

/// Output after a checkpoint that is worth another one, in bytes: it is fed again in milliseconds.
const CHECKPOINT_BYTES: u64 = 1 << 20;
/// The same at the terminal's end: its screen is made again when somebody looks.
const LAST_CHECKPOINT_BYTES: u64 = 256 << 10;
/// The shortest time between two checkpoints.
const CHECKPOINT_PAUSE: Duration = Duration::from_secs(2);

/// Output between two keyframes, in bytes: reading and feeding it takes some ten milliseconds, and a
/// keyframe is less than a hundredth of it as it is stored.
pub(crate) const KEYFRAME_BYTES: u64 = 4 << 20;
/// Rows of scrollback in a keyframe. A screen that grows takes rows back from there.
pub(crate) const KEYFRAME_SCROLLBACK_ROWS: usize = 100;

/// The checkpoints of one terminal.
#[derive(Debug)]
pub(crate) struct Checkpoints {
    /// The last checkpoint shows the output up to here.
    at: Offset,
    /// The last keyframe shows the output up to here.
    keyframe_at: Offset,
    /// When the next checkpoint may be kept.
    not_before: Instant,
    /// Where the size was changed last.
    resized_at: Option<Offset>,
}

impl Checkpoints {
    /// Of a terminal whose screen shows the output up to `fed`, and can be made again so far.
    pub(crate) fn new(fed: Offset, now: Instant) -> Self {
        Self {
            at: fed,
            keyframe_at: fed,
            not_before: now + CHECKPOINT_PAUSE,
            resized_at: Some(fed),
        }
    }

    /// The output that the last checkpoint shows.
    pub(crate) fn at(&self) -> Offset {
        self.at
    }

    /// Takes a checkpoint that the caller keeps; `None` where there is no screen.
    pub(crate) fn take(&mut self, terminal: &Terminal, fed: Offset) -> Option<ScreenCheckpoint> {
        let checkpoint = checkpoint(terminal, fed)?;
        self.at = fed;
        Some(checkpoint)
    }

    /// Keeps a checkpoint once there is so much output that feeding it again would take long.
    pub(crate) fn keep_if_due(
        &mut self,
        terminal: &Terminal,
        store: &Store,
        fed: Offset,
        now: Instant,
    ) {
        if fed.since(self.keyframe_at) >= KEYFRAME_BYTES {
            self.keep_keyframe(terminal, store, fed);
        }
        if fed.since(self.at) >= CHECKPOINT_BYTES && now >= self.not_before {
            self.not_before = now + CHECKPOINT_PAUSE;
            self.keep(terminal, store, fed);
        }
    }

    fn keep_keyframe(&mut self, terminal: &Terminal, store: &Store, fed: Offset) {
        let dump = |model: &Model| model.short_dump(KEYFRAME_SCROLLBACK_ROWS);
        if let Some(dump) = terminal.screen.look(dump)
            && store.try_put_keyframe(terminal.id().clone(), ScreenCheckpoint { at: fed, dump })
        {
            self.keyframe_at = fed;
        }
    }

    fn keep(&mut self, terminal: &Terminal, store: &Store, fed: Offset) {
        if let Some(checkpoint) = checkpoint(terminal, fed)
            && store.try_put_screen(terminal.id().clone(), checkpoint)
        {
            self.at = fed;
        }
    }

    /// Resizes the screen, and keeps the size. Returns the model's message to the program.
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
            at_ms: Some(terminal.age_ms()),
        };
        // The database has one size for each offset. What the first of two sizes did to the screen
        // is only in the screen.
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

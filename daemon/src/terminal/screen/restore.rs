//! A screen made again from a checkpoint in the database, and from the output after it at the sizes
//! that the terminal had.

use termd_proto::Offset;
use termd_vt::{Event, Model};

use super::fed_by;
use super::new_model;
use super::size::Size;
use crate::clock::now_ms;
use crate::store::{ScreenCheckpoint, SizeChange, Store};
use crate::terminal::error::TerminalError;
use crate::terminal::handle::Terminal;
use crate::terminal::lifecycle::record::Record;
use crate::terminal::output::transcript::{Transcript, TranscriptError};

/// Most output that is fed again, in bytes; a screen without a checkpoint begins empty before that. A
/// checkpoint is never so far behind unless the database took none.
pub(super) const MAX_REPLAY_BYTES: u64 = 64 << 20;
/// Events that are kept of it, about.
const MAX_EVENTS: usize = 16_384;
/// Output read at a time, in bytes.
const PIECE_BYTES: u64 = 256 << 10;

/// A screen made again.
#[derive(Debug)]
pub struct Restored {
    pub model: Model,
    /// The events of the output that was fed again. An earlier server has heeded all but the last.
    pub events: Vec<(u64, Event)>,
}

/// Makes the screen that the output up to `end` has drawn.
pub async fn restore(
    store: &Store,
    record: &Record,
    transcript: &Transcript,
    end: Offset,
) -> Result<Restored, TranscriptError> {
    let checkpoint = store
        .screen(&record.id)
        .await?
        .filter(|checkpoint| checkpoint.at <= end);
    replay(store, record, transcript, (checkpoint, end), |_| true).await
}

/// Makes the screen that the output up to `end` has drawn of a checkpoint before that, and of the output
/// after it. Of the sizes only those are set that `applies` lets through.
pub(super) async fn replay(
    store: &Store,
    record: &Record,
    transcript: &Transcript,
    (checkpoint, end): (Option<ScreenCheckpoint>, Offset),
    applies: impl Fn(&SizeChange) -> bool,
) -> Result<Restored, TranscriptError> {
    let restored = checkpoint.and_then(|checkpoint| {
        let model = Model::restored(record.scrollback.scrollback(), &checkpoint.dump)?;
        Some((fed_by(record.stdio, model), checkpoint.at))
    });
    let (mut model, mut at) = restored.unwrap_or_else(|| {
        let new = new_model(record.first_size(), record.scrollback, record.stdio);
        (new, end.back(MAX_REPLAY_BYTES))
    });
    let mut events = Vec::new();
    let changes = store.sizes(&record.id, at).await?.into_iter();
    let mut changes = changes.filter(applies).peekable();
    loop {
        while let Some(change) = changes.next_if(|change| change.at <= at) {
            model.resize(size_of(change).into());
        }
        if at >= end {
            break;
        }
        let until = changes.peek().map_or(end, |change| change.at.min(end));
        let span = transcript.read_before(at, until, PIECE_BYTES).await?;
        if span.bytes.is_empty() {
            // None of it is kept: go on at the next size, or at the end.
            at = until;
            continue;
        }
        model.skip_to(span.start.0);
        // Queries were answered when they were printed.
        let fed = model.feed(&span.bytes);
        if events.len() < MAX_EVENTS {
            events.extend(fed.events);
        }
        at = span.end();
    }
    model.count_on_from(greater_than_any_before(end));
    Ok(Restored { model, events })
}

/// A count of changes greater than any that viewers have from an earlier server: each change took a
/// byte of output or was a resize, and no terminal is resized every millisecond.
fn greater_than_any_before(end: Offset) -> u64 {
    end.0 + u64::try_from(now_ms()).unwrap_or(0)
}

fn size_of(change: SizeChange) -> Size {
    Size {
        cols: change.cols,
        rows: change.rows,
    }
}

/// Looks at a terminal's model. A terminal that ended long ago gets its screen again first.
pub async fn look_at<T>(
    store: &Store,
    terminal: &Terminal,
    look: impl FnOnce(&Model) -> T,
) -> Result<T, TerminalError> {
    if terminal.screen.look(|_| ()).is_none() {
        let end = terminal.end();
        let restored = restore(store, &terminal.record, &terminal.transcript, end).await?;
        terminal.screen.put(restored.model);
    }
    terminal.screen.look(look).ok_or(TerminalError::Stopping)
}

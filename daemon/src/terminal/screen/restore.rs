//! Making a screen again from what the database and the spool hold: a checkpoint, and the output
//! after it at the sizes that the terminal had.

use termd_proto::Offset;

use super::{as_fed_by, fresh_model};
use crate::clock::now_ms;
use crate::store::{SizeChange, Store};
use crate::terminal::lifecycle::record::{Record, Size};
use crate::terminal::output::transcript::{Transcript, TranscriptError};
use termd_vt::{Event, Model};

/// The most that is fed again, in bytes; before that, a screen begins empty. A checkpoint is never
/// so far behind unless the database took none.
const MAX_REPLAY_BYTES: u64 = 64 << 20;
/// Events kept of it, about.
const MAX_EVENTS: usize = 16_384;
/// What is read at a time, in bytes.
const PIECE_BYTES: u64 = 256 << 10;

/// A screen made again.
#[derive(Debug)]
pub struct Restored {
    /// It.
    pub model: Model,
    /// What the output fed again brought about; all of it was heeded once, but for the last.
    pub events: Vec<(u64, Event)>,
}

/// The screen of a terminal as its output up to `end` made it.
pub async fn restore(
    store: &Store,
    record: &Record,
    transcript: &Transcript,
    end: Offset,
) -> Result<Restored, TranscriptError> {
    let id = &record.id;
    let checkpoint = store
        .screen(id)
        .await?
        .filter(|checkpoint| checkpoint.at <= end);
    let restored = checkpoint.and_then(|checkpoint| {
        let model = Model::restored(record.scrollback.scrollback(), &checkpoint.dump)?;
        Some((model, checkpoint.at))
    });
    let (mut model, mut at) = restored.unwrap_or_else(|| {
        let fresh = fresh_model(record.first_size(), record.scrollback);
        (fresh, end.back(MAX_REPLAY_BYTES))
    });
    model = as_fed_by(record.stdio, model);
    let mut events = Vec::new();
    let mut changes = store.sizes(id, at).await?.into_iter().peekable();
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
            // Nothing of it is kept: it goes on at the next size, or is at its end.
            at = until;
            continue;
        }
        model.go_on_at(span.start.0);
        // What the program asked then was answered then.
        let fed = model.feed(&span.bytes);
        if events.len() < MAX_EVENTS {
            events.extend(fed.events);
        }
        at = span.end();
    }
    model.count_on_from(greater_than_any_before(end));
    Ok(Restored { model, events })
}

/// A count of changes greater than every one that viewers may have from a server before: each
/// change took a byte of output, or was a new size, and no terminal is resized every millisecond.
fn greater_than_any_before(end: Offset) -> u64 {
    end.0 + u64::try_from(now_ms()).unwrap_or(0)
}

fn size_of(change: SizeChange) -> Size {
    Size {
        cols: change.cols,
        rows: change.rows,
    }
}

//! Plain text that was resolved and may be needed again: where readers go on from, and what
//! `terminal/output` shows.
//!
//! A resolver's state is not in the offset that a client goes on from. The newest states are kept
//! here, each under the offset that it was left at. A state that is lost (the server was replaced,
//! there are many readers) is made anew from the output before the offset, so a client holds a plain
//! number. A lost state costs at most a redrawn line that is given twice.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use termd_proto::Offset;
use termd_proto::terminal::OutputStream;
use termd_vt::plain::{PlainSize, PlainText, Styles};
use tokio::sync::Mutex as AsyncMutex;

use super::plain_resolver::{resolver_at, stream_resolver_at};
use super::raw_tail::Tail;
use super::tail_cache::TailCache;
use super::text::Completeness;
use super::unfiltered::Unfiltered;
use crate::terminal::output::transcript::{Transcript, TranscriptError};

/// States kept for each terminal: those of a few readers, and one for each that asks again. A state
/// has the size of a screen.
const MAX_READERS: usize = 3;
/// Longest text that is kept once the command has exited, in bytes. A longer one is resolved again.
const MAX_TAIL_AFTER_EXIT_BYTES: usize = 16 << 10;

/// What a reader reads, and the offset that it goes on from.
type Place = (Option<OutputStream>, Offset, Styles);

/// The plain text of one terminal.
#[derive(Debug, Default)]
pub(crate) struct PlainCache {
    /// Readers' states, the newest last.
    readers: Mutex<VecDeque<(Place, PlainText)>>,
    /// The text that `terminal/output` showed last.
    tail: AsyncMutex<Option<TailCache>>,
}

impl PlainCache {
    fn readers(&self) -> MutexGuard<'_, VecDeque<(Place, PlainText)>> {
        self.readers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn at(&self, place: Place) -> Option<PlainText> {
        let readers = self.readers();
        let found = readers.iter().rev().find(|(at, _)| *at == place);
        found.map(|(_, plain)| plain.clone())
    }

    /// Keeps a state for a reader that goes on from here.
    pub(crate) fn keep(&self, stream: Option<OutputStream>, offset: Offset, plain: PlainText) {
        let place = (stream, offset, plain.styles());
        let mut readers = self.readers();
        readers.retain(|(at, _)| *at != place);
        if readers.len() >= MAX_READERS {
            readers.pop_front();
        }
        readers.push_back((place, plain));
    }

    /// Drops all states: the output is over.
    pub(crate) fn forget_readers(&self) {
        self.readers().clear();
    }

    /// A resolver that has given what stands before this offset: the one that was left there, or a
    /// new one.
    pub(crate) async fn resolver(
        &self,
        transcript: &Transcript,
        since: Offset,
        size: PlainSize,
        stream: Option<OutputStream>,
        styles: Styles,
    ) -> Result<PlainText, TranscriptError> {
        if since == Offset::ZERO {
            return Ok(PlainText::new(size).with_styles(styles));
        }
        if let Some(plain) = self.at((stream, since, styles)) {
            return Ok(plain);
        }
        match stream {
            Some(stream) => stream_resolver_at(transcript, since, size, stream, styles).await,
            None => resolver_at(transcript, since, size, styles).await,
        }
    }

    /// Gives back the memory of the text that `terminal/output` showed.
    pub(crate) async fn discard_tail(&self) {
        *self.tail.lock().await = None;
    }

    /// The last `limit` bytes of plain text before `end`. Text is resolved once: a client that asks
    /// four times a second costs what is new.
    pub(crate) async fn tail(
        &self,
        transcript: &Transcript,
        end: Offset,
        limit: u64,
        size: PlainSize,
        completeness: Completeness,
    ) -> Result<Unfiltered<Tail>, TranscriptError> {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let mut place = self.tail.lock().await;
        let mut tail = match place.take() {
            Some(mut tail) => {
                tail.resize(size);
                tail.extend(transcript, end, limit).await?
            }
            None => TailCache::resolve(transcript, end, limit, size).await?,
        };
        if completeness == Completeness::Final {
            tail.finish(limit);
        }
        let shown = tail.tail(limit);
        if completeness == Completeness::MayGrow || tail.text_len() <= MAX_TAIL_AFTER_EXIT_BYTES {
            *place = Some(tail);
        }
        Ok(Unfiltered::new(shown))
    }
}

#[cfg(test)]
mod tests {
    use termd_vt::plain::Screen;

    use super::*;

    #[test]
    fn readers_states_are_few_and_found_by_offset() {
        const SIZE: PlainSize = PlainSize { cols: 40, rows: 6 };
        let cache = PlainCache::default();
        for offset in 0..10 {
            let plain = PlainText::at(SIZE, offset, Screen::Primary);
            cache.keep(None, Offset(offset), plain);
        }
        assert_eq!(cache.readers().len(), MAX_READERS);
        let newest = cache.at((None, Offset(9), Styles::Dropped));
        assert_eq!(newest.map(|plain| plain.fed()), Some(9));
        assert!(cache.at((None, Offset(1), Styles::Dropped)).is_none());
        let other = (Some(OutputStream::Stderr), Offset(9), Styles::Dropped);
        assert!(cache.at(other).is_none());
        assert!(cache.at((None, Offset(9), Styles::Kept)).is_none());
        cache.forget_readers();
        assert!(cache.at((None, Offset(9), Styles::Dropped)).is_none());
    }
}

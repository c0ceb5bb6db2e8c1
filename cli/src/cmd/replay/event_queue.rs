//! What has been read of a recording and is not shown yet. Pure.

use std::collections::VecDeque;

use termd_proto::Offset;

use super::page::{Event, EventKind};

/// Output that is read ahead, in bytes: less than 10 ms of work for the model.
const MAX_QUEUED_BYTES: usize = 1 << 20;

/// Events in order.
#[derive(Debug, Default)]
pub(super) struct EventQueue {
    events: VecDeque<Event>,
    /// Bytes of output in them.
    bytes: usize,
}

impl EventQueue {
    pub(super) fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// Whether nothing more is to be read for now.
    pub(super) fn is_full(&self) -> bool {
        self.bytes >= MAX_QUEUED_BYTES
    }

    pub(super) fn append(&mut self, mut events: VecDeque<Event>) {
        self.bytes += events.iter().map(output_bytes).sum::<usize>();
        self.events.append(&mut events);
    }

    /// The play time of the next event.
    pub(super) fn next_ms(&self) -> Option<u64> {
        self.events.front().map(|event| event.play_ms)
    }

    /// Takes the next event, if it is shown by this play time.
    pub(super) fn pop_due(&mut self, play_ms: u64) -> Option<Event> {
        if self.next_ms()? > play_ms {
            return None;
        }
        self.pop_piece(usize::MAX)
    }

    /// Takes the next event, or the part of its output before an offset.
    pub(super) fn pop_before(&mut self, to: Offset) -> Option<Event> {
        let max = match &self.events.front()?.kind {
            EventKind::Output { start, .. } if *start >= to => return None,
            EventKind::Output { start, .. } => to.since(*start),
            EventKind::Resize { .. } => 0,
        };
        self.pop_piece(usize::try_from(max).unwrap_or(usize::MAX))
    }

    /// Takes the next event, or a piece of its output that is no longer than this.
    pub(super) fn pop_piece(&mut self, max: usize) -> Option<Event> {
        let event = match self.events.front_mut().and_then(|next| cut(next, max)) {
            Some(piece) => piece,
            None => self.events.pop_front()?,
        };
        self.bytes = self.bytes.saturating_sub(output_bytes(&event));
        Some(event)
    }
}

fn output_bytes(event: &Event) -> usize {
    match &event.kind {
        EventKind::Output { bytes, .. } => bytes.len(),
        EventKind::Resize { .. } => 0,
    }
}

/// Cuts the first bytes off an event's output; `None` where it has no more.
fn cut(event: &mut Event, length: usize) -> Option<Event> {
    let EventKind::Output {
        start,
        bytes,
        clock,
    } = &mut event.kind
    else {
        return None;
    };
    if bytes.len() <= length {
        return None;
    }
    let rest = bytes.split_off(length);
    let kind = EventKind::Output {
        start: *start,
        bytes: std::mem::replace(bytes, rest),
        clock: *clock,
    };
    *start = *start + length as u64;
    Some(Event {
        play_ms: event.play_ms,
        kind,
    })
}

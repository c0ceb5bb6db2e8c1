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

    /// Takes the next event, or a piece of its output: no longer than this, and of no more lines, so that all
    /// that it prints still stands on the screen when it ends.
    pub(super) fn pop_lines(&mut self, max: usize, lines: usize) -> Option<Event> {
        let length = match &self.events.front()?.kind {
            EventKind::Output { bytes, .. } => lines_of(bytes, lines),
            EventKind::Resize { .. } => 0,
        };
        self.pop_piece(length.min(max))
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

/// How much of this output comes before the line feed that ends the last of a number of lines. One at the
/// beginning ends a line that was printed before.
fn lines_of(bytes: &[u8], lines: usize) -> usize {
    let after_first = bytes.iter().enumerate().skip(1);
    let mut line_feeds = after_first.filter(|(_, byte)| **byte == b'\n');
    let end = line_feeds.nth(lines.saturating_sub(1));
    end.map_or(bytes.len(), |(end, _)| end)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cmd::replay::page::OutputClock;

    #[test]
    fn a_piece_has_no_more_lines_than_wanted_and_ends_before_a_line_feed() {
        let kind = EventKind::Output {
            start: Offset(10),
            bytes: b"a\r\nb\r\n\nlonger\r\nd".to_vec(),
            clock: OutputClock::Noted,
        };
        let mut queue = EventQueue::default();
        queue.append(VecDeque::from([Event { play_ms: 0, kind }]));
        let mut pieces = Vec::new();
        while let Some(event) = queue.pop_lines(6, 2) {
            if let EventKind::Output { start, bytes, .. } = event.kind {
                pieces.push((start.0, String::from_utf8(bytes).unwrap()));
            }
        }
        let want = [(10, "a\r\nb\r"), (15, "\n\nlong"), (21, "er\r\nd")];
        assert_eq!(pieces, want.map(|(start, text)| (start, text.to_owned())));
        assert_eq!(queue.bytes, 0);
    }
}

//! What a connection has said and the peer has not taken yet. Pure: bytes go out through
//! [`Outbox::slices`] and [`Outbox::advance`].
//!
//! Promises: bounded in bytes and messages; small messages are put together, so that many answers
//! cost one write; a big answer is never copied.
//! Must not know: sockets, JSON.

use std::collections::VecDeque;
use std::io::IoSlice;

use super::limits::{ANSWERS_HIGH_WATER_BYTES, MAX_OUT_QUEUE_BYTES, MAX_OUT_QUEUE_MESSAGES};

/// Messages up to this length are put together with their neighbours.
const SMALL_MESSAGE_BYTES: usize = 4 << 10;

/// A chunk of small messages is closed at this length.
const CHUNK_BYTES: usize = 32 << 10;

/// Slices in one writev(2): enough for several big answers with their heads.
const SLICES_MAX: usize = 32;

/// What became of a message that was to be queued.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub(super) enum Queued {
    /// It will go out.
    Yes,
    /// It was dropped: too many bytes wait.
    TooManyBytes,
    /// It was dropped: too many messages wait.
    TooManyMessages,
}

/// Bytes that go out in one piece.
#[derive(Debug)]
struct Chunk {
    bytes: Vec<u8>,
    /// Where the part not yet taken begins.
    start: usize,
    /// Messages whose last byte is in here.
    messages: usize,
}

/// The queue.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    chunks: VecDeque<Chunk>,
    bytes: usize,
    messages: usize,
}

impl Outbox {
    pub(super) fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// Bytes not yet taken.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Messages not yet taken. One that shares a chunk with others counts until all are.
    pub(super) fn messages(&self) -> usize {
        self.messages
    }

    /// Queues `head`, `body` and a line end.
    pub(super) fn push(&mut self, head: &str, body: Vec<u8>) -> Queued {
        let length = head.len() + body.len() + 1;
        if self.messages >= MAX_OUT_QUEUE_MESSAGES {
            return Queued::TooManyMessages;
        }
        if self.bytes > ANSWERS_HIGH_WATER_BYTES && self.bytes + length > MAX_OUT_QUEUE_BYTES {
            return Queued::TooManyBytes;
        }
        self.bytes += length;
        self.messages += 1;
        if length <= SMALL_MESSAGE_BYTES {
            let chunk = self.open_chunk(length);
            chunk.bytes.extend_from_slice(head.as_bytes());
            chunk.bytes.extend_from_slice(&body);
            chunk.bytes.push(b'\n');
            chunk.messages += 1;
        } else {
            if !head.is_empty() {
                self.open_chunk(head.len())
                    .bytes
                    .extend_from_slice(head.as_bytes());
            }
            // The line end begins the next chunk: pushed here it could move the whole body.
            self.chunks.push_back(Chunk {
                bytes: body,
                start: 0,
                messages: 0,
            });
            self.chunks.push_back(Chunk {
                bytes: vec![b'\n'],
                start: 0,
                messages: 1,
            });
        }
        Queued::Yes
    }

    /// What to write next.
    pub(super) fn slices(&self) -> Vec<IoSlice<'_>> {
        let chunks = self.chunks.iter().take(SLICES_MAX);
        chunks
            .map(|chunk| IoSlice::new(&chunk.bytes[chunk.start..]))
            .collect()
    }

    /// Takes off what was written.
    pub(super) fn advance(&mut self, mut written: usize) {
        self.bytes = self.bytes.saturating_sub(written);
        while let Some(chunk) = self.chunks.front_mut() {
            let left = chunk.bytes.len() - chunk.start;
            if written < left {
                chunk.start += written;
                return;
            }
            written -= left;
            self.messages -= chunk.messages;
            self.chunks.pop_front();
        }
        // Idle: holds nothing.
        self.chunks.shrink_to(4);
    }

    /// The last chunk, if it has room for `length` more; else a new one.
    fn open_chunk(&mut self, length: usize) -> &mut Chunk {
        let has_room = |chunk: &Chunk| chunk.bytes.len() + length <= CHUNK_BYTES;
        if !self.chunks.back().is_some_and(has_room) {
            let bytes = Vec::with_capacity(length);
            self.chunks.push_back(Chunk {
                bytes,
                start: 0,
                messages: 0,
            });
        }
        let last = self.chunks.len() - 1;
        &mut self.chunks[last]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes everything out, `step` bytes at a time.
    fn drain(outbox: &mut Outbox, step: usize) -> String {
        let mut all = Vec::new();
        while !outbox.is_empty() {
            let some: Vec<u8> = outbox
                .slices()
                .iter()
                .flat_map(|s| s.to_vec())
                .take(step)
                .collect();
            outbox.advance(some.len());
            all.extend(some);
        }
        String::from_utf8(all).unwrap()
    }

    #[test]
    fn what_goes_in_comes_out_in_any_steps() {
        let big = "b".repeat(100_000);
        for step in [1000, 4097, 1 << 20] {
            let mut outbox = Outbox::default();
            let mut expected = String::new();
            for (head, body) in [
                ("h1,", "body1"),
                ("", "event"),
                ("h2,", big.as_str()),
                ("", "end"),
            ] {
                assert_eq!(outbox.push(head, body.into()), Queued::Yes);
                expected.extend([head, body, "\n"]);
            }
            assert_eq!((outbox.bytes(), outbox.messages()), (expected.len(), 4));
            assert!(drain(&mut outbox, step) == expected, "by {step}");
            assert_eq!((outbox.bytes(), outbox.messages()), (0, 0));
        }
    }

    #[test]
    fn small_messages_share_a_write() {
        let mut outbox = Outbox::default();
        for _ in 0..500 {
            assert_eq!(outbox.push("", vec![b'x'; 50]), Queued::Yes);
        }
        assert_eq!(outbox.slices().len(), 1);
    }

    #[test]
    fn messages_are_bounded() {
        let mut outbox = Outbox::default();
        for _ in 0..MAX_OUT_QUEUE_MESSAGES {
            assert_eq!(outbox.push("", b"x".to_vec()), Queued::Yes);
        }
        assert_eq!(outbox.push("", b"x".to_vec()), Queued::TooManyMessages);
        let _ = drain(&mut outbox, 1 << 20);
        assert_eq!(outbox.push("", b"x".to_vec()), Queued::Yes);
    }

    #[test]
    fn bytes_are_bounded_and_one_longest_answer_always_fits() {
        let mut outbox = Outbox::default();
        let longest = "x".repeat(MAX_OUT_QUEUE_BYTES + 1);
        assert_eq!(outbox.push("", b"small".to_vec()), Queued::Yes);
        assert_eq!(outbox.push("", longest.into()), Queued::Yes);
        assert_eq!(outbox.push("", b"small".to_vec()), Queued::TooManyBytes);
    }
}

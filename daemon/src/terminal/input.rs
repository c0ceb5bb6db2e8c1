//! What is typed into a terminal and not yet taken by it.
//!
//! **Invariant:** input is in memory only, until the PTY has taken it; it is never logged or stored.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::oneshot;

/// The most that waits for a program that does not read, in bytes.
pub const MAX_QUEUED_BYTES: usize = 1 << 20;

/// One piece of input on its way.
#[derive(Debug)]
pub struct Input {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// How many of them the terminal has taken.
    pub taken: Arc<AtomicU64>,
    /// Told when all of them are taken; dropped if they never will be.
    pub done: oneshot::Sender<()>,
}

/// Input in order.
#[derive(Debug, Default)]
pub struct InputQueue {
    waiting: VecDeque<Input>,
    /// Bytes of the first piece that are taken.
    position: usize,
}

impl InputQueue {
    /// Adds a piece; an empty one is done at once.
    pub fn push(&mut self, input: Input) {
        if input.bytes.is_empty() {
            let _ = input.done.send(());
        } else {
            self.waiting.push_back(input);
        }
    }

    /// Adds the terminal's own answer to a query, and returns how many bytes are then queued by it:
    /// none where the queue is full, as a program that does not read will not miss it.
    pub fn push_answer(&mut self, bytes: Vec<u8>) -> usize {
        let waiting: usize = self.waiting.iter().map(|input| input.bytes.len()).sum();
        let length = bytes.len();
        if waiting + length > MAX_QUEUED_BYTES {
            return 0;
        }
        let (done, _nobody) = oneshot::channel();
        self.push(Input {
            bytes,
            taken: Arc::default(),
            done,
        });
        length
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// What is to be written next.
    pub fn next(&self) -> &[u8] {
        self.waiting
            .front()
            .map_or(&[], |input| &input.bytes[self.position..])
    }

    /// This many bytes of [`next`](Self::next) were taken.
    pub fn advance(&mut self, bytes: usize) {
        self.position += bytes;
        let Some(first) = self.waiting.front() else {
            return;
        };
        first.taken.store(self.position as u64, Ordering::Release);
        if self.position >= first.bytes.len() {
            self.position = 0;
            if let Some(input) = self.waiting.pop_front() {
                let _ = input.done.send(());
            }
        }
    }

    /// Nobody will read: drops what waits, and returns how many bytes that was.
    pub fn abandon(&mut self) -> usize {
        let left = self
            .waiting
            .iter()
            .map(|input| input.bytes.len())
            .sum::<usize>();
        let dropped = left.saturating_sub(self.position);
        self.waiting.clear();
        self.position = 0;
        dropped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(bytes: &[u8]) -> (Input, Arc<AtomicU64>, oneshot::Receiver<()>) {
        let taken = Arc::new(AtomicU64::new(0));
        let (done, told) = oneshot::channel();
        (
            Input {
                bytes: bytes.to_vec(),
                taken: Arc::clone(&taken),
                done,
            },
            taken,
            told,
        )
    }

    #[test]
    fn pieces_go_in_order_and_each_is_told_when_it_is_gone() {
        let mut queue = InputQueue::default();
        let (first, first_taken, mut first_told) = input(b"abc");
        let (second, second_taken, mut second_told) = input(b"de");
        queue.push(first);
        queue.push(second);
        assert_eq!(queue.next(), b"abc");
        queue.advance(2);
        assert_eq!(queue.next(), b"c");
        assert_eq!(first_taken.load(Ordering::Acquire), 2);
        assert!(first_told.try_recv().is_err());
        queue.advance(1);
        assert!(first_told.try_recv().is_ok());
        assert_eq!(queue.next(), b"de");
        queue.advance(1);
        assert_eq!(queue.abandon(), 1);
        assert_eq!(second_taken.load(Ordering::Acquire), 1);
        assert!(second_told.try_recv().is_err());
        assert!(queue.is_empty() && queue.next().is_empty());
    }

    #[test]
    fn nothing_to_type_is_done_at_once() {
        let mut queue = InputQueue::default();
        let (nothing, _, mut told) = input(b"");
        queue.push(nothing);
        assert!(queue.is_empty() && told.try_recv().is_ok());
    }
}

//! What is typed into a terminal and not yet taken by it.
//!
//! **Invariant:** input is in memory only, until the PTY has taken it; it is never logged or stored.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::oneshot;

use super::input_audit::Seen;
use super::typing::Lines;

/// The most that waits for a program that does not read, in bytes.
pub const MAX_QUEUED_BYTES: usize = 1 << 20;

/// One piece of input on its way.
#[derive(Debug)]
pub struct Input {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// How many of them the terminal has taken.
    pub taken: Arc<AtomicU64>,
    /// What the tty was like when they were written.
    pub seen: Arc<Seen>,
    /// What is to be looked at before they are written.
    pub care: Care,
    /// Told when all of them are taken, or why none was; dropped if they never will be.
    pub done: oneshot::Sender<Outcome>,
}

/// What became of a piece of input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The terminal has taken all of it.
    Taken,
    /// The tty reads lines, and one of it is longer than it holds: nothing was typed.
    LineTooLong,
    /// No secret is awaited (any more): nothing was typed.
    NoSecretAwaited,
}

/// What a piece of input asks of the tty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Care {
    /// How long its lines may be.
    pub lines: LineCare,
    /// Whether it is a secret.
    pub secrecy: Secrecy,
}

impl Care {
    /// Bytes that go out as they are, whatever the tty does with them.
    pub fn none() -> Self {
        Self {
            lines: LineCare::Any,
            secrecy: Secrecy::NotShown,
        }
    }
}

/// Whether lines longer than a canonical tty holds are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineCare {
    /// Whatever their length.
    Any,
    /// Not while the tty would cut one of these.
    Whole(Lines),
}

/// What may be known of a piece of input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Secrecy {
    /// Nobody will look for its echo.
    NotShown,
    /// Its echo looks like this; it is remembered, unless it turns out that nothing is echoed.
    Shown(String),
    /// Only where the tty reads lines and does not show them.
    Awaited,
    /// Wherever; the tty is kept from showing it, as far as it is the tty that would.
    Forced,
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
            let _ = input.done.send(Outcome::Taken);
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
            seen: Arc::default(),
            care: Care::none(),
            done,
        });
        length
    }

    /// What the piece that is written next asks of the tty.
    pub fn care(&self) -> Option<&Care> {
        self.waiting.front().map(|input| &input.care)
    }

    /// Who is told what the tty is like when the next piece is written.
    pub fn seen(&self) -> Option<&Seen> {
        self.waiting.front().map(|input| &*input.seen)
    }

    /// Whether the piece that is written next has been begun.
    pub fn is_begun(&self) -> bool {
        self.position > 0
    }

    /// Takes the piece that would be written next out, and returns how many bytes it left unwritten.
    pub fn refuse(&mut self, outcome: Outcome) -> usize {
        let Some(first) = self.waiting.pop_front() else {
            return 0;
        };
        let left = first.bytes.len().saturating_sub(self.position);
        self.position = 0;
        first.seen.refused();
        let _ = first.done.send(outcome);
        left
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
                let _ = input.done.send(Outcome::Taken);
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
        for input in self.waiting.drain(..) {
            input.seen.refused();
        }
        self.position = 0;
        dropped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(bytes: &[u8]) -> (Input, Arc<AtomicU64>, oneshot::Receiver<Outcome>) {
        let taken = Arc::new(AtomicU64::new(0));
        let (done, told) = oneshot::channel();
        (
            Input {
                bytes: bytes.to_vec(),
                taken: Arc::clone(&taken),
                seen: Arc::default(),
                care: Care::none(),
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
    fn a_piece_that_is_refused_leaves_the_others() {
        let mut queue = InputQueue::default();
        let (first, _, mut first_told) = input(b"abc");
        let (second, _, _second_told) = input(b"de");
        queue.push(first);
        queue.push(second);
        assert_eq!(queue.refuse(Outcome::LineTooLong), 3);
        assert_eq!(first_told.try_recv(), Ok(Outcome::LineTooLong));
        assert_eq!(queue.next(), b"de");
        queue.advance(1);
        assert!(queue.is_begun());
        assert_eq!(queue.refuse(Outcome::LineTooLong), 1);
        assert_eq!(
            (queue.refuse(Outcome::LineTooLong), queue.care()),
            (0, None)
        );
    }

    #[test]
    fn nothing_to_type_is_done_at_once() {
        let mut queue = InputQueue::default();
        let (nothing, _, mut told) = input(b"");
        queue.push(nothing);
        assert!(queue.is_empty() && told.try_recv().is_ok());
    }
}

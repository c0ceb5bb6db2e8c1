//! Input that the terminal has not taken yet.
//!
//! **Invariant:** input is in memory only, and is never logged or stored.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use termd_proto::Offset;
use tokio::sync::oneshot;

use super::input_audit::WriteFacts;
use super::shell_prompt::PromptState;
use super::typing::Lines;

/// Most bytes that wait for a program that does not read.
pub const MAX_QUEUED_BYTES: usize = 1 << 20;

/// A piece of input on its way.
#[derive(Debug)]
pub struct Input {
    pub bytes: Vec<u8>,
    /// The end of the output when the input was queued.
    pub offset: Offset,
    /// How many of the bytes the tty has taken.
    pub taken: Arc<AtomicU64>,
    pub facts: Arc<WriteFacts>,
    /// What is checked before the bytes are written.
    pub care: Care,
    /// Where it stands in a pipe; of a tty nothing.
    pub position: PipePosition,
    /// Answered when all bytes are taken, or why none was; dropped if they never will be.
    pub done: oneshot::Sender<Outcome>,
}

impl Input {
    /// None of the bytes that are left will be written.
    pub(crate) fn refuse(self, outcome: Outcome) {
        self.facts.refused();
        let _ = self.done.send(outcome);
    }
}

/// Where a piece of input stands in a pipe.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PipePosition {
    /// How many bytes were sent before it, where its sender counts; those that were sent are not sent
    /// again.
    pub offset: Option<u64>,
    /// Whether the input ends behind it.
    pub is_last: bool,
}

/// What became of a piece of input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The tty has taken all of it.
    Taken,
    /// A line is longer than a tty that reads lines holds: nothing was typed.
    LineTooLong,
    /// No secret is awaited any more: nothing was typed.
    NoSecretAwaited,
    /// The shell is not at its prompt: nothing was typed.
    NotAtPrompt(PromptState),
    /// The pipe's input has ended, or nobody reads it any more.
    InputEnded,
    /// The piece begins behind the end of what was sent into the pipe.
    BeyondInput {
        /// How many bytes were sent.
        end: u64,
    },
    /// There is no memory to keep the piece in.
    NoMemory,
}

/// What a piece of input requires of the tty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Care {
    pub lines: LineCare,
    pub secrecy: Secrecy,
    pub place: Place,
}

/// Where a piece of input may arrive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    Anywhere,
    /// Only at a shell's prompt where no other line waits.
    Prompt,
}

impl Care {
    /// Writes the bytes whatever the tty does with them.
    pub fn none() -> Self {
        Self {
            lines: LineCare::Any,
            secrecy: Secrecy::NotShown,
            place: Place::Anywhere,
        }
    }
}

/// Whether lines are written that a canonical tty would cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineCare {
    Any,
    /// Not while the tty would cut one of these lines.
    Whole(Lines),
}

/// What may be known of a piece of input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Secrecy {
    /// No wait looks for its echo.
    NotShown,
    /// Its echo looks like this. It is remembered, unless the tty does not echo.
    Shown(String),
    /// A secret that is typed only where the tty reads lines without echo.
    Awaited,
    /// A secret that is typed anywhere. The tty is kept from echoing it; a program may still show it.
    Forced,
}

/// Input in order.
#[derive(Debug, Default)]
pub struct InputQueue {
    waiting: VecDeque<Input>,
    /// How many bytes of the first piece are taken.
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

    /// Adds the terminal model's answer to a query, and returns how many bytes that queues: none where
    /// the queue is full, because a program that does not read does not miss the answer.
    pub fn push_answer(&mut self, bytes: Vec<u8>) -> usize {
        let waiting: usize = self.waiting.iter().map(|input| input.bytes.len()).sum();
        let length = bytes.len();
        if waiting + length > MAX_QUEUED_BYTES {
            return 0;
        }
        let (done, _nobody) = oneshot::channel();
        self.push(Input {
            bytes,
            offset: Offset::ZERO,
            taken: Arc::default(),
            facts: Arc::default(),
            care: Care::none(),
            position: PipePosition::default(),
            done,
        });
        length
    }

    /// What the next piece requires of the tty.
    pub fn care(&self) -> Option<&Care> {
        self.waiting.front().map(|input| &input.care)
    }

    /// Where it is noted how the tty is when the next piece is written.
    pub fn facts(&self) -> Option<&WriteFacts> {
        self.waiting.front().map(|input| &*input.facts)
    }

    /// Whether some of the next piece is written.
    pub fn is_begun(&self) -> bool {
        self.position > 0
    }

    /// Refuses the next piece, and returns how many of its bytes are unwritten.
    pub fn refuse(&mut self, outcome: Outcome) -> usize {
        let Some(first) = self.waiting.pop_front() else {
            return 0;
        };
        let left = first.bytes.len().saturating_sub(self.position);
        self.position = 0;
        first.facts.refused();
        let _ = first.done.send(outcome);
        left
    }

    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// The bytes to write next.
    pub fn next(&self) -> &[u8] {
        self.waiting
            .front()
            .map_or(&[], |input| &input.bytes[self.position..])
    }

    /// Counts bytes of [`next`](Self::next) as taken.
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

    /// Drops everything, as no program will read it, and returns the number of bytes.
    pub fn abandon(&mut self) -> usize {
        let left = self
            .waiting
            .iter()
            .map(|input| input.bytes.len())
            .sum::<usize>();
        let dropped = left.saturating_sub(self.position);
        for input in self.waiting.drain(..) {
            input.facts.refused();
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
                offset: Offset::ZERO,
                taken: Arc::clone(&taken),
                facts: Arc::default(),
                care: Care::none(),
                position: PipePosition::default(),
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

//! What was typed into a terminal lately, and where in its output its echo begins: so that a wait
//! for a pattern does not find what its own caller typed.
//!
//! **Invariant:** in memory only, bounded, and never a secret or anything typed while ECHO was off
//! in a canonical tty: there is no echo of it to be left out.

use std::collections::VecDeque;

use termd_proto::Offset;

use crate::terminal::handle::LineDiscipline;

/// Inputs remembered at the most: waits look back to their caller's last read or send.
const MAX_REMEMBERED: usize = 64;
/// Bytes of text remembered at the most, over all inputs of a terminal.
const MAX_REMEMBERED_BYTES: usize = 256 << 10;

/// One input, as its echo would show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Typed {
    /// The end of the output when it was queued: its echo is not before this.
    pub offset: Offset,
    /// Its text, lines ended by LF, the last one with one if Enter was pressed.
    pub text: String,
    /// How the tty read when it was queued.
    pub tty: LineDiscipline,
}

/// The last inputs of a terminal, oldest first.
#[derive(Debug, Default)]
pub struct TypedLog {
    inputs: VecDeque<Typed>,
    bytes: usize,
}

impl TypedLog {
    /// Remembers one, and forgets the oldest where there are too many.
    pub fn push(&mut self, typed: Typed) {
        self.bytes += typed.text.len();
        self.inputs.push_back(typed);
        while self.inputs.len() > MAX_REMEMBERED || self.bytes > MAX_REMEMBERED_BYTES {
            let Some(oldest) = self.inputs.pop_front() else {
                break;
            };
            self.bytes -= oldest.text.len();
        }
    }

    /// Those whose echo may lie at or after `since`, oldest first.
    pub fn since(&self, since: Offset) -> Vec<Typed> {
        let later = self.inputs.iter().filter(|typed| typed.offset >= since);
        later.cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(offset: u64, text: &str) -> Typed {
        Typed {
            offset: Offset(offset),
            text: text.to_owned(),
            tty: LineDiscipline {
                echo: true,
                canonical: true,
            },
        }
    }

    #[test]
    fn the_oldest_are_forgotten_by_number_and_by_size() {
        let mut log = TypedLog::default();
        for n in 0..70 {
            log.push(typed(n, "x"));
        }
        assert_eq!(log.since(Offset(0)).len(), MAX_REMEMBERED);
        assert_eq!(log.since(Offset(68)).len(), 2);
        log.push(typed(100, &"y".repeat(MAX_REMEMBERED_BYTES)));
        let left = log.since(Offset(0));
        assert_eq!(left.len(), 1);
        log.push(typed(101, &"z".repeat(MAX_REMEMBERED_BYTES + 1)));
        assert!(log.since(Offset(0)).is_empty());
    }
}

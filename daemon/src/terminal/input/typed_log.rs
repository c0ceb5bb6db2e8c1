//! Recent input, and where in the output its echo may begin, so that a wait for a pattern does not find
//! what its own caller typed.
//!
//! **Invariant:** the log is in memory only and bounded. It never holds a secret, nor input while a
//! canonical tty had ECHO off, which has no echo.

use std::collections::VecDeque;
use std::iter;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use termd_proto::Offset;

use super::tty::LineDiscipline;

/// Ctrl-C on a tty (VINTR).
const INTR: char = '\u{3}';
/// Inputs remembered: waits look back to their caller's last read or send.
const MAX_REMEMBERED: usize = 64;
/// Bytes of text remembered, over all inputs of a terminal.
const MAX_REMEMBERED_BYTES: usize = 256 << 10;

/// Longest line before an input that is remembered, in bytes: longer ones are no prompts.
const MAX_PROMPT_BYTES: usize = 256;

/// One input, as its echo shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypedText {
    /// The end of the output when the input was queued. Its echo is not before this.
    pub offset: Offset,
    /// Lines ended by LF. The last one is ended if Enter was pressed.
    pub text: String,
    /// How the tty read when the input was queued.
    pub tty: LineDiscipline,
    /// The cursor's line before the cursor when the input was queued.
    pub before: String,
    /// The foreground process group when the input was queued, to which the prompt belongs.
    pub group: Option<i32>,
}

/// The last inputs of a terminal.
#[derive(Debug, Default)]
pub struct TypedLog(Mutex<Inputs>);

#[derive(Debug, Default)]
struct Inputs {
    /// Oldest first.
    inputs: VecDeque<TypedText>,
    /// Where and when anything was typed last, be it a key or a secret.
    newest: Option<(Offset, Instant)>,
    /// Where the terminal answered a program last.
    newest_answer: Option<Offset>,
    /// Where the newest line was ended.
    newest_line: Option<Offset>,
    /// Whether Ctrl-C was typed after it.
    is_interrupted: bool,
    /// The length of all their text.
    bytes: usize,
}

impl TypedLog {
    /// Remembers an input, and forgets the oldest where there are too many.
    pub fn push(&self, mut typed: TypedText) {
        if typed.before.len() > MAX_PROMPT_BYTES {
            typed.before.clear();
        }
        let mut log = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        log.bytes += typed.text.len();
        if let Some(at) = typed.text.rfind(['\n', INTR]) {
            log.is_interrupted = typed.text[at..].starts_with(INTR);
        }
        if typed.text.contains('\n') {
            log.newest_line = Some(typed.offset);
        }
        log.inputs.push_back(typed);
        while log.inputs.len() > MAX_REMEMBERED || log.bytes > MAX_REMEMBERED_BYTES {
            let Some(oldest) = log.inputs.pop_front() else {
                break;
            };
            log.bytes -= oldest.text.len();
        }
    }

    /// Notes that something is typed at this offset, whatever it is.
    pub fn touch(&self, offset: Offset) {
        let mut log = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        log.newest = Some((offset, Instant::now()));
    }

    /// Notes that the terminal answers a query of the output before this offset.
    pub fn answered(&self, offset: Offset) {
        let mut log = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        log.newest_answer = Some(offset);
    }

    /// Where the terminal answered a program last.
    pub fn newest_answer(&self) -> Option<Offset> {
        let log = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        log.newest_answer
    }

    /// Where anything was typed last, keys and secrets too.
    pub fn newest_offset(&self) -> Option<Offset> {
        let log = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        log.newest.map(|(offset, _)| offset)
    }

    /// When anything was typed last.
    pub fn newest_at(&self) -> Option<Instant> {
        let log = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        log.newest.map(|(_, at)| at)
    }

    /// Forgets the newest input with this text, which the terminal has not taken.
    pub fn take_back(&self, text: &str) {
        let mut log = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(at) = log.inputs.iter().rposition(|typed| typed.text == text) else {
            return;
        };
        log.inputs.remove(at);
        log.bytes -= text.len();
        let last = log
            .inputs
            .iter()
            .rev()
            .find(|typed| typed.text.contains('\n'));
        log.newest_line = last.map(|typed| typed.offset);
    }

    /// The lines before lines that were typed into this process group, newest first, each once. Where a
    /// program has read a line it may show the same prompt again.
    pub fn lines_before(&self, group: Option<i32>) -> Vec<String> {
        let log = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut lines: Vec<String> = Vec::new();
        let is_line = |it: &&TypedText| it.group == group && it.text.contains('\n');
        let lines_typed = log.inputs.iter().rev().filter(is_line);
        for typed in lines_typed {
            if !typed.before.trim().is_empty() && !lines.contains(&typed.before) {
                lines.push(typed.before.clone());
            }
        }
        lines
    }

    /// Whether Ctrl-C was typed after the newest line.
    pub fn is_interrupted(&self) -> bool {
        let log = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        log.is_interrupted
    }

    /// Where the lines of the remembered inputs were ended, and always the newest one, oldest first.
    pub fn lines(&self) -> Vec<Offset> {
        let log = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut lines: Vec<Offset> = (log.inputs.iter())
            .flat_map(|typed| iter::repeat_n(typed.offset, typed.text.matches('\n').count()))
            .collect();
        if lines.is_empty() {
            lines.extend(log.newest_line);
        }
        lines
    }

    /// The inputs whose echo may lie at or after `since`, oldest first.
    pub fn since(&self, since: Offset) -> Vec<TypedText> {
        let log = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let later = log.inputs.iter().filter(|typed| typed.offset >= since);
        later.cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_back_was_never_typed() {
        let log = TypedLog::default();
        log.push(typed(1, "first\n"));
        log.push(typed(5, "too long\n"));
        log.push(typed(5, "later"));
        log.take_back("too long\n");
        assert_eq!(log.lines(), [Offset(1)]);
        log.take_back("never there\n");
        assert_eq!(log.since(Offset(0)).len(), 2);
    }

    fn typed(offset: u64, text: &str) -> TypedText {
        TypedText {
            offset: Offset(offset),
            text: text.to_owned(),
            tty: LineDiscipline {
                echo: true,
                canonical: true,
                raw: false,
            },
            before: String::new(),
            group: Some(7),
        }
    }

    #[test]
    fn lines_before_are_those_of_whole_lines_and_each_is_there_once() {
        let log = TypedLog::default();
        for (before, text) in [
            ("$ ", "ls\n"),
            (">>> ", "1\n"),
            ("x", "key"),
            ("$ ", "ls\n"),
            ("  ", "\n"),
            (&*"y".repeat(MAX_PROMPT_BYTES + 1), "z\n"),
        ] {
            log.push(TypedText {
                before: before.to_owned(),
                ..typed(0, text)
            });
        }
        assert_eq!(log.lines_before(Some(7)), ["$ ", ">>> "]);
        assert!(log.lines_before(Some(8)).is_empty());
    }

    #[test]
    fn the_oldest_are_forgotten_by_number_and_by_size() {
        let log = TypedLog::default();
        for n in 0..70 {
            log.push(typed(n, "x"));
        }
        assert_eq!(log.since(Offset(0)).len(), MAX_REMEMBERED);
        assert_eq!(log.since(Offset(68)).len(), 2);
        log.push(typed(100, &"y".repeat(MAX_REMEMBERED_BYTES)));
        let left = log.since(Offset(0));
        assert_eq!(left.len(), 1);
        assert!(log.lines().is_empty());
        log.push(typed(100, "a\nb\n"));
        assert_eq!(log.lines(), [Offset(100); 2]);
        for (text, is_interrupted) in [("\u{3}", true), ("c", true), ("\u{3}d\n", false)] {
            log.push(typed(100, text));
            assert_eq!(log.is_interrupted(), is_interrupted, "{text:?}");
        }
        log.push(typed(101, &"z".repeat(MAX_REMEMBERED_BYTES + 1)));
        assert!(log.since(Offset(0)).is_empty());
        assert_eq!(log.lines(), [Offset(100)]);
    }
}

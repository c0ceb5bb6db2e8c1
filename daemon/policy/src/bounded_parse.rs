//! Parsing with a grammar of tree-sitter for a bounded price.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use tree_sitter::{ParseOptions, ParseState, Parser, Point, Tree};

/// Bytes that a grammar's scanner is given at a time. The scanner looks ahead, for some tokens up to the
/// text's end, and asks again for what it looks at again. So the bytes that it has asked for measure its
/// work.
const CHUNK_BYTES: usize = 256;
/// How often the scanner may ask for the whole text. Ten times is usual; for `x=(x=(x=(…` the one of bash
/// would ask once for each word.
const MAX_PASSES: usize = 256;

/// How much of a processor's time a parser may take that stops at an error. 64 KiB of code take a twelfth of it. What takes
/// longer is nested without brackets (`x: x: x:`), for which the parser's work grows with the square of
/// the depth, and nothing of it can be counted.
const MAX_TIME: Duration = Duration::from_millis(500);

/// What a parser does with a text that has an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnError {
    /// It goes on, and the tree has the error in it.
    Recover,
    /// It stops, also where it takes too long: such a tree is not read.
    Stop,
}

/// The time that processors have spent on this thread.
fn thread_time() -> Duration {
    let spent = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(spent).unwrap_or_default()
}

/// The tree of a text. `None`: it would take too long to make, or the parser has stopped.
pub(crate) fn tree(parser: &mut Parser, text: &str, on_error: OnError) -> Option<Tree> {
    parser.reset();
    let started = thread_time();
    let max_read = MAX_PASSES * text.len().max(CHUNK_BYTES);
    let bytes_read = Cell::new(0_usize);
    let mut read = |from: usize, _: Point| {
        let end = from.saturating_add(CHUNK_BYTES).min(text.len());
        let chunk = text.as_bytes().get(from..end).unwrap_or_default();
        bytes_read.set(bytes_read.get() + chunk.len());
        chunk
    };
    let mut go_on = |state: &ParseState| {
        let stops = on_error == OnError::Stop
            && (state.has_error() || thread_time().saturating_sub(started) > MAX_TIME);
        if stops || bytes_read.get() > max_read {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let options = ParseOptions::new().progress_callback(&mut go_on);
    parser.parse_with_options(&mut read, None, Some(options))
}

//! `session.read` of raw text or bytes.

use std::time::Duration;

use termd_proto::Offset;
use termd_proto::terminal::{ReadFrom, ReadResult};

use super::encoded::Encoded;
use super::options::ReadOptions;
use super::page::Page;
use super::raw_tail::line_start;
use super::text::{Completeness, after_lines};
use crate::terminal::error::TerminalError;
use crate::terminal::handle::Terminal;

/// What one look gave.
pub(super) struct RawRead {
    pub(super) page: Page,
    /// The end of what was looked at. An unfinished character is not in the result.
    seen: Offset,
    exit_was_known: bool,
}

/// Reads output; waits once where there is none.
pub(super) async fn read(
    terminal: &Terminal,
    options: &ReadOptions,
    max: u64,
) -> Result<Page, TerminalError> {
    let end = terminal.end();
    let since = match options.from {
        ReadFrom::Offset(offset) => offset,
        ReadFrom::TailBytes(bytes) => end.back(bytes),
        ReadFrom::TailLines(lines) => line_start(&terminal.transcript, end, lines).await?,
    };
    let unbounded = Offset(u64::MAX);
    let first = read_now(terminal, since, unbounded, max, options).await?;
    let Some(wait_ms) = options.wait_ms else {
        return Ok(first.page);
    };
    if first.page.answer.end > first.page.answer.start || first.exit_was_known {
        return Ok(first.page);
    }
    // There is nothing, or only the beginning of a character.
    let timeout = Duration::from_millis(wait_ms);
    terminal.wait_for_output(first.seen, timeout).await;
    let second = read_now(terminal, since, unbounded, max, options).await?;
    Ok(second.page)
}

/// Reads what there is before `until`.
pub(super) async fn read_now(
    terminal: &Terminal,
    since: Offset,
    until: Offset,
    max: u64,
    options: &ReadOptions,
) -> Result<RawRead, TerminalError> {
    // Read before the bytes: the exit is published after all output.
    let progress = terminal.progress();
    let state = terminal.state();
    // The spool is always a little ahead of what is published.
    let until = until.min(progress.end);
    let max = max.min(until.since(since));
    let mut span = terminal.transcript.read_before(since, until, max).await?;
    let max_lines = options.max_lines;
    if let Some(cut) = max_lines.and_then(|lines| after_lines(&span.bytes, lines)) {
        span.bytes.truncate(cut);
    }
    let (start, seen) = (span.start, span.end());
    let exit_was_known = progress.exit.is_some();
    let completeness = Completeness::after_exit(exit_was_known && seen >= until);
    let encoded = Encoded::new(span.bytes, options.encoding, completeness);
    let answer = ReadResult {
        text: encoded.text,
        data: None,
        written: None,
        start,
        gap: None,
        end: start + encoded.taken as u64,
        cut_character: false,
        at_end: seen >= until,
        output_end: None,
        state,
        exit_status: progress.exit.and_then(|exit| exit.status),
        times: None,
        sizes: None,
    };
    let exact = encoded.exact;
    Ok(RawRead {
        page: Page { answer, exact },
        seen,
        exit_was_known,
    })
}

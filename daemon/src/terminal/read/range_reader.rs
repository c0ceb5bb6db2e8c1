//! `session.read` with `until`: what was printed before an offset, and nothing after it.
//!
//! A character that the end of the range cuts in two is left to the next read.

use std::time::Duration;

use termd_proto::Offset;
use termd_proto::terminal::{ReadFrom, ReadResult};
use termd_vt::plain::{PlainText, Screen};

use super::options::{ReadOptions, styles_of};
use super::page::Page;
use super::plain_resolver::resolver_at;
use super::raw_reader::read_now;
use super::raw_tail::line_start;
use super::text::{Completeness, unfinished_tail};
use super::text_page::text_page;
use super::{invalid, offload};
use crate::terminal::error::TerminalError;
use crate::terminal::handle::Terminal;
use crate::terminal::output::shell_log::Step;

/// Output that is resolved without a thread of its own, in bytes.
const INLINE_BYTES: u64 = 128 << 10;
/// How long the rest of a character is waited for. A program's next write brings it.
const CHARACTER_PATIENCE: Duration = Duration::from_millis(300);

/// What follows a character that the end of a range cuts.
enum Following {
    /// Its rest.
    Continuation,
    /// Something else, or the exit: it is not finished any more.
    Other,
    /// Nothing yet.
    Nothing,
}

pub(super) async fn read(
    terminal: &Terminal,
    options: &ReadOptions,
    until: Offset,
    max: u64,
) -> Result<Page, TerminalError> {
    let transcript = &terminal.transcript;
    let progress = terminal.progress();
    let until = until.min(progress.end);
    let since = match options.from {
        ReadFrom::Offset(offset) if offset > until => {
            let problem = "is before `since`, or past the end of the output";
            return Err(invalid("until", problem.to_owned()));
        }
        ReadFrom::Offset(offset) => offset,
        ReadFrom::TailBytes(bytes) => until.back(bytes),
        ReadFrom::TailLines(lines) => line_start(transcript, until, lines).await?,
    };
    if !options.encoding.is_plain() {
        return Ok(read_now(terminal, since, until, max, options).await?.page);
    }
    // After a gap the span may begin past the end of the range.
    let mut span = transcript.read_before(since, until, max).await?;
    let (start, seen) = (span.start.min(until), span.end().min(until));
    let cut = unfinished_tail(&span.bytes);
    let mut cut_character = false;
    if cut > 0 && seen == until {
        match what_follows(terminal, until).await? {
            Following::Continuation => span.truncate_at(until.back(cut as u64)),
            Following::Other => {}
            Following::Nothing => cut_character = true,
        }
    }
    let left = seen.since(start) - span.bytes.len() as u64;
    let (size, styles) = (progress.size.into(), styles_of(options.encoding));
    let marks = terminal.shell(|log| log.between(start.back(1), start));
    let mut resolver = if marks.iter().any(|mark| mark.step == Step::OutputStart) {
        // A command's output begins a text of its own.
        PlainText::at(size, start.0, Screen::Primary).with_styles(styles)
    } else {
        resolver_at(transcript, start, size, styles).await?
    };
    if resolver.size() != size {
        resolver.resize(size);
    }
    let completeness = Completeness::after_exit(seen >= until);
    let max_lines = options.max_lines;
    let work = move || text_page(resolver, &span.bytes, completeness, max_lines);
    let (text, mut end) = offload::run(seen.since(start) > INLINE_BYTES, work).await?;
    let at_end = end + left >= until;
    if cut_character {
        // The next read gives it again, whole if its rest has come.
        end = end.min(until.back(cut as u64));
    }
    Ok(Page::from(ReadResult {
        text: Some(text),
        data: None,
        written: None,
        start,
        gap: None,
        end,
        cut_character,
        at_end,
        output_end: None,
        state: terminal.state(),
        exit_status: progress.exit.and_then(|exit| exit.status),
        times: None,
        sizes: None,
    }))
}

async fn what_follows(terminal: &Terminal, at: Offset) -> Result<Following, TerminalError> {
    terminal.wait_for_output(at, CHARACTER_PATIENCE).await;
    let has_exited = terminal.progress().exit.is_some();
    let next = terminal.transcript.read(at, 1).await?;
    Ok(match next.bytes.first() {
        Some(0x80..=0xbf) if next.start == at => Following::Continuation,
        None if !has_exited => Following::Nothing,
        _ => Following::Other,
    })
}

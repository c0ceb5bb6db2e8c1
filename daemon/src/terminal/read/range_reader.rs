//! `session.read` with `until`: what was printed before an offset, and nothing after it.

use termd_proto::Offset;
use termd_proto::terminal::{Encoding, ReadFrom, ReadResult};
use termd_vt::plain::{PlainText, Screen};

use super::options::ReadOptions;
use super::plain_resolver::resolver_at;
use super::raw_reader::read_now;
use super::raw_tail::line_start;
use super::text::Completeness;
use super::text_page::text_page;
use super::{invalid, offload};
use crate::terminal::error::TerminalError;
use crate::terminal::handle::Terminal;
use crate::terminal::output::shell_log::Step;

/// Output that is resolved without a thread of its own, in bytes.
const INLINE_BYTES: u64 = 128 << 10;

pub(super) async fn read(
    terminal: &Terminal,
    options: &ReadOptions,
    until: Offset,
    max: u64,
) -> Result<ReadResult, TerminalError> {
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
    if options.encoding != Encoding::Text {
        return Ok(read_now(terminal, since, until, max, options).await?.result);
    }
    // After a gap the span may begin past the end of the range.
    let span = transcript.read_before(since, until, max).await?;
    let (start, seen) = (span.start.min(until), span.end().min(until));
    let size = progress.size.into();
    let marks = terminal.shell(|log| log.between(start.back(1), start));
    let mut resolver = if marks.iter().any(|mark| mark.step == Step::OutputStart) {
        // A command's output begins a text of its own.
        PlainText::at(size, start.0, Screen::Primary)
    } else {
        resolver_at(transcript, start, size).await?
    };
    if resolver.size() != size {
        resolver.resize(size);
    }
    let completeness = Completeness::after_exit(seen >= until);
    let max_lines = options.max_lines;
    let work = move || text_page(resolver, &span.bytes, completeness, max_lines);
    let (text, end) = offload::run(seen.since(start) > INLINE_BYTES, work).await?;
    Ok(ReadResult {
        text: Some(text),
        data: None,
        start,
        gap: None,
        end,
        at_end: end >= until,
        state: terminal.state(),
        exit_status: progress.exit.and_then(|exit| exit.status),
    })
}

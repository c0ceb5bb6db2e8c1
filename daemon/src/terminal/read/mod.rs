//! `session.read`: some output from somewhere on, written as asked. Plain text is read by
//! `plain_reader`, for it is not made of the bytes one by one.

pub mod command_output;
pub mod options;
pub mod plain_cache;
pub(crate) mod plain_reader;
pub(crate) mod stream_reader;
mod tail_cache;
pub mod text;
mod text_page;

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use termd_proto::Offset;
use termd_proto::terminal::{Encoding, MAX_READ_BYTES, ReadFrom, ReadResult, Stdio};

use self::options::ReadOptions;
use self::text::{Completeness, Front, LineEnds, render};
use self::text_page::{Part, page};
use crate::terminal::error::TerminalError;
use crate::terminal::handle::Terminal;
use crate::terminal::output::shell_log::Step;
use crate::terminal::output::transcript::Span;
use termd_vt::plain::{PlainText, Screen};

/// What a read returns at the most, unless asked otherwise, in bytes.
const DEFAULT_READ_BYTES: u64 = 64 << 10;
/// Fewest bytes that a read of text may be bounded to: a whole character must fit.
const MIN_READ_BYTES: u64 = 4;
/// More than this is resolved on a thread of its own, so that it stalls nobody.
const INLINE_BYTES: u64 = 128 << 10;

/// Reads output as the options say; waits for some where there is none. What begins in a gap says
/// which, and goes on behind it.
pub async fn read(terminal: &Terminal, options: &ReadOptions) -> Result<ReadResult, TerminalError> {
    let result = read_kept(terminal, options).await?;
    let gap = match options.from {
        ReadFrom::Offset(asked) => {
            let transcript = &terminal.transcript;
            transcript.gap_between(asked, result.start).await?
        }
        ReadFrom::TailBytes(_) | ReadFrom::TailLines(_) => None,
    };
    Ok(ReadResult { gap, ..result })
}

async fn read_kept(
    terminal: &Terminal,
    options: &ReadOptions,
) -> Result<ReadResult, TerminalError> {
    let _present = terminal.attend();
    let max = options.max_bytes.unwrap_or(DEFAULT_READ_BYTES);
    if !(MIN_READ_BYTES..=MAX_READ_BYTES).contains(&max) {
        return Err(TerminalError::Invalid {
            field: "max_bytes",
            problem: format!("must be {MIN_READ_BYTES} to {MAX_READ_BYTES}"),
        });
    }
    let end = terminal.end();
    if let ReadFrom::Offset(offset) = options.from
        && offset > end
    {
        return Err(TerminalError::Invalid {
            field: "since",
            problem: format!("is past the end of the output, which is {end}"),
        });
    }
    if options.stream.is_some() && terminal.record.stdio == Stdio::Pty {
        return Err(TerminalError::Invalid {
            field: "stream",
            problem: "is only for commands on pipes: a terminal has one".to_owned(),
        });
    }
    if let Some(until) = options.until {
        if options.stream.is_none() {
            return read_until(terminal, options, until, max).await;
        }
        if options.encoding == Encoding::Text {
            return Err(TerminalError::Invalid {
                field: "until",
                problem: "goes without `stream` where plain text is read".to_owned(),
            });
        }
    }
    if options.encoding == Encoding::Text {
        return plain_reader::read(terminal, options, max).await;
    }
    if let Some(stream) = options.stream {
        return stream_reader::read(terminal, options, stream, max).await;
    }
    let since = match options.from {
        ReadFrom::Offset(offset) => offset,
        ReadFrom::TailBytes(bytes) => end.back(bytes),
        ReadFrom::TailLines(lines) => terminal.transcript.line_start(end, lines).await?,
    };
    let first = read_now(terminal, since, end_of_time(), max, options).await?;
    let Some(wait_ms) = options.wait_ms else {
        return Ok(first.result);
    };
    if first.result.end > first.result.start || first.exit_was_known {
        return Ok(first.result);
    }
    // Nothing, or only the beginning of a character: wait until there is more than that.
    terminal
        .wait_for_output(first.seen, Duration::from_millis(wait_ms))
        .await;
    let second = read_now(terminal, since, end_of_time(), max, options).await?;
    Ok(second.result)
}

struct Read {
    result: ReadResult,
    /// The end of what was looked at: an unfinished character is not in the result.
    seen: Offset,
    exit_was_known: bool,
}

/// No bound.
fn end_of_time() -> Offset {
    Offset(u64::MAX)
}

/// Reads what was printed before an offset, and nothing of what follows it.
async fn read_until(
    terminal: &Terminal,
    options: &ReadOptions,
    until: Offset,
    max: u64,
) -> Result<ReadResult, TerminalError> {
    let progress = terminal.progress();
    let until = until.min(progress.end);
    let since = match options.from {
        ReadFrom::Offset(offset) if offset > until => {
            return Err(TerminalError::Invalid {
                field: "until",
                problem: "is before `since`, or past the end of the output".to_owned(),
            });
        }
        ReadFrom::Offset(offset) => offset,
        ReadFrom::TailBytes(bytes) => until.back(bytes),
        ReadFrom::TailLines(lines) => terminal.transcript.line_start(until, lines).await?,
    };
    if options.encoding != Encoding::Text {
        return Ok(read_now(terminal, since, until, max, options).await?.result);
    }
    let span = terminal
        .transcript
        .read(since, max.min(until.since(since)))
        .await?;
    // The output there may begin past the end of what is asked for: it is gone.
    let (start, seen) = (span.start.min(until), span.end().min(until));
    let mut bytes = span.bytes;
    bytes.truncate(usize::try_from(seen.since(start)).unwrap_or(usize::MAX));
    let size = progress.size.into();
    let marks = terminal.shell(|log| log.between(start.back(1), start));
    let mut resolver = if marks.iter().any(|mark| mark.step == Step::OutputStart) {
        // A command's output begins a text of its own.
        PlainText::at(size, start.0, Screen::Primary)
    } else {
        terminal.transcript.fresh_resolver(start, size).await?
    };
    if resolver.size() != size {
        resolver.resize(size);
    }
    let part = if seen >= until {
        Part::Last
    } else {
        Part::First
    };
    let lines = options.max_lines;
    let lines = lines.map(|lines| usize::try_from(lines).unwrap_or(usize::MAX));
    let make = move || page(resolver, &bytes, part, lines);
    let (text, end) = if seen.since(start) > INLINE_BYTES {
        let made = tokio::task::spawn_blocking(make).await;
        made.map_err(std::io::Error::other)?
    } else {
        make()
    };
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

async fn read_now(
    terminal: &Terminal,
    since: Offset,
    until: Offset,
    max: u64,
    options: &ReadOptions,
) -> Result<Read, TerminalError> {
    // Before the bytes: whoever is told of the exit has been told of all output.
    let progress = terminal.progress();
    let state = terminal.state();
    // No more than was published: the spool is always a little ahead.
    let until = until.min(progress.end);
    let max = max.min(until.since(since));
    let mut span = terminal.transcript.read_before(since, until, max).await?;
    if let Some(lines) = options.max_lines {
        cut_after_lines(&mut span, lines);
    }
    let (start, seen) = (span.start, span.end());
    let (text, data, end) = match options.encoding {
        Encoding::Base64 => (None, Some(BASE64.encode(&span.bytes)), seen),
        Encoding::Raw | Encoding::Text => {
            let is_last = progress.exit.is_some() && seen >= until;
            let completeness = if is_last {
                Completeness::Final
            } else {
                Completeness::MayGrow
            };
            let rendered = render(
                &span.bytes,
                Front::Whole,
                completeness,
                LineEnds::Keep,
                usize::MAX,
            );
            (Some(rendered.text), None, start + rendered.end as u64)
        }
    };
    let exit_was_known = progress.exit.is_some();
    let exit_status = progress.exit.and_then(|exit| exit.status);
    let at_end = seen >= until;
    let result = ReadResult {
        text,
        data,
        start,
        gap: None,
        end,
        at_end,
        state,
        exit_status,
    };
    Ok(Read {
        result,
        seen,
        exit_was_known,
    })
}

fn cut_after_lines(span: &mut Span, lines: u64) {
    let newlines = span
        .bytes
        .iter()
        .enumerate()
        .filter(|(_, byte)| **byte == b'\n');
    let after = match usize::try_from(lines) {
        Ok(0) => Some(0),
        Ok(lines) => newlines.map(|(at, _)| at + 1).nth(lines - 1),
        Err(_) => None,
    };
    if let Some(after) = after {
        span.bytes.truncate(after);
    }
}

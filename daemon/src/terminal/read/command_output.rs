//! `command.read`: what one command printed, and nothing of what came before or after it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use termd_proto::Offset;
use termd_proto::command::CommandInfo;
use termd_proto::terminal::{Encoding, MAX_READ_BYTES, ReadResult};

use super::text::{Completeness, Front, LineEnds, render};
use super::text_page::{Part, page};
use crate::terminal::error::TerminalError;
use crate::terminal::handle::Terminal;
use termd_vt::plain::{PlainText, Screen};

/// What a read returns at the most, unless asked otherwise, in bytes.
const DEFAULT_READ_BYTES: u64 = 64 << 10;
/// Fewest bytes that a read may be bounded to: a whole character must fit.
const MIN_READ_BYTES: u64 = 4;

/// Reads a command's output from `since`, else from its start. `at_end` in the answer: up to the
/// command's end, or, where it still runs, the end of the output so far.
pub async fn read_command(
    terminal: &Terminal,
    command: &CommandInfo,
    since: Option<Offset>,
    max_bytes: Option<u64>,
    encoding: Encoding,
) -> Result<ReadResult, TerminalError> {
    terminal.touch();
    let max = max_bytes.unwrap_or(DEFAULT_READ_BYTES);
    if !(MIN_READ_BYTES..=MAX_READ_BYTES).contains(&max) {
        return Err(TerminalError::Invalid {
            field: "max_bytes",
            problem: format!("must be {MIN_READ_BYTES} to {MAX_READ_BYTES}"),
        });
    }
    // Before the bytes: whoever is told of the exit has been told of all output.
    let progress = terminal.progress();
    let state = terminal.state();
    let until = command.end.unwrap_or(progress.end).min(progress.end);
    let since = since.unwrap_or(command.start);
    if since < command.start || since > until.max(command.start) {
        return Err(TerminalError::Invalid {
            field: "since",
            problem: format!(
                "must be in the command's output, {} to {until}",
                command.start
            ),
        });
    }
    let mut span = terminal
        .transcript
        .read(since, max.min(until.since(since)))
        .await?;
    // Where output is no longer kept, it begins later than asked for, and so ends later.
    let wanted = until.since(span.start);
    span.bytes
        .truncate(usize::try_from(wanted).unwrap_or(usize::MAX));
    let (start, seen) = (span.start.min(until), span.end().min(until));
    let is_over = command.end.is_some() || progress.exit.is_some();
    let (text, data, end) = match encoding {
        Encoding::Base64 => (None, Some(BASE64.encode(&span.bytes)), seen),
        Encoding::Text => {
            let part = if is_over && seen >= until {
                Part::Last
            } else {
                Part::First
            };
            let resolver = PlainText::at(progress.size.into(), start.0, Screen::Primary);
            let (text, end) = page(resolver, &span.bytes, part, None);
            (Some(text), None, end)
        }
        Encoding::Raw => {
            let completeness = if is_over && seen >= until {
                Completeness::Final
            } else {
                Completeness::MayGrow
            };
            let whole = Front::Whole;
            let rendered = render(&span.bytes, whole, completeness, LineEnds::Keep, usize::MAX);
            (Some(rendered.text), None, start + rendered.end as u64)
        }
    };
    let gap = terminal.transcript.gap_between(since, start).await?;
    Ok(ReadResult {
        text,
        data,
        start,
        gap,
        end,
        at_end: seen >= until,
        state,
        exit_status: progress.exit.and_then(|exit| exit.status),
    })
}

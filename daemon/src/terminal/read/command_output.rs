//! `command.read`: what one command printed, and nothing before or after it.

use termd_proto::Offset;
use termd_proto::command::CommandInfo;
use termd_proto::terminal::{Encoding, ReadResult};
use termd_vt::plain::{PlainText, Screen};

use super::checked_max_bytes;
use super::encoded::Encoded;
use super::options::styles_of;
use super::text::Completeness;
use super::text_page::text_page;
use crate::terminal::error::TerminalError;
use crate::terminal::handle::Terminal;

/// Reads a command's output from `since`, or from its start. `at_end` in the answer means the
/// command's end, or, while it still runs, the end of the output so far.
pub async fn read_command(
    terminal: &Terminal,
    command: &CommandInfo,
    since: Option<Offset>,
    max_bytes: Option<u64>,
    encoding: Encoding,
) -> Result<ReadResult, TerminalError> {
    terminal.touch();
    let max = checked_max_bytes(max_bytes)?;
    // Read before the bytes: the exit is published after all output.
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
    let transcript = &terminal.transcript;
    // After a gap the span begins later, and would end later.
    let span = transcript.read_before(since, until, max).await?;
    let (start, seen) = (span.start.min(until), span.end().min(until));
    let is_over = command.end.is_some() || progress.exit.is_some();
    let completeness = Completeness::after_exit(is_over && seen >= until);
    let (text, data, end) = if encoding.is_plain() {
        let resolver = PlainText::at(progress.size.into(), start.0, Screen::Primary)
            .with_styles(styles_of(encoding));
        let (text, end) = text_page(resolver, &span.bytes, completeness, None);
        (Some(text), None, end)
    } else {
        let encoded = Encoded::new(&span.bytes, encoding, completeness);
        (encoded.text, encoded.data, start + encoded.taken as u64)
    };
    Ok(ReadResult {
        text,
        data,
        start,
        gap: transcript.gap_between(since, start).await?,
        end,
        cut_character: false,
        at_end: seen >= until,
        state,
        exit_status: progress.exit.and_then(|exit| exit.status),
    })
}

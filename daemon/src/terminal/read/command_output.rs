//! `command.read`: what one command printed, and nothing before or after it.

use termd_proto::Offset;
use termd_proto::command::{CommandInfo, CommandSource};
use termd_proto::terminal::{Encoding, ReadResult};

use super::checked_max_bytes;
use super::encoded::Encoded;
use super::options::styles_of;
use super::page::Page;
use super::plain_resolver::resolver_within;
use super::text::Completeness;
use super::text_page::text_page;
use super::unfiltered::Unfiltered;
use crate::terminal::error::TerminalError;
use crate::terminal::handle::Terminal;
use crate::terminal::lifecycle::progress::Progress;
use crate::terminal::output::shell_log::CommandEnd;

/// Reads a command's output from `since`, or from its start. `at_end` in the answer means the
/// command's end, or, while it still runs, the end of the output so far.
pub async fn read_command(
    terminal: &Terminal,
    command: &CommandInfo,
    since: Option<Offset>,
    max_bytes: Option<u64>,
    encoding: Encoding,
) -> Result<Unfiltered<Page>, TerminalError> {
    terminal.touch();
    let max = checked_max_bytes(max_bytes)?;
    // Read before the bytes: the exit is published after all output.
    let progress = terminal.progress();
    let state = terminal.state();
    let Bound { until, is_end } = bound(terminal, command, &progress);
    let since = since.unwrap_or(command.start);
    let last = if is_end { until } else { progress.end };
    if since < command.start || since > last.max(command.start) {
        return Err(TerminalError::Invalid {
            field: "since",
            problem: format!(
                "must be in the command's output, {} to {last}",
                command.start
            ),
        });
    }
    let until = until.max(since);
    let transcript = &terminal.transcript;
    // After a gap the span begins later, and would end later.
    let span = transcript.read_before(since, until, max).await?;
    let (start, seen) = (span.start.min(until), span.end().min(until));
    let completeness = Completeness::after_exit(is_end && seen >= until);
    let (text, exact, end) = if encoding.is_plain() {
        let (bounds, size) = ((command.start, start), progress.size.into());
        let resolver = resolver_within(transcript, bounds, size, styles_of(encoding));
        let (text, end) = text_page(resolver.await?, &span.bytes, completeness, None);
        (Some(text), None, end)
    } else {
        let encoded = Encoded::new(span.bytes, encoding, completeness);
        let end = start + encoded.taken as u64;
        (encoded.text, encoded.exact, end)
    };
    let answer = ReadResult {
        text,
        data: None,
        written: None,
        start,
        gap: transcript.gap_between(since, start).await?,
        end,
        cut_character: false,
        at_end: seen >= until && (is_end || until >= progress.end),
        output_end: None,
        state,
        exit_status: progress.exit.and_then(|exit| exit.status),
        times: None,
        sizes: None,
    };
    Ok(Unfiltered::new(Page { answer, exact }))
}

/// Up to where the output is known to be a command's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Bound {
    until: Offset,
    /// The command ends there.
    is_end: bool,
}

/// The store may not have the end yet of a command whose mark was read, and output may be there whose
/// marks were not read.
fn bound(terminal: &Terminal, command: &CommandInfo, progress: &Progress) -> Bound {
    let has_exited = progress.exit.is_some();
    let end = match command.end {
        Some(end) => CommandEnd::At(end),
        None if command.source == CommandSource::Shell && !has_exited => {
            terminal.shell(|log| log.end_of(command.number))
        }
        None => CommandEnd::NotBefore(progress.end),
    };
    match end {
        CommandEnd::At(end) => Bound {
            until: end.min(progress.end),
            is_end: end <= progress.end || has_exited,
        },
        CommandEnd::NotBefore(until) => Bound {
            until: until.min(progress.end),
            is_end: has_exited,
        },
        CommandEnd::NotYetStored => Bound {
            until: command.start,
            is_end: false,
        },
    }
}

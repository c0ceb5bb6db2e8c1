//! `session.read`: output from an offset on, or the end of it, in the form that was requested.

pub mod command_output;
pub(crate) mod encoded;
pub(crate) mod last_lines;
pub(crate) mod offload;
pub mod options;
pub mod page;
pub(crate) mod plain_cache;
pub(crate) mod plain_reader;
pub(crate) mod plain_resolver;
pub(crate) mod range_reader;
pub(crate) mod raw_reader;
pub mod raw_tail;
pub(crate) mod stream_reader;
mod tail_cache;
pub mod text;
pub(crate) mod text_page;
pub(crate) mod timeline;
pub(crate) mod times;
pub mod unfiltered;

use termd_proto::terminal::{Encoding, MAX_READ_BYTES, ReadFrom, Stdio};

use self::options::ReadOptions;
use self::page::Page;
use self::unfiltered::Unfiltered;
use super::error::TerminalError;
use super::handle::Terminal;

/// Most bytes that a read returns by default.
pub(crate) const DEFAULT_READ_BYTES: u64 = 64 << 10;
/// Fewest bytes that a read may be bounded to: a whole character must fit.
const MIN_READ_BYTES: u64 = 4;

/// Reads output as the options say, and waits for some where there is none. A read that begins in a
/// gap names the gap and goes on after it.
pub async fn read(
    terminal: &Terminal,
    options: &ReadOptions,
) -> Result<Unfiltered<Page>, TerminalError> {
    let _present = terminal.attend();
    let max = checked_max_bytes(options.max_bytes)?;
    check(terminal, options)?;
    let mut page = match (options.until, options.stream, options.encoding) {
        (Some(until), None, _) => range_reader::read(terminal, options, until, max).await?,
        (_, _, Encoding::Text | Encoding::Styled) => {
            plain_reader::read(terminal, options, max).await?.into()
        }
        (_, Some(stream), _) => stream_reader::read(terminal, options, stream, max).await?,
        (None, None, _) => raw_reader::read(terminal, options, max).await?,
    };
    page.answer.gap = match options.from {
        ReadFrom::Offset(requested) => {
            let transcript = &terminal.transcript;
            transcript.gap_between(requested, page.answer.start).await?
        }
        ReadFrom::TailBytes(_) | ReadFrom::TailLines(_) => None,
    };
    page.answer.output_end = (!page.answer.at_end).then(|| terminal.end());
    Ok(Unfiltered::new(page))
}

/// Checks `max_bytes` of a read.
fn checked_max_bytes(max_bytes: Option<u64>) -> Result<u64, TerminalError> {
    let max = max_bytes.unwrap_or(DEFAULT_READ_BYTES);
    if (MIN_READ_BYTES..=MAX_READ_BYTES).contains(&max) {
        return Ok(max);
    }
    let problem = format!("must be {MIN_READ_BYTES} to {MAX_READ_BYTES}");
    Err(invalid("max_bytes", problem))
}

fn check(terminal: &Terminal, options: &ReadOptions) -> Result<(), TerminalError> {
    let end = terminal.end();
    if let ReadFrom::Offset(offset) = options.from
        && offset > end
    {
        let problem = format!("is past the end of the output, which is {end}");
        return Err(invalid("since", problem));
    }
    if options.stream.is_none() {
        return Ok(());
    }
    if terminal.record.stdio == Stdio::Pty {
        let problem = "is only for commands on pipes: a terminal has one";
        return Err(invalid("stream", problem.to_owned()));
    }
    Ok(())
}

fn invalid(field: &'static str, problem: String) -> TerminalError {
    TerminalError::Invalid { field, problem }
}

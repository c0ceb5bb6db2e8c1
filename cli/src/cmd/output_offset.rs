//! The offsets that a person means by positions in a terminal's output.

use jiff::Zoned;
use termd_client::Link;
use termd_proto::screen::ReadScreen;
use termd_proto::terminal::TerminalInfo;
use termd_proto::{Offset, TerminalRef};

use crate::error::CliError;
use crate::output_position::OutputPosition;
use crate::usage_error::UsageError;

/// An offset of a terminal's output, or the end of what had come by a time. Of a time before the terminal's
/// start it is the first that is kept.
async fn offset_of(
    link: &Link,
    info: &TerminalInfo,
    (option, position): (&'static str, OutputPosition),
) -> Result<Offset, CliError> {
    match (position.offset(), position.at_ms(info, &Zoned::now())) {
        (Some(at), _) => within((option, at), (info.start, info.end)),
        (None, Some(at_ms)) if at_ms >= info.created_at_ms => {
            let request = ReadScreen {
                at_ms: Some(at_ms),
                to_row: Some(0),
                ..ReadScreen::of(TerminalRef::from(&info.id))
            };
            Ok(link.repeat(&request).await?.screen.end)
        }
        (None, _) => Ok(info.start),
    }
}

/// The output from one position to another: of what is kept to the end, where they are not given.
pub(super) async fn range_of(
    link: &Link,
    info: &TerminalInfo,
    (from, to): (Option<OutputPosition>, Option<OutputPosition>),
) -> Result<(Offset, Option<Offset>), CliError> {
    let start = match from {
        Some(from) => offset_of(link, info, ("--from", from)).await?,
        None => info.start,
    };
    let Some(to) = to else {
        return Ok((start, None));
    };
    let end = offset_of(link, info, ("--to", to)).await?;
    if end > start {
        return Ok((start, Some(end)));
    }
    Err(match from {
        Some(_) if end < start => UsageError::SwappedRange,
        Some(_) => UsageError::EmptyRange,
        None => UsageError::NothingBefore,
    }
    .into())
}

/// An offset that a person gave, if it is in the range.
pub(super) fn within(
    (option, at): (&'static str, Offset),
    (start, end): (Offset, Offset),
) -> Result<Offset, CliError> {
    if at > end {
        return Err(UsageError::PastEnd { option, end }.into());
    }
    if at < start {
        return Err(UsageError::BeforeKept { option, start }.into());
    }
    Ok(at)
}

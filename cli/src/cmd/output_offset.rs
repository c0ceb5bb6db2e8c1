//! The offset that a person means by a position in a terminal's output.

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
pub(super) async fn offset_of(
    link: &Link,
    info: &TerminalInfo,
    position: OutputPosition,
) -> Result<Offset, CliError> {
    match (position.offset(), position.at_ms(info, &Zoned::now())) {
        (Some(at), _) => within(at, (info.start, info.end)),
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

/// An offset that a person gave, if it is in the range.
pub(super) fn within(at: Offset, (start, end): (Offset, Offset)) -> Result<Offset, CliError> {
    if start <= at && at <= end {
        return Ok(at);
    }
    Err(UsageError::OutsideOfOutput { at, start, end }.into())
}

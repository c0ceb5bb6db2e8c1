//! A position in a terminal's output as a person writes it: an offset, or a time. Pure.

use std::str::FromStr;

use jiff::Zoned;
use termd_proto::Offset;
use termd_proto::terminal::TerminalInfo;
use thiserror::Error;

use crate::moment::{InvalidMoment, Moment};

/// A position in a terminal's output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OutputPosition {
    /// As answers and `read` have it.
    Offset(Offset),
    Time(Moment),
}

/// Why a text is no position in output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("a position is an offset of the output, a number, or a time; {InvalidMoment}")]
pub(crate) struct InvalidPosition;

impl FromStr for OutputPosition {
    type Err = InvalidPosition;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        // Elsewhere `90`, `-90` and `1.5` are seconds ago. Here the first is an offset, and the others would look
        // like one.
        let number = text.trim().trim_start_matches('-');
        if number
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'.')
        {
            let offset = text.parse().map_err(|_| InvalidPosition)?;
            return Ok(Self::Offset(Offset(offset)));
        }
        text.parse().map(Self::Time).map_err(|_| InvalidPosition)
    }
}

impl OutputPosition {
    /// The offset.
    pub(crate) fn offset(self) -> Option<Offset> {
        match self {
            Self::Offset(offset) => Some(offset),
            Self::Time(_) => None,
        }
    }

    /// The time, in milliseconds since the Unix epoch. A time of day is the last one of the terminal's life.
    pub(crate) fn at_ms(self, info: &TerminalInfo, now: &Zoned) -> Option<i64> {
        let Self::Time(moment) = self else {
            return None;
        };
        let ended_ms = info.exited_at_ms.unwrap_or(i64::MAX);
        let end_ms = ended_ms.min(now.timestamp().as_millisecond());
        Some(moment.last_before(end_ms, now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_an_offset_and_all_else_a_time() {
        let offset = |number| Ok(OutputPosition::Offset(Offset(number)));
        assert_eq!("0".parse(), offset(0));
        assert_eq!("18446744073709551615".parse(), offset(u64::MAX));
        for time in [
            "90s",
            "-90s",
            "@90",
            "14:03",
            "yesterday",
            "2026-11-22T14:03:05Z",
        ] {
            let moment = time.parse().map(OutputPosition::Time);
            assert_eq!(time.parse(), moment.map_err(|_| InvalidPosition), "{time}");
        }
        for text in ["", "-", "-90", "1.5", " 5", "1x", "18446744073709551616"] {
            assert_eq!(
                text.parse::<OutputPosition>(),
                Err(InvalidPosition),
                "{text:?}"
            );
        }
    }
}

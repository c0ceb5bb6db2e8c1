//! The arguments of `replay`.

use std::str::FromStr;
use std::time::Duration;

use clap::Args;
use termd_proto::duration;
use thiserror::Error;

use crate::output_position::OutputPosition;

/// The lowest and the highest speed of a replay.
const SPEEDS: std::ops::RangeInclusive<f64> = 0.1..=1_000.0;
/// The shortest length that pauses are cut to: with less, output is not apart from the next.
const MIN_IDLE: Duration = Duration::from_millis(20);

/// `termctl replay`.
#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    /// Which terminal
    pub(crate) terminal: String,
    /// Only this command's output; its number in `history`, -1 is the newest
    #[arg(long, value_name = "N", allow_hyphen_values = true, conflicts_with_all = ["from", "to"])]
    pub(crate) command: Option<i64>,
    /// Only from this time (14:03, 90s ago, `2026-11-22 14:03`) or offset of the output (a number) on
    #[arg(long, value_name = "TIME|OFFSET", allow_hyphen_values = true)]
    pub(crate) from: Option<OutputPosition>,
    /// Only to this time or offset
    #[arg(long, value_name = "TIME|OFFSET", allow_hyphen_values = true)]
    pub(crate) to: Option<OutputPosition>,
    /// Begin at this time or offset; what was before can be gone back to
    #[arg(long, value_name = "TIME|OFFSET", allow_hyphen_values = true)]
    pub(crate) at: Option<OutputPosition>,
    /// Shorten longer pauses to this; 365d keeps them all
    #[arg(long, value_name = "DURATION", default_value = "2s", value_parser = idle)]
    pub(crate) idle: Duration,
    /// How fast, 0.1 to 1000
    #[arg(
        long,
        value_name = "FACTOR",
        default_value = "1",
        allow_hyphen_values = true
    )]
    pub(crate) speed: Speed,
}

/// How many times as fast as it was.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Speed(pub(crate) f64);

/// Why an argument of a replay has no meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub(crate) enum ReplayArgError {
    #[error("a speed is 0.1 to 1000")]
    Speed,
    #[error("a pause is at least 20ms long")]
    Idle,
    #[error(transparent)]
    Duration(#[from] duration::DurationError),
}

impl FromStr for Speed {
    type Err = ReplayArgError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = text.strip_suffix('x').unwrap_or(text).parse();
        let speed = number.ok().filter(|speed| SPEEDS.contains(speed));
        speed.map(Self).ok_or(ReplayArgError::Speed)
    }
}

pub(super) fn idle(text: &str) -> Result<Duration, ReplayArgError> {
    let idle = duration::parse(text)?;
    if idle < MIN_IDLE {
        return Err(ReplayArgError::Idle);
    }
    Ok(idle)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speeds_and_pauses_have_bounds() {
        for (text, want) in [("1", Some(1.0)), ("0.1", Some(0.1)), ("16x", Some(16.0))] {
            assert_eq!(text.parse().ok(), want.map(Speed), "{text}");
        }
        for text in ["", "0", "-1", "NaN", "inf", "1001", "fast"] {
            assert_eq!(text.parse::<Speed>(), Err(ReplayArgError::Speed), "{text}");
        }
        assert_eq!(idle("2"), Ok(Duration::from_secs(2)));
        assert_eq!(idle("10ms"), Err(ReplayArgError::Idle));
        assert!(idle("soon").is_err());
    }
}

//! How people write a length of time, on the command line and in files: `90`, `500ms`, `1.5h`, `1h30m`
//! (docs/decisions/0067-durations-and-dates.md).

use std::time::Duration;

/// Units and their length in seconds.
const UNITS: [(&str, f64); 5] = [
    ("ms", 0.001),
    ("s", 1.0),
    ("m", 60.0),
    ("h", 3_600.0),
    ("d", 86_400.0),
];

/// Why a text is not a duration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DurationError {
    /// The text is not a sequence of numbers with units.
    #[error("a duration is a number with ms, s, m, h or d, or several: 500ms, 90s, 1h30m")]
    Malformed,
    /// The duration is longer than a [`Duration`] can be.
    #[error("this duration is too long")]
    TooLong,
}

/// Reads a duration: numbers, each with a unit, which are added up. A number alone is seconds, as
/// for timeout(1).
pub fn parse(text: &str) -> Result<Duration, DurationError> {
    let mut rest = text.trim();
    if let Some(seconds) = number(rest) {
        return seconds_of(seconds);
    }
    if rest.is_empty() {
        return Err(DurationError::Malformed);
    }
    let mut total = Duration::ZERO;
    while !rest.is_empty() {
        let (digits, after) = split_at(rest, |c| c.is_ascii_digit() || c == '.');
        let (unit, after) = split_at(after.trim_start(), |c| c.is_ascii_alphabetic());
        let unit = UNITS.into_iter().find(|(name, _)| *name == unit);
        let ((_, seconds), number) = unit.zip(number(digits)).ok_or(DurationError::Malformed)?;
        let part = seconds_of(number * seconds)?;
        total = total.checked_add(part).ok_or(DurationError::TooLong)?;
        rest = after.trim_start();
    }
    Ok(total)
}

/// A decimal number without sign or exponent.
fn number(text: &str) -> Option<f64> {
    let is_plain = text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    is_plain.then(|| text.parse().ok()).flatten()
}

fn seconds_of(seconds: f64) -> Result<Duration, DurationError> {
    Duration::try_from_secs_f64(seconds).map_err(|_| DurationError::TooLong)
}

fn split_at(text: &str, is_head: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(|c| !is_head(c)).unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        let table = [
            // What command lines had from the start.
            ("90", Some(90_000)),
            ("10", Some(10_000)),
            ("0", Some(0)),
            ("1.5", Some(1_500)),
            ("1.", Some(1_000)),
            ("500ms", Some(500)),
            ("2m", Some(120_000)),
            ("3h", Some(10_800_000)),
            ("1d", Some(86_400_000)),
            ("1.5d", Some(129_600_000)),
            (".5h", Some(1_800_000)),
            ("2.m", Some(120_000)),
            // What profiles had from the start.
            ("1h30m", Some(5_400_000)),
            ("1h 30m", Some(5_400_000)),
            (" 2 d ", Some(172_800_000)),
            ("30m1h", Some(5_400_000)),
            ("1m1m", Some(120_000)),
            ("365d", Some(31_536_000_000)),
            // What neither had.
            ("1.5h 30s", Some(5_430_000)),
            ("", None),
            (" ", None),
            ("s", None),
            (".", None),
            (".s", None),
            ("-1", None),
            ("-1s", None),
            ("+1s", None),
            ("1h30", None),
            ("1e3", None),
            ("1e3s", None),
            ("inf", None),
            ("nan", None),
            ("10x", None),
            ("10S", None),
            ("1w", None),
            ("1.2.3", None),
            ("1.2.3s", None),
            ("1h,30m", None),
            ("1\u{b5}s", None),
            ("99999999999999999999999d", None),
            ("584942417355y", None),
        ];
        for (text, millis) in table {
            let got = parse(text).ok().map(|duration| duration.as_millis());
            assert_eq!(got, millis, "{text:?}");
        }
    }

    #[test]
    fn a_duration_that_is_too_long_is_refused_as_such() {
        for text in [
            "99999999999999999999999",
            "300000000000000d",
            "213503982334601d 1d",
        ] {
            assert_eq!(parse(text), Err(DurationError::TooLong), "{text:?}");
        }
    }
}

//! Points in time as a person writes them. Pure: the reader's now and time zone are arguments.

use std::str::FromStr;
use std::time::Duration;

use jiff::civil::{DateTime, Time};
use jiff::{Timestamp, ToSpan as _, Zoned};
use termd_proto::duration;
use thiserror::Error;

/// A point in time. A date or a time of day without an offset is the reader's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moment {
    /// So long before now.
    Ago(Duration),
    At(Timestamp),
    Local(DateTime),
    /// The same day.
    TimeOfDay(Time),
    /// The start of the day.
    Today,
    Yesterday,
}

/// Why a text is no point in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error(
    "a time is 2026-11-22, '2026-11-22 14:03', 14:03, today, yesterday, so long ago (90s, 1h30m, 2d), \
     @SECONDS since 1970, or RFC 3339 (2026-11-22T14:03:05Z)"
)]
pub(crate) struct InvalidMoment;

impl Moment {
    /// The time in milliseconds since the Unix epoch. A time beyond the calendar is its end.
    pub(crate) fn at_ms(self, now: &Zoned) -> i64 {
        let start_of = |day: Zoned| day.start_of_day();
        let local = |time: DateTime| time.to_zoned(now.time_zone().clone());
        let (time, beyond) = match self {
            Self::Ago(ago) => (now.checked_sub(ago), Timestamp::MIN),
            Self::At(at) => return at.as_millisecond(),
            Self::Local(time) => (local(time), Timestamp::MAX),
            Self::TimeOfDay(time) => (local(now.date().to_datetime(time)), Timestamp::MAX),
            Self::Today => (start_of(now.clone()), Timestamp::MIN),
            Self::Yesterday => (now.checked_sub(1.day()).and_then(start_of), Timestamp::MIN),
        };
        time.map_or(beyond, |time| time.timestamp())
            .as_millisecond()
    }
}

impl Moment {
    /// The same, of something that ended then: a time of day is the last one before that.
    pub(crate) fn last_before(self, end_ms: i64, now: &Zoned) -> i64 {
        let Self::TimeOfDay(time) = self else {
            return self.at_ms(now);
        };
        let end = Timestamp::from_millisecond(end_ms).unwrap_or(Timestamp::MAX);
        let end = end.to_zoned(now.time_zone().clone());
        let of_day = |day: &Zoned| Self::Local(day.date().to_datetime(time)).at_ms(now);
        let same_day_ms = of_day(&end);
        if same_day_ms <= end_ms {
            return same_day_ms;
        }
        end.checked_sub(1.day())
            .map_or(same_day_ms, |day| of_day(&day))
    }
}

impl FromStr for Moment {
    type Err = InvalidMoment;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        if let Some(seconds) = text.strip_prefix('@') {
            let seconds = seconds.parse().map_err(|_| InvalidMoment)?;
            let at = Timestamp::from_second(seconds);
            return at.map(Self::At).map_err(|_| InvalidMoment);
        }
        match text {
            "today" => return Ok(Self::Today),
            "yesterday" => return Ok(Self::Yesterday),
            _ => {}
        }
        // `-5m` is the same, as for journalctl(1).
        if let Ok(ago) = duration::parse(text.strip_prefix('-').unwrap_or(text)) {
            return Ok(Self::Ago(ago));
        }
        // Logs and approved.toml say `2026-11-22 14:03:05 UTC`.
        let utc = text.strip_suffix(" UTC").map(|time| format!("{time}Z"));
        if let Ok(at) = utc.as_deref().unwrap_or(text).parse() {
            return Ok(Self::At(at));
        }
        // What jiff reads beyond these, such as `T14`, has no meaning that a reader could be sure of.
        let starts_with_digits = text.bytes().take(2).filter(u8::is_ascii_digit).count() == 2;
        match text {
            _ if !starts_with_digits => Err(InvalidMoment),
            _ if text.contains('-') => text.parse().map(Self::Local).map_err(|_| InvalidMoment),
            _ if text.contains(':') => text.parse().map(Self::TimeOfDay).map_err(|_| InvalidMoment),
            _ => Err(InvalidMoment),
        }
    }
}

#[cfg(test)]
mod tests {
    use jiff::tz::TimeZone;

    use super::*;

    /// 2026-11-22 10:00 at UTC+1, with a daylight saving time.
    fn now() -> Zoned {
        let zone = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap();
        "2026-11-22T09:00:00Z"
            .parse::<Timestamp>()
            .unwrap()
            .to_zoned(zone)
    }

    #[test]
    fn moments_are_in_the_readers_zone() {
        let table = [
            ("90", "2026-11-22T08:58:30Z"),
            ("-90", "2026-11-22T08:58:30Z"),
            ("500ms", "2026-11-22T08:59:59.5Z"),
            ("1h30m", "2026-11-22T07:30:00Z"),
            ("2d", "2026-11-20T09:00:00Z"),
            ("@5", "1970-01-01T00:00:05Z"),
            ("@-1", "1969-12-31T23:59:59Z"),
            ("today", "2026-11-21T23:00:00Z"),
            ("yesterday", "2026-11-20T23:00:00Z"),
            ("14:03", "2026-11-22T13:03:00Z"),
            ("14:03:05", "2026-11-22T13:03:05Z"),
            ("2026-11-22", "2026-11-21T23:00:00Z"),
            ("2026-07-01", "2026-06-30T22:00:00Z"),
            ("2026-11-22 14:03", "2026-11-22T13:03:00Z"),
            ("2026-11-22T14:03", "2026-11-22T13:03:00Z"),
            (" 2026-11-22 14:03:05 ", "2026-11-22T13:03:05Z"),
            ("2026-11-22 14:03:05 UTC", "2026-11-22T14:03:05Z"),
            ("2026-11-22T14:03:05Z", "2026-11-22T14:03:05Z"),
            ("2026-11-22T14:03:05.25-08:00", "2026-11-22T22:03:05.25Z"),
            ("9999999d", "-009999-01-02T01:59:59Z"),
        ];
        for (text, want) in table {
            let got = text.parse::<Moment>().map(|moment| moment.at_ms(&now()));
            let want: Timestamp = want.parse().unwrap();
            assert_eq!(got, Ok(want.as_millisecond()), "{text:?}");
        }
    }

    #[test]
    fn a_time_of_day_is_of_the_day_at_which_something_ended() {
        let end: Timestamp = "2026-11-20T14:00:00Z".parse().unwrap();
        for (text, want) in [
            ("14:59", "2026-11-20T13:59:00Z"),
            ("15:00", "2026-11-20T14:00:00Z"),
            ("15:01", "2026-11-19T14:01:00Z"),
            ("60s", "2026-11-22T08:59:00Z"),
        ] {
            let moment: Moment = text.parse().unwrap();
            let want: Timestamp = want.parse().unwrap();
            let got = moment.last_before(end.as_millisecond(), &now());
            assert_eq!(got, want.as_millisecond(), "{text}");
        }
    }

    #[test]
    fn what_is_no_moment_is_refused() {
        for text in [
            "",
            "@",
            "@x",
            "@99999999999999",
            "T14",
            "1x",
            "14:",
            "25:00",
            "2026-13-01",
            "2026-11",
            "2026-11-22 25:00",
            "22.11.2026",
            "tomorrow",
            "Yesterday!",
            "2026-11-22 14:03 Mars",
        ] {
            assert_eq!(text.parse::<Moment>(), Err(InvalidMoment), "{text:?}");
        }
    }
}

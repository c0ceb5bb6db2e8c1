//! Points in time, as the contract has them (milliseconds since the Unix epoch) and as they are shown.

use std::time::{SystemTime, UNIX_EPOCH};

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// Milliseconds since the Unix epoch.
pub fn now_ms() -> i64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// A point in time in UTC (ISO 8601): `2026-11-21T12:08:39Z`. A time after the year 9999 is
/// shown as the year's end.
pub fn utc(ms: i64) -> String {
    let time = Timestamp::from_millisecond(ms).unwrap_or(Timestamp::MAX);
    format!("{time:.0}")
}

/// A point in time in the system's time zone (`TZ`, `/etc/localtime`): `2026-11-21 13:08:39`.
pub fn local(ms: i64) -> String {
    let time = Timestamp::from_millisecond(ms).unwrap_or(Timestamp::MAX);
    let zoned = time.to_zoned(TimeZone::system());
    zoned.strftime("%Y-%m-%d %H:%M:%S").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        let table = [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400_000, "2000-02-29T00:00:00Z"),
            (1_709_251_199_999, "2024-02-29T23:59:59Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00Z"),
            (-1, "1969-12-31T23:59:59Z"),
            (i64::MAX, "9999-12-30T22:00:00Z"),
        ];
        for (ms, want) in table {
            assert_eq!(utc(ms), want);
        }
    }
}

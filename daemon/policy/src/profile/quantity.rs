//! Spans of time, sizes and shares as people write them: `90s`, `1h30m`, `512MiB`, `50%`.
//!
//! A time without a unit is refused: a reader of `timeout = 10` cannot see whether it is seconds.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, de};
use termd_proto::duration;

/// A span of time in whole milliseconds, at least one and at most a year.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct TimeSpan(u64);

/// A number of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct ByteSize(u64);

/// The longest span, a year. A longer one would never end.
const MAX_SPAN_MS: u64 = 365 * 86_400_000;

/// A share of processors, in percent of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Percent(u64);

/// The largest share: ten thousand processors.
const MAX_PERCENT: u64 = 1_000_000;

const BYTE_UNITS: [(&str, u64); 9] = [
    ("b", 1),
    ("kib", 1 << 10),
    ("mib", 1 << 20),
    ("gib", 1 << 30),
    ("tib", 1 << 40),
    ("kb", 1_000),
    ("mb", 1_000_000),
    ("gb", 1_000_000_000),
    ("tb", 1_000_000_000_000),
];

impl TimeSpan {
    /// One second.
    pub const SECOND: Self = Self(1_000);

    /// In milliseconds.
    pub fn ms(self) -> u64 {
        self.0
    }

    /// In whole seconds, rounded up.
    pub fn seconds(self) -> u64 {
        self.0.div_ceil(1_000)
    }

    /// Reads a duration with its unit. `None` if the text is none, or is out of bounds.
    pub fn parse(text: &str) -> Option<Self> {
        text.contains(char::is_alphabetic).then_some(())?;
        let ms = duration::parse(text).ok()?.as_millis();
        let ms = u64::try_from(ms).ok()?;
        (1..=MAX_SPAN_MS).contains(&ms).then_some(Self(ms))
    }
}

impl ByteSize {
    /// A size of this many bytes.
    pub(crate) const fn of(bytes: u64) -> Self {
        Self(bytes)
    }

    /// The number.
    pub fn get(self) -> u64 {
        self.0
    }

    /// Reads a size. A number without a unit is one of bytes. `None` if the text is no size.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if let Ok(number) = text.replace('_', "").parse() {
            return Some(Self(number));
        }
        let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit())?);
        let unit = unit.trim_start().to_ascii_lowercase();
        let (_, factor) = BYTE_UNITS.into_iter().find(|(name, _)| *name == unit)?;
        number.parse::<u64>().ok()?.checked_mul(factor).map(Self)
    }
}

impl Percent {
    /// The number.
    pub fn get(self) -> u64 {
        self.0
    }

    /// Reads a value. `None` if the text is none, or is out of bounds.
    pub fn parse(text: &str) -> Option<Self> {
        let number = text.trim().strip_suffix('%')?.trim_end().parse().ok()?;
        (1..=MAX_PERCENT).contains(&number).then_some(Self(number))
    }
}

impl fmt::Display for TimeSpan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [
            ("d", 86_400_000),
            ("h", 3_600_000),
            ("m", 60_000),
            ("s", 1_000),
        ];
        let fitting = units.into_iter().find(|(_, ms)| self.0.is_multiple_of(*ms));
        let (unit, ms) = fitting.unwrap_or(("ms", 1));
        write!(f, "{}{unit}", self.0 / ms)
    }
}

impl fmt::Display for ByteSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)];
        let fitting = units
            .into_iter()
            .find(|(_, bits)| self.0 > 0 && self.0.is_multiple_of(1 << bits));
        match fitting {
            Some((unit, bits)) => write!(f, "{}{unit}", self.0 >> bits),
            None => write!(f, "{} bytes", self.0),
        }
    }
}

impl<'de> Deserialize<'de> for TimeSpan {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = TimeSpan;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a time with its unit, such as \"90s\", \"10m\" or \"1h30m\", a year at the most")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<TimeSpan, E> {
                let unexpected = || E::invalid_value(de::Unexpected::Str(text), &self);
                TimeSpan::parse(text).ok_or_else(unexpected)
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

impl<'de> Deserialize<'de> for Percent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let said = "a share of processors is in percent of one, such as \"50%\" or \"200%\"";
        Self::parse(&text).ok_or_else(|| de::Error::custom(said))
    }
}

impl<'de> Deserialize<'de> for ByteSize {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = ByteSize;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a size, such as \"512MiB\", \"1GB\" or a number of bytes")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<ByteSize, E> {
                let unexpected = || E::invalid_value(de::Unexpected::Str(text), &self);
                ByteSize::parse(text).ok_or_else(unexpected)
            }
            fn visit_i64<E: de::Error>(self, number: i64) -> Result<ByteSize, E> {
                let unexpected = |_| E::invalid_value(de::Unexpected::Signed(number), &self);
                u64::try_from(number).map(ByteSize).map_err(unexpected)
            }
            fn visit_u64<E: de::Error>(self, number: u64) -> Result<ByteSize, E> {
                Ok(ByteSize(number))
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_have_units() {
        let table = [
            ("90s", Some(90_000)),
            ("1h30m", Some(5_400_000)),
            ("1h 30m", Some(5_400_000)),
            ("250ms", Some(250)),
            ("2d", Some(172_800_000)),
            ("365d", Some(MAX_SPAN_MS)),
            ("366d", None),
            ("0s", None),
            ("10", None),
            ("", None),
            ("m", None),
            ("-1s", None),
            ("1.5h", Some(5_400_000)),
            ("0.5ms", None),
            ("1w", None),
            ("99999999999999999999s", None),
            ("9999999999999999999d", None),
        ];
        for (text, ms) in table {
            assert_eq!(TimeSpan::parse(text).map(TimeSpan::ms), ms, "{text}");
        }
    }

    #[test]
    fn sizes_are_binary_or_decimal() {
        let table = [
            ("512MiB", Some(512 << 20)),
            ("1 GB", Some(1_000_000_000)),
            ("4096", Some(4_096)),
            ("4_096", Some(4_096)),
            ("2kib", Some(2_048)),
            ("0", Some(0)),
            ("1GiB2", None),
            ("GiB", None),
            ("1 parsec", None),
            ("99999999999TiB", None),
            ("", None),
        ];
        for (text, bytes) in table {
            assert_eq!(ByteSize::parse(text).map(ByteSize::get), bytes, "{text}");
        }
    }

    #[test]
    fn shares_are_in_percent() {
        let table = [
            ("50%", Some(50)),
            ("250 %", Some(250)),
            ("1000000%", Some(1_000_000)),
            ("1000001%", None),
            ("0%", None),
            ("50", None),
            ("%", None),
            ("-5%", None),
            ("1.5%", None),
        ];
        for (text, percent) in table {
            assert_eq!(Percent::parse(text).map(Percent::get), percent, "{text}");
        }
    }

    #[test]
    fn they_are_shown_as_they_are_written() {
        for text in ["90s", "10m", "1h", "2d", "250ms"] {
            assert_eq!(
                TimeSpan::parse(text).map(|l| l.to_string()).as_deref(),
                Some(text)
            );
        }
        for text in ["512MiB", "1GiB", "3KiB", "1001 bytes"] {
            let bare = text.trim_end_matches(" bytes");
            assert_eq!(
                ByteSize::parse(bare).map(|b| b.to_string()).as_deref(),
                Some(text)
            );
        }
    }
}

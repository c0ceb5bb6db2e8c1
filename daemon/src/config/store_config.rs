//! `[store]`: how much of the disk output may take.

use serde::{Deserialize, Deserializer, de};

use termd_policy::{ByteSize, MIN_TERMINAL_QUOTA_BYTES};

/// The default quota of one terminal: a week of a chatty server. Forty terminals that print without
/// end stay within the 10 GiB of retention.
const TERMINAL_QUOTA_BYTES: u64 = 256 << 20;
/// The default quota of all terminals. Retention brings transcripts back to 10 GiB once an hour, so
/// this quota only bounds what is printed in between and what still runs.
const TOTAL_QUOTA_BYTES: u64 = 12 << 30;
/// The default floor: room for the database's log, and for the person who cleans up.
const FREE_FLOOR_BYTES: u64 = 64 << 20;
/// A smaller file system has no floor unless one is set: it was given to termd to be filled.
const FLOORED_FROM_BYTES: u64 = 1 << 30;
/// The smallest quota of all terminals: that of four.
const MIN_TOTAL_BYTES: u64 = 4 * MIN_TERMINAL_QUOTA_BYTES;

/// A bound that may be switched off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    /// A bound in bytes.
    At(u64),
    /// No bound: `"none"` in the file.
    None,
}

impl Bound {
    /// The bound in bytes; `None` where there is none.
    pub fn bytes(self) -> Option<u64> {
        match self {
            Self::At(bytes) => Some(bytes),
            Self::None => None,
        }
    }

    fn is_at_least(self, least: u64) -> bool {
        self.bytes().is_none_or(|bytes| bytes >= least)
    }
}

impl<'de> Deserialize<'de> for Bound {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = Bound;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a size, such as \"512MiB\" or a number of bytes, or \"none\"")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Bound, E> {
                if text == "none" {
                    return Ok(Bound::None);
                }
                let unexpected = || E::invalid_value(de::Unexpected::Str(text), &self);
                let bytes = ByteSize::parse(text).ok_or_else(unexpected)?;
                Ok(Bound::At(bytes.get()))
            }
            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Bound, E> {
                let unexpected = |_| E::invalid_value(de::Unexpected::Signed(number), &self);
                u64::try_from(number).map(Bound::At).map_err(unexpected)
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

/// `[store]`: how much of the disk output may take.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StoreConfig {
    /// Output that is stored of one terminal, in bytes: its head and its tail.
    pub terminal_quota: Bound,
    /// What all transcripts may take, in bytes as stored.
    pub total_quota: Bound,
    /// Below this many free bytes on the state directory's file system no output is stored and
    /// nothing new is run.
    free_floor: Option<Bound>,
}

impl Default for StoreConfig {
    fn default() -> Self {
        Self {
            terminal_quota: Bound::At(TERMINAL_QUOTA_BYTES),
            total_quota: Bound::At(TOTAL_QUOTA_BYTES),
            free_floor: None,
        }
    }
}

impl StoreConfig {
    /// The floor on a file system of this size, in bytes; `None` where there is none.
    pub fn floor(&self, file_system_bytes: u64) -> Option<u64> {
        match self.free_floor {
            Some(floor) => floor.bytes().filter(|bytes| *bytes > 0),
            None => (file_system_bytes >= FLOORED_FROM_BYTES).then_some(FREE_FLOOR_BYTES),
        }
    }

    /// The bounds: whether each holds, its key, and what it may be.
    pub(super) fn bounds(&self) -> [(bool, &'static str, &'static str); 2] {
        [
            (
                self.terminal_quota.is_at_least(MIN_TERMINAL_QUOTA_BYTES),
                "store.terminal_quota",
                "256KiB or more, or \"none\"",
            ),
            (
                self.total_quota.is_at_least(MIN_TOTAL_BYTES),
                "store.total_quota",
                "1MiB or more, or \"none\"",
            ),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_floor_is_for_file_systems_of_some_size() {
        let parse = |text: &str| toml::from_str::<StoreConfig>(text).unwrap();
        let table = [
            ("", 3 << 20, None),
            ("", 1 << 40, Some(64 << 20)),
            ("free_floor = \"none\"", 1 << 40, None),
            ("free_floor = 0", 1 << 40, None),
            ("free_floor = \"2MiB\"", 3 << 20, Some(2 << 20)),
            ("free_floor = 4096", 3 << 20, Some(4_096)),
        ];
        for (text, size, floor) in table {
            assert_eq!(parse(text).floor(size), floor, "{text} {size}");
        }
    }
}

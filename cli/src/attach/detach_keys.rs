//! The keys by which a person leaves `termctl attach`: `ctrl-],d` opens the line of keys by the first and
//! detaches by the second, `ctrl-q` alone detaches at once, `none` leaves all keys to the program.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use super::detach::{DetachKey, DetachKeyError};

/// What stands between the two keys.
const SEPARATOR: char = ',';

/// The keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DetachKeys {
    first: DetachKey,
    /// The key on the line of keys; absent: the first one detaches.
    second: Option<char>,
}

/// Why a word names no keys.
#[derive(Debug, Error)]
pub(crate) enum DetachKeysError {
    #[error(transparent)]
    First(#[from] DetachKeyError),
    #[error("the second key is a character, as in ctrl-],d")]
    Second,
}

impl DetachKeys {
    /// The key that opens the line of keys, or detaches.
    pub(crate) fn first(self) -> DetachKey {
        self.first
    }

    /// The key that detaches on the line of keys; `None`: there is no such line.
    pub(crate) fn second(self) -> Option<char> {
        self.second
    }

    /// What a person is told of them.
    pub(crate) fn hint(self) -> String {
        match self.second {
            Some(key) => format!("{} shows keys, then {key} detaches", self.first),
            None => self.first.hint(),
        }
    }
}

impl FromStr for DetachKeys {
    type Err = DetachKeysError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let Some((first, second)) = text.split_once(SEPARATOR) else {
            return Ok(Self {
                first: text.parse()?,
                second: None,
            });
        };
        let mut second = second.chars();
        match (first.parse::<DetachKey>()?, second.next(), second.next()) {
            (first, Some(key), None) if !key.is_control() && !first.is_none() => Ok(Self {
                first,
                second: Some(key),
            }),
            _ => Err(DetachKeysError::Second),
        }
    }
}

impl fmt::Display for DetachKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.first.fmt(f)?;
        match self.second {
            Some(key) => write!(f, "{SEPARATOR}{key}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_key_two_or_none() {
        for (text, hint) in [
            ("ctrl-],d", Some("ctrl-] shows keys, then d detaches")),
            ("^a,q", Some("ctrl-a shows keys, then q detaches")),
            ("ctrl-q", Some("ctrl-q detaches")),
            ("none", Some("no key detaches")),
            ("none,d", None),
            ("ctrl-],", None),
            ("ctrl-],de", None),
            ("a,d", None),
            ("", None),
        ] {
            let keys = text.parse::<DetachKeys>().ok();
            assert_eq!(keys.map(DetachKeys::hint).as_deref(), hint, "{text:?}");
        }
    }
}

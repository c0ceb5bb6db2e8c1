//! Ids of requests that rmcp cannot repeat to the letter. It holds a number as an `i64`; JSON has
//! longer ones, and fractions. Such a request is given a number of ours, and its answer the id that
//! came.

use std::collections::BTreeMap;

use rmcp::model::RequestId;
use serde_json::value::RawValue;

/// Numbers below this are ours. A client's own number in this range is replaced like a long one.
const RESERVED: i64 = i64::MIN + (1 << 32);
/// The longest number that is kept. No client counts so far.
pub(super) const MAX_NUMBER_BYTES: usize = 256;
/// Most replaced ids. The oldest goes first: that of a request that was cancelled long ago, as those
/// are not answered.
const MAX_REPLACED: usize = 4_096;

/// The ids that were replaced, by the number that stands for them.
#[derive(Debug)]
pub(super) struct ReplacedIds {
    came: BTreeMap<i64, Box<RawValue>>,
    next: i64,
}

impl Default for ReplacedIds {
    fn default() -> Self {
        Self {
            came: BTreeMap::new(),
            next: i64::MIN,
        }
    }
}

/// Whether this is an id at all: a string or a number.
pub(super) fn is_id(id: &RawValue) -> bool {
    id.get()
        .starts_with(|c: char| c == '"' || c == '-' || c.is_ascii_digit())
}

impl ReplacedIds {
    /// Whether rmcp cannot repeat this id.
    pub(super) fn has_to_replace(id: &RawValue) -> bool {
        let text = id.get();
        let is_kept = |number: i64| number >= RESERVED && number.to_string() == text;
        !text.starts_with('"') && !text.parse().is_ok_and(is_kept)
    }

    /// The number that stands for an id from now on.
    pub(super) fn replace(&mut self, id: &RawValue) -> i64 {
        let number = self.next;
        self.next = if number + 1 < RESERVED {
            number + 1
        } else {
            i64::MIN
        };
        self.came.insert(number, id.to_owned());
        if self.came.len() > MAX_REPLACED {
            self.came.pop_first();
        }
        number
    }

    /// The number that stands for an id of an earlier request.
    pub(super) fn find(&self, id: &RawValue) -> Option<i64> {
        let mut came = self.came.iter();
        let (number, _) = came.find(|(_, came)| came.get() == id.get())?;
        Some(*number)
    }

    /// The id as it came, where it was replaced. It is asked for once.
    pub(super) fn take(&mut self, id: &RequestId) -> Option<Box<RawValue>> {
        match id {
            RequestId::Number(number) => self.came.remove(number),
            RequestId::String(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.to_owned()).unwrap()
    }

    #[test]
    fn only_what_rmcp_would_change_is_replaced() {
        let table = [
            ("7", false),
            ("-7", false),
            ("\"7\"", false),
            ("9223372036854775807", false),
            ("9223372036854775808", true),
            ("123456789012345678901234567890", true),
            ("-9223372036854775808", true),
            ("1.5", true),
            ("1.0", true),
            ("1e2", true),
            ("-0", true),
        ];
        for (id, replaced) in table {
            assert_eq!(ReplacedIds::has_to_replace(&raw(id)), replaced, "{id}");
        }
    }

    #[test]
    fn an_id_comes_back_once_and_the_oldest_goes_first() {
        let mut ids = ReplacedIds::default();
        let first = ids.replace(&raw("1.5"));
        assert_eq!(ids.find(&raw("1.5")), Some(first));
        let came = ids.take(&RequestId::Number(first)).unwrap();
        assert_eq!(came.get(), "1.5");
        assert!(ids.take(&RequestId::Number(first)).is_none());
        let oldest = ids.replace(&raw("2.5"));
        for _ in 0..MAX_REPLACED {
            ids.replace(&raw("3.5"));
        }
        assert!(ids.take(&RequestId::Number(oldest)).is_none());
        assert_eq!(ids.came.len(), MAX_REPLACED);
    }
}

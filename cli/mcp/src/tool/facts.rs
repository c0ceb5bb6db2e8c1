//! A result that grows, and the words that all sets have for the same things.

use std::time::Duration;

use serde_json::{Map, Value};

/// A result that grows.
pub(crate) type Facts = Map<String, Value>;

/// Adds the members of an object that are not null.
pub(crate) fn add(facts: &mut Facts, more: Value) {
    if let Value::Object(more) = more {
        facts.extend(more.into_iter().filter(|(_, value)| !value.is_null()));
    }
}

/// Adds the members of an object, also those that are null.
pub(crate) fn set(facts: &mut Facts, more: Value) {
    if let Value::Object(more) = more {
        facts.extend(more);
    }
}

/// A duration in milliseconds, as the daemon takes it.
pub(crate) fn to_milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

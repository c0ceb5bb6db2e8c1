//! JSON that many requests are built from.

use serde_json::{Value, json};

/// The params of a shell script: `/bin/sh -c SCRIPT`.
pub fn sh(script: &str) -> Value {
    json!({ "command": "/bin/sh", "args": ["-c", script] })
}

/// An object with the members of both; where both have one, `more` wins.
pub fn merged(base: &Value, more: &Value) -> Value {
    let mut object = base.as_object().cloned().unwrap_or_default();
    for (key, value) in more.as_object().into_iter().flatten() {
        object.insert(key.clone(), value.clone());
    }
    Value::Object(object)
}

/// Fails unless an object has each of these members with this value. A null stands for a missing
/// member as well.
#[track_caller]
pub fn assert_members(object: &Value, expected: &Value) {
    for (key, value) in expected.as_object().expect("an object of members") {
        assert_eq!(object[key], *value, "{key} of {object}");
    }
}

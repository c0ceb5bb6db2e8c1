//! What every end-to-end test stands on: a daemon in a home of its own, a client that speaks the
//! socket's lines and nothing cleverer, and ways to wait that have a deadline and are no sleep.
//!
//! It promises that nothing outlives a test: a daemon is stopped by SIGTERM, and what is left after
//! it fails the test and is killed. It must not use the project's own client code: these tests
//! hold the contract as a stranger reads it.

// Each test binary compiles this module for itself and uses a part of it.
#![allow(dead_code, unused_imports)]

mod agent;
mod client;
mod daemon;
mod home;
pub(crate) mod limited;
mod process;
pub(crate) mod registry;
pub(crate) mod story;
mod wait;

pub(crate) use agent::{Agent, SESSION};
pub(crate) use client::{Disconnected, RawClient, RpcError};
pub(crate) use daemon::TestDaemon;
pub(crate) use home::{Home, termd_binary};
pub(crate) use process::{
    Process, children_of, is_root, open_descriptors, process_state, processes_with_environment,
    resident_kib,
};
pub(crate) use wait::{DEADLINE, Deadline, wait_readable, wait_until};

/// Says that a test could not be made here, loudly, and why.
pub(crate) fn skip(test: &str, reason: &str) {
    eprintln!("SKIP {test}: {reason}");
}

/// A shell script as ACP sends it: `/bin/sh -c SCRIPT`.
pub(crate) fn sh(script: &str) -> serde_json::Value {
    serde_json::json!({ "command": "/bin/sh", "args": ["-c", script] })
}

/// One object of the members of two; the second's win.
pub(crate) fn merged(base: &serde_json::Value, more: &serde_json::Value) -> serde_json::Value {
    let mut object = base.as_object().cloned().unwrap_or_default();
    for (key, value) in more.as_object().into_iter().flatten() {
        object.insert(key.clone(), value.clone());
    }
    serde_json::Value::Object(object)
}

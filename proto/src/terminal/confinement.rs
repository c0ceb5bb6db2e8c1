//! What a command is held to.

use serde::{Deserialize, Serialize};

/// What a command is held to, and by which profiles of config.toml.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Confinement {
    /// The profiles: of several, the strictest of each thing.
    pub profiles: Vec<String>,
    /// It is ended after this many milliseconds; absent: never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// It is ended once it has printed more than this; absent: never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_bytes: Option<u64>,
    /// Bytes of its output that are kept, the first and the last; absent: as many as of any terminal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub terminal_quota: Option<u64>,
    /// Each of its processes may use this many milliseconds of processor time; absent: any number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_time_ms: Option<u64>,
    /// Each of its processes may grow a file to this many bytes; absent: to any size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_bytes: Option<u64>,
    /// The kinds of its sandboxes: `read-only`, `workspace`, `no-network`.
    pub sandbox: Vec<String>,
    /// What all of it together is held to by a scope of its own; absent: it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<ScopeLimits>,
    /// What holds it: `cpu_seconds`, `landlock_writes`, `seccomp`, … in a fixed order.
    pub held: Vec<String>,
    /// What was asked for and does not hold.
    pub missing: Vec<MissingWall>,
}

/// What a command and all that it starts are held to together, by a transient scope of the user's
/// systemd.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ScopeLimits {
    /// Memory in bytes, without swap (`MemoryMax=`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// Processor time in percent of one processor (`CPUQuota=`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_percent: Option<u64>,
    /// Processes and threads (`TasksMax=`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tasks: Option<u64>,
    /// Its share of a busy disk, 1 to 10,000; others have 100 (`IOWeight=`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub io_weight: Option<u64>,
}

/// What a command is not held to although it was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissingWall {
    /// Its name.
    pub wall: String,
    /// What the kernel, or systemd, said.
    pub reason: String,
}

//! Why a terminal was closed, which limit ended its command, and how that ended.

use serde::{Deserialize, Serialize};

/// Why a terminal was closed, where no client asked for it by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CloseCause {
    /// There was no input, output, reader or viewer for its idle timeout.
    Idle,
    /// The connection that it was tied to ended.
    Disconnect,
    /// The call of an agent's shell was over, and what it left was ended with it or had ended.
    CallEnd,
    /// The agent whose shell it was has ended.
    AgentEnd,
}

impl CloseCause {
    /// The word for it in JSON, tables and the database.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Disconnect => "disconnect",
            Self::CallEnd => "call_end",
            Self::AgentEnd => "agent_end",
        }
    }
}

/// Which limit ended a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndCause {
    /// It ran for as long as it may.
    Timeout,
    /// It printed as much as it may.
    OutputBytes,
    /// It took more memory than it may, or than there was, and the kernel killed it.
    OutOfMemory,
    /// A process of it used as much processor time as one may (`RLIMIT_CPU`).
    CpuTime,
    /// A process of it wrote a file as large as one may (`RLIMIT_FSIZE`).
    FileBytes,
    /// There was no input, output, reader or viewer for its idle timeout.
    IdleTimeout,
}

impl EndCause {
    /// Every one.
    pub const ALL: [Self; 6] = [
        Self::Timeout,
        Self::OutputBytes,
        Self::OutOfMemory,
        Self::CpuTime,
        Self::FileBytes,
        Self::IdleTimeout,
    ];

    /// The word for it in JSON, tables and the database.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Timeout => "timeout",
            Self::OutputBytes => "output_bytes",
            Self::OutOfMemory => "out_of_memory",
            Self::CpuTime => "cpu_time",
            Self::FileBytes => "file_bytes",
            Self::IdleTimeout => "idle_timeout",
        }
    }
}

/// How a command ended: exactly one of the two is set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExitStatus {
    /// The exit code, 0 to 255.
    pub exit_code: Option<u32>,
    /// The signal's name, such as `SIGTERM`.
    pub signal: Option<String>,
}

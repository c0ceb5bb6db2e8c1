//! The exec gate: a new command can be paused between fork and exec.
//!
//! The server uses the pause to move the process into a cgroup of its own, which needs a pid, or
//! to record the start while the sandbox is being built. A paused command has run none of its code.
//! It continues when the server releases it. It ends, with
//! [`SpawnStep::ExecGate`](super::message::SpawnStep::ExecGate), when the server cancels it, when
//! the server or the keeper dies, or after [`MAX_EXEC_PAUSE`].

use std::time::Duration;

/// The longest pause. Starting a scope has a limit well below; where recording a
/// start takes longer, the start fails.
pub const MAX_EXEC_PAUSE: Duration = Duration::from_secs(20);

/// Where a new command waits for an [`ExecRelease`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PausePoint {
    /// Before its limits and its sandbox are set up.
    BeforeConfinement,
    /// When everything but the exec is done. A step that fails before is the answer to the
    /// release.
    BeforeExec,
}

/// What becomes of a paused command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExecRelease {
    /// It continues.
    Run {
        /// The directory of the cgroup that it was moved into, in which the keeper finds the rest
        /// of its processes. Empty without a cgroup of its own.
        cgroup: Vec<u8>,
    },
    /// It ends, and counts as never started.
    Cancel,
}

//! Why a profile is refused.

use thiserror::Error;

use super::quantity::ByteSize;

/// The least memory of a scope. Below it not even a shell starts: the kernel kills whatever does.
pub(super) const MIN_MEMORY: ByteSize = ByteSize::of(1 << 20);
/// Tasks of a scope. The kernel has no more process numbers (`PID_MAX_LIMIT`).
pub(super) const MAX_TASKS: u64 = 1 << 22;
/// Paths in one list of a profile. The list that is enforced holds built-in paths beside them, and may
/// have 256 in all.
pub const MAX_PATHS: usize = 128;

/// Why a profile is refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum ProfileError {
    /// A key that does nothing would be believed to do something.
    #[error("`{0}` needs a `sandbox` other than \"none\"")]
    NeedsSandbox(&'static str),
    #[error("`network = true` contradicts `sandbox = \"no-network\"`")]
    Network,
    #[error(
        "`{0}` does nothing in `sandbox = \"no-network\"`, where all may be written: take \
         \"workspace\" with `network = false`"
    )]
    NoEffect(&'static str),
    #[error("`writable` names a directory that `private_tmp` hides")]
    WritableHidden,
    #[error("`idle_timeout` must be 1s or more")]
    IdleTimeout,
    #[error("`terminal_quota` must be 256KiB or more")]
    TerminalQuota,
    #[error("`{0}` may hold {MAX_PATHS} paths at the most")]
    TooManyPaths(&'static str),
    #[error("`limits.open_files` must be 3 or more: a command has 3")]
    OpenFiles,
    #[error("`limits.processes` must be 1 or more")]
    Processes,
    #[error("`limits.memory` must be {MIN_MEMORY} or more")]
    Memory,
    #[error("`limits.tasks` must be 1 to {MAX_TASKS}")]
    Tasks,
    #[error("`limits.io_weight` must be 1 to 10000")]
    IoWeight,
}

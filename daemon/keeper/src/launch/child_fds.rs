//! The numbers that a child's descriptors have between fork and exec. 0, 1 and 2 are the command's.

use std::os::fd::RawFd;

/// The child's end of the error pipe.
pub(super) const ERROR_PIPE: RawFd = 3;
/// The child's end of the exec gate, where it is paused.
pub(super) const EXEC_GATE: RawFd = 4;
/// What a file operation writes.
pub(super) const CONTENT: RawFd = 5;
/// The gate at which a process behind bubblewrap waits until bubblewrap is reaped.
pub(super) const HANDOVER_GATE: RawFd = 6;
/// bubblewrap's standard error.
pub(super) const BUILDER_STDERR: RawFd = 7;
/// The first free number. What is placed at the numbers above comes from here or beyond, so that
/// placing one descriptor does not close another.
pub(super) const FIRST_FREE: RawFd = 8;

//! The numbers that a child's descriptors have between fork and exec. Those below are the command's:
//! its standard three, and what it inherits from the process that requested it.

use std::os::fd::RawFd;

use termd_proto::terminal::MAX_INHERITED_FD;

/// The child's end of the error pipe.
pub(super) const ERROR_PIPE: RawFd = MAX_INHERITED_FD + 1;
/// The child's end of the exec gate, where it is paused.
pub(super) const EXEC_GATE: RawFd = ERROR_PIPE + 1;
/// What a file operation writes.
pub(super) const CONTENT: RawFd = ERROR_PIPE + 2;
/// The gate at which a process behind bubblewrap waits until bubblewrap is reaped.
pub(super) const HANDOVER_GATE: RawFd = ERROR_PIPE + 3;
/// bubblewrap's standard error.
pub(super) const BUILDER_STDERR: RawFd = ERROR_PIPE + 4;
/// The first free number. What is placed at the numbers above, and what is inherited, comes from here
/// or beyond, so that placing one descriptor does not close another.
pub(super) const FIRST_FREE: RawFd = ERROR_PIPE + 5;

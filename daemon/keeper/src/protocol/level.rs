//! What a side supports beyond the first version of the protocol.
//!
//! Each level stands for what was added with it. A level is never taken back.

/// What this side supports beyond the first version. It follows the version in the hello; a side
/// that sends none is at level 0. The other side requests nothing above that level, because an
/// older keeper ignores what it does not know, or does only the part that it knows.
pub const LEVEL: u32 = LEVEL_INHERITED;
/// From this level on: commands on pipes (`Stdio::Pipes`).
pub const LEVEL_PIPES: u32 = 1;
/// From this level on: limits and sandboxes (`Confinement`).
pub const LEVEL_CONFINEMENT: u32 = 2;
/// From this level on: commands paused before confinement (`PausePoint::BeforeConfinement`).
pub const LEVEL_EXEC_GATE: u32 = 3;
/// From this level on: commands paused in their sandbox (`PausePoint::BeforeExec`).
pub const LEVEL_PAUSE_BEFORE_EXEC: u32 = 4;
/// From this level on: sandboxes that bubblewrap builds (`Builder::Bubblewrap`).
pub const LEVEL_BUBBLEWRAP: u32 = 5;
/// From this level on: operations on files (`FileOperation`).
pub const LEVEL_FILES: u32 = 6;
/// From this level on: sandboxes with PID and IPC namespaces of their own (`Processes::Private`).
pub const LEVEL_PRIVATE_PROCESSES: u32 = 7;
/// From this level on: the list of orphans (`ToKeeper::ListOrphans`).
pub const LEVEL_ORPHANS: u32 = 8;
/// From this level on: the ids of writable paths (`Sandbox::writable_ids`).
pub const LEVEL_WRITABLE_IDS: u32 = 9;
/// From this level on: the head of the audit chain (`ToKeeper::SetAuditHead`).
pub const LEVEL_AUDIT_HEAD: u32 = 10;
/// From this level on: commands that read a pipe (`Stdin::Pipe`).
pub const LEVEL_STDIN: u32 = 11;
/// From this level on: what a command takes over from the process that requests it (`Inherited`).
pub const LEVEL_INHERITED: u32 = 12;

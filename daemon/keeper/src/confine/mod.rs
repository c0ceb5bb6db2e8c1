//! Confinement of a child: limits, its own view of the file system, Landlock, seccomp.
//!
//! [`Plan::new`] checks a spec and prepares everything before the fork. [`Plan::apply`] applies the
//! restrictions in the child. It promises that a command runs with every restriction that was
//! requested, or not at all, or (best effort) with a report of each one that is missing.
//!
//! Each restriction needs those before it, so the order is: no new privileges, namespaces (after which
//! another process may go on as the command, inside of a PID namespace), mounts
//! ([`mount`]), no capabilities, Landlock (which forbids further mounts), limits, and last the filter
//! of system calls, which would refuse what the others need. bubblewrap can build namespaces and
//! mounts instead; [`bubblewrap`] then looks at each of them from inside.
//!
//! Paths are opened in the child and not before the fork: a file server that does not answer would
//! stop the keeper.

mod attempts;
mod bubblewrap;
mod daemon_dirs;
mod kernel;
mod landlock;
mod limits;
mod mount;
mod pid_namespace;
mod plan;
mod privileges;
mod sandbox;
mod seccomp;

pub(crate) use self::bubblewrap::{
    Arguments as BubblewrapArguments, Snapshot, find as find_bubblewrap,
};
pub(crate) use self::daemon_dirs::DaemonDirs;
pub(crate) use self::mount::MountWatch;
pub(crate) use self::plan::Plan;
pub(crate) use self::sandbox::{MountBuilder, PidNamespace};

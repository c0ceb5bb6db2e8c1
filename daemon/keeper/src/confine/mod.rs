//! Confinement of a child: limits, its own view of the file system, Landlock, seccomp.
//!
//! [`Plan::new`] checks a spec and prepares everything before the fork. [`Plan::apply`] applies the
//! restrictions in the child. It promises that a command runs with every restriction that was
//! requested, or not at all, or (best effort) with a report of each one that is missing.
//!
//! Each restriction needs those before it, so the order is: no new privileges, namespaces (after which
//! another process may go on as the command, inside of a PID namespace), mounts
//! ([`build`]), no capabilities, Landlock (which forbids further mounts), limits, and last the filter
//! of system calls, which would refuse what the others need. bubblewrap can build namespaces and
//! mounts instead; [`verify`] then looks at each of them from inside.
//!
//! Paths are opened in the child and not before the fork: a file server that does not answer would
//! stop the keeper.

mod attempts;
mod bpf;
mod bubblewrap;
mod build;
mod daemon_dirs;
mod devices;
mod directory_copy;
mod kernel;
mod landlock;
mod limits;
mod mount_ops;
mod mount_state;
mod mount_watch;
mod mounts;
mod own_dirs;
mod pid_namespace;
mod places;
mod plan;
mod privileges;
mod resolve;
mod sandbox;
mod seccomp;
mod snapshot;
mod temporary;
mod verify;

pub(crate) use self::bubblewrap::{Arguments as BubblewrapArguments, find as find_bubblewrap};
pub(crate) use self::daemon_dirs::DaemonDirs;
pub(crate) use self::mount_watch::MountWatch;
pub(crate) use self::plan::Plan;
pub(crate) use self::sandbox::{MountBuilder, PidNamespace};
pub(crate) use self::snapshot::Snapshot;

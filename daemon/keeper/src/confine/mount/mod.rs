//! The mounts of a sandbox: what a command sees, what it may write, what is hidden and protected.
//!
//! [`build`] makes them in the child, from checked [`places`]: the [`view`] of the host's files, the
//! sandbox's own directories ([`directory_copy`], [`devices`], [`temporary`]). [`MountWatch`] keeps them
//! while the sandbox runs. [`resolve`] opens paths, [`ops`] and [`state`] are the operations on mounts.

pub(super) mod build;
mod devices;
mod directory_copy;
pub(super) mod ops;
mod own_dirs;
pub(super) mod places;
pub(super) mod resolve;
pub(super) mod state;
pub(super) mod temporary;
pub(super) mod view;
mod watch;

pub(crate) use self::watch::MountWatch;

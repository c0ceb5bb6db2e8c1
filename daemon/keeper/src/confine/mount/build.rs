//! Builds a sandbox's mounts, in the child, in their order.

use rustix::io::Errno;

use super::places::{self, Places};
use super::{devices, directory_copy, temporary, view};
use crate::confine::attempts::Attempts;
use crate::protocol::confinement::{Restriction, Temporary};
use crate::protocol::message::SpawnFailure;

/// Builds the mounts in namespaces of this process's own.
pub(crate) fn mounts(places: &mut Places, attempts: Attempts<'_>) -> Result<(), SpawnFailure> {
    // The host's device nodes are copied before everything is read-only and without devices.
    let nodes = attempts.check(Restriction::Devices, devices::host_nodes(places))?;
    let root = view::read_only_root(places);
    attempts.check_mounts(Restriction::ReadOnly, root)?;
    let devices = match nodes {
        Some(nodes) => attempts.check(Restriction::Devices, devices::mount(&nodes))?,
        None => None,
    };
    // The covers of hidden places, and the directories above them, are in the new /dev.
    let copied = match &devices {
        Some(devices) => directory_copy::mount(&places.copies, devices.store()),
        None => Err(Errno::NODEV),
    };
    attempts.check(Restriction::Hidden, copied)?;
    if places.temporary == Temporary::Private {
        attempts.check(Restriction::Temporary, temporary::mount(places))?;
    }
    let attached = view::attach_writable(places);
    attempts.check_mounts(Restriction::ReadOnly, attached)?;
    let protected = view::protect(places);
    attempts.check_mounts(Restriction::Protected, protected)?;
    let covered = match &devices {
        Some(devices) => view::cover(places, devices.store()),
        None => Err(Errno::NODEV),
    };
    attempts.check_mounts(Restriction::Hidden, covered)?;
    if let Some(devices) = devices {
        attempts.check(Restriction::Devices, devices.finish())?;
        places.devices = places::Devices::Own;
    }
    Ok(())
}

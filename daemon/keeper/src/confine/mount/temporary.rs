//! A `/tmp` and a `/var/tmp` of the sandbox's own: file systems in memory, empty at first, which the
//! kernel frees with the last process that sees them.
//!
//! Of the host's files only those are in them that are writable by name.

use std::ffi::CStr;
use std::os::fd::{AsFd, OwnedFd};

use rustix::io::Errno;
use rustix::mount::MountAttrFlags;

use super::ops::{attach, new_file_system};
use super::own_dirs::TEMPORARY;
use super::places::Places;
use super::resolve::resolve;

/// The limit of each. Its pages are the user's memory. With the kernel's default, half of the memory
/// each, two of them could fill it.
const SIZE: &CStr = c"25%";

/// The directories to mount over. A `/var/tmp` that is absent, or a link, as on systems where it is
/// `/tmp`, is left as it is: nothing of it is writable.
pub(crate) fn mount_points() -> Result<Vec<(&'static CStr, OwnedFd)>, Errno> {
    let mut there = Vec::with_capacity(TEMPORARY.len());
    for (number, directory) in TEMPORARY.into_iter().enumerate() {
        match resolve(directory) {
            Ok(place) => there.push((directory, place)),
            Err(Errno::NOENT | Errno::LOOP) if number > 0 => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(there)
}

/// Mounts them, and adds them to the writable places.
pub(crate) fn mount(places: &mut Places) -> Result<(), Errno> {
    for (directory, place) in mount_points()? {
        let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
        let own = new_file_system(c"tmpfs", &[(c"mode", c"1777"), (c"size", SIZE)], attributes)?;
        attach(own.as_fd(), place.as_fd())?;
        // Opened by its name, which now leads to the new mount.
        places.add_writable(resolve(directory)?);
    }
    Ok(())
}

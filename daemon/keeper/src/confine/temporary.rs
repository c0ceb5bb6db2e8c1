//! A `/tmp` and a `/var/tmp` of the sandbox's own: file systems in memory, empty at first, which
//! the kernel frees with the last process that sees them.
//!
//! It promises that nothing of the host's is in them but what is writable by name, and that nobody
//! outside finds what is put there. In the child, with system calls alone. The way back of what is
//! writable is the same into a `/dev` of the sandbox's own.

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use nix::libc;
use rustix::mount::MountAttrFlags;

use super::devices::file_system;
use super::mounts::{attach, is_directory, way_to};
use super::paths::{Places, resolve};
use crate::protocol::confinement::Temporary;

/// Where programs put temporary files (file-hierarchy(7)).
const DIRECTORIES: [&CStr; 2] = [c"/tmp", c"/var/tmp"];
/// How many there are, at the most.
pub(super) const COUNT: usize = DIRECTORIES.len();

/// What one may grow to. Its pages are the user's memory, and the kernel's own default, half of it
/// for each, would let two of them have it all.
const SIZE: &CStr = c"25%";

/// What is the sandbox's own whatever it asks for.
const DEVICES: &CStr = c"/dev";

/// The directory of the sandbox's own that a path is beneath, and the names that lead on from there.
fn split(path: &[u8], temporary: Temporary) -> Option<(&'static CStr, &[u8])> {
    let own = match temporary {
        Temporary::Shared => &[][..],
        Temporary::Private => &DIRECTORIES,
    };
    [DEVICES].iter().chain(own).find_map(|directory| {
        let below = path.strip_prefix(directory.to_bytes())?;
        Some((*directory, below.strip_prefix(b"/")?))
    })
}

/// The names that lead to a path from the directory of the sandbox's own that it is beneath; none
/// where it is not.
pub(super) fn names_to(path: &[u8], temporary: Temporary) -> Vec<CString> {
    let names = split(path, temporary).into_iter();
    let names = names.flat_map(|(_, names)| names.split(|&byte| byte == b'/'));
    names.filter_map(|name| CString::new(name).ok()).collect()
}

/// Whether a path is a directory of the sandbox's own, or beneath one.
pub(super) fn is_own(path: &[u8], temporary: Temporary) -> bool {
    let is_itself = |own: &CStr| own.to_bytes() == path;
    split(path, temporary).is_some()
        || is_itself(DEVICES)
        || (temporary == Temporary::Private && DIRECTORIES.into_iter().any(is_itself))
}

/// Those that are there to be mounted over. A `/var/tmp` that is not there or leads elsewhere, as on
/// systems where it is `/tmp`, is left as it is: nothing of it is writable.
pub(super) fn mount_points() -> Result<Vec<(&'static CStr, OwnedFd)>, i32> {
    let mut there = Vec::with_capacity(COUNT);
    for (number, directory) in DIRECTORIES.into_iter().enumerate() {
        match resolve(directory) {
            Ok(place) => there.push((directory, place)),
            Err(libc::ENOENT | libc::ELOOP) if number > 0 => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(there)
}

/// Mounts them, and lets them be written to.
pub(super) fn mount(places: &mut Places) -> Result<(), i32> {
    for (directory, place) in mount_points()? {
        let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
        let own = file_system(c"tmpfs", &[(c"mode", c"1777"), (c"size", SIZE)], attributes)?;
        attach(own.as_fd(), place.as_fd())?;
        // By its name, as every other writable place: that is what is mounted there now.
        places.may_be_written(resolve(directory)?);
    }
    Ok(())
}

/// The place in one of these where a writable path is mounted back.
pub(super) fn place_of(
    names: &[CString],
    path: &CStr,
    tree: BorrowedFd<'_>,
) -> Result<OwnedFd, i32> {
    let (root, _) = split(path.to_bytes(), Temporary::Private).ok_or(libc::ENOENT)?;
    let root = resolve(root)?;
    way_to(root.as_fd(), names, is_directory(tree)?)
}

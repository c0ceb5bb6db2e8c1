//! A `/tmp` and a `/var/tmp` of the sandbox's own: file systems in memory, empty at first, which
//! the kernel frees with the last process that sees them.
//!
//! It promises that nothing of the host's is in them but what is writable by name, and that nobody
//! outside finds what is put there. In the child, with system calls alone.

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use nix::libc;
use rustix::mount::MountAttrFlags;

use super::devices::file_system;
use super::mounts::{attach, is_directory, way_to};
use super::paths::{Places, resolve};

/// Where programs put temporary files (file-hierarchy(7)).
const DIRECTORIES: [&CStr; 2] = [c"/tmp", c"/var/tmp"];
/// How many there are, at the most.
pub(super) const COUNT: usize = DIRECTORIES.len();

/// What one may grow to. Its pages are the user's memory, and the kernel's own default, half of it
/// for each, would let two of them have it all.
const SIZE: &CStr = c"25%";

/// The names that lead to a path from the one of these that it is beneath; none where it is not.
pub(super) fn names_to(path: &[u8]) -> Vec<CString> {
    let beneath = DIRECTORIES.iter().find_map(|directory| {
        let below = path.strip_prefix(directory.to_bytes())?;
        below.strip_prefix(b"/")
    });
    let names = beneath
        .into_iter()
        .flat_map(|names| names.split(|&byte| byte == b'/'));
    names.filter_map(|name| CString::new(name).ok()).collect()
}

/// Mounts them, and lets them be written to. A `/var/tmp` that is not there or leads elsewhere, as
/// on systems where it is `/tmp`, is left as it is: nothing of it is writable.
pub(super) fn mount(places: &mut Places) -> Result<(), i32> {
    for (number, directory) in DIRECTORIES.into_iter().enumerate() {
        let place = match resolve(directory) {
            Ok(place) => place,
            Err(libc::ENOENT | libc::ELOOP) if number > 0 => continue,
            Err(errno) => return Err(errno),
        };
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
    let bytes = path.to_bytes();
    let root = DIRECTORIES.into_iter().find(|directory| {
        let below = bytes.strip_prefix(directory.to_bytes());
        below.is_some_and(|below| below.starts_with(b"/"))
    });
    let root = resolve(root.ok_or(libc::ENOENT)?)?;
    way_to(root.as_fd(), names, is_directory(tree)?)
}

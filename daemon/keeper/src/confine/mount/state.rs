//! What a mount is like, as a process that looks at one of its places sees it.

use std::os::fd::BorrowedFd;

use rustix::fs::{AtFlags, StatVfsMountFlags, StatxAttributes, StatxFlags};
use rustix::io::Errno;

/// `TMPFS_MAGIC` (statfs(2)).
pub(crate) const MEMORY: u64 = 0x0102_1994;

/// Whether something is mounted at the place.
pub(crate) fn is_mount_point(place: BorrowedFd<'_>) -> Result<bool, Errno> {
    let entry = rustix::fs::statx(place, c"", AtFlags::EMPTY_PATH, StatxFlags::empty())?;
    Ok(entry.stx_attributes.contains(StatxAttributes::MOUNT_ROOT))
}

pub(crate) fn is_read_only(place: BorrowedFd<'_>) -> Result<bool, Errno> {
    let file_system = rustix::fs::fstatvfs(place)?;
    Ok(file_system.f_flag.contains(StatVfsMountFlags::RDONLY))
}

/// The type of the file system that a place is on.
pub(crate) fn file_system_type(place: BorrowedFd<'_>) -> Result<u64, Errno> {
    let file_system = rustix::fs::fstatfs(place)?;
    Ok(file_system.f_type.cast_unsigned())
}

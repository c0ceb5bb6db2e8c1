//! Operations on mounts and on the directories they are attached at, by file descriptors.

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, MoveMountFlags, OpenTreeFlags};

/// Modes of empty things: anybody may look.
pub(crate) const DIRECTORY_MODE: u32 = 0o755;
pub(crate) const FILE_MODE: u32 = 0o644;

/// A copy of the mounts at and beneath a place, attached nowhere yet.
pub(crate) fn copy(place: BorrowedFd<'_>) -> Result<OwnedFd, Errno> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_EMPTY_PATH
        | OpenTreeFlags::AT_RECURSIVE;
    rustix::mount::open_tree(place, c"", flags)
}

/// [`copy`] at a name, without following a link.
pub(crate) fn copy_at(above: BorrowedFd<'_>, name: &CStr) -> Result<OwnedFd, Errno> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_SYMLINK_NOFOLLOW
        | OpenTreeFlags::AT_RECURSIVE;
    rustix::mount::open_tree(above, name, flags)
}

/// Attaches a mount at a place.
pub(crate) fn attach(mount: BorrowedFd<'_>, place: BorrowedFd<'_>) -> Result<(), Errno> {
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    rustix::mount::move_mount(mount, c"", place, c"", flags)
}

/// [`attach`] at a name, without following a link.
pub(crate) fn attach_at(
    mount: BorrowedFd<'_>,
    above: BorrowedFd<'_>,
    name: &CStr,
) -> Result<(), Errno> {
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH;
    rustix::mount::move_mount(mount, c"", above, name, flags)
}

/// Makes a directory unless it exists.
pub(crate) fn make_directory(above: BorrowedFd<'_>, name: &CStr, mode: u32) -> Result<(), Errno> {
    match rustix::fs::mkdirat(above, name, Mode::from_raw_mode(mode)) {
        Ok(()) | Err(Errno::EXIST) => Ok(()),
        Err(errno) => Err(errno),
    }
}

/// Makes an empty file unless it exists.
pub(crate) fn make_file(above: BorrowedFd<'_>, name: &CStr, mode: u32) -> Result<(), Errno> {
    let mode = Mode::from_raw_mode(mode);
    match rustix::fs::mknodat(above, name, FileType::RegularFile, mode, 0) {
        Ok(()) | Err(Errno::EXIST) => Ok(()),
        Err(errno) => Err(errno),
    }
}

/// Opens a name to attach a mount at.
pub(crate) fn open_beneath(above: BorrowedFd<'_>, name: &CStr) -> Result<OwnedFd, Errno> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(above, name, flags, Mode::empty())
}

pub(crate) fn is_directory(place: BorrowedFd<'_>) -> Result<bool, Errno> {
    let entry = rustix::fs::fstat(place)?;
    Ok(FileType::from_raw_mode(entry.st_mode) == FileType::Directory)
}

/// Makes the directories that these names lead through, and the last as a directory or a file, and
/// opens it.
pub(crate) fn make_path(
    root: BorrowedFd<'_>,
    names: &[CString],
    ends_in_directory: bool,
) -> Result<OwnedFd, Errno> {
    let Some((last, above)) = names.split_last() else {
        return Err(Errno::INVAL);
    };
    let mut at = open_beneath(root, c".")?;
    for name in above {
        make_directory(at.as_fd(), name, DIRECTORY_MODE)?;
        at = open_beneath(at.as_fd(), name)?;
    }
    if ends_in_directory {
        make_directory(at.as_fd(), last, DIRECTORY_MODE)?;
    } else {
        make_file(at.as_fd(), last, FILE_MODE)?;
    }
    open_beneath(at.as_fd(), last)
}

/// A new file system, attached nowhere yet.
pub(crate) fn new_file_system(
    kind: &CStr,
    options: &[(&CStr, &CStr)],
    attributes: MountAttrFlags,
) -> Result<OwnedFd, Errno> {
    let context = rustix::mount::fsopen(kind, FsOpenFlags::FSOPEN_CLOEXEC)?;
    for (name, value) in options {
        rustix::mount::fsconfig_set_string(context.as_fd(), *name, *value)?;
    }
    rustix::mount::fsconfig_create(context.as_fd())?;
    rustix::mount::fsmount(context.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, attributes)
}

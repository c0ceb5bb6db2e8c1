//! Opening paths without following symbolic links.

use std::ffi::CStr;
use std::os::fd::{BorrowedFd, OwnedFd};

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use crate::protocol::confinement::FileId;

/// Opens a path that has no symbolic link in it, as a place and not to be read.
pub(crate) fn resolve(path: &CStr) -> Result<OwnedFd, Errno> {
    let links = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    // Without NOFOLLOW: with PATH that would open a last link itself.
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    rustix::fs::openat2(CWD, path, flags, Mode::empty(), links)
}

/// Opens a symbolic link itself; the path to it has none.
pub(crate) fn resolve_link(path: &CStr) -> Result<OwnedFd, Errno> {
    let links = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat2(CWD, path, flags, Mode::empty(), links)
}

/// Changes to a directory whose path has no symbolic link in it. Where one has come meanwhile, it may
/// lead to a directory that nobody was asked about, and this fails.
pub(crate) fn enter(path: &CStr) -> Result<(), Errno> {
    match resolve(path) {
        Ok(directory) => rustix::process::fchdir(directory),
        // Before Linux 5.6.
        Err(Errno::NOSYS) => rustix::process::chdir(path),
        Err(errno) => Err(errno),
    }
}

/// What is at an opened place.
pub(crate) fn file_id(place: BorrowedFd<'_>) -> Result<FileId, Errno> {
    let entry = rustix::fs::fstat(place)?;
    Ok(FileId {
        device: entry.st_dev,
        inode: entry.st_ino,
    })
}

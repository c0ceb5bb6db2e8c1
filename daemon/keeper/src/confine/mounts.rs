//! The view of the file system: everything read-only but the writable places, some of it protected
//! again, some of it covered.
//!
//! By file descriptors all the way (`open_tree`, `move_mount`): a path is looked up once, without
//! symbolic links, and what was found is what is mounted. In the child, with system calls alone.

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use nix::libc;
use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;
use rustix::mount::{MoveMountFlags, OpenTreeFlags};

use super::kernel::{self, NO_DEVICES, NO_SUID, READ_ONLY};
use super::paths::{Cover, Guard, Pin, Places, Visible, resolve, resolve_link};
use super::temporary;
use crate::protocol::confinement::IfAbsent;

/// Names in the store of empty things.
pub(super) const EMPTY_DIRECTORY: &CStr = c"directory";
pub(super) const EMPTY_FILE: &CStr = c"file";

/// Anybody may look; for there is nothing.
const DIRECTORY_MODE: u32 = 0o755;
const FILE_MODE: u32 = 0o644;

/// Copies the mounts of the writable places, and makes everything that is there read-only.
pub(super) fn read_only_root(places: &mut Places) -> Result<(), i32> {
    let mut trees = std::mem::take(&mut places.trees);
    for ((path, _), opened) in places.writable().zip(places.opened_writable()) {
        let place = resolve(path)?;
        // It was opened before, outside; a name that leads elsewhere meanwhile is somebody's trick.
        if identity(place.as_fd())? != identity(opened)? {
            return Err(libc::ESTALE);
        }
        let tree = copy(place.as_fd())?;
        kernel::restrict_mounts(tree.as_fd(), NO_SUID | NO_DEVICES)?;
        // Room was made for all of them.
        trees.push(tree);
    }
    places.trees = trees;
    let root = resolve(c"/")?;
    let read_only = if places.everything { 0 } else { READ_ONLY };
    kernel::restrict_mounts(root.as_fd(), read_only | NO_SUID | NO_DEVICES)
}

/// Puts the writable places back.
pub(super) fn attach_writable(places: &Places) -> Result<(), i32> {
    for ((path, names), tree) in places.writable().zip(&places.trees) {
        let place = match resolve(path) {
            Err(libc::ENOENT) if !names.is_empty() => {
                temporary::place_of(names, path, tree.as_fd())?
            }
            place => place?,
        };
        attach(tree.as_fd(), place.as_fd())?;
    }
    Ok(())
}

/// Makes the protected places read-only again, and pins the directories above them.
pub(super) fn protect(places: &mut Places) -> Result<(), i32> {
    let Places { guards, pins, .. } = places;
    for guard in guards {
        if guard.if_absent == IfAbsent::HoldLink {
            hold(&guard.pins, pins)?;
            hold_link(&guard.path)?;
            continue;
        }
        let found = match resolve(&guard.path) {
            Ok(place) => Some(place),
            Err(libc::ENOENT) => match guard.if_absent {
                IfAbsent::Leave | IfAbsent::HoldLink => continue,
                IfAbsent::MakeDirectory | IfAbsent::MakeFile => {
                    make(guard, pins)?;
                    None
                }
            },
            Err(errno) => return Err(errno),
        };
        let above = hold(&guard.pins, pins)?;
        let place = match (found, above) {
            (Some(place), Above::AsItWas) => place,
            // What was found lies beneath what is mounted there now.
            _ => resolve(&guard.path)?,
        };
        mount_on_itself(place.as_fd(), READ_ONLY)?;
    }
    Ok(())
}

/// Mounts a symbolic link on itself: a lookup still follows it, and nobody can rename or unlink what
/// something is mounted on (EBUSY).
fn hold_link(path: &CStr) -> Result<(), i32> {
    let link = resolve_link(path)?;
    let entry = rustix::fs::fstat(&link).map_err(Errno::raw_os_error)?;
    if FileType::from_raw_mode(entry.st_mode) != FileType::Symlink {
        return Err(libc::EINVAL);
    }
    let tree = copy(link.as_fd())?;
    kernel::restrict_mounts(tree.as_fd(), READ_ONLY)?;
    attach(tree.as_fd(), link.as_fd())
}

/// Whether something was mounted above a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Above {
    AsItWas,
    Mounted,
}

/// Mounts those of these pins that are not yet.
fn hold(numbers: &[usize], pins: &mut [Pin]) -> Result<Above, i32> {
    let mut above = Above::AsItWas;
    for &number in numbers {
        if let Some(pin) = pins.get_mut(number).filter(|pin| !pin.is_mounted) {
            mount_on_itself(resolve(&pin.path)?.as_fd(), 0)?;
            pin.is_mounted = true;
            above = Above::Mounted;
        }
    }
    Ok(above)
}

/// Makes an absent place, with what is missing above it, one name at a time.
pub(super) fn make(guard: &Guard, pins: &[Pin]) -> Result<(), i32> {
    let mut above = resolve(&guard.beneath)?;
    for pin in guard.pins.iter().filter_map(|&index| pins.get(index)) {
        make_directory(above.as_fd(), last_name(&pin.path), DIRECTORY_MODE)?;
        above = resolve(&pin.path)?;
    }
    match guard.if_absent {
        IfAbsent::MakeFile => make_file(above.as_fd(), last_name(&guard.path)),
        IfAbsent::MakeDirectory | IfAbsent::Leave | IfAbsent::HoldLink => {
            make_directory(above.as_fd(), last_name(&guard.path), DIRECTORY_MODE)
        }
    }
}

/// Covers the hidden places. `store` is a directory of the sandbox's own.
pub(super) fn cover(places: &mut Places, store: BorrowedFd<'_>) -> Result<(), i32> {
    let Places { covers, pins, .. } = places;
    for cover in covers {
        match resolve(&cover.path) {
            Ok(place) => {
                let place = match hold(&cover.pins, pins)? {
                    Above::AsItWas => place,
                    Above::Mounted => resolve(&cover.path)?,
                };
                cover_one(cover, place.as_fd(), store)?;
            }
            // Nothing there, or nothing that this user can reach.
            Err(libc::ENOENT | libc::ENOTDIR | libc::EACCES) if !cover.is_daemons => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}

fn cover_one(cover: &Cover, place: BorrowedFd<'_>, store: BorrowedFd<'_>) -> Result<(), i32> {
    if !is_directory(place)? {
        return attach_empty(store, EMPTY_FILE, place);
    }
    if cover.visible.is_empty() {
        return attach_empty(store, EMPTY_DIRECTORY, place);
    }
    make_directory(store, &cover.name, DIRECTORY_MODE)?;
    // Each is looked up while it is still to be seen, and shown once the cover is there.
    let own = open_beneath(store, &cover.name)?;
    let tree = copy(own.as_fd())?;
    show(&cover.visible, tree.as_fd(), place)
}

/// Attaches a cover with what stays visible on it. One after the other from the last, so that each
/// is copied before the cover hides it, without a list of them.
fn show(visible: &[Visible], cover: BorrowedFd<'_>, place: BorrowedFd<'_>) -> Result<(), i32> {
    let Some((last, others)) = visible.split_last() else {
        kernel::restrict_mounts(cover, READ_ONLY | NO_SUID | NO_DEVICES)?;
        return attach(cover, place);
    };
    let shown = match resolve(&last.path) {
        Ok(shown) => shown,
        Err(libc::ENOENT | libc::ENOTDIR | libc::EACCES) => return show(others, cover, place),
        Err(errno) => return Err(errno),
    };
    let mount_point = way_to(cover, &last.names, is_directory(shown.as_fd())?)?;
    let tree = copy(shown.as_fd())?;
    kernel::restrict_mounts(tree.as_fd(), READ_ONLY | NO_SUID | NO_DEVICES)?;
    show(others, cover, place)?;
    attach(tree.as_fd(), mount_point.as_fd())
}

/// Makes the names beneath a cover that lead to something visible, and opens the last.
pub(super) fn way_to(
    cover: BorrowedFd<'_>,
    names: &[CString],
    ends_in_directory: bool,
) -> Result<OwnedFd, i32> {
    let Some((last, above)) = names.split_last() else {
        return Err(libc::EINVAL);
    };
    let mut at = open_beneath(cover, c".")?;
    for name in above {
        make_directory(at.as_fd(), name, DIRECTORY_MODE)?;
        at = open_beneath(at.as_fd(), name)?;
    }
    if ends_in_directory {
        make_directory(at.as_fd(), last, DIRECTORY_MODE)?;
    } else {
        make_file(at.as_fd(), last)?;
    }
    open_beneath(at.as_fd(), last)
}

fn attach_empty(store: BorrowedFd<'_>, name: &CStr, place: BorrowedFd<'_>) -> Result<(), i32> {
    let tree = copy(open_beneath(store, name)?.as_fd())?;
    kernel::restrict_mounts(tree.as_fd(), READ_ONLY | NO_SUID | NO_DEVICES)?;
    attach(tree.as_fd(), place)
}

fn mount_on_itself(place: BorrowedFd<'_>, attributes: u64) -> Result<(), i32> {
    let tree = copy(place)?;
    if attributes != 0 {
        kernel::restrict_mounts(tree.as_fd(), attributes)?;
    }
    attach(tree.as_fd(), place)
}

/// A copy of what is mounted at and beneath a place, not attached anywhere yet.
pub(super) fn copy(place: BorrowedFd<'_>) -> Result<OwnedFd, i32> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_EMPTY_PATH
        | OpenTreeFlags::AT_RECURSIVE;
    rustix::mount::open_tree(place, c"", flags).map_err(Errno::raw_os_error)
}

/// The same at a name, which is no link that is followed.
pub(super) fn copy_at(above: BorrowedFd<'_>, name: &CStr) -> Result<OwnedFd, i32> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_SYMLINK_NOFOLLOW
        | OpenTreeFlags::AT_RECURSIVE;
    rustix::mount::open_tree(above, name, flags).map_err(Errno::raw_os_error)
}

/// Attaches a mount at a place.
pub(super) fn attach(mount: BorrowedFd<'_>, place: BorrowedFd<'_>) -> Result<(), i32> {
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    rustix::mount::move_mount(mount, c"", place, c"", flags).map_err(Errno::raw_os_error)
}

/// The same at a name, which is no link that is followed.
pub(super) fn attach_at(
    mount: BorrowedFd<'_>,
    above: BorrowedFd<'_>,
    name: &CStr,
) -> Result<(), i32> {
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH;
    rustix::mount::move_mount(mount, c"", above, name, flags).map_err(Errno::raw_os_error)
}

/// Makes a directory; one that is there already is fine.
pub(super) fn make_directory(above: BorrowedFd<'_>, name: &CStr, mode: u32) -> Result<(), i32> {
    match rustix::fs::mkdirat(above, name, Mode::from_raw_mode(mode)) {
        Ok(()) | Err(Errno::EXIST) => Ok(()),
        Err(errno) => Err(errno.raw_os_error()),
    }
}

/// Makes an empty file; one that is there already is fine, and left as it is.
pub(super) fn make_file(above: BorrowedFd<'_>, name: &CStr) -> Result<(), i32> {
    let mode = Mode::from_raw_mode(FILE_MODE);
    match rustix::fs::mknodat(above, name, FileType::RegularFile, mode, 0) {
        Ok(()) | Err(Errno::EXIST) => Ok(()),
        Err(errno) => Err(errno.raw_os_error()),
    }
}

/// Opens a name to be mounted at.
pub(super) fn open_beneath(above: BorrowedFd<'_>, name: &CStr) -> Result<OwnedFd, i32> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(above, name, flags, Mode::empty()).map_err(Errno::raw_os_error)
}

pub(super) fn is_directory(place: BorrowedFd<'_>) -> Result<bool, i32> {
    let entry = rustix::fs::fstat(place).map_err(Errno::raw_os_error)?;
    Ok(FileType::from_raw_mode(entry.st_mode) == FileType::Directory)
}

fn identity(place: BorrowedFd<'_>) -> Result<(u64, u64), i32> {
    let entry = rustix::fs::statat(place, c"", AtFlags::EMPTY_PATH).map_err(Errno::raw_os_error)?;
    Ok((entry.st_dev, entry.st_ino))
}

/// The last name of an absolute path.
fn last_name(path: &CStr) -> &CStr {
    let bytes = path.to_bytes_with_nul();
    let start = bytes
        .iter()
        .rposition(|&byte| byte == b'/')
        .map_or(0, |at| at + 1);
    bytes
        .get(start..)
        .and_then(|name| CStr::from_bytes_with_nul(name).ok())
        .unwrap_or(path)
}

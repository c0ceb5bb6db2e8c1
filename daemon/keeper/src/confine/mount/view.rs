//! The sandbox's view of the file system: everything read-only but the writable places, some of it
//! protected again, some of it covered.
//!
//! A path is looked up once, without symbolic links, and what was found is what is mounted:
//! everything goes by file descriptors (`open_tree`, `move_mount`).

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::FileType;
use rustix::io::Errno;

use super::ops::{
    DIRECTORY_MODE, FILE_MODE, attach, copy, is_directory, make_directory, make_file, make_path,
    open_beneath,
};
use super::own_dirs;
use super::places::{Cover, Guard, Pin, Places, Visible};
use super::resolve::{file_id, resolve, resolve_link};
use crate::confine::kernel::{self, NO_DEVICES, NO_SUID, READ_ONLY};
use crate::protocol::confinement::{IfAbsent, PLACEHOLDER_MARK, Temporary};

/// Names in the store of empty things.
pub(crate) const EMPTY_DIRECTORY: &CStr = c"directory";
pub(crate) const EMPTY_FILE: &CStr = c"file";

/// Copies the mounts of the writable places, and makes everything that is there read-only.
pub(crate) fn read_only_root(places: &mut Places) -> Result<(), Errno> {
    let mut trees = std::mem::take(&mut places.trees);
    for ((path, _), opened) in places.writable().zip(places.opened_writable()) {
        let place = resolve(path)?;
        // It was opened before the namespaces were entered. A name that leads elsewhere by now was
        // changed on purpose.
        if file_id(place.as_fd())? != file_id(opened)? {
            return Err(Errno::STALE);
        }
        let tree = copy(place.as_fd())?;
        kernel::restrict_mounts(tree.as_fd(), NO_SUID | NO_DEVICES)?;
        trees.push(tree);
    }
    places.trees = trees;
    let root = resolve(c"/")?;
    let read_only = if places.everything { 0 } else { READ_ONLY };
    kernel::restrict_mounts(root.as_fd(), read_only | NO_SUID | NO_DEVICES)
}

/// Puts the writable places back.
pub(crate) fn attach_writable(places: &Places) -> Result<(), Errno> {
    for ((path, names), tree) in places.writable().zip(&places.trees) {
        let place = match resolve(path) {
            Err(Errno::NOENT) if !names.is_empty() => place_in_own_dir(names, path, tree.as_fd())?,
            place => place?,
        };
        attach(tree.as_fd(), place.as_fd())?;
    }
    Ok(())
}

/// The place in a directory of the sandbox's own where a writable path is mounted back.
fn place_in_own_dir(
    names: &[CString],
    path: &CStr,
    tree: BorrowedFd<'_>,
) -> Result<OwnedFd, Errno> {
    let (root, _) = own_dirs::split(path.to_bytes(), Temporary::Private).ok_or(Errno::NOENT)?;
    let root = resolve(root)?;
    make_path(root.as_fd(), names, is_directory(tree)?)
}

/// Makes the protected places read-only again, and pins the directories above them.
pub(crate) fn protect(places: &mut Places) -> Result<(), Errno> {
    let Places { guards, pins, .. } = places;
    for guard in guards {
        if guard.if_absent == IfAbsent::PinLink {
            pin(&guard.pins, pins)?;
            pin_link(&guard.path)?;
            continue;
        }
        if guard.if_absent == IfAbsent::PinDirectory {
            make_absent(guard, pins)?;
            pin(&guard.pins, pins)?;
            continue;
        }
        let found = match resolve(&guard.path) {
            Ok(place) => Some(place),
            Err(Errno::NOENT) => match guard.if_absent {
                IfAbsent::Leave | IfAbsent::PinLink | IfAbsent::PinDirectory => continue,
                IfAbsent::MakeDirectory | IfAbsent::MakeFile => {
                    make(guard, pins)?;
                    None
                }
            },
            Err(errno) => return Err(errno),
        };
        let above = pin(&guard.pins, pins)?;
        let place = match (found, above) {
            (Some(place), Above::Unchanged) => place,
            // The place that was found is beneath a new mount.
            _ => resolve(&guard.path)?,
        };
        mount_on_itself(place.as_fd(), READ_ONLY)?;
    }
    Ok(())
}

/// Mounts a symbolic link on itself. A lookup still follows it, and no process can rename or unlink a
/// mount point (EBUSY).
pub(crate) fn pin_link(path: &CStr) -> Result<(), Errno> {
    let link = resolve_link(path)?;
    let entry = rustix::fs::fstat(&link)?;
    if FileType::from_raw_mode(entry.st_mode) != FileType::Symlink {
        return Err(Errno::STALE);
    }
    let tree = copy(link.as_fd())?;
    kernel::restrict_mounts(tree.as_fd(), READ_ONLY)?;
    attach(tree.as_fd(), link.as_fd())
}

/// Whether a directory above a place became a mount.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Above {
    Unchanged,
    Mounted,
}

/// Mounts these pins, unless they are already.
fn pin(numbers: &[usize], pins: &mut [Pin]) -> Result<Above, Errno> {
    let mut above = Above::Unchanged;
    for &number in numbers {
        if let Some(pin) = pins.get_mut(number).filter(|pin| !pin.is_mounted) {
            mount_on_itself(resolve(&pin.path)?.as_fd(), 0)?;
            pin.is_mounted = true;
            above = Above::Mounted;
        }
    }
    Ok(above)
}

/// [`make`] where nothing is there.
pub(crate) fn make_absent(guard: &Guard, pins: &[Pin]) -> Result<(), Errno> {
    match resolve(&guard.path) {
        Err(Errno::NOENT) => make(guard, pins),
        found => found.map(drop),
    }
}

/// Makes an absent place and the directories above it, one name at a time.
pub(crate) fn make(guard: &Guard, pins: &[Pin]) -> Result<(), Errno> {
    let [directory_mode, file_mode] =
        [DIRECTORY_MODE, FILE_MODE].map(|mode| mode | PLACEHOLDER_MARK);
    let mut above = resolve(&guard.beneath)?;
    for pin in guard.pins.iter().filter_map(|&index| pins.get(index)) {
        make_directory(above.as_fd(), last_name(&pin.path), directory_mode)?;
        above = resolve(&pin.path)?;
    }
    match guard.if_absent {
        // It is the last of its own pins.
        IfAbsent::PinDirectory => Ok(()),
        IfAbsent::MakeFile => make_file(above.as_fd(), last_name(&guard.path), file_mode),
        IfAbsent::MakeDirectory | IfAbsent::Leave | IfAbsent::PinLink => {
            make_directory(above.as_fd(), last_name(&guard.path), directory_mode)
        }
    }
}

/// Covers the hidden places. `store` is a directory of the sandbox's own with empty things in it.
pub(crate) fn cover(places: &mut Places, store: BorrowedFd<'_>) -> Result<(), Errno> {
    let Places { covers, pins, .. } = places;
    for cover in covers {
        match resolve(&cover.path) {
            Ok(place) => {
                let place = match pin(&cover.pins, pins)? {
                    Above::Unchanged => place,
                    Above::Mounted => resolve(&cover.path)?,
                };
                cover_one(cover, place.as_fd(), store)?;
            }
            // Absent, or out of this user's reach.
            Err(Errno::NOENT | Errno::NOTDIR | Errno::ACCESS) if !cover.is_required => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}

fn cover_one(cover: &Cover, place: BorrowedFd<'_>, store: BorrowedFd<'_>) -> Result<(), Errno> {
    if !is_directory(place)? {
        return attach_empty(store, EMPTY_FILE, place);
    }
    if cover.visible.is_empty() {
        return attach_empty(store, EMPTY_DIRECTORY, place);
    }
    make_directory(store, &cover.name, DIRECTORY_MODE)?;
    let own = open_beneath(store, &cover.name)?;
    let tree = copy(own.as_fd())?;
    show(&cover.visible, tree.as_fd(), place)
}

/// Attaches a cover with what stays visible on it. The recursion copies every visible place before the
/// cover hides it, and attaches it afterwards, without allocating a list.
fn show(visible: &[Visible], cover: BorrowedFd<'_>, place: BorrowedFd<'_>) -> Result<(), Errno> {
    let Some((last, others)) = visible.split_last() else {
        kernel::restrict_mounts(cover, READ_ONLY | NO_SUID | NO_DEVICES)?;
        return attach(cover, place);
    };
    let shown = match resolve(&last.path) {
        Ok(shown) => shown,
        Err(Errno::NOENT | Errno::NOTDIR | Errno::ACCESS) => return show(others, cover, place),
        Err(errno) => return Err(errno),
    };
    let mount_point = make_path(cover, &last.names, is_directory(shown.as_fd())?)?;
    let tree = copy(shown.as_fd())?;
    kernel::restrict_mounts(tree.as_fd(), READ_ONLY | NO_SUID | NO_DEVICES)?;
    show(others, cover, place)?;
    attach(tree.as_fd(), mount_point.as_fd())
}

pub(crate) fn attach_empty(
    store: BorrowedFd<'_>,
    name: &CStr,
    place: BorrowedFd<'_>,
) -> Result<(), Errno> {
    let tree = copy(open_beneath(store, name)?.as_fd())?;
    kernel::restrict_mounts(tree.as_fd(), READ_ONLY | NO_SUID | NO_DEVICES)?;
    attach(tree.as_fd(), place)
}

pub(crate) fn mount_on_itself(place: BorrowedFd<'_>, attributes: u64) -> Result<(), Errno> {
    let tree = copy(place)?;
    if attributes != 0 {
        kernel::restrict_mounts(tree.as_fd(), attributes)?;
    }
    attach(tree.as_fd(), place)
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

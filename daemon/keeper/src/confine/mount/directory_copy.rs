//! The directories above hidden places, as directories of the sandbox's own.
//!
//! The kernel takes a mount off a file that is unlinked or replaced (`__detach_mounts` of
//! fs/namespace.c), so an empty file on a hidden one goes when somebody outside saves it by a rename.
//! A sandbox therefore does not see the directory that a hidden place is in. It sees one of its own, with
//! the same names, on each of which the host's file or directory is mounted. Nobody outside can unlink or
//! rename those names, and what is made outside later has none.

use std::collections::BTreeMap;
use std::ffi::{CStr, CString};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, RawDir, RawDirEntry};
use rustix::io::Errno;
use rustix::mount::OpenTreeFlags;

use super::ops::{
    DIRECTORY_MODE, FILE_MODE, attach, attach_at, copy, make_directory, make_file, open_beneath,
};
use super::resolve::resolve;
use crate::confine::kernel::{self, NO_DEVICES, NO_SUID, READ_ONLY};

/// Most names in all copies of a sandbox. Each costs a mount.
const MAX_NAMES: usize = 20_000;
/// Bytes of names that are read at once, and of a link's target (`PATH_MAX`).
const BUFFER_BYTES: usize = 8 << 10;
const MAX_TARGET_BYTES: usize = 4 << 10;
/// The permission bits that let others than the owner write.
const WRITABLE_BY_OTHERS: u32 = 0o022;
/// The file systems whose names are the kernel's. Nobody replaces a file there.
const OF_THE_KERNEL: [&[u8]; 2] = [b"/proc", b"/sys"];

/// A directory that a sandbox has for itself, with the names of the host's in it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct DirectoryCopy {
    path: CString,
    /// Its name in the store.
    name: CString,
    /// The names of the hidden places in it.
    hidden: Vec<CString>,
}

/// The directories above these hidden places, a directory before what is in it. What is beneath
/// another hidden place has none: that place hides it.
pub(crate) fn copies_above<'a>(hidden: impl Iterator<Item = &'a [u8]>) -> Vec<DirectoryCopy> {
    let mut directories: BTreeMap<&[u8], Vec<CString>> = BTreeMap::new();
    let mut last: Vec<&[u8]> = Vec::new();
    for path in hidden {
        let is_within = |above: &&[u8]| {
            let below = path.strip_prefix(*above);
            below.is_some_and(|below| below.starts_with(b"/"))
        };
        if last.iter().chain(&OF_THE_KERNEL).any(is_within) {
            continue;
        }
        last.push(path);
        let slashes = (1..path.len()).filter(|&at| path.get(at) == Some(&b'/'));
        for (number, at) in slashes.rev().enumerate() {
            let (above, name) = path.split_at(at);
            let names = directories.entry(above).or_default();
            if number == 0
                && let Ok(name) = CString::new(name.get(1..).unwrap_or_default())
            {
                names.push(name);
            }
        }
    }
    let copy = |(number, (path, hidden)): (usize, (&[u8], Vec<CString>))| DirectoryCopy {
        path: CString::new(path).unwrap_or_default(),
        name: CString::new(format!("copy{number}")).unwrap_or_default(),
        hidden,
    };
    directories.into_iter().enumerate().map(copy).collect()
}

/// Mounts the copies. `store` is a directory of the sandbox's own, in which they are made.
pub(crate) fn mount(copies: &[DirectoryCopy], store: BorrowedFd<'_>) -> Result<(), Errno> {
    let mut names_left = MAX_NAMES;
    for copy in copies {
        match resolve(&copy.path) {
            Ok(place) if copy.is_needed(place.as_fd())? => {
                copy.mount(place.as_fd(), store, &mut names_left)?;
            }
            // A place in a directory that is absent, or out of this user's reach, is not seen either.
            Ok(_) | Err(Errno::NOENT | Errno::NOTDIR | Errno::ACCESS) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}

impl DirectoryCopy {
    /// Whether something in the directory is hidden, or a process of this user can rename what is in it.
    fn is_needed(&self, place: BorrowedFd<'_>) -> Result<bool, Errno> {
        let entry = rustix::fs::fstat(place)?;
        Ok(!self.hidden.is_empty()
            || entry.st_uid == rustix::process::geteuid().as_raw()
            || entry.st_mode & WRITABLE_BY_OTHERS != 0)
    }

    fn mount(
        &self,
        place: BorrowedFd<'_>,
        store: BorrowedFd<'_>,
        names_left: &mut usize,
    ) -> Result<(), Errno> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let host = match rustix::fs::openat(place, c".", flags, Mode::empty()) {
            // Nobody of this user can list it. The cover of what is hidden in it has to do.
            Err(Errno::ACCESS) => return Ok(()),
            opened => opened?,
        };
        let mode = Mode::from_raw_mode(rustix::fs::fstat(&host)?.st_mode);
        make_directory(store, &self.name, DIRECTORY_MODE)?;
        rustix::fs::chmodat(store, &self.name, mode, AtFlags::empty())?;
        let names = open_beneath(store, &self.name)?;
        let mounted = copy(names.as_fd())?;
        attach(mounted.as_fd(), place)?;
        let view = View {
            host: host.as_fd(),
            names: names.as_fd(),
            mounted: mounted.as_fd(),
        };
        let mut buffer = [MaybeUninit::uninit(); BUFFER_BYTES];
        let mut entries = RawDir::new(&host, &mut buffer);
        while let Some(entry) = entries.next() {
            let entry = entry?;
            if matches!(entry.file_name().to_bytes(), b"." | b"..") {
                continue;
            }
            *names_left = names_left.checked_sub(1).ok_or(Errno::TOOBIG)?;
            let is_hidden = self.hidden.iter().any(|name| **name == *entry.file_name());
            view.add(&entry, is_hidden)?;
        }
        kernel::restrict_mount(mounted.as_fd(), READ_ONLY | NO_SUID | NO_DEVICES)
    }
}

/// A directory of the host's, and the sandbox's own in its place.
struct View<'a> {
    host: BorrowedFd<'a>,
    /// The sandbox's own, where names can be made.
    names: BorrowedFd<'a>,
    /// The same as it is mounted.
    mounted: BorrowedFd<'a>,
}

impl View<'_> {
    /// Makes a name, and mounts the host's file on it. A hidden file stays empty; a hidden directory is
    /// mounted and covered afterwards, which holds until the directory itself is removed.
    fn add(&self, entry: &RawDirEntry<'_>, is_hidden: bool) -> Result<(), Errno> {
        let name = entry.file_name();
        let kind = match entry.file_type() {
            FileType::Unknown => {
                let found = rustix::fs::statat(self.host, name, AtFlags::SYMLINK_NOFOLLOW);
                match found {
                    Ok(found) => FileType::from_raw_mode(found.st_mode),
                    Err(Errno::NOENT | Errno::ACCESS) => return Ok(()),
                    Err(errno) => return Err(errno),
                }
            }
            known => known,
        };
        match kind {
            FileType::Directory => {
                let Some(tree) = self.tree(name)? else {
                    return Ok(());
                };
                make_directory(self.names, name, DIRECTORY_MODE)?;
                self.mount_on(name, &tree, AtFlags::REMOVEDIR)
            }
            // A hidden path has no link in it.
            FileType::Symlink if is_hidden => Err(Errno::LOOP),
            _ if is_hidden => make_file(self.names, name, FILE_MODE),
            FileType::Symlink => self.link(name),
            FileType::Socket | FileType::Fifo => self.file(name, kind),
            _ => self.file(name, FileType::RegularFile),
        }
    }

    fn file(&self, name: &CStr, kind: FileType) -> Result<(), Errno> {
        let Some(tree) = self.tree(name)? else {
            return Ok(());
        };
        rustix::fs::mknodat(self.names, name, kind, Mode::from_raw_mode(0o600), 0)?;
        self.mount_on(name, &tree, AtFlags::empty())
    }

    /// Mounts what the host has at a name on the name made for it. The kernel mounts nothing that was
    /// removed meanwhile: then the name goes, too.
    fn mount_on(&self, name: &CStr, tree: &OwnedFd, removal: AtFlags) -> Result<(), Errno> {
        match attach_at(tree.as_fd(), self.mounted, name) {
            Err(Errno::NOENT) => rustix::fs::unlinkat(self.names, name, removal),
            mounted => mounted,
        }
    }

    fn link(&self, name: &CStr) -> Result<(), Errno> {
        let mut buffer = [MaybeUninit::uninit(); MAX_TARGET_BYTES];
        match rustix::fs::readlinkat_raw(self.host, name, &mut buffer[..]) {
            Ok((target, _)) => rustix::fs::symlinkat(&*target, self.names, name),
            Err(Errno::NOENT | Errno::INVAL) => Ok(()),
            Err(errno) => Err(errno),
        }
    }

    /// A copy of the host's mounts at a name. `None` where it is gone, or out of this user's reach.
    fn tree(&self, name: &CStr) -> Result<Option<OwnedFd>, Errno> {
        let flags = OpenTreeFlags::OPEN_TREE_CLONE
            | OpenTreeFlags::OPEN_TREE_CLOEXEC
            | OpenTreeFlags::AT_SYMLINK_NOFOLLOW
            | OpenTreeFlags::AT_NO_AUTOMOUNT
            | OpenTreeFlags::AT_RECURSIVE;
        match rustix::mount::open_tree(self.host, name, flags) {
            Ok(tree) => Ok(Some(tree)),
            Err(Errno::NOENT | Errno::ACCESS) => Ok(None),
            Err(errno) => Err(errno),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_above_a_hidden_place_is_copied_from_the_top() {
        let hidden: [&[u8]; 5] = [
            b"/home/me/.config/gh",
            b"/home/me/.ssh",
            b"/home/me/.ssh/below",
            b"/proc/kcore",
            b"/top",
        ];
        let copies = copies_above(hidden.into_iter());
        let copies = copies.iter().map(|copy| {
            let hidden = copy.hidden.iter().map(|name| name.to_str().unwrap());
            (copy.path.to_str().unwrap(), hidden.collect::<Vec<_>>())
        });
        let expected = [
            ("/home", vec![]),
            ("/home/me", vec![".ssh"]),
            ("/home/me/.config", vec!["gh"]),
        ];
        assert_eq!(copies.collect::<Vec<_>>(), expected);
    }
}

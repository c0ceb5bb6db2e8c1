//! Whether what somebody else was asked to build is there: from inside of it, before the command.
//!
//! A builder may be another version, another program, or have been led elsewhere by a name that was
//! changed meanwhile. So each wall that it builds is looked at where it stands, and one that cannot be
//! seen to hold is as good as not there. It must not know who built.

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, BorrowedFd};

use nix::libc;
use rustix::fs::{AtFlags, StatVfsMountFlags, StatxAttributes, StatxFlags};
use rustix::io::Errno;

use super::bubblewrap::needed_pins;
use super::paths::{Places, resolve};
use super::survey::{Node, Survey, user_namespace};

/// `TMPFS_MAGIC` and `DEVPTS_SUPER_MAGIC` (statfs(2)).
const MEMORY: u64 = 0x0102_1994;
const TERMINALS: u64 = 0x1cd1;

/// What is there is not what was asked for.
const WRONG: i32 = libc::ESTALE;

/// A user namespace of its own.
pub(super) fn namespaces(survey: &Survey) -> Result<(), i32> {
    let outside = survey.user_namespace.ok_or(libc::ENOENT)?;
    holds(user_namespace()? != outside, libc::EPERM)
}

/// A `/dev` of its own, with terminals of its own.
pub(super) fn devices(survey: &Survey) -> Result<(), i32> {
    let own = mount(c"/dev", MEMORY)?;
    read_only(own.as_fd())?;
    let terminals = mount(c"/dev/pts", TERMINALS)?;
    holds(
        Some(Node::of(terminals.as_fd())?) != survey.terminals,
        WRONG,
    )?;
    mount(c"/dev/shm", MEMORY).map(drop)
}

/// Everything read-only but what is writable, and that the host's.
pub(super) fn read_only_root(places: &Places, survey: &Survey) -> Result<(), i32> {
    for ((path, _), found) in places.writable().zip(&survey.writable) {
        holds(Some(Node::of(resolve(path)?.as_fd())?) == *found, WRONG)?;
    }
    if places.everything {
        return Ok(());
    }
    let table = std::fs::read("/proc/self/mountinfo");
    let table = table.map_err(|error| error.raw_os_error().unwrap_or(libc::EIO))?;
    for line in table
        .split(|&byte| byte == b'\n')
        .filter(|line| !line.is_empty())
    {
        let mount = Mount::of(line).ok_or(libc::EINVAL)?;
        if mount.is_read_only || places.may_be_written_at(&mount.at) {
            continue;
        }
        let path = CString::new(mount.at).map_err(|_| libc::EINVAL)?;
        match resolve(&path) {
            Ok(place) => read_only(place.as_fd())?,
            // Beneath another mount, or where this user does not get.
            Err(libc::ENOENT | libc::ENOTDIR | libc::EACCES) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}

/// Temporary directories of its own; also opens them for whoever lets them be written.
pub(super) fn temporary(places: &mut Places, survey: &Survey) -> Result<(), i32> {
    for directory in &survey.temporary {
        let own = mount(directory, MEMORY)?;
        places.may_be_written(own);
    }
    Ok(())
}

/// What is protected, and a mount on each directory above it.
pub(super) fn protected(places: &Places, survey: &Survey) -> Result<(), i32> {
    for (pin, is_needed) in places.pins.iter().zip(needed_pins(places, survey)) {
        if is_needed {
            mount_point(&pin.path)?;
        }
    }
    for (guard, found) in places.guards.iter().zip(&survey.guards) {
        if found.is_some() {
            let place = mount_point(&guard.path)?;
            holds(Some(Node::of(place.as_fd())?) == *found, WRONG)?;
            read_only(place.as_fd())?;
        }
    }
    Ok(())
}

/// Something else, and read-only, in the place of what is hidden.
pub(super) fn hidden(places: &Places, survey: &Survey) -> Result<(), i32> {
    for (cover, found) in places.covers.iter().zip(&survey.covers) {
        if found.is_none() {
            continue;
        }
        let place = match mount_point(&cover.path) {
            Ok(place) => place,
            // Beneath another one that is hidden.
            Err(libc::ENOENT) => continue,
            Err(errno) => return Err(errno),
        };
        holds(Some(Node::of(place.as_fd())?) != *found, WRONG)?;
        holds(kind(place.as_fd())? == MEMORY, WRONG)?;
        read_only(place.as_fd())?;
    }
    Ok(())
}

fn holds(is_so: bool, otherwise: i32) -> Result<(), i32> {
    if is_so { Ok(()) } else { Err(otherwise) }
}

fn read_only(place: BorrowedFd<'_>) -> Result<(), i32> {
    let file_system = rustix::fs::fstatvfs(place).map_err(Errno::raw_os_error)?;
    holds(
        file_system.f_flag.contains(StatVfsMountFlags::RDONLY),
        libc::EROFS,
    )
}

/// Which file system a place is on.
fn kind(place: BorrowedFd<'_>) -> Result<u64, i32> {
    let file_system = rustix::fs::fstatfs(place).map_err(Errno::raw_os_error)?;
    Ok(file_system.f_type.cast_unsigned())
}

/// Opens a path that something is mounted at.
fn mount_point(path: &CStr) -> Result<std::os::fd::OwnedFd, i32> {
    let place = resolve(path)?;
    let entry = rustix::fs::statx(&place, c"", AtFlags::EMPTY_PATH, StatxFlags::empty());
    let entry = entry.map_err(Errno::raw_os_error)?;
    let is_root = entry.stx_attributes.contains(StatxAttributes::MOUNT_ROOT);
    holds(is_root, WRONG).map(|()| place)
}

/// The same, of a file system of this kind.
fn mount(path: &CStr, wanted: u64) -> Result<std::os::fd::OwnedFd, i32> {
    let place = mount_point(path)?;
    holds(kind(place.as_fd())? == wanted, WRONG).map(|()| place)
}

/// A line of `/proc/self/mountinfo` (`proc_pid_mountinfo(5)`).
#[derive(Debug, PartialEq, Eq)]
struct Mount {
    at: Vec<u8>,
    is_read_only: bool,
}

impl Mount {
    fn of(line: &[u8]) -> Option<Self> {
        let mut fields = line.split(|&byte| byte == b' ');
        let at = unescaped(fields.nth(4)?)?;
        let mut options = fields.next()?.split(|&byte| byte == b',');
        Some(Self {
            at,
            is_read_only: options.any(|option| option == b"ro"),
        })
    }
}

/// A path in which blanks and backslashes are octal numbers.
fn unescaped(field: &[u8]) -> Option<Vec<u8>> {
    let mut path = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((&byte, after)) = rest.split_first() {
        if byte != b'\\' {
            path.push(byte);
            rest = after;
            continue;
        }
        let (digits, after) = after.split_first_chunk::<3>()?;
        let digits = std::str::from_utf8(digits).ok()?;
        path.push(u8::from_str_radix(digits, 8).ok()?);
        rest = after;
    }
    Some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_mount_table() {
        let line = b"36 35 98:0 /mnt1 /mnt\\0402\\134x rw,noatime - ext3 /dev/root ro,errors=x";
        let mount = Mount {
            at: b"/mnt 2\\x".to_vec(),
            is_read_only: false,
        };
        assert_eq!(Mount::of(line), Some(mount));
        let read_only = Mount::of(b"1 2 0:3 / / ro,nosuid shared:1 - tmpfs none rw");
        assert!(read_only.is_some_and(|mount| mount.is_read_only && mount.at == b"/"));
        for damaged in [&b"1 2 0:3 /"[..], b"1 2 0:3 / /a\\09 rw", b""] {
            assert_eq!(Mount::of(damaged), None);
        }
    }
}

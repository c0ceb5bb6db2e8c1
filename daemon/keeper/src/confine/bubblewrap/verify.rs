//! Verifies from inside, before the command, that bubblewrap has built the requested mounts.
//!
//! bubblewrap may be another version or another program, or a name may have led it elsewhere. So each
//! restriction is looked at, and one that cannot be seen counts as missing.

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;

use super::needed_pins;
use super::snapshot::{Node, Snapshot, ipc_namespace, user_namespace};
use crate::confine::attempts::Attempts;
use crate::confine::mount::places::{Devices, Places};
use crate::confine::mount::resolve::resolve;
use crate::confine::mount::state::{MEMORY, file_system_type, is_mount_point, is_read_only};
use crate::protocol::confinement::{Restriction, Temporary};
use crate::protocol::message::SpawnFailure;

/// `DEVPTS_SUPER_MAGIC` (statfs(2)).
const TERMINALS: u64 = 0x1cd1;

/// What is there is not what was requested.
const WRONG: Errno = Errno::STALE;

/// Verifies the mounts, and notes in `places` which of them are the sandbox's own.
pub(crate) fn mounts(
    places: &mut Places,
    snapshot: &Snapshot,
    attempts: Attempts<'_>,
) -> Result<(), SpawnFailure> {
    if attempts
        .check(Restriction::Devices, devices(snapshot))?
        .is_some()
    {
        places.devices = Devices::Own;
    }
    attempts.check(Restriction::ReadOnly, read_only_root(places, snapshot))?;
    if places.temporary == Temporary::Private {
        attempts.check(Restriction::Temporary, temporary(places, snapshot))?;
    }
    attempts.check(Restriction::Protected, protected(places, snapshot))?;
    attempts.check(Restriction::Hidden, hidden(places, snapshot))?;
    Ok(())
}

/// A user namespace of its own.
pub(crate) fn namespaces(snapshot: &Snapshot) -> Result<(), Errno> {
    let outside = snapshot.user_namespace.ok_or(Errno::NOENT)?;
    ensure(user_namespace()? != outside, Errno::PERM)
}

/// An IPC namespace of its own.
pub(crate) fn own_ipc_namespace(snapshot: &Snapshot) -> Result<(), Errno> {
    let outside = snapshot.ipc_namespace.ok_or(Errno::NOENT)?;
    ensure(ipc_namespace()? != outside, Errno::PERM)
}

/// A `/dev` of its own, with terminals of its own.
fn devices(snapshot: &Snapshot) -> Result<(), Errno> {
    let own = mount(c"/dev", MEMORY)?;
    read_only(own.as_fd())?;
    let terminals = mount(c"/dev/pts", TERMINALS)?;
    ensure(
        Some(Node::of(terminals.as_fd())?) != snapshot.terminals,
        WRONG,
    )?;
    mount(c"/dev/shm", MEMORY).map(drop)
}

/// Everything is read-only but the writable places, and those are the host's.
fn read_only_root(places: &Places, snapshot: &Snapshot) -> Result<(), Errno> {
    for ((path, _), found) in places.writable().zip(&snapshot.writable) {
        ensure(Some(Node::of(resolve(path)?.as_fd())?) == *found, WRONG)?;
    }
    if places.everything {
        return Ok(());
    }
    let table = std::fs::read("/proc/self/mountinfo");
    let table = table.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
    for line in table
        .split(|&byte| byte == b'\n')
        .filter(|line| !line.is_empty())
    {
        let mount = Mount::of(line).ok_or(Errno::INVAL)?;
        if mount.is_read_only || places.may_be_writable_at(&mount.at) {
            continue;
        }
        let path = CString::new(mount.at).map_err(|_| Errno::INVAL)?;
        match resolve(&path) {
            Ok(place) => read_only(place.as_fd())?,
            // Beneath another mount, or out of this user's reach.
            Err(Errno::NOENT | Errno::NOTDIR | Errno::ACCESS) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}

/// Temporary directories of its own, which are added to the writable places.
fn temporary(places: &mut Places, snapshot: &Snapshot) -> Result<(), Errno> {
    for directory in &snapshot.temporary {
        let own = mount(directory, MEMORY)?;
        places.add_writable(own);
    }
    Ok(())
}

/// Protected places are read-only, and each directory above one is a mount.
fn protected(places: &Places, snapshot: &Snapshot) -> Result<(), Errno> {
    for (pin, is_needed) in places.pins.iter().zip(needed_pins(places, snapshot)) {
        if is_needed {
            mount_point(&pin.path)?;
        }
    }
    for (guard, found) in places.guards.iter().zip(&snapshot.guards) {
        if found.is_some() {
            let place = mount_point(&guard.path)?;
            ensure(Some(Node::of(place.as_fd())?) == *found, WRONG)?;
            read_only(place.as_fd())?;
        }
    }
    Ok(())
}

/// Another file or directory, read-only, covers each hidden place.
fn hidden(places: &Places, snapshot: &Snapshot) -> Result<(), Errno> {
    for (cover, found) in places.covers.iter().zip(&snapshot.covers) {
        if found.is_none() {
            continue;
        }
        let place = match mount_point(&cover.path) {
            Ok(place) => place,
            // Beneath another hidden place.
            Err(Errno::NOENT) => continue,
            Err(errno) => return Err(errno),
        };
        ensure(Some(Node::of(place.as_fd())?) != *found, WRONG)?;
        ensure(file_system_type(place.as_fd())? == MEMORY, WRONG)?;
        read_only(place.as_fd())?;
    }
    Ok(())
}

fn ensure(condition: bool, otherwise: Errno) -> Result<(), Errno> {
    if condition { Ok(()) } else { Err(otherwise) }
}

fn read_only(place: BorrowedFd<'_>) -> Result<(), Errno> {
    ensure(is_read_only(place)?, Errno::ROFS)
}

/// Opens a mount point.
fn mount_point(path: &CStr) -> Result<OwnedFd, Errno> {
    let place = resolve(path)?;
    ensure(is_mount_point(place.as_fd())?, WRONG).map(|()| place)
}

/// Opens a mount point of a file system of this type.
fn mount(path: &CStr, wanted: u64) -> Result<OwnedFd, Errno> {
    let place = mount_point(path)?;
    ensure(file_system_type(place.as_fd())? == wanted, WRONG).map(|()| place)
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

/// A path in which octal numbers stand for blanks and backslashes.
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

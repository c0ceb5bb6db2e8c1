//! Landlock (landlock(7)): writing only beneath the writable places, no TCP, and neither signals nor
//! abstract sockets to processes outside.
//!
//! The mounts protect the same files. Landlock protects inodes, whatever path leads to them, and
//! forbids every further mount. Only mounts protect modes, owners and attributes, and only mounts can
//! protect or hide something *below* a writable place: a Landlock rule has no exceptions.

use std::os::fd::{AsFd, BorrowedFd};

use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;

use super::kernel::{self, Handled};
use super::mount::places::{Devices, Places};
use crate::protocol::confinement::Access;

/// From this version on truncating is controlled (Linux 6.2).
pub(super) const ABI_WRITES: u32 = 3;
/// From this version on TCP is (6.7).
pub(super) const ABI_TCP: u32 = 4;
/// From this version on ioctl(2) on devices is (6.10).
const ABI_IOCTL: u32 = 5;
/// From this version on signals and abstract sockets are (6.12).
pub(super) const ABI_SCOPES: u32 = 6;

/// `LANDLOCK_ACCESS_FS_*`. Executing and reading are not handled: they stay free.
const WRITE_FILE: u64 = 1 << 1;
const REMOVE_DIR: u64 = 1 << 4;
const REMOVE_FILE: u64 = 1 << 5;
const MAKE_CHAR: u64 = 1 << 6;
const MAKE_DIR: u64 = 1 << 7;
const MAKE_REG: u64 = 1 << 8;
const MAKE_SOCK: u64 = 1 << 9;
const MAKE_FIFO: u64 = 1 << 10;
const MAKE_BLOCK: u64 = 1 << 11;
const MAKE_SYM: u64 = 1 << 12;
const REFER: u64 = 1 << 13;
const TRUNCATE: u64 = 1 << 14;
const IOCTL_DEV: u64 = 1 << 15;

/// `LANDLOCK_ACCESS_NET_BIND_TCP` and `_CONNECT_TCP`.
const TCP: u64 = 3;
/// `LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET` and `_SIGNAL`.
const SCOPES: u64 = 3;

/// The rights of writing that ABI 1 handles. `REFER` came with ABI 2; before, it is always denied.
const WRITES_1: u64 = WRITE_FILE
    | REMOVE_DIR
    | REMOVE_FILE
    | MAKE_CHAR
    | MAKE_DIR
    | MAKE_REG
    | MAKE_SOCK
    | MAKE_FIFO
    | MAKE_BLOCK
    | MAKE_SYM;

/// Devices that every sandbox may write to.
const DEVICES: [&std::ffi::CStr; 6] = [
    c"/dev/null",
    c"/dev/zero",
    c"/dev/full",
    c"/dev/random",
    c"/dev/urandom",
    c"/dev/tty",
];

/// The directories in a `/dev` of the sandbox's own beneath which it may write.
const OWN_DEVICES: [&std::ffi::CStr; 2] = [c"/dev/pts", c"/dev/shm"];

/// The kernel's ABI version; 0 without Landlock, or where it is switched off.
pub(super) fn abi() -> u32 {
    kernel::landlock_abi()
}

fn handled(network: Access, abi: u32) -> Handled {
    let since = |least, what| if abi >= least { what } else { 0 };
    Handled {
        fs: WRITES_1 | since(2, REFER) | since(ABI_WRITES, TRUNCATE) | since(ABI_IOCTL, IOCTL_DEV),
        net: match network {
            Access::Allowed => 0,
            Access::Denied => since(ABI_TCP, TCP),
        },
        scoped: since(ABI_SCOPES, SCOPES),
    }
}

/// Restricts this process, with everything that this ABI handles.
pub(super) fn restrict(places: &Places, network: Access, abi: u32) -> Result<(), Errno> {
    let handled = handled(network, abi);
    let ruleset = kernel::landlock_ruleset(&handled)?;
    // Device nodes are denied everywhere.
    let in_directory = handled.fs & !(MAKE_CHAR | MAKE_BLOCK);
    // On a file the kernel takes no rights of directories.
    let on_file = handled.fs & (WRITE_FILE | TRUNCATE | IOCTL_DEV);
    for place in places.opened_writable() {
        let allowed = if is_directory(place)? {
            in_directory
        } else {
            on_file
        };
        kernel::landlock_allow(ruleset.as_fd(), place, allowed)?;
    }
    match kernel::landlock_allow(ruleset.as_fd(), rustix::stdio::stdin(), on_file) {
        // A pipe lies beneath no path: the kernel takes no rule for it and needs none.
        Ok(()) | Err(Errno::BADFD) => {}
        Err(errno) => return Err(errno),
    }
    allow_devices(ruleset.as_fd(), &DEVICES, on_file)?;
    if places.devices == Devices::Own {
        allow_devices(ruleset.as_fd(), &OWN_DEVICES, in_directory)?;
    }
    kernel::landlock_enforce(ruleset.as_fd())
}

fn allow_devices(
    ruleset: BorrowedFd<'_>,
    paths: &[&std::ffi::CStr],
    allowed: u64,
) -> Result<(), Errno> {
    for path in paths {
        match rustix::fs::open(*path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()) {
            Ok(device) => kernel::landlock_allow(ruleset, device.as_fd(), allowed)?,
            Err(Errno::NOENT) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}

fn is_directory(place: BorrowedFd<'_>) -> Result<bool, Errno> {
    let entry = rustix::fs::fstat(place)?;
    Ok(FileType::from_raw_mode(entry.st_mode) == FileType::Directory)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_older_kernel_is_asked_for_what_it_knows() {
        for (abi, fs, net, scoped) in [
            (1, WRITES_1, 0, 0),
            (2, WRITES_1 | REFER, 0, 0),
            (3, WRITES_1 | REFER | TRUNCATE, 0, 0),
            (4, WRITES_1 | REFER | TRUNCATE, TCP, 0),
            (5, WRITES_1 | REFER | TRUNCATE | IOCTL_DEV, TCP, 0),
            (6, WRITES_1 | REFER | TRUNCATE | IOCTL_DEV, TCP, SCOPES),
            (99, WRITES_1 | REFER | TRUNCATE | IOCTL_DEV, TCP, SCOPES),
        ] {
            let denied = handled(Access::Denied, abi);
            assert_eq!((denied.fs, denied.net, denied.scoped), (fs, net, scoped));
            assert_eq!(handled(Access::Allowed, abi).net, 0);
        }
    }
}

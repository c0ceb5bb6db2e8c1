//! The system calls of confinement that rustix and nix do not have.
#![allow(unsafe_code)] // Raw system calls, each with one pointer to a structure on the stack.

use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use nix::libc;
use rustix::thread::UnshareFlags;

use crate::sys::errno;
use rustix::io::Errno;

/// `struct mount_attr` (`mount_setattr(2)`).
#[repr(C)]
struct MountAttr {
    set: u64,
    clear: u64,
    propagation: u64,
    userns_fd: u64,
}

/// `struct landlock_ruleset_attr` up to ABI 6 (`landlock_create_ruleset(2)`).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(super) struct Handled {
    pub(super) fs: u64,
    pub(super) net: u64,
    pub(super) scoped: u64,
}

/// `struct landlock_path_beneath_attr`, which is packed.
#[repr(C, packed)]
struct PathBeneath {
    allowed: u64,
    parent: i32,
}

/// `LANDLOCK_CREATE_RULESET_VERSION`.
const RULESET_VERSION: u32 = 1;
/// `LANDLOCK_RULE_PATH_BENEATH`.
const RULE_PATH_BENEATH: i32 = 1;

/// `MOUNT_ATTR_RDONLY`, `_NOSUID`, `_NODEV` (`mount_setattr(2)`).
pub(super) const READ_ONLY: u64 = 1;
pub(super) const NO_SUID: u64 = 2;
pub(super) const NO_DEVICES: u64 = 4;

fn check(result: libc::c_long) -> Result<(), Errno> {
    if result == -1 { Err(errno()) } else { Ok(()) }
}

/// unshare(2). Only in a forked child, which has one thread, and never of its descriptors.
pub(super) fn unshare(flags: UnshareFlags) -> Result<(), Errno> {
    debug_assert!(!flags.contains(UnshareFlags::FILES));
    // SAFETY: the descriptor table is not unshared, so no descriptor changes its meaning.
    unsafe { rustix::thread::unshare_unsafe(flags) }
}

/// `mount_setattr(2)` on a mount and all below it.
pub(super) fn restrict_mounts(tree: BorrowedFd<'_>, attributes: u64) -> Result<(), Errno> {
    set_attributes(tree, attributes, libc::AT_RECURSIVE)
}

/// `mount_setattr(2)` on one mount alone.
pub(super) fn restrict_mount(mount: BorrowedFd<'_>, attributes: u64) -> Result<(), Errno> {
    set_attributes(mount, attributes, 0)
}

fn set_attributes(tree: BorrowedFd<'_>, set: u64, flags: i32) -> Result<(), Errno> {
    let attributes = MountAttr {
        set,
        clear: 0,
        propagation: 0,
        userns_fd: 0,
    };
    // SAFETY: the path is empty and NUL-terminated, and the structure is as long as its size argument says.
    check(unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            tree.as_raw_fd(),
            c"".as_ptr(),
            libc::AT_EMPTY_PATH | flags,
            &raw const attributes,
            size_of::<MountAttr>(),
        )
    })
}

/// The version of Landlock's interface; 0 without Landlock.
pub(super) fn landlock_abi() -> u32 {
    let nothing = std::ptr::null::<Handled>();
    // SAFETY: with this flag the pointer has to be null, and the size 0.
    let version = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            nothing,
            0_usize,
            RULESET_VERSION,
        )
    };
    u32::try_from(version).unwrap_or(0)
}

/// `landlock_create_ruleset(2)`. An older kernel takes a longer structure whose end is zero.
pub(super) fn landlock_ruleset(handled: &Handled) -> Result<OwnedFd, Errno> {
    // SAFETY: the structure is as long as its size argument says.
    let ruleset = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            std::ptr::from_ref(handled),
            size_of::<Handled>(),
            0_u32,
        )
    };
    let number = i32::try_from(ruleset).map_err(|_| Errno::BADF)?;
    if number < 0 {
        return Err(errno());
    }
    // SAFETY: the kernel has just created it, and nothing else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

/// `landlock_add_rule(2)`: this is allowed beneath a directory, or on a file.
pub(super) fn landlock_allow(
    ruleset: BorrowedFd<'_>,
    beneath: BorrowedFd<'_>,
    allowed: u64,
) -> Result<(), Errno> {
    let rule = PathBeneath {
        allowed,
        parent: beneath.as_raw_fd(),
    };
    // SAFETY: the structure is the one of this kind of rule.
    check(unsafe {
        libc::syscall(
            libc::SYS_landlock_add_rule,
            ruleset.as_raw_fd(),
            RULE_PATH_BENEATH,
            &raw const rule,
            0_u32,
        )
    })
}

/// `landlock_restrict_self(2)`.
pub(super) fn landlock_enforce(ruleset: BorrowedFd<'_>) -> Result<(), Errno> {
    // SAFETY: no pointer is passed.
    check(unsafe { libc::syscall(libc::SYS_landlock_restrict_self, ruleset.as_raw_fd(), 0_u32) })
}

/// seccomp(2) with a filter, for this thread.
pub(super) fn install_filter(program: &[libc::sock_filter]) -> Result<(), Errno> {
    let length = u16::try_from(program.len()).map_err(|_| Errno::TOOBIG)?;
    let program = libc::sock_fprog {
        len: length,
        filter: program.as_ptr().cast_mut(),
    };
    // SAFETY: the kernel copies `len` instructions and writes to none.
    check(unsafe {
        libc::syscall(
            libc::SYS_seccomp,
            libc::SECCOMP_SET_MODE_FILTER,
            0_u32,
            &raw const program,
        )
    })
}

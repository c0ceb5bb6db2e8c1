//! Privileges: setuid programs, namespaces, capabilities.

use std::ffi::CStr;
use std::os::fd::{AsFd, BorrowedFd};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::mount::MountPropagationFlags;
use rustix::thread::{CapabilitiesSecureBits, CapabilitySet, CapabilitySets, UnshareFlags};

use super::kernel;

/// Capabilities have numbers below this one (`capabilities(7)`: 64 bits).
const CAPABILITY_BITS: u32 = 64;

/// Whether this is uid 0, for which some limits have no effect.
pub(super) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// `PR_SET_NO_NEW_PRIVS`, which Landlock and seccomp require.
pub(super) fn no_new() -> Result<(), Errno> {
    rustix::thread::set_no_new_privs(true)
}

/// The child's user, inside and outside of a user namespace.
#[derive(Debug)]
pub(super) struct Identity {
    /// For `/proc/self/uid_map`: this user alone is mapped, to the same number.
    uid_map: String,
    gid_map: String,
    /// Whether it is in a user namespace or a Landlock domain, from which `ptrace` does not lead out.
    pub(super) confines_tracing: bool,
}

impl Identity {
    pub(super) fn current() -> Self {
        let uid = rustix::process::geteuid().as_raw();
        let gid = rustix::process::getegid().as_raw();
        Self {
            uid_map: format!("{uid} {uid} 1"),
            gid_map: format!("{gid} {gid} 1"),
            confines_tracing: false,
        }
    }

    /// Enters a new user and a new mount namespace, also for root, whose capabilities then end at it.
    /// Later mounts outside do not appear inside.
    pub(super) fn enter_namespaces(&self) -> Result<(), Errno> {
        kernel::unshare(UnshareFlags::NEWUSER | UnshareFlags::NEWNS)?;
        // user_namespaces(7): without it an ordinary user may not write a gid_map.
        let own = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let own = rustix::fs::open(c"/proc/self", own, Mode::empty());
        let own = own?;
        write(own.as_fd(), c"setgroups", b"deny")?;
        write(own.as_fd(), c"uid_map", self.uid_map.as_bytes())?;
        write(own.as_fd(), c"gid_map", self.gid_map.as_bytes())?;
        let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
        rustix::mount::mount_change(c"/", private)
    }

    /// Drops all capabilities, so that no exec of uid 0 regains one.
    pub(super) fn drop_capabilities(&self) -> Result<(), Errno> {
        // An ordinary user without a namespace has none; setting these would need one.
        if self.confines_tracing || is_root() {
            let locked = CapabilitiesSecureBits::NO_ROOT
                | CapabilitiesSecureBits::NO_ROOT_LOCKED
                | CapabilitiesSecureBits::NO_SETUID_FIXUP
                | CapabilitiesSecureBits::NO_SETUID_FIXUP_LOCKED
                | CapabilitiesSecureBits::KEEP_CAPS_LOCKED
                | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE
                | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE_LOCKED;
            rustix::thread::set_capabilities_secure_bits(locked)?;
            for number in 0..CAPABILITY_BITS {
                let one = CapabilitySet::from_bits_retain(1 << number);
                match rustix::thread::remove_capability_from_bounding_set(one) {
                    Ok(()) => {}
                    // Past the last one that the kernel knows.
                    Err(Errno::INVAL) => break,
                    Err(errno) => return Err(errno),
                }
            }
        }
        let none = CapabilitySets {
            effective: CapabilitySet::empty(),
            permitted: CapabilitySet::empty(),
            inheritable: CapabilitySet::empty(),
        };
        rustix::thread::set_capabilities(None, none)
    }
}

/// Drops all capabilities where bubblewrap has dropped them: securebits cannot be locked without
/// one. EPERM where the bounding set is not empty, from which an exec of uid 0 would regain them.
pub(super) fn check_no_capabilities() -> Result<(), Errno> {
    let none = CapabilitySets {
        effective: CapabilitySet::empty(),
        permitted: CapabilitySet::empty(),
        inheritable: CapabilitySet::empty(),
    };
    rustix::thread::set_capabilities(None, none)?;
    for number in 0..CAPABILITY_BITS {
        let one = CapabilitySet::from_bits_retain(1 << number);
        match rustix::thread::capability_is_in_bounding_set(one) {
            Ok(false) => {}
            Ok(true) => return Err(Errno::PERM),
            // Past the last one that the kernel knows.
            Err(Errno::INVAL) => break,
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}

fn write(above: BorrowedFd<'_>, name: &CStr, text: &[u8]) -> Result<(), Errno> {
    let flags = OFlags::WRONLY | OFlags::CLOEXEC;
    let file = rustix::fs::openat(above, name, flags, Mode::empty());
    let file = file?;
    rustix::io::write(&file, text)?;
    Ok(())
}

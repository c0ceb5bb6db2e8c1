//! Rights that go beyond a user's: setuid programs, namespaces, capabilities.

use std::ffi::CStr;
use std::os::fd::{AsFd, BorrowedFd};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::mount::MountPropagationFlags;
use rustix::thread::{CapabilitiesSecureBits, CapabilitySet, CapabilitySets, UnshareFlags};

use super::kernel;

/// Capabilities have numbers below this one (`capabilities(7)`: 64 bits).
const CAPABILITY_BITS: u32 = 64;

/// Whether this is uid 0, which some limits do not hold.
pub(super) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// `PR_SET_NO_NEW_PRIVS`: Landlock and seccomp ask for it, too.
pub(super) fn no_new() -> Result<(), i32> {
    rustix::thread::set_no_new_privs(true).map_err(Errno::raw_os_error)
}

/// Who the child is, inside and outside.
#[derive(Debug)]
pub(super) struct Identity {
    /// As `/proc/self/uid_map` takes it: this user alone is himself inside.
    uid_map: String,
    gid_map: String,
    /// Whether it is in a user namespace or a Landlock domain, which end `ptrace` at their border.
    pub(super) entered: bool,
}

impl Identity {
    pub(super) fn current() -> Self {
        let uid = rustix::process::geteuid().as_raw();
        let gid = rustix::process::getegid().as_raw();
        Self {
            uid_map: format!("{uid} {uid} 1"),
            gid_map: format!("{gid} {gid} 1"),
            entered: false,
        }
    }

    /// A user and a mount namespace of its own, also for root: whatever capabilities there are, are
    /// then good for nothing outside. Nothing that is mounted outside later arrives.
    pub(super) fn enter_namespaces(&self) -> Result<(), i32> {
        kernel::unshare(UnshareFlags::NEWUSER | UnshareFlags::NEWNS)?;
        // user_namespaces(7): without it an ordinary user may not write a gid_map.
        let own = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let own = rustix::fs::open(c"/proc/self", own, Mode::empty());
        let own = own.map_err(Errno::raw_os_error)?;
        write(own.as_fd(), c"setgroups", b"deny")?;
        write(own.as_fd(), c"uid_map", self.uid_map.as_bytes())?;
        write(own.as_fd(), c"gid_map", self.gid_map.as_bytes())?;
        let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
        rustix::mount::mount_change(c"/", private).map_err(Errno::raw_os_error)
    }

    /// None, and none regained by the exec of uid 0 either.
    pub(super) fn drop_capabilities(&self) -> Result<(), i32> {
        // An ordinary user without a namespace has none; setting these would need one.
        if self.entered || is_root() {
            let locked = CapabilitiesSecureBits::NO_ROOT
                | CapabilitiesSecureBits::NO_ROOT_LOCKED
                | CapabilitiesSecureBits::NO_SETUID_FIXUP
                | CapabilitiesSecureBits::NO_SETUID_FIXUP_LOCKED
                | CapabilitiesSecureBits::KEEP_CAPS_LOCKED
                | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE
                | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE_LOCKED;
            rustix::thread::set_capabilities_secure_bits(locked).map_err(Errno::raw_os_error)?;
            for number in 0..CAPABILITY_BITS {
                let one = CapabilitySet::from_bits_retain(1 << number);
                match rustix::thread::remove_capability_from_bounding_set(one) {
                    Ok(()) => {}
                    // Past the last one that the kernel knows.
                    Err(Errno::INVAL) => break,
                    Err(errno) => return Err(errno.raw_os_error()),
                }
            }
        }
        let none = CapabilitySets {
            effective: CapabilitySet::empty(),
            permitted: CapabilitySet::empty(),
            inheritable: CapabilitySet::empty(),
        };
        rustix::thread::set_capabilities(None, none).map_err(Errno::raw_os_error)
    }
}

/// None, where somebody else has taken them: nothing can be locked without one. An empty bounding set
/// is what keeps uid 0 from having them again by an exec.
pub(super) fn no_capabilities_left() -> Result<(), i32> {
    let none = CapabilitySets {
        effective: CapabilitySet::empty(),
        permitted: CapabilitySet::empty(),
        inheritable: CapabilitySet::empty(),
    };
    rustix::thread::set_capabilities(None, none).map_err(Errno::raw_os_error)?;
    for number in 0..CAPABILITY_BITS {
        let one = CapabilitySet::from_bits_retain(1 << number);
        match rustix::thread::capability_is_in_bounding_set(one) {
            Ok(false) => {}
            Ok(true) => return Err(nix::libc::EPERM),
            // Past the last one that the kernel knows.
            Err(Errno::INVAL) => break,
            Err(errno) => return Err(errno.raw_os_error()),
        }
    }
    Ok(())
}

fn write(above: BorrowedFd<'_>, name: &CStr, text: &[u8]) -> Result<(), i32> {
    let flags = OFlags::WRONLY | OFlags::CLOEXEC;
    let file = rustix::fs::openat(above, name, flags, Mode::empty());
    let file = file.map_err(Errno::raw_os_error)?;
    rustix::io::write(&file, text).map_err(Errno::raw_os_error)?;
    Ok(())
}

//! A `/dev` of the sandbox's own: what every program needs, and nothing that leads outside.
//!
//! A terminal's user owns his other ttys, too: whoever may open one reads what is typed there, and
//! makes it answer. Landlock has no exceptions for that, so `/dev/pts` is a new one. Root owns the
//! disks, on which everything that is hidden can be read. And `/dev/shm` is where other programs of
//! this user talk to each other.

use std::ffi::CStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags};

use super::kernel::{self, READ_ONLY};
use super::mounts::{
    EMPTY_DIRECTORY, EMPTY_FILE, attach, attach_at, copy, copy_at, make_directory, make_file,
    open_beneath,
};
use super::paths::{Places, resolve};

/// The devices that are the host's: each gives and takes nothing of anybody else's.
const NODES: [&CStr; 6] = [c"null", c"zero", c"full", c"random", c"urandom", c"tty"];

/// As every `/dev` has them.
const LINKS: [(&CStr, &CStr); 5] = [
    (c"pts/ptmx", c"ptmx"),
    (c"/proc/self/fd", c"fd"),
    (c"/proc/self/fd/0", c"stdin"),
    (c"/proc/self/fd/1", c"stdout"),
    (c"/proc/self/fd/2", c"stderr"),
];

/// Where ttyname(3) finds the command's own tty, whose name under `/dev/pts` is the host's.
const CONSOLE: &CStr = c"console";
/// Where the empty things are that cover what is hidden.
const STORE: &CStr = c".hidden";

/// The new `/dev`, in its place, still to be written to.
pub(super) struct Mounted {
    root: OwnedFd,
    store: OwnedFd,
}

/// The host's devices, each as a mount that is not attached anywhere.
pub(super) struct HostNodes {
    nodes: [Option<OwnedFd>; NODES.len()],
    tty: Option<OwnedFd>,
}

/// Copies the mounts of the host's devices, while they still are mounts with devices.
pub(super) fn host_nodes(places: &Places) -> Result<HostNodes, i32> {
    let mut nodes = [const { None }; NODES.len()];
    let devices = resolve(c"/dev")?;
    for (node, name) in nodes.iter_mut().zip(NODES) {
        *node = Some(copy_at(devices.as_fd(), name)?);
    }
    let tty = match &places.tty {
        Some(path) => Some(copy(resolve(path)?.as_fd())?),
        None => None,
    };
    Ok(HostNodes { nodes, tty })
}

/// Mounts it.
pub(super) fn mount(host: &HostNodes) -> Result<Mounted, i32> {
    let nosuid = MountAttrFlags::MOUNT_ATTR_NOSUID;
    let root = file_system(c"tmpfs", &[(c"mode", c"0755")], nosuid)?;
    let terminals = file_system(
        c"devpts",
        &[(c"ptmxmode", c"0666"), (c"mode", c"0600")],
        nosuid | MountAttrFlags::MOUNT_ATTR_NOEXEC,
    )?;
    for name in NODES {
        make_file(root.as_fd(), name)?;
    }
    for (target, name) in LINKS {
        rustix::fs::symlinkat(target, &root, name).map_err(Errno::raw_os_error)?;
    }
    for directory in [c"pts", c"shm", STORE] {
        make_directory(root.as_fd(), directory, 0o755)?;
    }
    // Past the umask: anybody's, as a /tmp.
    let shared = rustix::fs::Mode::from_raw_mode(0o1777);
    rustix::fs::chmodat(&root, c"shm", shared, rustix::fs::AtFlags::empty())
        .map_err(Errno::raw_os_error)?;
    let store = open_beneath(root.as_fd(), STORE)?;
    make_directory(store.as_fd(), EMPTY_DIRECTORY, 0o755)?;
    make_file(store.as_fd(), EMPTY_FILE)?;

    attach(root.as_fd(), resolve(c"/dev")?.as_fd())?;
    for (node, name) in host.nodes.iter().flatten().zip(NODES) {
        attach_at(node.as_fd(), root.as_fd(), name)?;
    }
    if let Some(tty) = &host.tty {
        make_file(root.as_fd(), CONSOLE)?;
        attach_at(tty.as_fd(), root.as_fd(), CONSOLE)?;
    }
    attach_at(terminals.as_fd(), root.as_fd(), c"pts")?;
    let shm = open_beneath(root.as_fd(), c"shm")?;
    attach(copy(shm.as_fd())?.as_fd(), shm.as_fd())?;
    Ok(Mounted { root, store })
}

impl Mounted {
    /// Where empty things are.
    pub(super) fn store(&self) -> BorrowedFd<'_> {
        self.store.as_fd()
    }

    /// Makes it read-only, its parts aside that are mounts.
    pub(super) fn finish(self) -> Result<(), i32> {
        kernel::restrict_mount(self.root.as_fd(), READ_ONLY)
    }
}

/// A new file system, not attached anywhere yet.
pub(super) fn file_system(
    kind: &CStr,
    options: &[(&CStr, &CStr)],
    attributes: MountAttrFlags,
) -> Result<OwnedFd, i32> {
    let made = || -> rustix::io::Result<OwnedFd> {
        let context = rustix::mount::fsopen(kind, FsOpenFlags::FSOPEN_CLOEXEC)?;
        for (name, value) in options {
            rustix::mount::fsconfig_set_string(context.as_fd(), *name, *value)?;
        }
        rustix::mount::fsconfig_create(context.as_fd())?;
        rustix::mount::fsmount(context.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, attributes)
    };
    made().map_err(Errno::raw_os_error)
}

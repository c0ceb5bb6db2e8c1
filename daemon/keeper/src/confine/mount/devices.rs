//! A `/dev` of the sandbox's own: what every program needs, and nothing that leads outside.
//!
//! A user owns all of the user's ttys, and a process that opens one can read what is typed there.
//! Landlock has no exceptions for that, so `/dev/pts` is a new one. Root owns the disks, on which
//! every hidden file can be read. And other programs of this user share memory in `/dev/shm`.

use std::ffi::CStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::mount::MountAttrFlags;

use super::ops::{
    FILE_MODE, attach, attach_at, copy, copy_at, make_directory, make_file, new_file_system,
    open_beneath,
};
use super::places::Places;
use super::resolve::resolve;
use super::view::{EMPTY_DIRECTORY, EMPTY_FILE};
use crate::confine::kernel::{self, READ_ONLY};

/// The host's devices, none of which has another program's data.
const NODES: [&CStr; 6] = [c"null", c"zero", c"full", c"random", c"urandom", c"tty"];

/// The symbolic links of every `/dev`: target and name.
const LINKS: [(&CStr, &CStr); 5] = [
    (c"pts/ptmx", c"ptmx"),
    (c"/proc/self/fd", c"fd"),
    (c"/proc/self/fd/0", c"stdin"),
    (c"/proc/self/fd/1", c"stdout"),
    (c"/proc/self/fd/2", c"stderr"),
];

/// Where ttyname(3) finds the command's own tty, whose name under `/dev/pts` is the host's.
const CONSOLE: &CStr = c"console";
/// The directory of the empty things that cover what is hidden.
const STORE: &CStr = c".hidden";

/// The new `/dev`, mounted and still writable.
pub(crate) struct Mounted {
    root: OwnedFd,
    store: OwnedFd,
}

/// The host's devices, each as a mount that is attached nowhere.
pub(crate) struct HostNodes {
    nodes: [Option<OwnedFd>; NODES.len()],
    tty: Option<OwnedFd>,
}

/// Copies the mounts of the host's devices, before mounts are without devices.
pub(crate) fn host_nodes(places: &Places) -> Result<HostNodes, Errno> {
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

/// Mounts a new `/dev`.
pub(crate) fn mount(host: &HostNodes) -> Result<Mounted, Errno> {
    let nosuid = MountAttrFlags::MOUNT_ATTR_NOSUID;
    let root = new_file_system(c"tmpfs", &[(c"mode", c"0755")], nosuid)?;
    let terminals = new_file_system(
        c"devpts",
        &[(c"ptmxmode", c"0666"), (c"mode", c"0600")],
        nosuid | MountAttrFlags::MOUNT_ATTR_NOEXEC,
    )?;
    for name in NODES {
        make_file(root.as_fd(), name, FILE_MODE)?;
    }
    for (target, name) in LINKS {
        rustix::fs::symlinkat(target, &root, name)?;
    }
    for directory in [c"pts", c"shm", STORE] {
        make_directory(root.as_fd(), directory, 0o755)?;
    }
    // By chmod, because of the umask. Writable by anybody, as /tmp is.
    let shared = rustix::fs::Mode::from_raw_mode(0o1777);
    rustix::fs::chmodat(&root, c"shm", shared, rustix::fs::AtFlags::empty())?;
    let store = open_beneath(root.as_fd(), STORE)?;
    make_directory(store.as_fd(), EMPTY_DIRECTORY, 0o755)?;
    make_file(store.as_fd(), EMPTY_FILE, FILE_MODE)?;

    attach(root.as_fd(), resolve(c"/dev")?.as_fd())?;
    for (node, name) in host.nodes.iter().flatten().zip(NODES) {
        attach_at(node.as_fd(), root.as_fd(), name)?;
    }
    if let Some(tty) = &host.tty {
        make_file(root.as_fd(), CONSOLE, FILE_MODE)?;
        attach_at(tty.as_fd(), root.as_fd(), CONSOLE)?;
    }
    attach_at(terminals.as_fd(), root.as_fd(), c"pts")?;
    let shm = open_beneath(root.as_fd(), c"shm")?;
    attach(copy(shm.as_fd())?.as_fd(), shm.as_fd())?;
    Ok(Mounted { root, store })
}

impl Mounted {
    /// The directory of empty things.
    pub(crate) fn store(&self) -> BorrowedFd<'_> {
        self.store.as_fd()
    }

    /// Makes it read-only, except for the mounts in it.
    pub(crate) fn finish(self) -> Result<(), Errno> {
        kernel::restrict_mount(self.root.as_fd(), READ_ONLY)
    }
}

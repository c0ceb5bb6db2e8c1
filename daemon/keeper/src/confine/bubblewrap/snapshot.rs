//! What is at a sandbox's places before bubblewrap builds it. bubblewrap's arguments are made from
//! it, and the outcome is compared with it.
//!
//! Taking one makes the absent places that a spec wants made, and refuses what bubblewrap cannot
//! protect. A snapshot goes through an exec as bytes.

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, BorrowedFd};

use rustix::fs::FileType;
use rustix::io::Errno;

use crate::confine::mount::places::Places;
use crate::confine::mount::resolve::resolve;
use crate::confine::mount::temporary;
use crate::confine::mount::view::make;
use crate::protocol::confinement::{IfAbsent, Restriction, Temporary};

/// The identity of a file or directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Node {
    device: u64,
    inode: u64,
    pub(crate) is_directory: bool,
}

impl Node {
    pub(crate) fn of(place: BorrowedFd<'_>) -> Result<Self, Errno> {
        let entry = rustix::fs::fstat(place)?;
        Ok(Self {
            device: entry.st_dev,
            inode: entry.st_ino,
            is_directory: FileType::from_raw_mode(entry.st_mode) == FileType::Directory,
        })
    }

    fn at(path: &CStr) -> Result<Self, Errno> {
        Self::of(resolve(path)?.as_fd())
    }
}

/// The lists are parallel to those of [`Places`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Snapshot {
    /// The user namespace of this process.
    pub(crate) user_namespace: Option<Node>,
    /// Its IPC namespace.
    pub(crate) ipc_namespace: Option<Node>,
    /// The host's pseudo-terminals.
    pub(crate) terminals: Option<Node>,
    pub(crate) writable: Vec<Option<Node>>,
    /// `None`: absent, or not the host's.
    pub(crate) guards: Vec<Option<Node>>,
    /// `None`: absent, or not the host's.
    pub(crate) covers: Vec<Option<Node>>,
    /// The directories for temporary files that are the sandbox's own.
    pub(crate) temporary: Vec<CString>,
    /// The visible paths beneath covered places that exist. Not needed after the exec.
    pub(crate) visible: Vec<CString>,
}

/// This process's user namespace.
pub(crate) fn user_namespace() -> Result<Node, Errno> {
    namespace(c"/proc/self/ns/user")
}

/// This process's IPC namespace.
pub(crate) fn ipc_namespace() -> Result<Node, Errno> {
    namespace(c"/proc/self/ns/ipc")
}

fn namespace(link: &CStr) -> Result<Node, Errno> {
    // It is a magic link, which `resolve` refuses. No other process could have made it.
    let entry = rustix::fs::stat(link)?;
    Ok(Node {
        device: entry.st_dev,
        inode: entry.st_ino,
        is_directory: false,
    })
}

impl Snapshot {
    /// Looks at all places, and makes the absent ones that are to be made. `on_failure` gets each
    /// failure; where it returns Ok, that place is left out.
    pub(crate) fn take<E>(
        places: &Places,
        on_failure: impl Fn((Restriction, Errno)) -> Result<(), E>,
    ) -> Result<Self, E> {
        let mut snapshot = Self::default();
        let or_failure = |restriction, found: Result<Option<Node>, Errno>| match found {
            Ok(found) => Ok(found),
            Err(errno) => on_failure((restriction, errno)).map(|()| None),
        };
        snapshot.user_namespace = or_failure(Restriction::Namespaces, user_namespace().map(Some))?;
        // Without it nothing can be compared, and `verify` fails where it has to.
        snapshot.ipc_namespace = ipc_namespace().ok();
        snapshot.terminals = or_failure(Restriction::Devices, Node::at(c"/dev/pts").map(Some))?;
        for (path, _) in places.writable() {
            let found = or_failure(Restriction::Writes, Node::at(path).map(Some))?;
            snapshot.writable.push(found);
        }
        for guard in &places.guards {
            let found = match guard.if_absent {
                _ if !places.shows_host(&guard.path) => Ok(None),
                // bubblewrap mounts by mount(2), which follows every link. A directory that is only
                // pinned is as rare, and not worth an option of its own.
                IfAbsent::PinLink | IfAbsent::PinDirectory => Err(Errno::OPNOTSUPP),
                IfAbsent::Leave => or_absent(Node::at(&guard.path)),
                IfAbsent::MakeDirectory | IfAbsent::MakeFile => {
                    match or_absent(Node::at(&guard.path)) {
                        Ok(None) => {
                            make(guard, &places.pins).and_then(|()| Node::at(&guard.path).map(Some))
                        }
                        found => found,
                    }
                }
            };
            snapshot
                .guards
                .push(or_failure(Restriction::Protected, found)?);
        }
        for cover in &places.covers {
            let found = match Node::at(&cover.path) {
                _ if !places.shows_host(&cover.path) => Ok(None),
                // Absent, or out of this user's reach.
                Err(Errno::NOENT | Errno::NOTDIR | Errno::ACCESS) if !cover.is_required => Ok(None),
                found => found.map(Some),
            };
            snapshot
                .covers
                .push(or_failure(Restriction::Hidden, found)?);
            let visible = cover.visible.iter().map(|visible| visible.path.as_c_str());
            let visible = visible.filter(|path| resolve(path).is_ok());
            snapshot.visible.extend(visible.map(CStr::to_owned));
        }
        if places.temporary == Temporary::Private {
            match temporary::mount_points() {
                Ok(own) => {
                    let own = own.into_iter().map(|(directory, _)| directory.to_owned());
                    snapshot.temporary.extend(own);
                }
                Err(errno) => on_failure((Restriction::Temporary, errno))?,
            }
        }
        Ok(snapshot)
    }

    /// For [`Snapshot::from_bytes`].
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let singles = [self.user_namespace, self.ipc_namespace, self.terminals];
        for list in [&singles[..], &self.writable, &self.guards, &self.covers] {
            bytes.extend_from_slice(&(list.len() as u64).to_le_bytes());
            for node in list {
                // No file has the numbers of `None`.
                let (device, inode) =
                    node.map_or((u64::MAX, u64::MAX), |node| (node.device, node.inode));
                bytes.extend_from_slice(&device.to_le_bytes());
                bytes.extend_from_slice(&inode.to_le_bytes());
                bytes.push(node.is_some_and(|node| node.is_directory).into());
            }
        }
        for directory in &self.temporary {
            bytes.extend_from_slice(directory.to_bytes_with_nul());
        }
        bytes
    }

    /// The inverse of [`Snapshot::to_bytes`]; `None` for other bytes.
    pub(crate) fn from_bytes(mut bytes: &[u8]) -> Option<Self> {
        let mut lists = [const { Vec::new() }; 4];
        for list in &mut lists {
            let count = number(&mut bytes)?;
            for _ in 0..count {
                let (device, inode) = (number(&mut bytes)?, number(&mut bytes)?);
                let (kind, rest) = bytes.split_first()?;
                bytes = rest;
                let node = Node {
                    device,
                    inode,
                    is_directory: *kind == 1,
                };
                list.push((device != u64::MAX || inode != u64::MAX).then_some(node));
            }
        }
        let [singles, writable, guards, covers] = lists;
        let &[user_namespace, ipc_namespace, terminals] = singles.as_slice() else {
            return None;
        };
        let mut temporary = Vec::new();
        while !bytes.is_empty() {
            let directory = CStr::from_bytes_until_nul(bytes).ok()?;
            bytes = bytes.get(directory.count_bytes() + 1..)?;
            temporary.push(directory.to_owned());
        }
        Some(Self {
            user_namespace,
            ipc_namespace,
            terminals,
            writable,
            guards,
            covers,
            temporary,
            visible: Vec::new(),
        })
    }
}

/// An absent place is `None`.
fn or_absent(found: Result<Node, Errno>) -> Result<Option<Node>, Errno> {
    match found {
        Ok(node) => Ok(Some(node)),
        Err(Errno::NOENT) => Ok(None),
        Err(errno) => Err(errno),
    }
}

fn number(bytes: &mut &[u8]) -> Option<u64> {
    let (number, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(u64::from_le_bytes(*number))
}

//! What is at a sandbox's places before somebody else builds it: what it is to be asked for, and what
//! the outcome is compared with.
//!
//! It makes what a spec wants made, and refuses what only our own mounts can hold. It goes through
//! an exec as bytes, so nothing of it is believed that could not be looked at again. It must not
//! know who builds.

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, BorrowedFd};

use nix::libc;
use rustix::fs::FileType;
use rustix::io::Errno;

use super::mounts::make;
use super::paths::{Places, resolve};
use super::temporary;
use crate::protocol::confinement::{IfAbsent, Temporary, Wall};

/// Why a spec cannot be had.
pub(super) type Problem = (Wall, i32);

/// A file or directory, by its numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Node {
    device: u64,
    inode: u64,
    pub(super) is_directory: bool,
}

impl Node {
    pub(super) fn of(place: BorrowedFd<'_>) -> Result<Self, i32> {
        let entry = rustix::fs::fstat(place).map_err(Errno::raw_os_error)?;
        Ok(Self {
            device: entry.st_dev,
            inode: entry.st_ino,
            is_directory: FileType::from_raw_mode(entry.st_mode) == FileType::Directory,
        })
    }

    fn at(path: &CStr) -> Result<Self, i32> {
        Self::of(resolve(path)?.as_fd())
    }
}

/// What was found. The lists are those of [`Places`], entry by entry.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Survey {
    /// Who has the command's rights outside.
    pub(super) user_namespace: Option<Node>,
    /// The host's pseudo-terminals.
    pub(super) terminals: Option<Node>,
    pub(super) writable: Vec<Option<Node>>,
    /// `None`: it is not there, or not the host's to be protected.
    pub(super) guards: Vec<Option<Node>>,
    /// The same of what is hidden.
    pub(super) covers: Vec<Option<Node>>,
    /// The directories for temporary files that are the sandbox's own.
    pub(super) temporary: Vec<CString>,
    /// What is there of that which stays visible beneath a covered place. Not needed afterwards.
    pub(super) shown: Vec<CString>,
}

/// This process's user namespace.
pub(super) fn user_namespace() -> Result<Node, i32> {
    // A magic link, which `resolve` refuses: nobody else could have made this one.
    let entry = rustix::fs::stat(c"/proc/self/ns/user").map_err(Errno::raw_os_error)?;
    Ok(Node {
        device: entry.st_dev,
        inode: entry.st_ino,
        is_directory: false,
    })
}

impl Survey {
    /// Looks, and makes what is absent and to be made. Each problem that is told to `missed`, and
    /// not returned by it, leaves that one thing out.
    pub(super) fn new<E>(
        places: &Places,
        missed: impl Fn(Problem) -> Result<(), E>,
    ) -> Result<Self, E> {
        let mut survey = Self::default();
        let or_missed = |wall, found: Result<Option<Node>, i32>| match found {
            Ok(found) => Ok(found),
            Err(errno) => missed((wall, errno)).map(|()| None),
        };
        survey.user_namespace = or_missed(Wall::Namespaces, user_namespace().map(Some))?;
        survey.terminals = or_missed(Wall::Devices, Node::at(c"/dev/pts").map(Some))?;
        for (path, _) in places.writable() {
            let found = or_missed(Wall::Writes, Node::at(path).map(Some))?;
            survey.writable.push(found);
        }
        for guard in &places.guards {
            let found = match guard.if_absent {
                _ if !places.is_hosts(&guard.path) => Ok(None),
                // mount(2), all that a builder has, follows every link to its end.
                IfAbsent::HoldLink => Err(libc::EOPNOTSUPP),
                IfAbsent::Leave => there(Node::at(&guard.path)),
                IfAbsent::MakeDirectory | IfAbsent::MakeFile => {
                    match there(Node::at(&guard.path)) {
                        Ok(None) => {
                            make(guard, &places.pins).and_then(|()| Node::at(&guard.path).map(Some))
                        }
                        found => found,
                    }
                }
            };
            survey.guards.push(or_missed(Wall::Protected, found)?);
        }
        for cover in &places.covers {
            let found = match Node::at(&cover.path) {
                _ if !places.is_hosts(&cover.path) => Ok(None),
                // Nothing there, or nothing that this user can reach.
                Err(libc::ENOENT | libc::ENOTDIR | libc::EACCES) if !cover.is_daemons => Ok(None),
                found => found.map(Some),
            };
            survey.covers.push(or_missed(Wall::Hidden, found)?);
            let shown = cover.visible.iter().map(|shown| shown.path.as_c_str());
            let shown = shown.filter(|path| resolve(path).is_ok());
            survey.shown.extend(shown.map(CStr::to_owned));
        }
        if places.temporary == Temporary::Private {
            match temporary::mount_points() {
                Ok(own) => {
                    let own = own.into_iter().map(|(directory, _)| directory.to_owned());
                    survey.temporary.extend(own);
                }
                Err(errno) => missed((Wall::Temporary, errno))?,
            }
        }
        Ok(survey)
    }

    /// For [`Survey::from_bytes`].
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let singles = [self.user_namespace, self.terminals];
        for list in [&singles[..], &self.writable, &self.guards, &self.covers] {
            bytes.extend_from_slice(&(list.len() as u64).to_le_bytes());
            for node in list {
                // No file has these numbers.
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

    /// What [`Survey::to_bytes`] made; `None` for anything else.
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
        let &[user_namespace, terminals] = singles.as_slice() else {
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
            terminals,
            writable,
            guards,
            covers,
            temporary,
            shown: Vec::new(),
        })
    }
}

/// One that is not there is none.
fn there(found: Result<Node, i32>) -> Result<Option<Node>, i32> {
    match found {
        Ok(node) => Ok(Some(node)),
        Err(libc::ENOENT) => Ok(None),
        Err(errno) => Err(errno),
    }
}

fn number(bytes: &mut &[u8]) -> Option<u64> {
    let (number, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(u64::from_le_bytes(*number))
}

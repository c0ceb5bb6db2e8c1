//! The listening socket: bound in a checked directory, or inherited from systemd.
//!
//! Only our own socket is ever unlinked. A directory that others can write to is refused and not
//! tightened, because others may have written to it already.

use std::ffi::OsString;
use std::fs::{DirBuilder, Metadata};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, StatVfsMountFlags};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};

use crate::error::{KeeperStartError, MAX_SOCKET_PATH, PathProblem};
use crate::sys;

/// The queue in which clients wait while the server is replaced; the kernel caps it at
/// net.core.somaxconn. A client that finds it full waits in connect(2), or gets EAGAIN and tries
/// again (unix(7)). A longer queue would only let a flooding process get further ahead of others.
const BACKLOG: i32 = 256;

/// The permission bits of group and others, none of which a directory of termd's has.
const OTHERS: u32 = 0o077;

/// The socket on which clients connect.
#[derive(Debug)]
pub(crate) struct Listener {
    fd: OwnedFd,
    /// The path, device and inode of a socket that was bound here. systemd's is not ours to unlink.
    bound: Option<(PathBuf, u64, u64)>,
}

impl Listener {
    /// Binds the path. Both locks must be held.
    pub(crate) fn bind(path: &Path) -> Result<Self, KeeperStartError> {
        let io_error = |doing, errno: rustix::io::Errno| KeeperStartError::Io {
            doing,
            path: path.to_owned(),
            source: errno.into(),
        };
        remove_stale(path)?;
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let fd = rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)
            .map_err(|errno| KeeperStartError::system("make a socket", errno))?;
        let address = SocketAddrUnix::new(path).map_err(|errno| io_error("bind", errno))?;
        // The umask sets the mode at creation: no other user can connect between bind and chmod.
        let umask = rustix::process::umask(Mode::from_raw_mode(0o177));
        let bound = rustix::net::bind(&fd, &address);
        rustix::process::umask(umask);
        bound.map_err(|errno| io_error("bind", errno))?;
        let entry = rustix::fs::lstat(path).map_err(|errno| io_error("look at", errno))?;
        rustix::net::listen(&fd, BACKLOG).map_err(|errno| io_error("listen on", errno))?;
        Ok(Self {
            fd,
            bound: Some((path.to_owned(), entry.st_dev, entry.st_ino)),
        })
    }

    /// The listening socket that systemd passed, if it did; `sd_listen_fds(3)`.
    pub(crate) fn from_systemd(
        environment: &[(OsString, OsString)],
    ) -> Result<Option<Self>, KeeperStartError> {
        let value = |name: &str| {
            let (_, value) = environment.iter().find(|(found, _)| found == name)?;
            value.to_str()?.parse::<u32>().ok()
        };
        if value("LISTEN_PID") != Some(std::process::id()) {
            return Ok(None);
        }
        match value("LISTEN_FDS") {
            None | Some(0) => return Ok(None),
            Some(1) => {}
            Some(_) => {
                let what =
                    "systemd passed more than one socket; termd.socket has one ListenStream=";
                return Err(KeeperStartError::Activation(what));
            }
        }
        let fd = sys::adopt_fd(sys::FIRST_PASSED_FD)
            .map_err(|_| KeeperStartError::Activation("LISTEN_FDS is set, but nothing is open"))?;
        let is_ours = rustix::net::sockopt::socket_domain(&fd) == Ok(AddressFamily::UNIX)
            && rustix::net::sockopt::socket_type(&fd) == Ok(SocketType::STREAM)
            && rustix::net::sockopt::socket_acceptconn(&fd) == Ok(true);
        if !is_ours {
            let what = "systemd passed something that is not a listening Unix stream socket";
            return Err(KeeperStartError::Activation(what));
        }
        rustix::io::ioctl_fionbio(&fd, true)
            .map_err(|errno| KeeperStartError::system("prepare systemd's socket", errno))?;
        Ok(Some(Self { fd, bound: None }))
    }

    /// Removes the socket, if it is still the one that was bound.
    pub(crate) fn unlink(&self) {
        let Some((path, device, inode)) = &self.bound else {
            return;
        };
        let same = rustix::fs::lstat(path)
            .is_ok_and(|entry| (entry.st_dev, entry.st_ino) == (*device, *inode));
        if same {
            // It fails only where another process without the lock removed it first.
            let _ = rustix::fs::unlink(path);
        }
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Another descriptor of the socket that systemd passed, if it did; `sd_listen_fds(3)`. Call it before
/// a keeper takes the socket over.
pub fn activation_socket() -> Option<OwnedFd> {
    let value = |name: &str| std::env::var(name).ok()?.parse::<u32>().ok();
    let is_passed =
        value("LISTEN_PID") == Some(std::process::id()) && value("LISTEN_FDS") == Some(1);
    if !is_passed {
        return None;
    }
    let passed = sys::borrow_fd(sys::FIRST_PASSED_FD);
    passed.try_clone_to_owned().ok()
}

/// Whether somebody listens at this socket. A full queue (EAGAIN; unix(7)) has somebody behind it.
pub(crate) fn accepts(path: &Path) -> bool {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let connected = SocketAddrUnix::new(path).and_then(|address| {
        let fd = rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
        rustix::net::connect(&fd, &address)
    });
    matches!(connected, Ok(()) | Err(rustix::io::Errno::AGAIN))
}

/// Checks the socket's path and makes its directory.
pub(crate) fn prepare_directory(socket: &Path) -> Result<(), KeeperStartError> {
    let length = socket.as_os_str().as_bytes().len();
    if length > MAX_SOCKET_PATH {
        return Err(KeeperStartError::PathTooLong {
            path: socket.to_owned(),
            length,
        });
    }
    match socket.parent() {
        Some(directory) if socket.is_absolute() => private_directory(directory),
        _ => Err(KeeperStartError::NotAbsolute(socket.to_owned())),
    }
}

/// Makes a directory 0700 where there is none, and refuses one that is not ours alone.
pub(crate) fn private_directory(path: &Path) -> Result<(), KeeperStartError> {
    if !path.is_absolute() {
        return Err(KeeperStartError::NotAbsolute(path.to_owned()));
    }
    let io_error = |doing, source| KeeperStartError::Io {
        doing,
        path: path.to_owned(),
        source,
    };
    let metadata = match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let mut builder = DirBuilder::new();
            builder.recursive(true).mode(0o700);
            builder
                .create(path)
                .map_err(|source| io_error("make the directory", source))?;
            std::fs::symlink_metadata(path)
        }
        other => other,
    }
    .map_err(|source| io_error("look at", source))?;
    match directory_problem(path, &metadata, rustix::process::geteuid().as_raw()) {
        None => Ok(()),
        Some(problem) => Err(KeeperStartError::Unsafe {
            path: path.to_owned(),
            problem,
        }),
    }
}

fn directory_problem(path: &Path, metadata: &Metadata, uid: u32) -> Option<PathProblem> {
    if metadata.is_symlink() {
        Some(PathProblem::Link)
    } else if !metadata.is_dir() {
        Some(PathProblem::NotDirectory)
    } else if metadata.uid() != uid {
        Some(PathProblem::Owner {
            owner: metadata.uid(),
            expected: uid,
        })
    } else if is_read_only(path) {
        Some(PathProblem::ReadOnly)
    } else if metadata.mode() & OTHERS != 0 {
        Some(PathProblem::Accessible {
            mode: metadata.mode() & 0o7777,
            path: path.to_owned(),
        })
    } else {
        None
    }
}

fn is_read_only(directory: &Path) -> bool {
    let found = rustix::fs::statvfs(directory);
    found.is_ok_and(|found| found.f_flag.contains(StatVfsMountFlags::RDONLY))
}

fn remove_stale(path: &Path) -> Result<(), KeeperStartError> {
    let refuse = |problem| {
        Err(KeeperStartError::Unsafe {
            path: path.to_owned(),
            problem,
        })
    };
    let io_error = |doing, source| KeeperStartError::Io {
        doing,
        path: path.to_owned(),
        source,
    };
    match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(source) => Err(io_error("look at", source)),
        Ok(found) if !found.file_type().is_socket() => refuse(PathProblem::NotSocket),
        Ok(found) if found.uid() != rustix::process::geteuid().as_raw() => {
            refuse(PathProblem::OthersSocket)
        }
        Ok(_) => {
            std::fs::remove_file(path).map_err(|source| io_error("remove the stale socket", source))
        }
    }
}

//! The listening socket: its directory checked, its path taken, or handed over by systemd.
//!
//! Nothing is unlinked that is not our own socket, and nothing is tightened silently: a directory
//! that others can write to has perhaps been written to.

use std::ffi::OsString;
use std::fs::{DirBuilder, Metadata};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::Mode;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};

use super::KeeperStartError;
use super::sys;

/// The longest path that `sockaddr_un` holds with its final NUL; unix(7).
pub(super) const MAX_SOCKET_PATH: usize = 107;

/// Clients wait here while the server is replaced; the kernel caps it at net.core.somaxconn. Whoever
/// finds it full waits in connect(2), or gets EAGAIN and tries again (unix(7)): a longer one would
/// only let a process that floods it put more before everybody else.
const BACKLOG: i32 = 256;

/// What anybody but the owner may do to a directory of termd's: nothing.
const OTHERS: u32 = 0o077;

/// The socket on which clients connect.
#[derive(Debug)]
pub(super) struct Listener {
    fd: OwnedFd,
    /// Where it was bound and as which inode; systemd's own socket is not ours to unlink.
    bound: Option<(PathBuf, u64, u64)>,
}

impl Listener {
    /// Binds the path. Both locks must be held.
    pub(super) fn bind(path: &Path) -> Result<Self, KeeperStartError> {
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
        // The mode is right from birth: nobody connects between bind and chmod.
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

    /// The socket that systemd listens on for us, if it started us so; `sd_listen_fds(3)`.
    pub(super) fn from_systemd(
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
    pub(super) fn unlink(&self) {
        let Some((path, device, inode)) = &self.bound else {
            return;
        };
        let same = rustix::fs::lstat(path)
            .is_ok_and(|entry| (entry.st_dev, entry.st_ino) == (*device, *inode));
        if same {
            // Whoever wins a race against this holds no lock; there is nobody to tell.
            let _ = rustix::fs::unlink(path);
        }
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Checks the socket's path and makes its directory.
pub(super) fn prepare_directory(socket: &Path) -> Result<(), KeeperStartError> {
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
pub(super) fn private_directory(path: &Path) -> Result<(), KeeperStartError> {
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

fn directory_problem(path: &Path, metadata: &Metadata, uid: u32) -> Option<String> {
    let path = path.display();
    if metadata.is_symlink() {
        Some("it is a symbolic link; remove it, or name the directory that it points to".to_owned())
    } else if !metadata.is_dir() {
        Some("it is not a directory".to_owned())
    } else if metadata.uid() != uid {
        Some(format!("it belongs to uid {}, not {uid}", metadata.uid()))
    } else if metadata.mode() & OTHERS != 0 {
        let mode = metadata.mode() & 0o7777;
        Some(format!(
            "others have access to it (mode {mode:04o}); look at what is in it, then chmod 700 {path}"
        ))
    } else {
        None
    }
}

fn remove_stale(path: &Path) -> Result<(), KeeperStartError> {
    let refuse = |problem: &str| {
        Err(KeeperStartError::Unsafe {
            path: path.to_owned(),
            problem: problem.to_owned(),
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
        Ok(found) if !found.file_type().is_socket() => {
            refuse("it is there and not a socket; remove it yourself if it is not needed")
        }
        Ok(found) if found.uid() != rustix::process::geteuid().as_raw() => {
            refuse("it is somebody else's socket")
        }
        Ok(_) => {
            std::fs::remove_file(path).map_err(|source| io_error("remove the stale socket", source))
        }
    }
}

//! The lock files that decide between two daemons before either unlinks, binds or migrates anything.
//!
//! The kernel drops a flock(2) with the process, so no lock is ever stale. The file stays.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FlockOperation, Mode, OFlags};

use crate::error::KeeperStartError;

/// A pid and a path fit; a longer file was not written by a keeper.
const MAX_CONTENT: u64 = 8 * 1024;

/// A lock; dropping it releases the lock.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the lock, and writes pid and socket into it: for people, and for the error of a second
    /// keeper.
    pub(crate) fn take(path: &Path, socket: &Path) -> Result<Self, KeeperStartError> {
        let io_error = |doing, source: io::Error| KeeperStartError::Io {
            doing,
            path: path.to_owned(),
            source,
        };
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let fd: OwnedFd = rustix::fs::openat(CWD, path, flags, Mode::RUSR | Mode::WUSR)
            .map_err(|errno| io_error("open the lock file", errno.into()))?;
        let mut file = File::from(fd);
        match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(rustix::io::Errno::WOULDBLOCK) => {
                let (pid, held_socket) = read_holder(&mut file);
                return Err(KeeperStartError::AlreadyRunning {
                    pid,
                    socket: held_socket.unwrap_or_else(|| socket.to_owned()),
                });
            }
            Err(errno) => return Err(io_error("lock", errno.into())),
        }
        write_holder(&mut file, socket).map_err(|source| io_error("write", source))?;
        Ok(Self { _file: file })
    }
}

fn write_holder(file: &mut File, socket: &Path) -> io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    let mut content = format!("{}\n", std::process::id()).into_bytes();
    content.extend_from_slice(socket.as_os_str().as_bytes());
    content.push(b'\n');
    file.write_all(&content)
}

/// What the holder wrote. The holder may be in the middle of writing it.
fn read_holder(file: &mut File) -> (Option<u32>, Option<PathBuf>) {
    let mut content = Vec::new();
    if file.take(MAX_CONTENT).read_to_end(&mut content).is_err() {
        return (None, None);
    }
    let mut lines = content.split(|&byte| byte == b'\n');
    let pid = lines
        .next()
        .and_then(|line| std::str::from_utf8(line).ok()?.parse().ok());
    let socket = lines
        .next()
        .filter(|line| !line.is_empty())
        .map(|line| PathBuf::from(std::ffi::OsString::from_vec(line.to_vec())));
    (pid, socket)
}

//! The daemon's lock file, which says where a daemon listens that was started in another environment.

use std::ffi::OsStr;
use std::fs::OpenOptions;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use directories::BaseDirs;

/// A pid and a path fit. No daemon has written a longer file.
const MAX_CONTENT: u64 = 8 * 1024;

/// The lock beside the database.
pub(crate) fn lock_path() -> Option<PathBuf> {
    let dirs = BaseDirs::new()?;
    Some(dirs.state_dir()?.join("termd/termd.lock"))
}

/// The socket of the daemon that has written this lock, which may have ended.
pub(crate) fn socket_of_holder(lock: &Path) -> Option<PathBuf> {
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(flags.bits().cast_signed())
        .open(lock)
        .ok()?;
    let metadata = file.metadata().ok()?;
    if !metadata.is_file() || metadata.uid() != rustix::process::geteuid().as_raw() {
        return None;
    }
    let mut content = Vec::new();
    file.take(MAX_CONTENT).read_to_end(&mut content).ok()?;
    // The pid, and the socket.
    let line = content.split(|&byte| byte == b'\n').nth(1)?;
    let socket = Path::new(OsStr::from_bytes(line));
    socket.is_absolute().then(|| socket.to_owned())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn the_second_line_is_the_socket() {
        let dir = tempfile::tempdir().unwrap();
        let lock = dir.path().join("termd.lock");
        let table: [(&[u8], Option<&str>); 5] = [
            (b"12\n/run/termd.sock\n", Some("/run/termd.sock")),
            (b"12\nrun/termd.sock\n", None),
            (b"12\n", None),
            (b"", None),
            (b"\xff\xff", None),
        ];
        for (content, socket) in table {
            fs::write(&lock, content).unwrap();
            assert_eq!(socket_of_holder(&lock).as_deref(), socket.map(Path::new));
        }
        fs::write(&lock, "12\n/run/termd.sock\n").unwrap();
        let link = dir.path().join("link");
        symlink(&lock, &link).unwrap();
        assert_eq!(socket_of_holder(&link), None);
    }
}

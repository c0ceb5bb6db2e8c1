//! The list of directories that were created for sandboxes, in the state directory.
//!
//! The list is for a daemon that is killed, not for a machine that stops: nothing is synced.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

/// The file in the state directory: paths, each ended by a NUL.
const NAME: &str = "made-directories";
/// The longest list that is read back: some ten thousand paths.
const MAX_BYTES: u64 = 1 << 20;

/// The file.
#[derive(Debug)]
pub(super) struct DirectoryList {
    file: PathBuf,
}

impl DirectoryList {
    pub(super) fn new(state_dir: &Path) -> Self {
        Self {
            file: state_dir.join(NAME),
        }
    }

    /// The paths of the list; none where there is none.
    pub(super) fn read(&self) -> Vec<PathBuf> {
        let mut list = Vec::new();
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = rustix::fs::open(&self.file, flags, Mode::empty());
        let read = opened.map_err(io::Error::from).and_then(|opened| {
            let limited = File::from(opened).take(MAX_BYTES);
            io::BufReader::new(limited).read_to_end(&mut list)
        });
        match read {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Vec::new(),
            Err(error) => {
                tracing::warn!(%error, "what an earlier daemon created for sandboxes cannot be read");
                return Vec::new();
            }
        }
        // What is behind the last NUL was cut.
        let end = list.iter().rposition(|&byte| byte == 0).unwrap_or(0);
        let paths = list.get(..end).unwrap_or_default().split(|&byte| byte == 0);
        let paths = paths.map(|path| PathBuf::from(OsString::from_vec(path.to_vec())));
        paths.filter(|path| is_plain(path)).collect()
    }

    /// Writes the list anew, whole or not at all.
    pub(super) fn write<'a>(&self, paths: impl Iterator<Item = &'a PathBuf>) {
        let mut list = Vec::new();
        for path in paths {
            list.extend_from_slice(path.as_os_str().as_bytes());
            list.push(0);
        }
        if let Err(error) = self.replace(&list) {
            tracing::warn!(%error, "the directories created for sandboxes are not written down");
        }
    }

    fn replace(&self, list: &[u8]) -> io::Result<()> {
        let next = self.file.with_extension("next");
        let mut options = File::options();
        options.write(true).create(true).truncate(true);
        options.mode(0o600).custom_flags(nix::libc::O_NOFOLLOW);
        options.open(&next)?.write_all(list)?;
        fs::rename(next, &self.file)
    }
}

/// Whether a list or a terminal's notes may name this path: an absolute one that is no longer than a
/// path can be. Notes are a process's memory, and a deep tree must not make them grow.
pub(super) fn is_plain(path: &Path) -> bool {
    path.is_absolute()
        && path.as_os_str().as_bytes().len() < nix::libc::PATH_MAX.unsigned_abs() as usize
}

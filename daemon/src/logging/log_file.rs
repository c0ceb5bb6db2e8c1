//! Standard error as a log of bounded size.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// A log of this size becomes `termd.log.old`, in place of an older one.
const MAX_LOG_BYTES: u64 = 8 << 20;

/// Standard error. Where it leads to the file at `path`, the file's size is bounded.
pub(super) struct LogFile {
    path: PathBuf,
}

impl LogFile {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path }
    }
}

impl Write for LogFile {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let mut stderr = io::stderr().lock();
        // The log is not worth a failure of its own: without room for the old one it goes on.
        let _ = bound(&stderr, &self.path, MAX_LOG_BYTES);
        stderr.write(line)
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

/// Moves the content of a log that has grown to `max` bytes to `PATH.old`. The file stays the same
/// one, since the keeper writes to it as well. Does nothing if `log` is not the file at `path`.
fn bound(log: impl AsFd, path: &Path, max: u64) -> io::Result<()> {
    let stat = rustix::fs::fstat(&log)?;
    if u64::try_from(stat.st_size).unwrap_or(0) < max {
        return Ok(());
    }
    let content = File::open(path)?;
    let found = content.metadata()?;
    if (found.dev(), found.ino()) != (stat.st_dev, stat.st_ino) {
        return Ok(());
    }
    let mut old = path.as_os_str().to_owned();
    old.push(".old");
    let mut old = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .custom_flags(nix::libc::O_NOFOLLOW)
        .open(old)?;
    let copied = io::copy(&mut content.take(max), &mut old);
    rustix::fs::ftruncate(&log, 0)?;
    copied.map(drop)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_log_has_two_files_of_bounded_size() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("termd.log");
        let append = || OpenOptions::new().append(true).create(true).open(&path);
        let (mut server, mut keeper) = (append().unwrap(), append().unwrap());
        for number in 0..1_000 {
            bound(&server, &path, 100).unwrap();
            writeln!(server, "line {number}").unwrap();
        }
        keeper.write_all(b"keeper\n").unwrap();
        let now = fs::read_to_string(&path).unwrap();
        let old = fs::read_to_string(dir.path().join("termd.log.old")).unwrap();
        assert!(now.len() <= 120 && old.len() <= 120, "{now}{old}");
        assert!(now.ends_with("line 999\nkeeper\n"), "{now}");
        assert!(format!("{old}{now}").contains("line 985\nline 986\n"));
    }

    #[test]
    fn another_file_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let (path, other) = (dir.path().join("termd.log"), dir.path().join("other"));
        fs::write(&path, "a".repeat(200)).unwrap();
        fs::write(&other, "b".repeat(200)).unwrap();
        let file = OpenOptions::new().append(true).open(&other).unwrap();
        bound(&file, &path, 100).unwrap();
        assert_eq!(fs::metadata(&other).unwrap().len(), 200);
    }
}

//! Paths of files: those that clients give, and those that no client may use.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use termd_keeper::protocol::file_operation::FileAction;
use termd_proto::file::MAX_PATH_BYTES;

use crate::paths::Paths;
use crate::terminal::error::TerminalError;

/// The daemon's own directories. No file in them is anybody's to use through the daemon.
#[derive(Debug)]
pub(crate) struct OwnDirectories {
    state: PathBuf,
    socket: PathBuf,
    config: PathBuf,
}

impl OwnDirectories {
    pub(crate) fn new(paths: &Paths) -> Self {
        let above = |path: &Path| path.parent().map(Path::to_owned).unwrap_or_default();
        Self {
            state: paths.state_dir.clone(),
            socket: above(&paths.socket),
            config: above(&paths.config_file),
        }
    }

    /// Whether a path, without links, leads to where no client writes.
    pub(super) fn hold(&self, path: &Path) -> bool {
        let mut all = [&self.state, &self.socket, &self.config].into_iter();
        all.any(|own| path.starts_with(own))
    }

    /// Those in which this is not done. The configuration is no secret.
    pub(super) fn excluded(&self, action: FileAction) -> Vec<Vec<u8>> {
        let config = match action {
            FileAction::Write(_) => Some(&self.config),
            FileAction::Read | FileAction::Resolve(_) => None,
        };
        let all = [&self.state, &self.socket].into_iter().chain(config);
        all.map(|path| path.as_os_str().as_bytes().to_vec())
            .collect()
    }
}

/// A path from a client, seen from a directory.
pub(super) fn absolute(cwd: &Path, given: &str) -> Result<PathBuf, TerminalError> {
    let invalid = |problem: &str| TerminalError::Invalid {
        field: "path",
        problem: problem.to_owned(),
    };
    if given.is_empty() {
        return Err(invalid("may not be empty"));
    }
    if given.contains('\0') {
        return Err(invalid("cannot hold a NUL character"));
    }
    let path = cwd.join(given);
    if path.as_os_str().len() > MAX_PATH_BYTES {
        return Err(invalid("may be 4,095 bytes long at the most"));
    }
    Ok(path)
}

/// A path as text.
pub(super) fn lossy(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_seen_from_a_directory_and_bounded() {
        let cwd = Path::new("/w");
        assert_eq!(absolute(cwd, "a/../b").unwrap(), Path::new("/w/a/../b"));
        assert_eq!(absolute(cwd, "/etc/x").unwrap(), Path::new("/etc/x"));
        for bad in ["", "a\0b", &"a".repeat(MAX_PATH_BYTES)] {
            assert!(absolute(cwd, bad).is_err(), "{bad:?}");
        }
    }
}

//! The daemon's own directories, which every sandbox hides.

use std::path::{Path, PathBuf};

use crate::error::KeeperStartError;

/// Both paths are without symbolic links.
#[derive(Debug, Clone)]
pub(crate) struct DaemonDirs {
    /// The directory of the socket.
    pub(crate) socket_dir: PathBuf,
    /// The directory of the database.
    pub(crate) state_dir: PathBuf,
}

impl DaemonDirs {
    /// Resolves links. Both directories have to exist.
    pub(crate) fn new(socket: &Path, state_dir: &Path) -> Result<Self, KeeperStartError> {
        let resolved = |path: &Path| {
            path.canonicalize().map_err(|source| KeeperStartError::Io {
                doing: "find",
                path: path.to_owned(),
                source,
            })
        };
        Ok(Self {
            socket_dir: resolved(socket.parent().unwrap_or(socket))?,
            state_dir: resolved(state_dir)?,
        })
    }
}

//! The socket's path, and the check that the socket is the user's own.

use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use directories::BaseDirs;
use termd_proto::paths::{SOCKET_VARIABLE, SocketPlaces};

use crate::error::ClientError;
use crate::lock_file;

/// Where the daemon's socket is to be, and where else it may be.
#[derive(Debug)]
pub(crate) struct SocketPlace {
    pub(crate) path: PathBuf,
    /// The environment names this path and no other.
    pub(crate) is_named: bool,
    /// The lock file of this user's daemon.
    lock: Option<PathBuf>,
}

impl SocketPlace {
    /// By the environment.
    pub(crate) fn find() -> Result<Self, ClientError> {
        Ok(Self {
            path: socket_path()?,
            is_named: named_socket().is_some(),
            lock: lock_file::lock_path(),
        })
    }

    /// This path, and nowhere else.
    #[cfg(test)]
    pub(crate) fn at(path: PathBuf) -> Self {
        Self {
            path,
            is_named: true,
            lock: None,
        }
    }

    /// Where the daemon listens, by its lock, if that is another place. It may have ended.
    pub(crate) fn elsewhere(&self) -> Option<PathBuf> {
        let socket = lock_file::socket_of_holder(self.lock.as_deref()?)?;
        (socket != self.path).then_some(socket)
    }
}

fn named_socket() -> Option<PathBuf> {
    let named = env::var_os(SOCKET_VARIABLE).filter(|value| !value.is_empty());
    named.map(PathBuf::from)
}

/// The socket's path, by the daemon's own rule.
pub fn socket_path() -> Result<PathBuf, ClientError> {
    if let Some(path) = named_socket() {
        return Ok(path);
    }
    let dirs = BaseDirs::new().ok_or(ClientError::NoHome)?;
    let user_runtime_dir = PathBuf::from(format!("/run/user/{}", own_uid()));
    let state_home = dirs
        .state_dir()
        .map_or_else(|| dirs.home_dir().join(".local/state"), Path::to_owned);
    Ok(SocketPlaces {
        explicit: None,
        runtime_dir: dirs.runtime_dir(),
        user_runtime_dir: user_runtime_dir
            .is_dir()
            .then_some(user_runtime_dir.as_path()),
        state_home: &state_home,
    }
    .socket_path())
}

/// This process's user id, as the kernel shows it to peers.
pub fn own_uid() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// The thing at the socket's path.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// A socket of this user.
    Socket,
    Nothing,
}

/// Checks the path before anything is sent there. Another user's socket, a link and a file are
/// refused.
pub(crate) fn inspect(path: &Path, own_uid: u32) -> Result<Found, ClientError> {
    let metadata = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Found::Nothing),
        Err(error) => {
            return Err(ClientError::Inspect {
                path: path.to_owned(),
                source: error.into(),
            });
        }
    };
    if !metadata.file_type().is_socket() {
        return Err(ClientError::NotASocket {
            path: path.to_owned(),
        });
    }
    if metadata.uid() != own_uid {
        return Err(ClientError::ForeignSocket {
            path: path.to_owned(),
            owner: metadata.uid(),
        });
    }
    Ok(Found::Socket)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn only_a_socket_of_ours_is_talked_to() {
        let dir = tempfile::tempdir().unwrap();
        let socket = dir.path().join("s");
        assert_eq!(inspect(&socket, own_uid()).unwrap(), Found::Nothing);
        let _listener = UnixListener::bind(&socket).unwrap();
        assert_eq!(inspect(&socket, own_uid()).unwrap(), Found::Socket);

        let foreign = inspect(&socket, own_uid() + 1).unwrap_err().to_string();
        assert!(foreign.contains("not to you"), "{foreign}");

        let link = dir.path().join("link");
        symlink(&socket, &link).unwrap();
        let file = dir.path().join("file");
        fs::write(&file, "").unwrap();
        for path in [link, file] {
            let error = inspect(&path, own_uid()).unwrap_err().to_string();
            assert!(error.contains("is no socket"), "{error}");
        }
    }
}

//! Where the socket is, and whether it is ours to talk to.

use std::ffi::OsString;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use directories::BaseDirs;
use termd_proto::paths::{SOCKET_VARIABLE, SocketPlaces};

use crate::error::CliError;

/// The socket's path, by the rule that the daemon follows too.
pub(crate) fn socket_path() -> Result<PathBuf, CliError> {
    let explicit = env::var_os(SOCKET_VARIABLE).filter(|value| !value.is_empty());
    if let Some(path) = explicit {
        return Ok(path.into());
    }
    let dirs = BaseDirs::new().ok_or_else(|| {
        CliError::Unreachable("no home directory: set HOME, or TERMD_SOCKET".to_owned())
    })?;
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

/// The user we are, as the kernel shows it to peers.
pub(crate) fn own_uid() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// What lies at the socket's path.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// A socket of ours.
    Socket,
    /// Nothing.
    Nothing,
}

/// Looks at the path before anything is sent there: another user's socket, a link or a file in
/// its place is refused.
pub(crate) fn inspect(path: &Path, own_uid: u32) -> Result<Found, CliError> {
    let shown = path.display();
    let metadata = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Found::Nothing),
        Err(error) => {
            return Err(CliError::Unreachable(format!(
                "cannot look at {shown}: {error}"
            )));
        }
    };
    if !metadata.file_type().is_socket() {
        return Err(CliError::Unreachable(format!(
            "{shown} is no socket: move it away, or set TERMD_SOCKET"
        )));
    }
    if metadata.uid() != own_uid {
        return Err(CliError::Unreachable(format!(
            "{shown} belongs to user {}, not to you: not connecting",
            metadata.uid()
        )));
    }
    Ok(Found::Socket)
}

/// The daemon's binary: what `TERMD_BIN` names, else beside this one, else the first on `PATH`.
pub(crate) fn daemon_binary() -> OsString {
    if let Some(named) = env::var_os("TERMD_BIN").filter(|value| !value.is_empty()) {
        return named;
    }
    env::current_exe()
        .ok()
        .map(|own| own.with_file_name("termd"))
        .filter(|beside| beside.is_file())
        .map_or_else(|| "termd".into(), PathBuf::into_os_string)
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

//! The daemon's socket: its path, and the check that it is the user's own.

use std::env;
use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use termd_proto::paths::{SOCKET_VARIABLE, SocketPlaces};

/// The socket's path, if a socket of this user is there.
pub(crate) fn find() -> Option<PathBuf> {
    let uid = rustix::process::geteuid().as_raw();
    let path = path(uid)?;
    is_own(&path, uid).then_some(path)
}

/// By the daemon's own rule.
fn path(uid: u32) -> Option<PathBuf> {
    let absolute = |name| {
        let value = env::var_os(name).map(PathBuf::from);
        value.filter(|path| path.is_absolute())
    };
    let explicit = env::var_os(SOCKET_VARIABLE).filter(|value| !value.is_empty());
    let explicit = explicit.map(PathBuf::from);
    let runtime_dir = absolute("XDG_RUNTIME_DIR");
    let user_runtime_dir = PathBuf::from(format!("/run/user/{uid}"));
    let in_home = || Some(env::home_dir()?.join(".local/state"));
    let state_home = absolute("XDG_STATE_HOME").or_else(in_home)?;
    let places = SocketPlaces {
        explicit: explicit.as_deref(),
        runtime_dir: runtime_dir.as_deref(),
        user_runtime_dir: user_runtime_dir.is_dir().then_some(&user_runtime_dir),
        state_home: &state_home,
    };
    Some(places.socket_path())
}

/// Whether it is a socket, and this user's. The environment is sent there.
fn is_own(path: &Path, uid: u32) -> bool {
    let metadata = fs::symlink_metadata(path);
    metadata.is_ok_and(|metadata| metadata.file_type().is_socket() && metadata.uid() == uid)
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn only_a_socket_of_ours_is_talked_to() {
        let dir = tempfile::tempdir().unwrap();
        let socket = dir.path().join("s");
        let uid = rustix::process::geteuid().as_raw();
        assert!(!is_own(&socket, uid));
        let _listener = UnixListener::bind(&socket).unwrap();
        assert!(is_own(&socket, uid));
        assert!(!is_own(&socket, uid + 1));
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(&socket, &link).unwrap();
        assert!(!is_own(&link, uid));
    }
}

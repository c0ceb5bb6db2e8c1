//! Why the keeper could not start.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// The longest path that `sockaddr_un` takes with its final NUL; unix(7).
pub(crate) const MAX_SOCKET_PATH: usize = 107;

/// Why the keeper could not start. Each message is one line that says what to do.
#[derive(Debug, Error)]
pub enum KeeperStartError {
    /// Another keeper holds the socket or the database.
    #[error("termd is running already (pid {pid}, socket {socket})", pid = .pid.map_or_else(|| "unknown".to_owned(), |pid| pid.to_string()), socket = .socket.display())]
    AlreadyRunning {
        /// Its pid, where its lock file names it.
        pid: Option<u32>,
        /// Its socket.
        socket: PathBuf,
    },
    /// The socket's path does not fit `sockaddr_un` (unix(7): 107 bytes).
    #[error("the socket path {} is {length} bytes long, the system allows {limit}: set XDG_RUNTIME_DIR or TERMD_SOCKET to something shorter", .path.display(), limit = MAX_SOCKET_PATH)]
    PathTooLong {
        /// The path.
        path: PathBuf,
        /// Its length in bytes.
        length: usize,
    },
    /// A path that has to be absolute and is not.
    #[error("{} is not an absolute path", .0.display())]
    NotAbsolute(PathBuf),
    /// A directory or file that others could tamper with, or that is of another kind.
    #[error("refusing to use {}: {problem}", .path.display())]
    Unsafe {
        /// The path.
        path: PathBuf,
        /// What is wrong with it.
        problem: PathProblem,
    },
    /// systemd passed something that is not one listening socket.
    #[error("socket activation: {0}")]
    Activation(&'static str),
    /// A system call failed on a path.
    #[error("cannot {doing} {}: {source}", .path.display())]
    Io {
        /// What was tried, as a verb.
        doing: &'static str,
        /// The path.
        path: PathBuf,
        /// The error.
        source: io::Error,
    },
    /// A system call that concerns no path failed.
    #[error("cannot {doing}: {source}")]
    System {
        /// What was tried, as a verb.
        doing: &'static str,
        /// The error.
        source: io::Error,
    },
}

/// What is wrong with a path, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PathProblem {
    /// It is a symbolic link where a directory is expected.
    #[error("it is a symbolic link; remove it, or name the directory that it points to")]
    Link,
    /// It is something else than a directory.
    #[error("it is not a directory")]
    NotDirectory,
    /// The directory is another user's.
    #[error("it belongs to uid {owner}, not {expected}; {ANOTHER_PLACE}")]
    Owner {
        /// The directory's owner.
        owner: u32,
        /// This user.
        expected: u32,
    },
    /// Group or others can use the directory.
    #[error("others have access to it (mode {mode:04o}); {}", remedy(.path))]
    Accessible {
        /// Its permission bits.
        mode: u32,
        /// The directory.
        path: PathBuf,
    },
    /// It is on a file system that cannot be written, as the directories are by which sandboxes hide termd.
    #[error(
        "it cannot be written: a sandbox hides termd here (its profile allows it by `daemon_socket`)"
    )]
    ReadOnly,
    /// It is something else than a socket.
    #[error("it is there and not a socket; remove it yourself if it is not needed")]
    NotSocket,
    /// The socket is another user's.
    #[error("it is somebody else's socket")]
    OthersSocket,
}

const ANOTHER_PLACE: &str = "set TERMD_SOCKET or XDG_RUNTIME_DIR to a place that is yours alone";

/// What to do about an open directory. Only one that termd makes may be closed: `/tmp` and a home are
/// for others too.
fn remedy(path: &Path) -> String {
    if path.file_name() == Some(OsStr::new("termd")) {
        format!("look at what is in it, then chmod 700 {}", path.display())
    } else {
        ANOTHER_PLACE.to_owned()
    }
}

impl KeeperStartError {
    pub(crate) fn system(doing: &'static str, source: impl Into<io::Error>) -> Self {
        Self::System {
            doing,
            source: source.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_directory_of_termds_is_to_be_closed() {
        for (path, is_ours) in [
            ("/run/user/1000/termd", true),
            ("/tmp", false),
            ("/home/me", false),
            ("/", false),
        ] {
            let path = PathBuf::from(path);
            let problem = PathProblem::Accessible { mode: 0o1777, path };
            let said = problem.to_string();
            assert_eq!(said.contains("chmod"), is_ours, "{said}");
            assert_eq!(said.contains("TERMD_SOCKET"), !is_ours, "{said}");
        }
        let others = PathProblem::Owner {
            owner: 0,
            expected: 1001,
        };
        assert!(others.to_string().contains("TERMD_SOCKET"), "{others}");
    }
}

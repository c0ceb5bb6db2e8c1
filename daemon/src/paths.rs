//! The paths of termd's files, below the XDG directories.

use std::env;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use directories::BaseDirs;
use termd_proto::paths::{SOCKET_VARIABLE, SocketPlaces};
use thiserror::Error;

use crate::strict_modes::loose_directory;

const WRITABLE_BY_OTHERS: u32 = 0o022;

/// Every path that the daemon uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paths {
    /// The socket.
    pub socket: PathBuf,
    /// The directory of the database, the lock and, without a journal, the log.
    pub state_dir: PathBuf,
    /// `config.toml`, which may be missing.
    pub config_file: PathBuf,
}

/// Why there are no paths.
#[derive(Debug, Error)]
pub enum PathsError {
    /// There is no home directory.
    #[error("no home directory: set HOME to an absolute path")]
    NoHome,
    /// Others may put a socket of theirs in the place of ours.
    #[error(
        "XDG_RUNTIME_DIR is {}, which {problem}: set it to a directory of mode 0700 that is yours",
        path.display()
    )]
    RuntimeDir {
        /// The directory.
        path: PathBuf,
        /// What is wrong with it.
        problem: &'static str,
    },
}

/// Why a directory is no place for a socket.
fn problem_of(directory: &Path) -> Option<&'static str> {
    if loose_directory(directory).is_some() {
        return Some("everybody may replace");
    }
    // One that is absent is made, with mode 0700.
    let found = directory.metadata().ok()?;
    let own = rustix::process::geteuid().as_raw();
    if found.uid() != own && found.uid() != 0 {
        Some("belongs to another user")
    } else if found.mode() & WRITABLE_BY_OTHERS != 0 {
        Some("others may write to")
    } else {
        None
    }
}

impl Paths {
    /// Finds the paths by the environment.
    pub fn find() -> Result<Self, PathsError> {
        let base = BaseDirs::new().ok_or(PathsError::NoHome)?;
        let state_home = base.state_dir().ok_or(PathsError::NoHome)?;
        let explicit = env::var_os(SOCKET_VARIABLE).filter(|path| !path.is_empty());
        let runtime_dir = base.runtime_dir().filter(|_| explicit.is_none());
        if let Some((path, problem)) = runtime_dir.and_then(|path| Some((path, problem_of(path)?)))
        {
            let path = path.to_owned();
            return Err(PathsError::RuntimeDir { path, problem });
        }
        let user_runtime_dir =
            PathBuf::from(format!("/run/user/{}", rustix::process::getuid().as_raw()));
        let places = SocketPlaces {
            explicit: explicit.as_ref().map(AsRef::as_ref),
            runtime_dir: base.runtime_dir(),
            user_runtime_dir: user_runtime_dir.is_dir().then_some(&*user_runtime_dir),
            state_home,
        };
        Ok(Self {
            socket: places.socket_path(),
            state_dir: state_home.join("termd"),
            config_file: base.config_dir().join("termd/config.toml"),
        })
    }

    /// The database.
    pub fn database(&self) -> PathBuf {
        self.state_dir.join("termd.sqlite")
    }

    /// The log of a daemon that has neither a journal nor a stderr.
    pub fn log_file(&self) -> PathBuf {
        self.state_dir.join("termd.log")
    }
}

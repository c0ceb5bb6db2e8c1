//! The paths of termd's files, below the XDG directories.

use std::env;
use std::path::PathBuf;

use directories::BaseDirs;
use termd_proto::paths::{SOCKET_VARIABLE, SocketPlaces};
use thiserror::Error;

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

/// There is no home directory.
#[derive(Debug, Error)]
#[error("no home directory: set HOME to an absolute path")]
pub struct NoHome;

impl Paths {
    /// Finds the paths by the environment.
    pub fn find() -> Result<Self, NoHome> {
        let base = BaseDirs::new().ok_or(NoHome)?;
        let state_home = base.state_dir().ok_or(NoHome)?;
        let explicit = env::var_os(SOCKET_VARIABLE).filter(|path| !path.is_empty());
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

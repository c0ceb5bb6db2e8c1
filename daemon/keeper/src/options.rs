//! What a keeper is started with.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// What the keeper is started with.
#[derive(Debug, Clone)]
pub struct KeeperOptions {
    /// The path of the socket; absolute. termd owns its directory alone.
    pub socket_path: PathBuf,
    /// The directory of the database, which one daemon at a time may use; absolute.
    pub state_dir: PathBuf,
    /// The path of the server's program. It is not `/proc/self/exe`, so that a reload runs the file
    /// that is there by then.
    pub server_program: PathBuf,
    /// The arguments after `--server` on the server's command line.
    pub server_args: Vec<OsString>,
    /// The time between SIGHUP and SIGKILL for terminals when the daemon stops.
    pub kill_grace: Duration,
    /// Whether to run in the foreground (systemd, a debugger).
    pub detach: Detach,
}

/// Where the keeper runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Detach {
    /// In this process.
    Foreground,
    /// In a child with a session of its own. This process waits until the daemon serves, or prints
    /// why it does not. A daemon that is running already counts as serving once it listens.
    Background {
        /// The file that standard error is appended to, created with mode 0600; `/dev/null`
        /// without one.
        log: Option<PathBuf>,
    },
}

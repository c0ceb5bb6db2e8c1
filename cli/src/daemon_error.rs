//! Errors of `termctl daemon`.

use std::io;
use std::process::ExitStatus;
use std::time::Duration;

use thiserror::Error;

/// Why the daemon was not reloaded, stopped or restarted.
#[derive(Debug, Error)]
pub(crate) enum DaemonError {
    /// The keeper cannot be signalled.
    #[error("cannot signal the daemon (pid {pid}): {source}")]
    Signal { pid: i32, source: io::Error },
    /// The program on disk did not pass its trial.
    #[error("nothing was changed, for the new termd cannot serve: {0}")]
    NewProgram(String),
    #[error("the reload is not over after {} s; `termctl status` says what came of it", .0.as_secs())]
    ReloadTimeout(Duration),
    #[error("cannot run systemctl: {0}")]
    NoSystemctl(io::Error),
    /// systemctl said why on standard error.
    #[error("`systemctl --user restart {unit}` ended with {status}")]
    Systemctl { unit: String, status: ExitStatus },
}

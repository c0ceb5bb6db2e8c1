//! The arguments of `termctl daemon`.

use clap::{Args, Subcommand};

/// `termctl daemon`.
#[derive(Debug, Args)]
pub(crate) struct DaemonArgs {
    #[command(subcommand)]
    pub(crate) verb: DaemonVerb,
}

/// What is done to the daemon.
#[derive(Debug, Clone, Copy, Subcommand)]
pub(crate) enum DaemonVerb {
    /// Run the binary that is on disk now; terminals live on, and one that cannot serve changes nothing
    Reload,
    /// End all terminals, store what they printed, and stop the daemon
    Stop(DaemonEndArgs),
    /// End all terminals, stop the daemon, and start it again
    Restart(DaemonEndArgs),
}

/// How the daemon is ended.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct DaemonEndArgs {
    /// Do not ask, where terminals run
    #[arg(short = 'y', long)]
    pub(crate) yes: bool,
}

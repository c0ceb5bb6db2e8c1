//! termd's few arguments.

use clap::Parser;

/// The daemon that owns your terminals: one per user, on a Unix socket.
///
/// Started without arguments it stays in the foreground, as systemd wants it. `termctl` starts it
/// when nothing listens.
#[derive(Debug, Parser)]
#[command(name = "termd", version)]
pub struct Args {
    /// Start in the background, in a session of its own; return when it serves.
    #[arg(long, conflicts_with = "server")]
    pub detach: bool,
    /// Be the server: what the keeper starts.
    #[arg(long, hide = true)]
    pub server: bool,
}

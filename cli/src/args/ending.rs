//! The arguments of what ends terminals: `kill`, `close`, `delete`.

use clap::Args;

use super::TaggedArgs;
use crate::arg_types::{SignalName, parse_ms};

/// `termctl kill`.
#[derive(Debug, Args)]
pub(crate) struct KillArgs {
    /// Which terminal
    #[arg(required_unless_present_any = ["list", "tags"], conflicts_with = "tags")]
    pub(crate) terminal: Option<String>,
    #[command(flatten)]
    pub(crate) tagged: TaggedArgs,
    /// Send this signal once, also written -9 or -INT [default: SIGTERM, and SIGKILL for what is left
    /// after a grace]
    #[arg(short = 's', long, value_name = "NAME")]
    pub(crate) signal: Option<SignalName>,
    /// Print the signals' names in the order of their numbers
    #[arg(short = 'l', long, conflicts_with_all = ["terminal", "tags", "signal"])]
    pub(crate) list: bool,
}

/// `termctl close`.
#[derive(Debug, Args)]
pub(crate) struct CloseArgs {
    /// Which terminals
    #[arg(required_unless_present_any = ["exited", "tags"], conflicts_with = "tags")]
    pub(crate) terminals: Vec<String>,
    #[command(flatten)]
    pub(crate) tagged: TaggedArgs,
    /// All whose command has exited
    #[arg(long, conflicts_with_all = ["terminals", "eof"])]
    pub(crate) exited: bool,
    /// Type end of file first, and give the command so long to go by itself; a bare number is
    /// milliseconds
    #[arg(
        long,
        value_name = "DURATION",
        value_parser = parse_ms,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "2000"
    )]
    pub(crate) eof: Option<u64>,
}

impl CloseArgs {
    /// `termctl prune`.
    pub(crate) const fn of_exited() -> Self {
        Self {
            terminals: Vec::new(),
            tagged: TaggedArgs { tags: Vec::new() },
            exited: true,
            eof: None,
        }
    }
}

/// `termctl delete`.
#[derive(Debug, Args)]
pub(crate) struct DeleteArgs {
    /// Do not ask
    #[arg(short = 'y', long)]
    pub(crate) yes: bool,
    /// Which terminal; it must be closed
    pub(crate) terminal: String,
}

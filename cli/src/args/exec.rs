//! The arguments of `termctl exec`.

use std::time::Duration;

use clap::Args;
use termd_proto::duration;

/// `termctl exec`.
#[derive(Debug, Args)]
pub(crate) struct ExecArgs {
    /// Interrupt the line (Ctrl-C) after this long, and exit with 124
    #[arg(long, value_name = "DURATION", value_parser = duration::parse)]
    pub(crate) timeout: Option<Duration>,
    /// Run it also where the gate would ask first
    #[arg(long)]
    pub(crate) confirmed: bool,
    /// Which terminal; its shell must be bash, zsh, fish or dash, and at its prompt
    pub(crate) terminal: String,
    /// The line for its shell; words are joined by spaces and not quoted, as ssh does
    #[arg(trailing_var_arg = true, required = true, value_name = "LINE")]
    pub(crate) line: Vec<String>,
}

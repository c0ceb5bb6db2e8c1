//! The arguments of `run`, `create` and `read`: starting commands and what they print.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use termd_proto::duration;

use crate::arg_types::Variable;

/// What to start, and how: common to `run` and `create`.
#[derive(Debug, Args)]
pub(crate) struct StartArgs {
    /// A name for the terminal, unique among those that are open
    #[arg(long, value_name = "NAME")]
    pub(crate) label: Option<String>,
    /// Where to start it [default: the current directory]
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// Set a variable for it; may be given again
    #[arg(long = "env", value_name = "NAME=VALUE")]
    pub(crate) env: Vec<Variable>,
    /// Columns [default: this terminal's, else 80]
    #[arg(long)]
    pub(crate) cols: Option<u16>,
    /// Rows [default: this terminal's, else 24]
    #[arg(long)]
    pub(crate) rows: Option<u16>,
    /// Give it no terminal but two pipes, so that standard output and error stay apart; nothing can
    /// be typed into it
    #[arg(long)]
    pub(crate) pipes: bool,
    /// Run it also where the gate would ask first
    #[arg(long)]
    pub(crate) confirmed: bool,
}

/// `termctl run`.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// How to start it.
    #[command(flatten)]
    pub(crate) start: StartArgs,
    /// End it after this long, and exit with 124
    #[arg(long, value_name = "DURATION", value_parser = duration::parse)]
    pub(crate) timeout: Option<Duration>,
    /// Leave the terminal open when termctl ends
    #[arg(long)]
    pub(crate) keep: bool,
    /// Pass on exact bytes where standard output is no terminal (default: plain text)
    #[arg(long)]
    pub(crate) raw: bool,
    /// Type standard input into it, then end of file
    #[arg(short = 'i', long, conflicts_with = "pipes")]
    pub(crate) stdin: bool,
    /// The command and its arguments; one argument with shell syntax is run by your shell
    #[arg(trailing_var_arg = true, required = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

/// `termctl create`.
#[derive(Debug, Args)]
pub(crate) struct CreateArgs {
    /// How to start it.
    #[command(flatten)]
    pub(crate) start: StartArgs,
    /// Close it after so long (a bare number: seconds) without output, input or anybody attached
    #[arg(long, value_name = "DURATION", value_parser = duration::parse)]
    pub(crate) idle_timeout: Option<Duration>,
    /// Lines of scrollback that its screen keeps, 0 to 100,000 [default: 10,000]
    #[arg(long, value_name = "LINES")]
    pub(crate) scrollback: Option<u32>,
    /// The command and its arguments [default: your shell]
    #[arg(trailing_var_arg = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

/// One of the two that a command on pipes writes to.
#[derive(Debug, Args)]
pub(crate) struct StreamArgs {
    /// Only standard output, of a command on pipes
    #[arg(long, conflicts_with_all = ["stderr", "command"])]
    pub(crate) stdout: bool,
    /// Only standard error, of a command on pipes
    #[arg(long, conflicts_with = "command")]
    pub(crate) stderr: bool,
}

/// `termctl read`.
#[derive(Debug, Args)]
pub(crate) struct ReadArgs {
    /// Which terminal
    pub(crate) terminal: String,
    /// Start at this offset
    #[arg(long, value_name = "OFFSET", conflicts_with = "tail")]
    pub(crate) since: Option<u64>,
    /// Start this many lines before the end
    #[arg(long, value_name = "LINES")]
    pub(crate) tail: Option<u64>,
    /// Print the output of this command, as history numbers them; -1 is the newest
    #[arg(
        long,
        value_name = "N",
        allow_negative_numbers = true,
        conflicts_with_all = ["since", "tail", "follow"]
    )]
    pub(crate) command: Option<i64>,
    /// Print at most this many bytes of output
    #[arg(long, value_name = "COUNT")]
    pub(crate) bytes: Option<u64>,
    /// Of a command on pipes, only this.
    #[command(flatten)]
    pub(crate) stream: StreamArgs,
    /// Go on until the command has exited
    #[arg(short = 'f', long)]
    pub(crate) follow: bool,
    /// Exact bytes, escape sequences and all
    #[arg(long)]
    pub(crate) raw: bool,
    /// Plain text on a terminal too, redraws applied: what a pipe gets
    #[arg(long, conflicts_with = "raw")]
    pub(crate) plain: bool,
}

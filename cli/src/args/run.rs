//! The arguments of `run`, `create` and `read`: starting commands and what they print.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, value_parser};
use termd_proto::Tag;
use termd_proto::duration;
use termd_proto::terminal::{MAX_DIMENSION, MIN_COLS};

use super::DetachKeysArgs;
use crate::arg_types::{Variable, idle_timeout, variable_or_callers};
use crate::attach::detach::DetachKey;

/// What to start, and how: common to `run` and `create`.
#[derive(Debug, Args)]
pub(crate) struct StartArgs {
    /// A name for the terminal, unique among those that are open
    #[arg(long, alias = "name", short_alias = 'l', value_name = "NAME")]
    pub(crate) label: Option<String>,
    /// Close the open terminal that has this label first
    #[arg(long, requires = "label")]
    pub(crate) replace: bool,
    /// A word that groups it with others; may be given again
    #[arg(long = "tag", value_name = "TAG")]
    pub(crate) tags: Vec<Tag>,
    /// Where to start it [default: the current directory]
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// Set a variable for it, by NAME alone the one that is set here; may be given again
    #[arg(long = "env", short_alias = 'e', value_name = "NAME[=VALUE]", value_parser = variable_or_callers)]
    pub(crate) env: Vec<Variable>,
    /// Columns [default: this terminal's, else 80]
    #[arg(long, value_parser = value_parser!(u16).range(i64::from(MIN_COLS)..=i64::from(MAX_DIMENSION)))]
    pub(crate) cols: Option<u16>,
    /// Rows [default: this terminal's, else 24]
    #[arg(long, value_parser = value_parser!(u16).range(1..=i64::from(MAX_DIMENSION)))]
    pub(crate) rows: Option<u16>,
    /// Run it also where the gate would ask first
    #[arg(long)]
    pub(crate) confirmed: bool,
}

/// What the command of `run` has for standard input, output and error.
#[derive(Debug, Clone, Copy, Default, Args)]
pub(crate) struct StdioArgs {
    /// Give it a terminal in any case; standard input is passed on from a terminal, or with -i
    #[arg(short = 't', long, overrides_with = "no_tty")]
    pub(crate) tty: bool,
    /// Give it pipes in any case, so that standard output and error stay apart
    #[arg(short = 'T', long, alias = "pipes")]
    pub(crate) no_tty: bool,
    /// Pass standard input on, then its end, also where it would not be: with -t or --json
    #[arg(short = 'i', long = "stdin", visible_alias = "interactive")]
    pub(crate) stdin: bool,
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
    /// Leave the terminal open when termctl ends, with what the command has left running
    #[arg(long)]
    pub(crate) keep: bool,
    /// Pass on exact bytes of a terminal's output where standard output is none (default: plain text)
    #[arg(long)]
    pub(crate) raw: bool,
    /// Terminal or pipes.
    #[command(flatten)]
    pub(crate) stdio: StdioArgs,
    /// The key that leaves it running, where the command has this terminal
    #[arg(long, value_name = "KEY", default_value = "ctrl-]")]
    pub(crate) detach_key: DetachKey,
    /// The command and its arguments; one argument with shell syntax is run by your shell
    #[arg(trailing_var_arg = true, required = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

/// A terminal that stays: common to `create` and `new`.
#[derive(Debug, Args)]
pub(crate) struct StayArgs {
    /// How to start it.
    #[command(flatten)]
    pub(crate) start: StartArgs,
    /// Close it after so long (a bare number: seconds) without output, input or anybody attached
    #[arg(long, value_name = "DURATION", value_parser = idle_timeout)]
    pub(crate) idle_timeout: Option<Duration>,
    /// Lines of scrollback that its screen keeps, 0 to 100,000 [default: 10,000]
    #[arg(long, value_name = "LINES",
          value_parser = clap::value_parser!(u32).range(..=super::MAX_SCROLLBACK))]
    pub(crate) scrollback: Option<u32>,
    /// The command and its arguments [default: your shell]
    #[arg(trailing_var_arg = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

/// `termctl create`.
#[derive(Debug, Args)]
pub(crate) struct CreateArgs {
    /// The terminal.
    #[command(flatten)]
    pub(crate) terminal: StayArgs,
    /// Give it no terminal but two pipes, so that standard output and error stay apart; nothing can
    /// be typed into it
    #[arg(long)]
    pub(crate) pipes: bool,
}

/// `termctl new`.
#[derive(Debug, Args)]
pub(crate) struct NewArgs {
    /// The terminal.
    #[command(flatten)]
    pub(crate) terminal: StayArgs,
    /// The keys that detach.
    #[command(flatten)]
    pub(crate) keys: DetachKeysArgs,
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
    #[arg(long, alias = "lines", short_alias = 'n', value_name = "LINES")]
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
    /// No colours on a terminal either: what a pipe gets
    #[arg(long, conflicts_with = "raw")]
    pub(crate) plain: bool,
    /// Only some lines of it.
    #[command(flatten)]
    pub(crate) lines: LinesArgs,
}

/// Which lines of the output are printed.
#[derive(Debug, Args)]
pub(crate) struct LinesArgs {
    /// Print only lines that match, with their numbers; exit with 1 where none does
    #[arg(long, value_name = "REGEX", conflicts_with = "raw")]
    pub(crate) grep: Option<String>,
    /// Print only lines that look like errors, likewise
    #[arg(long, conflicts_with_all = ["raw", "grep"])]
    pub(crate) errors: bool,
    /// With --grep: capital letters and small ones are the same
    #[arg(short = 'i', long, requires = "grep")]
    pub(crate) ignore_case: bool,
    /// Print this number of lines before and behind each match, too [default: 0; with --errors 3]
    #[arg(short = 'C', long, value_name = "LINES")]
    pub(crate) context: Option<usize>,
}

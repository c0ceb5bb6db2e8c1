//! Arguments of what is about attention: `notify` and `status`.

use clap::{Args, ValueEnum};
use termd_proto::attention::ReportedState;

/// `termctl notify`.
#[derive(Debug, Args)]
pub(crate) struct NotifyArgs {
    /// What is wanted of the person
    #[arg(short = 's', long, value_enum, default_value_t)]
    pub(crate) state: ReportedStateArg,
    /// Which terminal this is about [default: the one that this runs in]
    #[arg(short = 't', long, value_name = "TERMINAL")]
    pub(crate) terminal: Option<String>,
    /// What to tell the person, in one line
    #[arg(value_name = "TEXT", required = true)]
    pub(crate) text: Vec<String>,
}

/// What a script or an agent says of itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportedStateArg {
    /// It waits for the person
    #[default]
    Input,
    /// It has done what it was asked for
    Done,
    /// It could not do it
    Failed,
}

impl From<ReportedStateArg> for ReportedState {
    fn from(state: ReportedStateArg) -> Self {
        match state {
            ReportedStateArg::Input => Self::Input,
            ReportedStateArg::Done => Self::Done,
            ReportedStateArg::Failed => Self::Failed,
        }
    }
}

/// `termctl status`.
#[derive(Debug, Args)]
pub(crate) struct StatusArgs {
    /// One line for a status bar or a prompt: how many terminals wait for a person, for what, and how many
    /// run
    #[arg(long)]
    pub(crate) line: bool,
}

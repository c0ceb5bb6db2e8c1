//! Arguments of what is about attention: `notify` and `status`.

use clap::{Args, ValueEnum};
use termd_proto::Tag;
use termd_proto::attention::{AttentionState, ReportedState};

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

/// `termctl notifier`.
#[derive(Debug, Args)]
pub(crate) struct NotifierArgs {
    /// For what, with commas between; approval and secret are shown in any case
    #[arg(long, value_name = "STATES", value_enum, value_delimiter = ',',
          default_values_t = NotifierArgs::STATES)]
    pub(crate) states: Vec<WaitingStateArg>,
    /// Also the ends of commands in terminals that have this tag; may be given again
    #[arg(long = "tag", value_name = "TAG")]
    pub(crate) tags: Vec<Tag>,
}

impl NotifierArgs {
    const STATES: [WaitingStateArg; 3] = [
        WaitingStateArg::Approval,
        WaitingStateArg::Secret,
        WaitingStateArg::Input,
    ];
}

impl Default for NotifierArgs {
    fn default() -> Self {
        Self {
            states: Self::STATES.to_vec(),
            tags: Vec::new(),
        }
    }
}

/// What a terminal waits for a person for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum WaitingStateArg {
    /// The gate asks whether something may run
    Approval,
    /// A secret is asked for
    Secret,
    /// A program waits for an answer
    Input,
    /// A command has failed
    Failed,
    /// A command is done
    Done,
}

impl From<WaitingStateArg> for AttentionState {
    fn from(state: WaitingStateArg) -> Self {
        match state {
            WaitingStateArg::Approval => Self::Approval,
            WaitingStateArg::Secret => Self::Secret,
            WaitingStateArg::Input => Self::Input,
            WaitingStateArg::Failed => Self::Failed,
            WaitingStateArg::Done => Self::Done,
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

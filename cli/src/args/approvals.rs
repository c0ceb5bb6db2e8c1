//! The arguments of the verbs that show and answer questions.

use clap::Args;
use termd_proto::approval::{ApprovalId, InvalidApprovalId};

/// `termctl approvals`.
#[derive(Debug, Args)]
pub(crate) struct ApprovalsArgs {
    /// Stay, and show each question as it comes; on a terminal, ask for the answer too
    #[arg(short = 'w', long)]
    pub(crate) watch: bool,
    /// The same as `termctl notifier`, and its former name
    #[arg(long, hide = true, conflicts_with_all = ["watch", "all"])]
    pub(crate) notify: bool,
    /// Also those that are over
    #[arg(short = 'a', long)]
    pub(crate) all: bool,
    /// Only this question, and all of it
    #[arg(value_name = "ID", value_parser = parse_approval_id,
          conflicts_with_all = ["watch", "notify", "all"])]
    pub(crate) id: Option<ApprovalId>,
}

/// `termctl approve`.
#[derive(Debug, Args)]
pub(crate) struct ApproveArgs {
    /// Now and from now on: write a rule for it into approved.toml, beside config.toml
    #[arg(long)]
    pub(crate) always: bool,
    /// The question's id
    #[arg(required = true, value_name = "ID", value_parser = parse_approval_id)]
    pub(crate) ids: Vec<ApprovalId>,
}

/// `termctl deny`.
#[derive(Debug, Args)]
pub(crate) struct DenyArgs {
    /// The question's id
    #[arg(required = true, value_name = "ID", value_parser = parse_approval_id)]
    pub(crate) ids: Vec<ApprovalId>,
}

/// `termctl answer`.
#[derive(Debug, Args)]
pub(crate) struct AnswerArgs {
    /// The question's id
    #[arg(value_parser = parse_approval_id)]
    pub(crate) id: ApprovalId,
}

/// `termctl askpass`.
#[derive(Debug, Args)]
pub(crate) struct AskpassArgs {
    /// What is asked for
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) prompt: Vec<String>,
}

fn parse_approval_id(text: &str) -> Result<ApprovalId, InvalidApprovalId> {
    text.parse()
}

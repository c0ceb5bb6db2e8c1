//! `termctl approve` and `termctl deny`: a person's answer to the gate.

use termd_proto::approval::{ApprovalsClient as _, Decision};

use super::Context;
use super::approvals::told;
use crate::args::AnswerArgs;
use crate::error::CliError;
use crate::exit::ExitCode;
use crate::output;

pub(super) async fn run(
    context: Context,
    args: &AnswerArgs,
    decision: Decision,
) -> Result<ExitCode, CliError> {
    let link = context.open().await?;
    for id in &args.ids {
        let answered = link
            .once(|rpc| {
                let id = id.clone();
                async move { rpc.answer(id, decision).await }
            })
            .await?;
        if context.json {
            output::print_json(&answered)?;
        } else {
            output::print(format!("{}\n", told(&answered)).as_bytes())?;
        }
    }
    Ok(ExitCode::OK)
}

//! `termctl approve` and `termctl deny`: a person's answer to the gate's question.

use termd_client::escape::escaped;
use termd_proto::approval::{AnswerApproval, ApprovalId, Decision};
use termd_proto::secret::AnswerSecret;

use super::question::{line, list};
use crate::args::{ApproveArgs, DenyArgs};
use crate::cmd::Context;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::output;

pub(in crate::cmd) async fn approve(
    context: Context,
    args: &ApproveArgs,
) -> Result<ExitCode, CliError> {
    let decision = if args.always {
        Decision::Always
    } else {
        Decision::Approve
    };
    answer(context, &args.ids, decision).await
}

pub(in crate::cmd) async fn deny(context: Context, args: &DenyArgs) -> Result<ExitCode, CliError> {
    let link = context.open().await?;
    let secrets = list(&link, None).await?.secrets;
    let is_secret = |id: &ApprovalId| secrets.iter().any(|question| question.id == *id);
    let (of_secrets, of_gate): (Vec<_>, Vec<_>) = args.ids.iter().cloned().partition(is_secret);
    for id in of_secrets {
        let secret = None;
        link.once(&AnswerSecret { id, secret }).await?;
    }
    answer(context, &of_gate, Decision::Deny).await
}

async fn answer(
    context: Context,
    ids: &[ApprovalId],
    decision: Decision,
) -> Result<ExitCode, CliError> {
    let link = context.open().await?;
    for id in ids {
        let answered = link
            .once(&AnswerApproval {
                id: id.clone(),
                decision,
                way: None,
            })
            .await?;
        if context.json {
            output::print_json(&answered)?;
        } else {
            output::print(format!("{}\n", line(&answered, context.display)).as_bytes())?;
            if let (Decision::Always, Some(why)) = (decision, &answered.only_once) {
                output::note(&format!("{id} is approved once: {}", escaped(why)));
            }
        }
    }
    Ok(ExitCode::OK)
}

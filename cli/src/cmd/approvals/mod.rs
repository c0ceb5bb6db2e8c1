//! `termctl approvals`: the gate's questions to a person, now or as they come; and their answers by
//! `termctl approve` and `termctl deny`.

mod answer;
mod notify;
mod question;
mod watch;

use termd_client::timestamp::utc;
use termd_proto::approval::ApprovalInfo;

pub(super) use self::answer::{approve, deny};
use self::question::{asker, is_open, list, variables};
use super::Context;
use crate::args::ApprovalsArgs;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::output;
use crate::table::Table;

pub(super) async fn run(context: Context, args: &ApprovalsArgs) -> Result<ExitCode, CliError> {
    let link = context.open().await?;
    if args.notify {
        return notify::run(context, &link).await;
    }
    if args.watch {
        return watch::run(context, args, &link).await;
    }
    let mut approvals = list(&link, None).await?.approvals;
    approvals.retain(|info| args.all || is_open(info));
    if context.json {
        output::print_json(&approvals)?;
    } else {
        output::print(render(&approvals).as_bytes())?;
    }
    Ok(ExitCode::OK)
}

fn render(approvals: &[ApprovalInfo]) -> String {
    let mut table = Table::new(&["ID", "STATE", "ASKED", "FOR", "WHERE", "COMMAND", "WHY"]);
    for info in approvals {
        let place = match &info.terminal {
            Some(terminal) => terminal.to_string(),
            None => info.cwd.clone(),
        };
        let command = if info.env.is_empty() {
            info.command.clone()
        } else {
            format!("{} {}", variables(info), info.command)
        };
        table.row([
            info.id.as_str(),
            info.state.as_str(),
            &utc(info.asked_at_ms),
            asker(info),
            &place,
            &command,
            info.reason.as_deref().unwrap_or("a rule asks for it"),
        ]);
    }
    table.render()
}

//! `termctl approvals`: what the gate wants a person to agree to, now or as it comes.

use std::collections::HashMap;
use std::fmt::Write as _;

use termd_client::escape::escaped;
use termd_client::refusal::kind_of;
use termd_client::timestamp::utc;
use termd_client::{ClientError, Link};
use termd_proto::ErrorKind;
use termd_proto::approval::{
    AnswerApproval, ApprovalId, ApprovalInfo, ApprovalList, ApprovalState, Decision, ListApprovals,
    WaitForApproval,
};

use super::{Context, notify};
use crate::args::ApprovalsArgs;
use crate::confirm::{Offer, Person, Reply};
use crate::error::CliError;
use crate::exit::ExitCode;
use crate::output;
use crate::table::Table;

/// How long one look waits for a change, in milliseconds: below the call's own deadline.
const WATCH_MS: u64 = 60_000;

pub(super) async fn run(context: Context, args: &ApprovalsArgs) -> Result<ExitCode, CliError> {
    let link = context.open().await?;
    if args.notify {
        return notify::run(context, &link).await;
    }
    if args.watch {
        return watch(context, args, &link).await;
    }
    let listed = list(&link, None).await?;
    let shown: Vec<_> = listed
        .approvals
        .into_iter()
        .filter(|info| args.all || is_open(info))
        .collect();
    if context.json {
        output::print_json(&shown)?;
    } else {
        output::print(render(&shown).as_bytes())?;
    }
    Ok(ExitCode::OK)
}

pub(super) async fn list(link: &Link, after: Option<u64>) -> Result<ApprovalList, ClientError> {
    let wait_ms = after.map(|_| WATCH_MS);
    link.repeat(&ListApprovals { after, wait_ms }).await
}

fn is_open(info: &ApprovalInfo) -> bool {
    matches!(info.state, ApprovalState::Pending | ApprovalState::Approved)
}

/// Shows each question, and what becomes of it; asks where somebody can answer.
async fn watch(context: Context, args: &ApprovalsArgs, link: &Link) -> Result<ExitCode, CliError> {
    let mut person = (!context.json).then(Person::at_the_tty).flatten();
    let mut seen: HashMap<ApprovalId, ApprovalState> = HashMap::new();
    let mut listed = list(link, None).await?;
    loop {
        let is_first = seen.is_empty() && !args.all;
        for info in &listed.approvals {
            let before = seen.insert(info.id.clone(), info.state);
            if before == Some(info.state) || (is_first && !is_open(info)) {
                continue;
            }
            if context.json {
                output::print_json(info)?;
            } else {
                output::print(format!("{}\n", told(info)).as_bytes())?;
            }
            if let (Some(person), ApprovalState::Pending) = (&mut person, info.state) {
                ask(link, person, info).await?;
            }
        }
        seen.retain(|id, _| listed.approvals.iter().any(|info| info.id == *id));
        listed = list(link, Some(listed.seq)).await?;
    }
}

/// Asks at the terminal, until it is answered here or elsewhere.
async fn ask(link: &Link, person: &mut Person, info: &ApprovalInfo) -> Result<(), CliError> {
    let offer = Offer::of(info);
    let decision = tokio::select! {
        reply = person.replies("may it run?", offer) => match reply {
            Reply::Once => Decision::Approve,
            Reply::Always => Decision::Always,
            Reply::No => Decision::Deny,
        },
        answered = answered(link, &info.id) => {
            // The cursor stands behind the question.
            output::note_below("answered elsewhere");
            return answered;
        }
    };
    let answered = link
        .once(&AnswerApproval {
            id: info.id.clone(),
            decision,
        })
        .await;
    match answered {
        // Somebody was faster: the list tells who.
        Err(ClientError::Refused(refusal))
            if kind_of(&refusal) == Some(ErrorKind::ApprovalAnswered) =>
        {
            Ok(())
        }
        // It waits on: to be answered by whoever can.
        Err(error @ ClientError::Refused(_)) => {
            output::note(&error.to_string());
            Ok(())
        }
        Ok(_) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Waits until a question is answered.
async fn answered(link: &Link, id: &ApprovalId) -> Result<(), CliError> {
    loop {
        let waited = link
            .repeat(&WaitForApproval {
                id: id.clone(),
                timeout_ms: Some(WATCH_MS),
            })
            .await?;
        if waited.state != ApprovalState::Pending {
            return Ok(());
        }
    }
}

/// One question in one line.
pub(super) fn told(info: &ApprovalInfo) -> String {
    let by = info.asked_by.client.as_deref();
    let by = by.unwrap_or(info.asked_by.front.as_str());
    let place = match &info.terminal {
        Some(terminal) => format!("in {terminal}"),
        None => format!("in {}", escaped(&info.cwd)),
    };
    let mut line = format!(
        "{} {}: {} ({place}, for {})",
        info.id,
        info.state.as_str(),
        escaped(&info.command),
        escaped(by)
    );
    if let Some(reason) = &info.reason {
        line.push_str(": ");
        line.push_str(&escaped(reason));
    }
    if let Some((file, number)) = &info.rule_at {
        // Writing to a string does not fail.
        let _ = write!(line, "; always, by {}:{number}", escaped(file));
    }
    line
}

fn render(approvals: &[ApprovalInfo]) -> String {
    let mut table = Table::new(&["ID", "STATE", "ASKED", "FOR", "WHERE", "COMMAND", "WHY"]);
    for info in approvals {
        let by = info.asked_by.client.as_deref();
        let place = match &info.terminal {
            Some(terminal) => terminal.to_string(),
            None => info.cwd.clone(),
        };
        table.row([
            info.id.as_str(),
            info.state.as_str(),
            &utc(info.asked_at_ms),
            by.unwrap_or(info.asked_by.front.as_str()),
            &place,
            &info.command,
            info.reason.as_deref().unwrap_or("a rule asks for it"),
        ]);
    }
    table.render()
}

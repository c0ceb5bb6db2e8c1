//! `termctl approvals --watch`: each question as it comes. A person at the tty is asked for the answer.

use std::collections::{HashMap, HashSet};
use std::convert::Infallible;

use termd_client::question::consequences;
use termd_client::{ClientError, Link};
use termd_proto::approval::{
    AnswerWay, ApprovalId, ApprovalInfo, ApprovalState, Decision, WaitForApproval,
};

use super::attention::{self, last_attention};
use super::question::{WATCH_MS, answer, begin_to_watch, is_open, line, list, whole};
use super::secret;
use crate::args::ApprovalsArgs;
use crate::cmd::Context;
use crate::confirm::{Offer, Person, Reply};
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::output;
use crate::signals::Signals;

/// Shows each question and each change of its state, until a signal ends termctl. The tty is then as it
/// was.
pub(super) async fn run(
    context: Context,
    args: &ApprovalsArgs,
    link: &Link,
) -> Result<ExitCode, CliError> {
    let mut signals = Signals::catch()?;
    tokio::select! {
        ended = watch(context, args, link) => ended.map(|never| match never {}),
        number = signals.next() => Ok(ExitCode::of_signal(number)),
    }
}

async fn watch(
    context: Context,
    args: &ApprovalsArgs,
    link: &Link,
) -> Result<Infallible, CliError> {
    let mut person = (!context.json).then(Person::at_the_tty).flatten();
    let mut seen: HashMap<ApprovalId, ApprovalState> = HashMap::new();
    let mut secrets: HashSet<ApprovalId> = HashSet::new();
    let mut listed = begin_to_watch(link).await?;
    // What was said before is old news.
    let mut attended = last_attention(&listed);
    loop {
        let is_first = seen.is_empty() && !args.all;
        for info in &listed.approvals {
            let before = seen.insert(info.id.clone(), info.state);
            if before == Some(info.state) || (is_first && !is_open(info)) {
                continue;
            }
            if context.json {
                output::print_json(info)?;
            } else if person.is_some() && info.state == ApprovalState::Pending {
                output::print(whole(info).as_bytes())?;
            } else {
                output::print(format!("{}\n", line(info, context.display)).as_bytes())?;
            }
            if let (Some(person), ApprovalState::Pending) = (&mut person, info.state) {
                ask(link, person, info).await?;
            }
        }
        for question in &listed.secrets {
            if !secrets.insert(question.id.clone()) {
                continue;
            }
            if let Some(person) = &mut person {
                secret::ask(link, person, question, listed.seq).await?;
            } else if context.json {
                output::print_json(question)?;
            } else {
                output::print(format!("{}\n", secret::line(question)).as_bytes())?;
            }
        }
        for said in &listed.attention {
            if said.number > attended {
                if context.json {
                    output::print_json(said)?;
                } else {
                    output::print(format!("{}\n", attention::line(said)).as_bytes())?;
                }
            }
        }
        attended = last_attention(&listed);
        secrets.retain(|id| listed.secrets.iter().any(|question| question.id == *id));
        seen.retain(|id, _| listed.approvals.iter().any(|info| info.id == *id));
        listed = list(link, Some(listed.seq)).await?;
    }
}

/// Asks the person at the tty, until the question is answered here or elsewhere.
async fn ask(link: &Link, person: &mut Person, info: &ApprovalInfo) -> Result<(), CliError> {
    let offer = Offer::of(info);
    let question = format!("{} May it?", consequences(info));
    let decision = tokio::select! {
        reply = person.replies(&question, offer) => match reply {
            Reply::Once => Decision::Approve,
            Reply::Always => Decision::Always,
            Reply::No => Decision::Deny,
        },
        is_known = wait_for_answer(link, &info.id) => {
            // The cursor is still behind the question.
            output::note_below(if is_known? {
                "answered elsewhere"
            } else {
                "the daemon was reloaded: who asked asks again"
            });
            return Ok(());
        }
    };
    match answer(link, &info.id, decision, AnswerWay::Prompt).await {
        // The question stays open for another front.
        Err(error @ ClientError::Refused(_)) => {
            output::note(&error.to_string());
            Ok(())
        }
        // The list shows an answer that came before this one.
        answered => answered.map(|_| ()).map_err(CliError::from),
    }
}

/// Waits until a question is answered; `false`: another server has come, which does not know it.
async fn wait_for_answer(link: &Link, id: &ApprovalId) -> Result<bool, CliError> {
    loop {
        let waited = link
            .repeat(&WaitForApproval {
                id: id.clone(),
                timeout_ms: Some(WATCH_MS),
            })
            .await;
        match waited {
            Ok(info) if info.state == ApprovalState::Pending => {}
            Ok(_) => return Ok(true),
            Err(ClientError::Refused(_)) => return Ok(false),
            Err(error) => return Err(error.into()),
        }
    }
}

//! `termctl approvals --watch`: each question as it comes. A person at the tty is asked for the answer.
//!
//! At a tty one question is asked at a time: first those for secrets, then the oldest. It is withdrawn when it is over, so that the
//! next one is seen at once.

use std::collections::{HashMap, HashSet};
use std::convert::Infallible;

use termd_client::Link;
use termd_proto::approval::{ApprovalId, ApprovalList, ApprovalState};

use super::attention::{self, last_attention};
use super::prompt::{Asked, Prompt, next_waiting};
use super::question::{begin_to_watch, is_open, line, list};
use super::secret;
use crate::args::ApprovalsArgs;
use crate::cmd::Context;
use crate::confirm::Person;
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
    let mut listed = begin_to_watch(link).await?;
    let mut report = Report {
        context,
        shows_all: args.all,
        asks: person.is_some(),
        states: HashMap::new(),
        secrets: HashSet::new(),
        // What was said before is old news.
        attended: last_attention(&listed),
    };
    // Questions that were asked here: not again.
    let mut asked: HashSet<ApprovalId> = HashSet::new();
    loop {
        report.show(&listed)?;
        let next = next_waiting(&listed, &asked);
        listed = match (&mut person, next) {
            (Some(person), Some(question)) => {
                asked.insert(question.id().clone());
                let prompt = Prompt {
                    link,
                    asked: &asked,
                };
                let (ended, listed) = prompt.ask(person, &question, listed).await?;
                if ended == Asked::PutOff {
                    asked.remove(question.id());
                }
                listed
            }
            (None, _) | (_, None) => list(link, Some(listed.seq)).await?,
        };
        asked.retain(|id| is_listed(&listed, id));
    }
}

fn is_listed(listed: &ApprovalList, id: &ApprovalId) -> bool {
    listed.approvals.iter().any(|info| info.id == *id)
        || listed.secrets.iter().any(|question| question.id == *id)
}

/// What is shown of the questions without asking.
#[derive(Debug)]
struct Report {
    context: Context,
    /// Whether questions that were over at the start are shown.
    shows_all: bool,
    /// Whether questions that wait are shown by the prompt that asks them.
    asks: bool,
    states: HashMap<ApprovalId, ApprovalState>,
    secrets: HashSet<ApprovalId>,
    /// The number of the last thing that an agent has said and that was shown.
    attended: u64,
}

impl Report {
    /// Shows what has changed.
    fn show(&mut self, listed: &ApprovalList) -> Result<(), CliError> {
        let is_first = self.states.is_empty() && !self.shows_all;
        for info in &listed.approvals {
            let before = self.states.insert(info.id.clone(), info.state);
            let is_asked = self.asks && info.state == ApprovalState::Pending;
            if before == Some(info.state) || (is_first && !is_open(info)) || is_asked {
                continue;
            }
            if self.context.json {
                output::print_json(info)?;
            } else {
                output::print(format!("{}\n", line(info, self.context.display)).as_bytes())?;
            }
        }
        for question in &listed.secrets {
            if !self.secrets.insert(question.id.clone()) || self.asks {
                continue;
            }
            if self.context.json {
                output::print_json(question)?;
            } else {
                output::print(format!("{}\n", secret::line(question)).as_bytes())?;
            }
        }
        for said in &listed.attention {
            if said.number <= self.attended {
                continue;
            }
            if self.context.json {
                output::print_json(said)?;
            } else {
                output::print(format!("{}\n", attention::line(said)).as_bytes())?;
            }
        }
        self.attended = last_attention(listed);
        self.secrets.retain(|id| is_listed(listed, id));
        self.states.retain(|id, _| is_listed(listed, id));
        Ok(())
    }
}

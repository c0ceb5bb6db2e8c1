//! The prompt of `termctl approvals --watch`: one question, until it is answered here or over.

use std::collections::HashSet;
use std::pin::pin;

use termd_client::question::consequences;
use termd_client::waiting_question::{WaitingQuestion, waiting};
use termd_client::{ClientError, Link};
use termd_proto::approval::{AnswerWay, ApprovalId, ApprovalList, ApprovalState, Decision};
use termd_proto::secret::{AnswerSecret, Secret};

use super::question::{answer, list, whole};
use super::secret::said;
use crate::confirm::{Offer, Person, Reply};
use crate::error::CliError;
use crate::output;

/// What the person says.
#[derive(Debug)]
enum Said {
    Decision(Decision),
    Secret(Option<Secret>),
}

/// What the prompt does with a question.
trait Prompted {
    /// What is asked, without the keys of an answer.
    fn text(&self) -> String;
    /// Shows once more what the cursor stands behind.
    fn show_again(&self);
    /// Asks for the answer. Cancel safe, as [`Person::replies`] is.
    async fn asked_of(&self, person: &mut Person) -> Result<Said, CliError>;
    /// Why the question is not to be answered any more; `None`: it is.
    fn end_in(&self, listed: &ApprovalList) -> Option<&'static str>;
}

impl Prompted for WaitingQuestion {
    fn text(&self) -> String {
        match self {
            Self::Gate(info) => format!("{} May it?", consequences(info)),
            Self::Secret(question) => format!(
                "{}, and reads what you answer.\nSecret, which is not shown (nothing: no): ",
                said(question)
            ),
        }
    }

    fn show_again(&self) {
        let text = self.text();
        output::ask(&match self {
            Self::Gate(info) => Offer::of(info).asks(&text),
            Self::Secret(_) => text,
        });
    }

    async fn asked_of(&self, person: &mut Person) -> Result<Said, CliError> {
        let text = self.text();
        Ok(match self {
            Self::Gate(info) => {
                Said::Decision(match person.replies(&text, Offer::of(info)).await {
                    Reply::Once => Decision::Approve,
                    Reply::Always => Decision::Always,
                    Reply::No => Decision::Deny,
                })
            }
            Self::Secret(_) => Said::Secret(person.gives_secret(&text).await?),
        })
    }

    fn end_in(&self, listed: &ApprovalList) -> Option<&'static str> {
        match self {
            Self::Gate(info) => {
                let mut approvals = listed.approvals.iter();
                let now = approvals.find(|now| now.id == info.id);
                match now.map(|now| now.state) {
                    Some(ApprovalState::Pending) => None,
                    Some(ApprovalState::Expired) => Some("the caller waits for the answer no more"),
                    Some(_) => Some("answered elsewhere"),
                    None => Some("the daemon was reloaded: who asked asks again"),
                }
            }
            Self::Secret(question) => {
                let mut secrets = listed.secrets.iter();
                let is_open = secrets.any(|now| now.id == question.id);
                (!is_open).then_some("answered elsewhere, or the program waits for it no more")
            }
        }
    }
}

/// The questions that wait and are not among those asked, oldest first.
fn unasked(listed: &ApprovalList, asked: &HashSet<ApprovalId>) -> Vec<WaitingQuestion> {
    let mut waiting = waiting(listed);
    waiting.retain(|question| !asked.contains(question.id()));
    waiting
}

/// How the asking of a question ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asked {
    /// It is answered, here or elsewhere, or over.
    Over,
    /// It is to be asked again: a program waits for a secret meanwhile.
    PutOff,
}

/// The next question to ask.
pub(super) fn next_waiting(
    listed: &ApprovalList,
    asked: &HashSet<ApprovalId>,
) -> Option<WaitingQuestion> {
    unasked(listed, asked).into_iter().next()
}

/// How many questions wait behind one that is asked; `None`: no other does.
fn queue_line(count: usize) -> Option<String> {
    match count {
        0 => None,
        1 => Some("1 more question waits".to_owned()),
        more => Some(format!("{more} more questions wait")),
    }
}

/// Where a question is asked.
#[derive(Debug, Clone, Copy)]
pub(super) struct Prompt<'a> {
    pub(super) link: &'a Link,
    /// The questions that are asked now, or were.
    pub(super) asked: &'a HashSet<ApprovalId>,
}

impl Prompt<'_> {
    /// Asks a question that stands in a list until it is answered, here or elsewhere, or is over, or a secret is
    /// asked for: how it ended, and the list of then.
    pub(super) async fn ask(
        self,
        person: &mut Person,
        question: &WaitingQuestion,
        mut listed: ApprovalList,
    ) -> Result<(Asked, ApprovalList), CliError> {
        if let WaitingQuestion::Gate(info) = question {
            output::print(whole(info).as_bytes())?;
        }
        let mut queue = unasked(&listed, self.asked).len();
        if let Some(line) = queue_line(queue) {
            output::note(&line);
        }
        let said = {
            let mut said = pin!(question.asked_of(person));
            loop {
                tokio::select! {
                    said = &mut said => break said?,
                    changed = list(self.link, Some(listed.seq)) => listed = changed?,
                }
                // The cursor is still behind the question.
                if let Some(end) = question.end_in(&listed) {
                    output::note_below(end);
                    return Ok((Asked::Over, listed));
                }
                let waiting = unasked(&listed, self.asked);
                if !question.is_secret() && waiting.iter().any(WaitingQuestion::is_secret) {
                    output::note_below("a program waits for a secret; this question comes again");
                    return Ok((Asked::PutOff, listed));
                }
                let now = waiting.len();
                if now != queue {
                    queue = now;
                    let line = queue_line(queue);
                    output::note_below(line.as_deref().unwrap_or("no other question waits"));
                    question.show_again();
                }
            }
        };
        self.answer(question.id(), said).await?;
        Ok((Asked::Over, list(self.link, None).await?))
    }

    /// Gives an answer. Where it is not taken, the reason is printed, and the question stays open for
    /// others.
    async fn answer(self, id: &ApprovalId, said: Said) -> Result<(), CliError> {
        let answered = match said {
            // The list shows an answer that came before this one.
            Said::Decision(decision) => answer(self.link, id, decision, AnswerWay::Prompt)
                .await
                .map(|_| ()),
            Said::Secret(secret) => {
                let id = id.clone();
                self.link.once(&AnswerSecret { id, secret }).await
            }
        };
        match answered {
            Err(error @ ClientError::Refused(_)) => {
                output::note(&error.to_string());
                Ok(())
            }
            answered => Ok(answered?),
        }
    }
}

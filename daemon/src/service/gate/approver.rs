//! Answers to the gate's questions: who may answer, and what is recorded of an answer.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use termd_proto::approval::{AnswerWay, ApprovalId, ApprovalInfo, Decision};
use termd_proto::terminal::Owner;
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use super::approved_rules::ApprovedRules;
use super::past_answers::{PastAnswers, WATCHED};
use crate::approval::{Approvals, NotAnswered, SubjectHashes};
use crate::config::Draft;
use crate::service::audit_log::AuditLog;
use crate::store::{AuditAction, AuditOutcome, own_actor};
use crate::terminal::error::{AgentsPlace, TerminalError};

/// Who answers, and how.
#[derive(Debug, Clone)]
pub(crate) struct Answerer {
    pub(crate) owner: Owner,
    pub(crate) way: AnswerWay,
    /// Whether what the client says of its person can be believed.
    pub(crate) speaks_for_person: bool,
}

/// Takes answers.
#[derive(Debug)]
pub(crate) struct Approver {
    approvals: Approvals,
    rules: Arc<ApprovedRules>,
    audit: AuditLog,
    stopping: CancellationToken,
    /// Held for an answer: rules are written one after the other, each behind those that stand there.
    turn: Mutex<()>,
}

impl Approver {
    pub(crate) fn new(
        approvals: Approvals,
        rules: Arc<ApprovedRules>,
        audit: AuditLog,
        stopping: CancellationToken,
    ) -> Self {
        Self {
            approvals,
            rules,
            audit,
            stopping,
            turn: Mutex::default(),
        }
    }

    /// Takes over what the audit tells of earlier servers: a denial holds on, and a person who was
    /// there a short while ago is still in reach.
    pub(crate) async fn restore(&self) -> Result<(), TerminalError> {
        let past = PastAnswers::read(self.audit.store()).await?;
        self.approvals
            .restore(past.denials, past.answered, past.watched);
        if past.is_watch_open {
            self.record_watch(false).await;
        }
        Ok(())
    }

    /// Takes an answer to a question. The answer is recorded first.
    pub(crate) async fn answer(
        &self,
        id: &ApprovalId,
        decision: Decision,
        answerer: &Answerer,
    ) -> Result<ApprovalInfo, TerminalError> {
        let by = &answerer.owner;
        // Before the look: a record of an approval is written only where it then counts, because the
        // next server takes it for that.
        let _turn = self.turn.lock().await;
        let info = self.approvals.get(id);
        let info = info.ok_or_else(|| TerminalError::NoQuestion(id.clone()))?;
        if !Approvals::takes_answer(&info, decision, (by, answerer.way)) {
            return Err(TerminalError::QuestionOver(Box::new(info)));
        }
        if let Err(refusal) = check_answerer(answerer, decision, &info) {
            let outcome = match &refusal {
                TerminalError::ApproverRefused(AgentsPlace::Terminal(terminal)) => {
                    AuditOutcome::ApproverRefused(terminal.clone())
                }
                _ => AuditOutcome::AnswerRefused,
            };
            self.record(outcome, &info, answerer).await?;
            return Err(refusal);
        }
        let rule = self.approvals.rule_of(&info.id);
        let draft = match decision {
            Decision::Always => self.draft(rule.clone(), &info, by).await?,
            Decision::Approve | Decision::Deny => None,
        };
        let outcome = match (decision, &draft) {
            (Decision::Deny, _) => AuditOutcome::Denied,
            (Decision::Always, Some(_)) => AuditOutcome::ApprovedForAlways,
            (Decision::Approve | Decision::Always, _) => AuditOutcome::Approved,
        };
        self.record(outcome, &info, answerer).await?;
        match self.approvals.answer(id, decision, (by, answerer.way)) {
            Ok(info) => Ok(self.enforce(draft, rule.as_deref(), info, by).await),
            Err(error) => {
                // The question's time was over while this answer was being recorded.
                self.record(AuditOutcome::TooLate, &info, answerer).await?;
                Err(match error {
                    NotAnswered::NotFound => TerminalError::NoQuestion(id.clone()),
                    NotAnswered::Over(info) => TerminalError::QuestionOver(info),
                })
            }
        }
    }

    /// Drafts the rule of an answer for always; `None` where a person can only agree once.
    async fn draft(
        &self,
        rule: Option<String>,
        info: &ApprovalInfo,
        by: &Owner,
    ) -> Result<Option<Draft>, TerminalError> {
        match rule {
            Some(rule) => self.rules.draft(&rule, info, by).await.map(Some),
            None => Ok(None),
        }
    }

    /// Brings the rule of an answer into force, where there is one. Where that fails, the command is
    /// approved once, and the answer says so.
    async fn enforce(
        &self,
        draft: Option<Draft>,
        rule: Option<&str>,
        info: ApprovalInfo,
        by: &Owner,
    ) -> ApprovalInfo {
        let Some(draft) = draft else {
            return info;
        };
        match self.rules.enforce(draft, rule, &info, by).await {
            Ok(at) => self.approvals.set_rule_at(&info.id, at).unwrap_or(info),
            Err(error) => ApprovalInfo {
                only_once: Some(error.to_string()),
                ..info
            },
        }
    }

    /// Records, until the daemon stops, each question that was not answered and each approval that
    /// was not used in time.
    pub(crate) async fn record_expired(&self) {
        while !self.stopping.is_cancelled() {
            for info in self.approvals.expired().await {
                let outcome = match info.answered_by {
                    None => AuditOutcome::NotAnswered,
                    Some(_) => AuditOutcome::NotUsed,
                };
                let by = own_actor();
                let recorded = self.record_by(&by, outcome, &info, Map::new()).await;
                if let Err(error) = recorded {
                    tracing::warn!(approval = %info.id, %error, "an expired question is not recorded");
                }
            }
        }
    }

    /// Records, until the daemon stops, since when questions are watched and since when not.
    pub(crate) async fn record_watches(&self) {
        let mut watched = self.approvals.watched();
        loop {
            tokio::select! {
                () = self.stopping.cancelled() => return,
                changed = watched.changed() => if changed.is_err() { return },
            }
            let is_watched = *watched.borrow_and_update();
            self.record_watch(is_watched).await;
        }
    }

    async fn record_watch(&self, is_watched: bool) {
        let (action, by) = (AuditAction::ApprovalWatch, own_actor());
        let detail = Map::from_iter([(WATCHED.to_owned(), Value::from(is_watched))]);
        let recorded = self
            .audit
            .record(action, AuditOutcome::Ok, &by, None, detail);
        if let Err(error) = recorded.await {
            tracing::warn!(%error, "it is not recorded who watches the questions");
        }
    }

    async fn record(
        &self,
        outcome: AuditOutcome,
        info: &ApprovalInfo,
        by: &Answerer,
    ) -> Result<(), TerminalError> {
        let way = match (by.way, &outcome) {
            (AnswerWay::Command, AuditOutcome::Denied) => "termctl deny",
            (way, _) => way.as_str(),
        };
        let way = ("way".to_owned(), Value::from(way));
        self.record_by(&by.owner, outcome, info, Map::from_iter([way]))
            .await
    }

    async fn record_by(
        &self,
        by: &Owner,
        outcome: AuditOutcome,
        info: &ApprovalInfo,
        mut detail: Map<String, Value>,
    ) -> Result<(), TerminalError> {
        let text = |text: &str| Value::from(text);
        detail.extend([
            ("approval".to_owned(), text(info.id.as_str())),
            ("command".to_owned(), text(&info.command)),
            ("cwd".to_owned(), text(&info.cwd)),
            ("asked_by".to_owned(), json!(info.asked_by)),
        ]);
        if let Some(program) = &info.program {
            detail.insert("program".to_owned(), text(program));
        }
        if let Some(reason) = &info.reason {
            detail.insert("reason".to_owned(), text(reason));
        }
        if let Some(SubjectHashes { act, parts, whole }) = self.approvals.hashes_of(&info.id) {
            detail.insert("act".to_owned(), text(&act));
            detail.insert("parts".to_owned(), parts.into());
            detail.insert("subject".to_owned(), text(&whole));
        }
        let (action, terminal) = (AuditAction::ApprovalAnswer, info.terminal.as_ref());
        self.audit
            .record(action, outcome, by, terminal, detail)
            .await
    }
}

/// Checks that a caller may give this answer.
///
/// A front of an agent's answers what it has asked itself, as its person has said, and nothing else.
/// Another process of an agent's answers nothing. A person's process answers what another one asks;
/// its own question only at the prompt that it shows.
fn check_answerer(
    answerer: &Answerer,
    decision: Decision,
    info: &ApprovalInfo,
) -> Result<(), TerminalError> {
    let (by, asker) = (&answerer.owner, &info.asked_by);
    let is_own = (by.front, by.pid) == (asker.front, asker.pid);
    let has_asked = matches!(answerer.way, AnswerWay::Elicitation | AnswerWay::Permission)
        && answerer.speaks_for_person;
    let is_agents_front = by.front.is_agents();
    match &by.agent {
        Some(_) if is_agents_front && decision == Decision::Always => {
            Err(TerminalError::NotForAlways(by.front))
        }
        Some(_) if is_agents_front && is_own && (has_asked || decision == Decision::Deny) => Ok(()),
        Some(_) if is_agents_front => Err(TerminalError::NotItsQuestion(by.front)),
        Some(_) => {
            let place = by.terminal.clone();
            let place = place.map_or(AgentsPlace::Elsewhere, AgentsPlace::Terminal);
            Err(TerminalError::ApproverRefused(place))
        }
        None if is_own && decision != Decision::Deny && answerer.way != AnswerWay::Prompt => {
            Err(TerminalError::OwnQuestion)
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;

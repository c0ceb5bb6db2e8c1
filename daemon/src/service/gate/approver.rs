//! Answers to the gate's questions: who may answer, and what is recorded of an answer.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use termd_proto::approval::{ApprovalId, ApprovalInfo, ApprovalState, Decision};
use termd_proto::terminal::Owner;
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use super::approved_rules::{ApprovedRules, check_author};
use super::descent::terminal_of;
use crate::approval::{Approvals, NotAnswered};
use crate::config::Draft;
use crate::service::audit_log::AuditLog;
use crate::service::registry::Registry;
use crate::store::{AuditAction, AuditOutcome, own_actor};
use crate::terminal::error::TerminalError;

/// Takes answers.
#[derive(Debug)]
pub(crate) struct Approver {
    approvals: Approvals,
    registry: Arc<Registry>,
    rules: Arc<ApprovedRules>,
    audit: AuditLog,
    stopping: CancellationToken,
    /// Held for an answer: rules are written one after the other, each behind those that stand there.
    turn: Mutex<()>,
}

impl Approver {
    pub(crate) fn new(
        approvals: Approvals,
        registry: Arc<Registry>,
        rules: Arc<ApprovedRules>,
        audit: AuditLog,
        stopping: CancellationToken,
    ) -> Self {
        Self {
            approvals,
            registry,
            rules,
            audit,
            stopping,
            turn: Mutex::default(),
        }
    }

    /// Takes an answer to a question. The answer is recorded first.
    pub(crate) async fn answer(
        &self,
        id: &ApprovalId,
        decision: Decision,
        by: &Owner,
    ) -> Result<ApprovalInfo, TerminalError> {
        let info = self.approvals.get(id);
        let info = info.ok_or_else(|| TerminalError::NoQuestion(id.clone()))?;
        if info.state != ApprovalState::Pending {
            return Err(TerminalError::QuestionOver(Box::new(info)));
        }
        if let Some(terminal) = terminal_of(by.pid, &self.registry.running_of_agents()) {
            let outcome = AuditOutcome::ApproverRefused(terminal.clone());
            self.record(outcome, &info, by).await?;
            return Err(TerminalError::ApproverRefused(terminal));
        }
        let _turn = self.turn.lock().await;
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
        self.record(outcome, &info, by).await?;
        match self.approvals.answer(id, decision, by) {
            Ok(info) => Ok(self.enforce(draft, rule.as_deref(), info, by).await),
            Err(error) => {
                // Another answer came first while this one was being recorded.
                self.record(AuditOutcome::TooLate, &info, by).await?;
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
        check_author(by)?;
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
                if let Err(error) = self.record(outcome, &info, &own_actor()).await {
                    tracing::warn!(approval = %info.id, %error, "an expired question is not recorded");
                }
            }
        }
    }

    async fn record(
        &self,
        outcome: AuditOutcome,
        info: &ApprovalInfo,
        by: &Owner,
    ) -> Result<(), TerminalError> {
        let text = |text: &str| Value::from(text);
        let detail = Map::from_iter([
            ("approval".to_owned(), text(info.id.as_str())),
            ("command".to_owned(), text(&info.command)),
            ("cwd".to_owned(), text(&info.cwd)),
            ("asked_by".to_owned(), json!(info.asked_by)),
        ]);
        let (action, terminal) = (AuditAction::ApprovalAnswer, info.terminal.as_ref());
        self.audit
            .record(action, outcome, by, terminal, detail)
            .await
    }
}

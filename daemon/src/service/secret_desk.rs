//! Questions of agents' programs for secrets, and people's answers.
//!
//! **Promises:** the secret goes to the program that asked, and into no record; that it was asked for, by
//! what, and what became of it, is recorded. Only a person's process answers.

use std::time::Duration;

use serde_json::{Map, Value};
use termd_proto::approval::ApprovalId;
use termd_proto::secret::{
    AskedSecret, MAX_PROMPT_BYTES, MAX_SECRET_BYTES, Secret, SecretOutcome, SecretQuestion,
};
use termd_proto::terminal::Owner;

use super::audit_log::AuditLog;
use super::one_line::one_line;
use super::random::random_bits;
use crate::approval::{Approvals, SecretReply};
use crate::clock::now_ms;
use crate::store::{AuditAction, AuditOutcome};
use crate::terminal::error::{AgentsPlace, TerminalError};

/// Where a person is asked, and answers.
#[derive(Debug, Clone)]
pub(crate) struct SecretDesk {
    pub(crate) approvals: Approvals,
    pub(crate) audit: AuditLog,
}

/// How long a question waits: agents give a command up after two minutes.
const ANSWER_WITHIN: Duration = Duration::from_secs(90);

/// Withdraws a question whose asker goes away.
struct Withdrawal<'a>(&'a Approvals, ApprovalId);

impl Drop for Withdrawal<'_> {
    fn drop(&mut self) {
        self.0.withdraw_secret(&self.1);
    }
}

impl SecretDesk {
    /// Asks a person, and waits until the asker is `gone`. `program` has run what asks.
    pub(crate) async fn ask(
        &self,
        prompt: &str,
        program: Option<String>,
        asked_by: Owner,
        gone: impl Future<Output = ()>,
    ) -> Result<AskedSecret, TerminalError> {
        let question = SecretQuestion {
            id: ApprovalId::from_random(random_bits()?),
            prompt: one_line(prompt, MAX_PROMPT_BYTES),
            program,
            terminal: asked_by.terminal.clone(),
            asked_by,
            asked_at_ms: now_ms(),
            expires_at_ms: now_ms()
                .saturating_add(i64::try_from(ANSWER_WITHIN.as_millis()).unwrap_or(i64::MAX)),
        };
        let (outcome, secret) = tokio::select! {
            reply = self.reply(&question) => reply,
            () = gone => (SecretOutcome::Expired, None),
        };
        self.record(&question, outcome).await?;
        Ok(AskedSecret { outcome, secret })
    }

    async fn reply(&self, question: &SecretQuestion) -> (SecretOutcome, Option<Secret>) {
        // Who watched a while ago may have left, and the program waits.
        if !*self.approvals.watched().borrow() {
            return (SecretOutcome::Nobody, None);
        }
        let Some(reply) = self.approvals.ask_secret(question.clone()) else {
            return (SecretOutcome::Nobody, None);
        };
        let _withdrawal = Withdrawal(&self.approvals, question.id.clone());
        match tokio::time::timeout(ANSWER_WITHIN, reply).await {
            Ok(Ok(SecretReply::Secret(secret))) => (SecretOutcome::Answered, Some(secret)),
            Ok(Ok(SecretReply::No)) => (SecretOutcome::Denied, None),
            Ok(Err(_)) | Err(_) => (SecretOutcome::Expired, None),
        }
    }

    /// Takes a person's answer; no secret is no. That there is one is recorded first.
    pub(crate) async fn answer(
        &self,
        id: &ApprovalId,
        secret: Option<Secret>,
        by: &Owner,
    ) -> Result<(), TerminalError> {
        let is_long = |secret: &Secret| secret.reveal().len() > MAX_SECRET_BYTES;
        if secret.as_ref().is_some_and(is_long) {
            return Err(TerminalError::Invalid {
                field: "secret",
                problem: format!("may be {MAX_SECRET_BYTES} bytes long at the most"),
            });
        }
        // The tty would take one for a key.
        let is_key = |secret: &Secret| secret.reveal().chars().any(char::is_control);
        if secret.as_ref().is_some_and(is_key) {
            return Err(TerminalError::Invalid {
                field: "secret",
                problem: "may not have control characters in it".to_owned(),
            });
        }
        if !self.approvals.awaits_secret(id) {
            return Err(TerminalError::NoQuestion(id.clone()));
        }
        let place = by.terminal.clone();
        let place = place.map_or(AgentsPlace::Elsewhere, AgentsPlace::Terminal);
        let outcome = match (&by.agent, &place, &secret) {
            (Some(_), AgentsPlace::Terminal(id), _) => AuditOutcome::ApproverRefused(id.clone()),
            (Some(_), AgentsPlace::Elsewhere, _) => AuditOutcome::AnswerRefused,
            (None, _, None) => AuditOutcome::Denied,
            (None, _, Some(_)) => AuditOutcome::Ok,
        };
        let detail = Map::from_iter([("question".to_owned(), Value::from(id.as_str()))]);
        let action = AuditAction::SecretAnswer;
        (self.audit)
            .record(action, outcome, by, None, detail)
            .await?;
        if by.agent.is_some() {
            return Err(TerminalError::ApproverRefused(place));
        }
        let reply = secret.map_or(SecretReply::No, SecretReply::Secret);
        let is_taken = self.approvals.answer_secret(id, reply);
        is_taken
            .then_some(())
            .ok_or_else(|| TerminalError::NoQuestion(id.clone()))
    }

    async fn record(
        &self,
        question: &SecretQuestion,
        outcome: SecretOutcome,
    ) -> Result<(), TerminalError> {
        let detail = Map::from_iter([
            ("question".to_owned(), Value::from(question.id.as_str())),
            ("prompt".to_owned(), Value::from(question.prompt.as_str())),
            ("program".to_owned(), question.program.clone().into()),
        ]);
        let outcome = match outcome {
            SecretOutcome::Answered => AuditOutcome::Ok,
            SecretOutcome::Denied => AuditOutcome::Denied,
            SecretOutcome::Expired => AuditOutcome::NotAnswered,
            SecretOutcome::Nobody => AuditOutcome::RefusedBecause("nobody watches".to_owned()),
        };
        let (by, terminal) = (&question.asked_by, question.terminal.as_ref());
        let action = AuditAction::SecretAsk;
        (self.audit)
            .record(action, outcome, by, terminal, detail)
            .await
    }
}

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
    /// Asks a person, and waits. `program` has run what asks.
    pub(crate) async fn ask(
        &self,
        prompt: &str,
        program: Option<String>,
        asked_by: Owner,
    ) -> Result<AskedSecret, TerminalError> {
        let question = SecretQuestion {
            id: ApprovalId::from_random(random_bits()?),
            prompt: shown(prompt),
            program,
            terminal: asked_by.terminal.clone(),
            asked_by,
            asked_at_ms: now_ms(),
            expires_at_ms: now_ms()
                .saturating_add(i64::try_from(ANSWER_WITHIN.as_millis()).unwrap_or(i64::MAX)),
        };
        let (outcome, secret) = self.reply(&question).await;
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

    /// Takes a person's answer; no secret is no.
    pub(crate) fn answer(
        &self,
        id: &ApprovalId,
        secret: Option<Secret>,
        by: &Owner,
    ) -> Result<(), TerminalError> {
        if by.agent.is_some() {
            let place = by.terminal.clone();
            let place = place.map_or(AgentsPlace::Elsewhere, AgentsPlace::Terminal);
            return Err(TerminalError::ApproverRefused(place));
        }
        let is_long = |secret: &Secret| secret.reveal().len() > MAX_SECRET_BYTES;
        if secret.as_ref().is_some_and(is_long) {
            return Err(TerminalError::Invalid {
                field: "secret",
                problem: format!("may be {MAX_SECRET_BYTES} bytes long at the most"),
            });
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

/// A prompt as a person may be shown it: one line without control characters, bounded.
fn shown(prompt: &str) -> String {
    let line: String = prompt
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    let line = line.trim();
    line[..line.floor_char_boundary(MAX_PROMPT_BYTES)].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_is_one_line_and_bounded() {
        for (prompt, line) in [
            ("[sudo] password for me: ", "[sudo] password for me:"),
            ("a\nb\u{1b}[2Jc\t", "a b [2Jc"),
            ("", ""),
        ] {
            assert_eq!(shown(prompt), line);
        }
        assert_eq!(shown(&"ä".repeat(1_000)).len(), MAX_PROMPT_BYTES);
    }
}

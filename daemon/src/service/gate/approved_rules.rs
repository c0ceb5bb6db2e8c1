//! Rules of what a person has agreed to for always, and their way into approved.toml and into force.
//!
//! **Promises:** a rule is on the disk and in the audit chain before it counts.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use termd_proto::approval::ApprovalInfo;
use termd_proto::terminal::Owner;

use super::policy_in_force::{PolicyInForce, real_directory};
use crate::approval::Always;
use crate::clock::{now_ms, utc};
use crate::config::{ApprovedError, ApprovedPlace, Draft, keep_approved};
use crate::service::audit_log::AuditLog;
use crate::store::{AuditAction, AuditOutcome};
use crate::terminal::error::TerminalError;
use termd_policy::quoted_toml as quoted;
use termd_policy::{AlwaysRule, Decision, OnlyOnceReason, Request};

/// Most variables that a question shows.
const MAX_SHOWN_VARIABLES: usize = 64;
/// How much of a variable's value a question shows, in bytes.
const MAX_SHOWN_VALUE_BYTES: usize = 256;

/// Writes rules.
#[derive(Debug)]
pub(crate) struct ApprovedRules {
    place: ApprovedPlace,
    policy: Arc<PolicyInForce>,
    audit: AuditLog,
}

impl ApprovedRules {
    pub(crate) fn new(place: ApprovedPlace, policy: Arc<PolicyInForce>, audit: AuditLog) -> Self {
        Self {
            place,
            policy,
            audit,
        }
    }

    /// Whether a person may agree to this for always, and by which rule.
    pub(super) fn offer(&self, decision: &Decision, request: &Request<'_>) -> Always {
        let redactor = &self.place.redactor;
        let directory = real_directory(request.cwd);
        let rule = AlwaysRule::of(decision, request, directory.as_deref());
        let rule = rule.and_then(|rule| {
            let words = rule.words();
            let is_open = words.iter().all(|word| redactor.text(word) == *word);
            if is_open && redactor.argv(words) == words {
                Ok(rule)
            } else {
                Err(OnlyOnceReason::Secret)
            }
        });
        match rule {
            Ok(rule) => Always::ByRule(rule.to_toml()),
            Err(reason) => Always::No(reason.to_string()),
        }
    }

    /// Variables as a question shows them: without secrets, and not all of a long value.
    pub(super) fn shown_env(&self, env: &[(String, String)]) -> Vec<(String, String)> {
        let shown = env.iter().take(MAX_SHOWN_VARIABLES);
        let shown = shown.map(|(name, value)| (name.clone(), Value::from(value.as_str())));
        let redacted = self.place.redactor.map(shown.collect());
        let pairs = redacted.into_iter().map(|(name, value)| {
            let value = value.as_str().unwrap_or_default();
            let end = value.floor_char_boundary(MAX_SHOWN_VALUE_BYTES);
            let cut = if end < value.len() { "…" } else { "" };
            (
                name,
                format!("{}{cut}", value.get(..end).unwrap_or_default()),
            )
        });
        pairs.collect()
    }

    /// Writes another approved.toml with this rule beside the one in force.
    pub(super) async fn draft(
        &self,
        rule: &str,
        info: &ApprovalInfo,
        by: &Owner,
    ) -> Result<Draft, TerminalError> {
        let name = |owner: &Owner| {
            let client = owner.client.as_deref().map(quoted);
            let client = client.unwrap_or_else(|| "somebody".to_owned());
            format!("{client} ({}, pid {})", owner.front.as_str(), owner.pid)
        };
        let (at, by, asker) = (utc(now_ms()), name(by), name(&info.asked_by));
        let reason = info.reason.as_deref().unwrap_or(info.verdict.as_str());
        let remarks = [
            format!("{at}: {by} said always, question {}.", info.id),
            format!("Asked by {asker}, because: {}", quoted(reason)),
        ];
        let (place, rule) = (self.place.clone(), rule.to_owned());
        let drafted = tokio::task::spawn_blocking(move || {
            Draft::prepare(&place.file, &place.state_dir, &rule, &remarks)
        });
        let drafted = drafted.await.map_err(|_| TerminalError::Stopping)?;
        drafted.map_err(TerminalError::NotWritten)
    }

    /// Brings a rule into force: recorded, put in its place, and only then decided by. Returns the
    /// file and the line of the rule.
    pub(super) async fn enforce(
        &self,
        mut draft: Draft,
        rule: Option<&str>,
        info: &ApprovalInfo,
        by: &Owner,
    ) -> Result<(String, usize), TerminalError> {
        let place = &self.place;
        let detail = Map::from_iter([
            ("file".to_owned(), json!(place.file)),
            ("old".to_owned(), Value::from(draft.old.as_str())),
            ("new".to_owned(), Value::from(draft.new.as_str())),
            ("config".to_owned(), Value::from(place.config_hash.as_str())),
            ("approval".to_owned(), Value::from(info.id.as_str())),
            ("rule".to_owned(), json!(rule)),
        ]);
        let action = AuditAction::PolicyChanged;
        self.audit
            .record(action, AuditOutcome::Ok, by, None, detail.clone())
            .await?;
        let state_dir = place.state_dir.clone();
        let placed = tokio::task::spawn_blocking(move || {
            draft.put_in_place()?;
            if let Err(error) = keep_approved(&draft.text, &state_dir) {
                tracing::error!(%error, "cannot keep approved.toml for the next server");
            }
            Ok::<_, ApprovedError>(draft.approved.clone())
        });
        let approved = match placed.await.map_err(|_| TerminalError::Stopping)? {
            Ok(approved) => approved,
            Err(error) => {
                let outcome = AuditOutcome::RefusedBecause(error.to_string());
                self.audit.record(action, outcome, by, None, detail).await?;
                return Err(TerminalError::NotWritten(error));
            }
        };
        let line = approved.last_line().unwrap_or_default();
        self.policy.set_approved(approved);
        Ok((place.file.to_string_lossy().into_owned(), line))
    }
}

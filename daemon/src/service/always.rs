//! What somebody agrees to for always: the rule for it, and the way of that rule into approved.toml
//! and into force.
//!
//! It promises: the rule is on the disk and in the audit before it counts, and it counts only where
//! its answer was the first. Must not know how a rule is written, or when it fits.

use std::fs;
use std::path::Path;
use std::sync::{Arc, PoisonError};

use serde_json::{Map, Value, json};
use termd_proto::approval::ApprovalInfo;
use termd_proto::terminal::{Front, Owner};

use super::Terminals;
use super::gate::judged_apart;
use crate::approval::Always;
use crate::clock::{now_ms, utc};
use crate::config::{Draft, keep_approved};
use crate::terminal::error::TerminalError;
use termd_policy::quoted_toml as quoted;
use termd_policy::{
    AlwaysRule, CompiledGate, Completeness, Decision, OnlyOnceReason, Policy, Request,
};

impl Terminals {
    /// What is decided of commands, now.
    pub fn policy(&self) -> Arc<Policy> {
        let policy = self.inner.policy.lock();
        Arc::clone(&policy.unwrap_or_else(PoisonError::into_inner))
    }

    /// What this policy decides of a command that would be run, what was agreed to for always
    /// included.
    pub fn decide(
        policy: &Policy,
        request: &Request<'_>,
        known: Completeness,
        gate: &CompiledGate,
    ) -> Decision {
        let decide = || policy.decide(request, known, gate);
        let decision = judged_apart(request.invocation.length(), decide);
        if policy.approved().is_empty() {
            return decision;
        }
        match real(request.cwd) {
            Some(cwd) => policy.approve(decision, request, &cwd),
            None => decision,
        }
    }

    /// Whether somebody may agree to this for always, and by which rule.
    pub(super) fn always(&self, decision: &Decision, request: &Request<'_>) -> Always {
        let redactor = &self.inner.options.approved.redactor;
        let rule = AlwaysRule::of(decision, request, real(request.cwd).as_deref());
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
            Err(why) => Always::No(why.to_string()),
        }
    }

    /// Writes another approved.toml with the rule for this question, which is not in its place yet.
    /// `None`: it can only be agreed to once.
    pub(super) async fn draft_rule(
        &self,
        info: &ApprovalInfo,
        by: &Owner,
    ) -> Result<Option<Draft>, TerminalError> {
        if by.front != Front::Cli {
            return Err(TerminalError::NotForAlways(by.front));
        }
        let Some(rule) = self.approvals().rule_of(&info.id) else {
            return Ok(None);
        };
        let name = |owner: &Owner| {
            let client = owner.client.as_deref().map(quoted);
            let client = client.unwrap_or_else(|| "somebody".to_owned());
            format!("{client} ({}, pid {})", owner.front.as_str(), owner.pid)
        };
        let reason = info.reason.as_deref().unwrap_or(info.verdict.as_str());
        let remarks = [
            format!(
                "{}: {} said always, question {}.",
                utc(now_ms()),
                name(by),
                info.id
            ),
            format!(
                "Asked by {}, because: {}",
                name(&info.asked_by),
                quoted(reason)
            ),
        ];
        let file = self.inner.options.approved.file.clone();
        let drafted = tokio::task::spawn_blocking(move || Draft::prepare(&file, &rule, &remarks));
        let drafted = drafted.await.map_err(|_| TerminalError::Stopping)?;
        Ok(Some(drafted.map_err(TerminalError::NotWritten)?))
    }

    /// Brings a rule into force whose answer was the first: recorded, put in its place, and only then
    /// decided by. Where it stands: the file and its line.
    pub(super) async fn enforce(
        &self,
        mut draft: Draft,
        info: &ApprovalInfo,
        by: &Owner,
    ) -> Result<(String, usize), TerminalError> {
        let place = &self.inner.options.approved;
        let rule = self.approvals().rule_of(&info.id);
        let detail = Map::from_iter([
            ("file".to_owned(), json!(place.file)),
            ("old".to_owned(), Value::from(draft.old.as_str())),
            ("new".to_owned(), Value::from(draft.new.as_str())),
            ("config".to_owned(), Value::from(place.config_hash.as_str())),
            ("approval".to_owned(), Value::from(info.id.as_str())),
            ("rule".to_owned(), json!(rule)),
        ]);
        self.audit("policy.changed", "ok", by, None, detail.clone())
            .await?;
        let state_dir = place.state_dir.clone();
        let placed = tokio::task::spawn_blocking(move || {
            draft.put_in_place()?;
            if let Err(error) = keep_approved(&draft.text, &state_dir) {
                tracing::error!(%error, "cannot keep approved.toml for the next server");
            }
            Ok(draft.approved.clone())
        });
        let approved = match placed.await.map_err(|_| TerminalError::Stopping)? {
            Ok(approved) => approved,
            Err(error) => {
                let outcome = format!("refused: {error}");
                self.audit("policy.changed", &outcome, by, None, detail)
                    .await?;
                return Err(TerminalError::NotWritten(error));
            }
        };
        let line = approved.last_line().unwrap_or_default();
        let mut policy = self.inner.policy.lock();
        let policy = policy.as_deref_mut();
        if let Ok(policy) = policy {
            *policy = Arc::new(policy.with_approved(approved));
        }
        Ok((place.file.to_string_lossy().into_owned(), line))
    }
}

/// A directory with links resolved; `None` where it is not there, or is no text.
fn real(cwd: Option<&str>) -> Option<String> {
    let real = fs::canonicalize(Path::new(cwd?)).ok()?;
    real.into_os_string().into_string().ok()
}

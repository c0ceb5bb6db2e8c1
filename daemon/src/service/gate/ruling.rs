//! What the gate says of a command, and whether a person has agreed to it.

use serde_json::{Map, Value, json};
use termd_proto::approval::ApprovalInfo;
use termd_proto::policy::{Effect, Judgement, Verdict};

use crate::store::AuditOutcome;
use crate::terminal::error::{Refusal, TerminalError};

/// A judgement, with the consent to it.
#[derive(Debug)]
pub(crate) struct Ruling {
    pub(super) judgement: Judgement,
    /// The command as errors and records show it; `None` for a secret.
    pub(super) command: Option<String>,
    pub(super) consent: Consent,
    /// Whether only a person can agree, and the caller's `confirmed` would not count.
    pub(super) needs_person: bool,
    /// Whether the caller says that a person has agreed.
    pub(super) claimed: bool,
}

/// Who has agreed.
#[derive(Debug, Clone)]
pub(super) enum Consent {
    /// Nobody was asked: there is nothing to agree to, or the table of questions is full.
    None,
    /// A person has, by the caller's `confirmed`.
    ByPerson,
    /// Nobody but the model, by `confirmed`.
    ByModel,
    /// A person has approved it, and the approval is used up now.
    Approved(ApprovalInfo),
    /// A question waits for an answer.
    Pending(ApprovalInfo),
    /// A person has denied it.
    Denied(ApprovalInfo),
    /// It is longer than this many bytes, and a person is not asked about what cannot be shown whole.
    TooLong(usize),
}

impl Consent {
    fn is_given(&self) -> bool {
        matches!(self, Self::ByPerson | Self::ByModel | Self::Approved(_))
    }

    fn approval(&self) -> Option<&ApprovalInfo> {
        match self {
            Self::None | Self::ByPerson | Self::ByModel | Self::TooLong(_) => None,
            Self::Approved(info) | Self::Pending(info) | Self::Denied(info) => Some(info),
        }
    }

    /// Who has agreed, and how, as records say it.
    fn agreed_by(&self) -> Option<String> {
        match self {
            Self::ByModel => Some("the model's word".to_owned()),
            Self::ByPerson => Some("a person, by confirmed".to_owned()),
            Self::Approved(info) => {
                let way = info.answered_way.unwrap_or_default();
                Some(format!("a person, by {}", way.as_str()))
            }
            Self::None | Self::Pending(_) | Self::Denied(_) | Self::TooLong(_) => None,
        }
    }
}

impl Ruling {
    pub(crate) fn allows(&self) -> bool {
        match self.judgement.effect {
            Effect::Allow => true,
            Effect::Confirm => self.consent.is_given(),
            Effect::Deny => false,
        }
    }

    /// Whether there is neither a doubt nor a rule, and so nothing to record.
    pub(super) fn is_plain(&self) -> bool {
        let judgement = &self.judgement;
        let is_safe = judgement.verdict == Verdict::Safe && judgement.rule.is_none();
        is_safe && judgement.effect == Effect::Allow
    }

    /// What the audit record says.
    pub(crate) fn detail(&self) -> Map<String, Value> {
        let judgement = &self.judgement;
        let mut detail = Map::new();
        detail.insert("verdict".to_owned(), judgement.verdict.as_str().into());
        if let Some(reason) = &judgement.reason {
            detail.insert("reason".to_owned(), reason.as_str().into());
        }
        if let Some(rule) = judgement.rule {
            detail.insert("rule".to_owned(), rule.into());
        }
        if let Some(rule) = judgement.approved {
            detail.insert("approved_rule".to_owned(), rule.into());
        }
        if !self.is_plain() {
            detail.insert("confirmed".to_owned(), self.consent.is_given().into());
        }
        if self.claimed && !self.consent.is_given() && !self.is_plain() {
            detail.insert("claimed".to_owned(), true.into());
        }
        if let Some(agreed_by) = self.consent.agreed_by() {
            detail.insert("agreed_by".to_owned(), agreed_by.into());
        }
        if let Some(approval) = self.consent.approval() {
            detail.insert("approval".to_owned(), approval.id.as_str().into());
        }
        if let Consent::Approved(ApprovalInfo {
            answered_by: Some(by),
            ..
        }) = &self.consent
        {
            detail.insert("approved_by".to_owned(), json!(by));
        }
        detail
    }

    pub(crate) fn outcome(&self) -> AuditOutcome {
        match (self.allows(), self.judgement.effect) {
            (true, _) => AuditOutcome::Ok,
            (false, Effect::Deny) => AuditOutcome::Forbidden,
            (false, _) if matches!(self.consent, Consent::Denied(_)) => AuditOutcome::Rejected,
            (false, _) => AuditOutcome::NotConfirmed,
        }
    }

    /// The error of a command that is not allowed.
    pub(crate) fn into_error(mut self) -> TerminalError {
        if let Consent::TooLong(bytes) = self.consent {
            let reason = self.judgement.reason.take().unwrap_or_default();
            let reason = format!(
                "{reason}; it is longer than the {bytes} bytes that a person is asked about"
            );
            self.judgement.reason = Some(reason);
        }
        let is_denied = self.judgement.effect == Effect::Deny;
        let is_rejected = matches!(self.consent, Consent::Denied(_));
        let refusal = Box::new(Refusal {
            judgement: self.judgement,
            needs_person: self.needs_person,
            command: self.command,
            approval: self.consent.approval().cloned(),
        });
        match (is_denied, is_rejected) {
            (true, _) => TerminalError::Denied(refusal),
            (false, true) => TerminalError::Rejected(refusal),
            (false, false) => TerminalError::ConfirmationRequired(refusal),
        }
    }
}

//! The questions that wait for a person: those of the gate, and those for secrets.

use std::time::Duration;

use termd_proto::approval::{ApprovalId, ApprovalInfo, ApprovalList, ApprovalState};
use termd_proto::secret::SecretQuestion;

/// An answer that comes faster than this after its question was shown was meant for something else: an agent
/// chooses when it asks, and a person has not read the question yet.
pub const READING_TIME: Duration = Duration::from_secs(1);

/// A question that waits for a person.
#[derive(Debug, Clone, PartialEq)]
pub enum WaitingQuestion {
    /// Whether something may run.
    Gate(Box<ApprovalInfo>),
    /// For a secret.
    Secret(Box<SecretQuestion>),
}

impl WaitingQuestion {
    /// Its id.
    pub fn id(&self) -> &ApprovalId {
        match self {
            Self::Gate(info) => &info.id,
            Self::Secret(question) => &question.id,
        }
    }

    /// Whether a program waits for a secret.
    pub fn is_secret(&self) -> bool {
        matches!(self, Self::Secret(_))
    }

    fn asked_at_ms(&self) -> i64 {
        match self {
            Self::Gate(info) => info.asked_at_ms,
            Self::Secret(question) => question.asked_at_ms,
        }
    }
}

/// Those of a list that wait: first those for secrets, which programs wait for, then those of the gate, of which
/// the caller may have gone; each the oldest first.
pub fn waiting(list: &ApprovalList) -> Vec<WaitingQuestion> {
    let of_gate = list.approvals.iter();
    let of_gate = of_gate.filter(|info| info.state == ApprovalState::Pending);
    let of_gate = of_gate.map(|info| WaitingQuestion::Gate(Box::new(info.clone())));
    let secrets = list.secrets.iter();
    let secrets = secrets.map(|question| WaitingQuestion::Secret(Box::new(question.clone())));
    let mut waiting: Vec<_> = of_gate.chain(secrets).collect();
    waiting.sort_by_key(|question| (!question.is_secret(), question.asked_at_ms()));
    waiting
}

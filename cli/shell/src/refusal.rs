//! An error of the daemon's, and what the model reads of it.

use std::fmt;

use serde::Deserialize;
use serde_json::Value;
use termd_proto::ErrorKind;
use termd_proto::approval::ApprovalId;

/// An error of the daemon's.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Refusal {
    message: String,
    #[serde(default)]
    data: Value,
    /// Whether a person was asked and said no.
    #[serde(skip)]
    is_denied: bool,
}

impl Refusal {
    /// The kind; `None`: a newer daemon's.
    pub(crate) fn kind(&self) -> Option<ErrorKind> {
        serde_json::from_value(self.data.get("kind")?.clone()).ok()
    }

    /// Whether the gate has refused the command. Everything else is no reason not to run it.
    pub(crate) fn is_gates(&self) -> bool {
        let refusals = [
            ErrorKind::ConfirmationRequired,
            ErrorKind::Denied,
            ErrorKind::Rejected,
        ];
        self.kind().is_some_and(|kind| refusals.contains(&kind))
    }

    /// The question that a person may answer, and how many milliseconds to wait for that. A daemon that
    /// names no time knows of no person who would see it.
    pub(crate) fn question(&self) -> Option<(ApprovalId, u64)> {
        let approval = self.data.get("approval")?.clone();
        let wait_ms = self.data.get("wait_ms")?.as_u64()?;
        Some((serde_json::from_value(approval).ok()?, wait_ms))
    }

    /// The same, after a person has said no.
    pub(crate) fn denied(self) -> Self {
        let is_denied = true;
        Self { is_denied, ..self }
    }

    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    fn reason(&self) -> &str {
        let reason = self.data.get("reason").and_then(Value::as_str);
        reason.unwrap_or("a rule of termd's configuration")
    }
}

/// The line for the model. It does not say how to get by.
impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reason = self.reason();
        let rest = match self.kind() {
            _ if self.is_denied => "; the person at this machine was asked and said no",
            Some(ErrorKind::ConfirmationRequired) => {
                "; the person at this machine has to agree first"
            }
            Some(ErrorKind::Rejected) => "; the person at this machine was asked and said no",
            Some(ErrorKind::Denied) => "; a rule of this machine forbids it",
            _ => return f.write_str(&self.message),
        };
        let line = reason.lines().next().unwrap_or_default();
        write!(f, "not run: {line}{rest}")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn refusal(data: &Value) -> Refusal {
        serde_json::from_value(json!({ "code": 1, "message": "m", "data": data })).unwrap()
    }

    #[test]
    fn the_line_says_why_and_not_how_to_get_by() {
        let asked = json!({ "kind": "confirmation_required", "reason": "rm with force" });
        let asked = refusal(&asked);
        let line = "not run: rm with force; the person at this machine has to agree first";
        assert_eq!(asked.to_string(), line);
        assert!(asked.is_gates());
        assert_eq!(asked.question(), None);
        let line = "not run: rm with force; the person at this machine was asked and said no";
        assert_eq!(asked.denied().to_string(), line);
        let other = refusal(&json!({ "kind": "of_a_newer_daemon" }));
        assert!(!other.is_gates());
        assert_eq!(other.to_string(), "m");
    }

    #[test]
    fn a_question_is_waited_for_as_long_as_the_daemon_says() {
        let data = json!({ "kind": "confirmation_required", "approval": "abcdef", "wait_ms": 5 });
        let (approval, wait_ms) = refusal(&data).question().unwrap();
        assert_eq!((approval.as_str(), wait_ms), ("abcdef", 5));
    }
}

//! `secret.*`: a program of an agent's needs a password, and a person gives it.
//!
//! `secret.ask` waits for the person's answer, which goes to the program that asked and into no record.
//! What waits is in `approval.list`, and an agent's process may not answer.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::approval::ApprovalId;
use crate::id::TerminalId;
use crate::terminal::Owner;

/// The longest prompt, in bytes.
pub const MAX_PROMPT_BYTES: usize = 512;
/// The longest secret, in bytes: what a line of a tty holds.
pub const MAX_SECRET_BYTES: usize = 4_095;

/// What a person types, and nobody may see. Its `Debug` shows nothing of it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// Of this text.
    pub fn new(text: String) -> Self {
        Self(text)
    }

    /// The text, for the program that asked.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// Params of `secret.ask`: asks a person for a secret, and waits for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AskSecret {
    /// What the program says that it wants; at most [`MAX_PROMPT_BYTES`] of it are shown.
    pub prompt: String,
}

/// What became of a question for a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SecretOutcome {
    /// A person has answered it.
    Answered,
    /// A person has said no.
    Denied,
    /// No answer came in time.
    Expired,
    /// Nobody watches the questions, so nobody was asked.
    Nobody,
}

/// Answer to `secret.ask`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AskedSecret {
    /// What became of the question.
    pub outcome: SecretOutcome,
    /// The secret, if it was answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<Secret>,
}

/// Params of `secret.answer`: gives the secret to the program that asked, or says no. The first answer
/// holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnswerSecret {
    /// The question.
    pub id: ApprovalId,
    /// The secret, at most [`MAX_SECRET_BYTES`] long; absent: no.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<Secret>,
}

/// A question for a secret that has no answer yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecretQuestion {
    /// Its id, unlike that of any open question of the gate.
    pub id: ApprovalId,
    /// What the program says that it wants, without control characters.
    pub prompt: String,
    /// The program that reads the answer, by the path of its file: `/usr/bin/ssh`. It has run what asks.
    /// Absent: it cannot be told which program reads it.
    pub program: Option<String>,
    /// The terminal that it runs in, where that is known.
    pub terminal: Option<TerminalId>,
    /// Who asks.
    pub asked_by: Owner,
    /// When it was asked, in milliseconds since the Unix epoch.
    pub asked_at_ms: i64,
    /// When it is over without an answer.
    pub expires_at_ms: i64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_in_no_log() {
        let asked = AskedSecret {
            outcome: SecretOutcome::Answered,
            secret: Some(Secret::new("hunter2".to_owned())),
        };
        assert!(!format!("{asked:?}").contains("hunter2"));
        let text = serde_json::to_string(&asked).unwrap();
        assert_eq!(text, r#"{"outcome":"answered","secret":"hunter2"}"#);
    }
}

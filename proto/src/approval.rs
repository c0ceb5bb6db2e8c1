//! `approval.*`: what the gate wants a person to agree to.
//!
//! A call that the gate answers with `confirmation_required` leaves a question, named in
//! `data.approval`. The first answer counts, from the person of the front that asked or from another
//! one, by `approval.answer`. An approval lets the same caller do the same thing once: the same
//! command in the same directory and environment, or typed into the same terminal. After a denial the
//! same call is refused for ten minutes. A question without an answer in time expires.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::attention::AttentionReport;
use crate::id::TerminalId;
use crate::policy::Verdict;
use crate::secret::SecretQuestion;
use crate::terminal::Owner;

/// Characters of an id: short enough to type, and unlike any other of the last thousand.
const ID_CHARS: usize = 6;
/// RFC 4648 base32 in lower case.
const BASE32: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";

/// The name of a question: 6 characters of `a-z2-7`. It is no secret.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ApprovalId(String);

/// The text is not 6 characters of `a-z2-7`.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("an approval's id is 6 characters of a-z and 2-7 (`termctl approvals` lists them)")]
pub struct InvalidApprovalId;

impl ApprovalId {
    /// Makes an id of the lowest 30 of these random bits.
    pub fn from_random(bits: u64) -> Self {
        let character = |position: usize| {
            let index = (bits >> (5 * position)) & 31;
            char::from(BASE32[index as usize])
        };
        Self((0..ID_CHARS).map(character).collect())
    }

    /// The id as it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for ApprovalId {
    type Err = InvalidApprovalId;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.len() == ID_CHARS && text.bytes().all(|byte| BASE32.contains(&byte)) {
            Ok(Self(text.to_owned()))
        } else {
            Err(InvalidApprovalId)
        }
    }
}

impl TryFrom<String> for ApprovalId {
    type Error = InvalidApprovalId;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<ApprovalId> for String {
    fn from(id: ApprovalId) -> Self {
        id.0
    }
}

impl fmt::Display for ApprovalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Where a question is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalState {
    /// There is no answer yet.
    Pending,
    /// Approved; what was asked about has not run yet.
    Approved,
    /// Approved, and it has run: it cannot run again by this.
    Used,
    /// Denied by somebody.
    Denied,
    /// No answer came in time, or the approval was not used in time.
    Expired,
}

impl ApprovalState {
    /// The word for it in JSON, tables and audit records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Approved => "approved",
            Self::Used => "used",
            Self::Denied => "denied",
            Self::Expired => "expired",
        }
    }
}

/// One question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalInfo {
    /// Its id.
    pub id: ApprovalId,
    /// Where it is in its life.
    pub state: ApprovalState,
    /// What would run, or be typed; at most 4,096 bytes of it.
    pub command: String,
    /// The line of it that an agent asked its shell to run, at most 4,096 bytes of it: without the shell, and
    /// without the wrapper that this agent writes around each line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_line: Option<String>,
    /// The lines that were typed into the same program before it, without secrets: the last 1,024 bytes. They
    /// may have set what its words mean (`rm -rf $x`). Empty: none is known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub after: String,
    /// Where; of a typed line behind a `cd` of the same call, each place that it may be in.
    pub cwd: String,
    /// Variables that it would be given, by name and value, without secrets; at most 64, and of each
    /// value 256 bytes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<(String, String)>,
    /// Into which terminal it would be typed; absent: it would be a new one.
    pub terminal: Option<TerminalId>,
    /// The program that reads it there, where that is known.
    pub program: Option<String>,
    /// Who asks.
    pub asked_by: Owner,
    /// What the gate makes of it.
    pub verdict: Verdict,
    /// Why it asks, in one line; absent: a rule of config.toml wants it asked.
    pub reason: Option<String>,
    /// When it was asked, in milliseconds since the Unix epoch.
    pub asked_at_ms: i64,
    /// When it is denied without an answer; once answered, when the approval or the denial is over.
    pub expires_at_ms: i64,
    /// Who answered; absent: no person.
    pub answered_by: Option<Owner>,
    /// By which way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answered_way: Option<AnswerWay>,
    /// When.
    pub answered_at_ms: Option<i64>,
    /// Why it can only be approved once and not for always, in one line; absent: it can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only_once: Option<String>,
    /// The rule that an answer for always has written: its file, and its line in it, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule_at: Option<(String, usize)>,
}

/// Answer to `approval.list`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalList {
    /// Counts changes: given back as `after`, it waits for the next one.
    pub seq: u64,
    /// Oldest first; those that are over stay for ten minutes.
    pub approvals: Vec<ApprovalInfo>,
    /// Questions for secrets that wait, oldest first (`secret.answer`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<SecretQuestion>,
    /// What agents have said last of themselves, oldest first (`attention.report`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attention: Vec<AttentionReport>,
}

/// What a person says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// It may run, once.
    Approve,
    /// It may run now, and whenever the same client asks for the very same in the same directory: a
    /// rule in approved.toml says so from then on. Where [`ApprovalInfo::only_once`] says why not, it
    /// may run once.
    Always,
    /// It may not.
    Deny,
}

/// How a person has answered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerWay {
    /// By `approval.answer`, such as `termctl approve`.
    #[default]
    Command,
    /// At a prompt of the `termctl` that asked.
    Prompt,
    /// By a button of a notification.
    Notification,
    /// By the elicitation of the MCP client that asked.
    Elicitation,
    /// By `session/request_permission` of the ACP client that asked.
    Permission,
}

impl AnswerWay {
    /// The words for it in audit records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Command => "termctl approve",
            Self::Prompt => "a prompt",
            Self::Notification => "a notification",
            Self::Elicitation => "elicitation",
            Self::Permission => "request_permission",
        }
    }
}

/// Params of `approval.list`: the questions. With `after`, waits until something has changed since
/// that `seq`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListApprovals {
    /// The `seq` of an earlier answer.
    pub after: Option<u64>,
    /// The longest wait, in milliseconds, at most a day; absent: 0.
    pub wait_ms: Option<u64>,
}

/// Params of `approval.wait`: waits until a question is answered, and tells how it stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitForApproval {
    /// The question.
    pub id: ApprovalId,
    /// The longest wait, in milliseconds; absent: 30,000.
    pub timeout_ms: Option<u64>,
}

/// Params of `approval.answer`: answers a question. The first answer holds; a later one is an error
/// that says so. An agent's process may not answer; only the front `cli` may answer for always; and
/// a process answers its own question only by a way that asks its person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnswerApproval {
    /// The question.
    pub id: ApprovalId,
    /// The answer.
    pub decision: Decision,
    /// How the person has answered; absent: [`AnswerWay::Command`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub way: Option<AnswerWay>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_six_characters() {
        for bits in [0, 1, u64::MAX, 0x1234_5678_9abc_def0] {
            let id = ApprovalId::from_random(bits);
            assert_eq!(id.as_str().parse(), Ok(id.clone()));
        }
        for text in [
            "", "abcde", "abcdefg", "abcde1", "ABCDEF", "abcde\n", "äbcde",
        ] {
            assert_eq!(
                text.parse::<ApprovalId>(),
                Err(InvalidApprovalId),
                "{text:?}"
            );
        }
    }
}

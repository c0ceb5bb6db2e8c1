//! One question of the gate: listing, answering and describing it.

use std::fmt::Write as _;

use termd_client::escape::escaped;
use termd_client::refusal::kind_of;
use termd_client::{ClientError, Link};
use termd_proto::ErrorKind;
use termd_proto::approval::{
    AnswerApproval, AnswerWay, ApprovalId, ApprovalInfo, ApprovalList, ApprovalState, Decision,
    ListApprovals,
};

/// How long one call waits for a change, in milliseconds: less than the call's own deadline.
pub(super) const WATCH_MS: u64 = 60_000;

/// All questions; with `after`, once they have changed since that list.
pub(super) async fn list(link: &Link, after: Option<u64>) -> Result<ApprovalList, ClientError> {
    let wait_ms = after.map(|_| WATCH_MS);
    link.repeat(&ListApprovals { after, wait_ms }).await
}

/// Answers a question; `None` if it was answered before.
pub(super) async fn answer(
    link: &Link,
    id: &ApprovalId,
    decision: Decision,
    way: AnswerWay,
) -> Result<Option<ApprovalInfo>, ClientError> {
    let answer = AnswerApproval {
        id: id.clone(),
        decision,
        way: Some(way),
    };
    match link.once(&answer).await {
        Err(ClientError::Refused(refusal))
            if kind_of(&refusal) == Some(ErrorKind::ApprovalAnswered) =>
        {
            Ok(None)
        }
        answered => answered.map(Some),
    }
}

/// Whether a person or a command still has to do something about the question.
pub(super) fn is_open(info: &ApprovalInfo) -> bool {
    matches!(info.state, ApprovalState::Pending | ApprovalState::Approved)
}

/// The name of the client that wants to run the command; its front if it has no name.
pub(super) fn asker(info: &ApprovalInfo) -> &str {
    let client = info.asked_by.client.as_deref();
    client.unwrap_or(info.asked_by.front.as_str())
}

/// The variables that a command would be given, in one line.
pub(super) fn variables(info: &ApprovalInfo) -> String {
    let pairs = info.env.iter();
    let pairs = pairs.map(|(name, value)| format!("{}={}", escaped(name), escaped(value)));
    pairs.collect::<Vec<_>>().join(" ")
}

/// A question in one line.
pub(super) fn line(info: &ApprovalInfo) -> String {
    let place = match &info.terminal {
        Some(terminal) => format!("in {terminal}"),
        None => format!("in {}", escaped(&info.cwd)),
    };
    let mut line = format!(
        "{} {}: {} ({place}, for {})",
        info.id,
        info.state.as_str(),
        escaped(&info.command),
        escaped(asker(info))
    );
    if !info.env.is_empty() {
        // Writing to a string does not fail.
        let _ = write!(line, " with {}", variables(info));
    }
    if let Some(reason) = &info.reason {
        line.push_str(": ");
        line.push_str(&escaped(reason));
    }
    if let Some((file, number)) = &info.rule_at {
        // Writing to a string does not fail.
        let _ = write!(line, "; always, by {}:{number}", escaped(file));
    }
    line
}

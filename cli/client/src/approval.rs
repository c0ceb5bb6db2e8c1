//! A question of the gate that a front asks its own person, while other fronts may answer it too. The
//! first answer counts.

use termd_proto::approval::{AnswerApproval, ApprovalId, ApprovalState, Decision, WaitForApproval};

use crate::pool::Pool;

/// How long one call waits for an answer, in milliseconds.
const WAIT_MS: u64 = 60_000;

/// Another front's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resolution {
    /// The same call may be made once.
    Approved,
    /// Denied, or expired.
    Denied,
}

/// Waits until another front has resolved the question; for ever if none can.
pub async fn wait_for_resolution(pool: &Pool, question: Option<&ApprovalId>) -> Resolution {
    let Some(id) = question else {
        return std::future::pending().await;
    };
    loop {
        let wait = WaitForApproval {
            id: id.clone(),
            timeout_ms: Some(WAIT_MS),
        };
        match pool.wait(&wait).await.map(|info| info.state) {
            Ok(ApprovalState::Pending) => {}
            Ok(ApprovalState::Approved) => return Resolution::Approved,
            Ok(ApprovalState::Denied | ApprovalState::Expired) => return Resolution::Denied,
            // Another call used the answer, or a new server does not know the question. Only the
            // front's own person can answer.
            Ok(ApprovalState::Used) | Err(_) => return std::future::pending().await,
        }
    }
}

/// Denies the question for all fronts.
pub async fn deny(pool: &Pool, question: Option<&ApprovalId>) {
    if let Some(id) = question {
        // An earlier answer stands, and this one changes nothing.
        let answer = AnswerApproval {
            id: id.clone(),
            decision: Decision::Deny,
        };
        let _ = pool.once(&answer).await;
    }
}

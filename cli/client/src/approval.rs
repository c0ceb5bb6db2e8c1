//! A question that a front asks its own person, while others may answer it through termd.
//!
//! Whoever is first has answered. It must not know how a front asks.

use termd_proto::approval::{AnswerApproval, ApprovalId, ApprovalState, Decision, WaitForApproval};

use crate::pool::Pool;

/// How long one look for an answer waits, in milliseconds.
const WAIT_MS: u64 = 60_000;

/// How a question was resolved by another front.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resolution {
    /// Yes: the same call is let through, once.
    Approved,
    /// No, or nothing in time.
    Denied,
}

/// Waits until another front has resolved the question; for ever where none can.
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
            // Used by another call, or forgotten by a server that was replaced: only the front's
            // own person can answer.
            Ok(ApprovalState::Used) | Err(_) => return std::future::pending().await,
        }
    }
}

/// The front's person said no: that holds through termd too.
pub async fn deny(pool: &Pool, question: Option<&ApprovalId>) {
    if let Some(id) = question {
        // Somebody may have been faster: their answer holds, and nothing runs by this one.
        let answer = AnswerApproval {
            id: id.clone(),
            decision: Decision::Deny,
        };
        let _ = pool.once(&answer).await;
    }
}

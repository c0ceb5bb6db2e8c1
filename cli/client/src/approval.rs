//! A question of the gate that a front asks its own person, while other fronts may answer it too. The
//! first answer counts.

use termd_proto::ErrorKind;
use termd_proto::approval::{
    AnswerApproval, AnswerWay, ApprovalId, ApprovalInfo, ApprovalState, Decision, WaitForApproval,
};

use crate::error::ClientError;
use crate::pool::Pool;
use crate::refusal::kind_of;

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

/// Reads a question; `None` where the daemon does not know it.
pub async fn look_at(pool: &Pool, question: &ApprovalId) -> Option<ApprovalInfo> {
    let look = WaitForApproval {
        id: question.clone(),
        timeout_ms: Some(0),
    };
    pool.repeat(&look).await.ok()
}

/// Approves the question, as the front's own person has said. An earlier answer stands, and is the
/// outcome.
pub async fn approve(
    pool: &Pool,
    question: &ApprovalId,
    way: AnswerWay,
) -> Result<Resolution, ClientError> {
    let answer = AnswerApproval {
        id: question.clone(),
        decision: Decision::Approve,
        way: Some(way),
    };
    match pool.once(&answer).await {
        Ok(_) => Ok(Resolution::Approved),
        Err(ClientError::Refused(refusal))
            if kind_of(&refusal) == Some(ErrorKind::ApprovalAnswered) =>
        {
            let look = WaitForApproval {
                id: question.clone(),
                timeout_ms: Some(0),
            };
            Ok(match pool.repeat(&look).await?.state {
                ApprovalState::Approved => Resolution::Approved,
                _ => Resolution::Denied,
            })
        }
        Err(error) => Err(error),
    }
}

/// Denies the question for all fronts.
pub async fn deny(pool: &Pool, question: Option<&ApprovalId>, way: AnswerWay) {
    if let Some(id) = question {
        // An earlier answer stands, and this one changes nothing.
        let answer = AnswerApproval {
            id: id.clone(),
            decision: Decision::Deny,
            way: Some(way),
        };
        let _ = pool.once(&answer).await;
    }
}

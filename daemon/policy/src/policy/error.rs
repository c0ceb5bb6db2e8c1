//! Why a policy is refused.

use thiserror::Error;

/// Why a policy is refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{problem}")]
pub struct PolicyError {
    /// The byte of the file where the fault is.
    pub at: usize,
    /// What is wrong there.
    pub problem: String,
}

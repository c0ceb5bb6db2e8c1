//! A request's param that is out of bounds, for checks that [`TerminalError`](super::TerminalError)
//! itself builds on.

use thiserror::Error;

/// Which param is wrong, and how.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{field} {problem}")]
pub struct InvalidParam {
    /// The param's name on the wire.
    pub field: &'static str,
    pub problem: String,
}

//! The `terminal/*` methods and their answers.

use serde_json::value::RawValue;

use crate::rpc_errors::ErrorObjectOwned;

/// The answer to a call of the agent.
pub(super) type Answer = Result<Box<RawValue>, ErrorObjectOwned>;

/// A method of the agent's terminals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    Create,
    Output,
    WaitForExit,
    Kill,
    Release,
}

impl Method {
    const ALL: [Self; 5] = [
        Self::Create,
        Self::Output,
        Self::WaitForExit,
        Self::Kill,
        Self::Release,
    ];

    pub(super) fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.name() == name)
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Create => "terminal/create",
            Self::Output => "terminal/output",
            Self::WaitForExit => "terminal/wait_for_exit",
            Self::Kill => "terminal/kill",
            Self::Release => "terminal/release",
        }
    }
}

//! What client and agent have agreed in `initialize`, and the one thing that is changed in it.

use serde_json::value::RawValue;

use super::Shared;
use super::wire::message::RequestId;
use crate::args::AcpArgs;

/// What was agreed.
#[derive(Debug, Default)]
pub(super) struct Agreed {}

impl Agreed {
    /// The client's `initialize`; the line in its place, where it is changed.
    pub(super) fn asked(
        &self,
        _options: &AcpArgs,
        _id: &RequestId,
        _line: &str,
        _params: Option<&RawValue>,
    ) -> Option<String> {
        None
    }

    /// An answer of the agent's, which may be the one to `initialize`.
    pub(super) fn answered(&self, _shared: &Shared, _id: &RequestId, _result: Option<&RawValue>) {}

    /// Whether the agent's `terminal/*` are ours to answer.
    pub(super) fn answers_terminals(&self) -> bool {
        false
    }
}

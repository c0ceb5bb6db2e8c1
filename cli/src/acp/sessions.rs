//! The ACP sessions: where each works, and which have ended.

use serde_json::value::RawValue;

use super::Shared;
use super::wire::message::RequestId;
use crate::args::AcpArgs;

/// The sessions.
#[derive(Debug, Default)]
pub(super) struct Sessions {}

impl Sessions {
    /// A request of the client's; the line in its place, where it is changed.
    pub(super) fn asked(
        &self,
        _options: &AcpArgs,
        _id: &RequestId,
        _method: &str,
        _line: &str,
        _params: Option<&RawValue>,
    ) -> Option<String> {
        None
    }

    /// An answer of the agent's, which may be the one to such a request.
    pub(super) fn answered(&self, _shared: &Shared, _id: &RequestId, _result: Option<&RawValue>) {}

    /// Where a session works, if it is known.
    pub(super) fn cwd(&self, _session: &str) -> Option<String> {
        None
    }
}

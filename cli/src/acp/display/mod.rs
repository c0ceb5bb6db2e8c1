//! Tool calls that embed a terminal of ours, as the client can show them.

use std::io;
use std::sync::Arc;

use serde_json::value::RawValue;

use super::Shared;
use super::terminals::Tracked;

/// What the client is shown.
#[derive(Debug, Default)]
pub(super) struct Display {}

/// What has become of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Passed {
    /// Nothing: it is to go on as it came.
    AsItIs,
    /// It was sent on, changed or after something else.
    Sent,
}

impl Display {
    /// A `session/update` or `session/request_permission` of the agent's.
    pub(super) async fn pass(
        &self,
        _shared: &Arc<Shared>,
        _line: &str,
        _params: Option<&RawValue>,
    ) -> io::Result<Passed> {
        Ok(Passed::AsItIs)
    }

    /// A terminal is about to be released: what it shows is kept.
    pub(super) async fn keep(&self, _shared: &Arc<Shared>, _terminal: &Arc<Tracked>) {}

    /// A session has ended: nothing of it is kept.
    pub(super) fn forget(&self, _session: &str) {}
}

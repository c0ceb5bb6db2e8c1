//! `terminal/*` from the agent, answered by the daemon.

mod tracked;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use serde_json::value::RawValue;

use super::Shared;
use super::wire::message::RequestId;

pub(super) use tracked::{EndCause, Ended, Tracked};

/// A wait for an exit is as long as the command runs: this is for ever.
pub(super) const LONGEST_CALL: Duration = Duration::from_hours(24 * 365);

/// The agent's terminals.
#[derive(Debug, Default)]
pub(super) struct Terminals {}

impl Terminals {
    /// A `terminal/*` request of the agent's: it is answered, now or later. The future is done when
    /// the next line may be taken.
    pub(super) async fn take(
        &self,
        _shared: &Arc<Shared>,
        _id: RequestId,
        _method: &str,
        _params: Option<&RawValue>,
    ) -> io::Result<()> {
        Ok(())
    }

    /// `$/cancel_request` from the agent: whether it was about one of its `terminal/*`.
    pub(super) fn cancel(&self, _params: Option<&RawValue>) -> bool {
        false
    }

    /// A terminal of this ACP session, released ones too.
    pub(super) fn tracked(&self, _session: &str, _id: &str) -> Option<Arc<Tracked>> {
        None
    }

    /// Releases what a session has left.
    pub(super) async fn sweep_session(&self, _shared: &Arc<Shared>, _session: &str) {}

    /// Releases what all sessions have left.
    pub(super) async fn sweep(&self, _shared: &Arc<Shared>) {}
}

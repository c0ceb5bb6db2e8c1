//! `session.timeline` and `session.keyframe`: what a player needs beside the output.

use std::sync::Arc;

use termd_proto::Offset;
use termd_proto::recording::{Keyframe, MIN_PAUSE_MS, ReadKeyframe, ReadTimeline, Timeline};

use crate::rpc::api::Api;
use crate::rpc::context::ConnectionContext;
use crate::rpc::error::{RpcError, RpcResult};
use crate::service::{Catalog, OutputSecrets, Screens};
use crate::terminal::read::timeline::timeline;
use crate::terminal::screen::history::offset_within;

/// The pause that ends a span, unless asked otherwise: longer than a person looks at a still screen.
const DEFAULT_PAUSE_MS: u64 = 2_000;

/// Serves recordings.
#[derive(Debug)]
pub struct RecordingHandler {
    pub(crate) catalog: Catalog,
    pub(crate) screens: Screens,
    pub(crate) output_secrets: OutputSecrets,
}

impl RecordingHandler {
    /// Serves its methods.
    pub fn register(self, api: &mut Api) {
        let handler = Arc::new(self);
        api.method(&handler, Self::timeline);
        api.method(&handler, Self::keyframe);
    }
}

impl RecordingHandler {
    async fn timeline(
        self: Arc<Self>,
        params: ReadTimeline,
        _: Arc<ConnectionContext>,
    ) -> RpcResult<Timeline> {
        let pause_ms = params.pause_ms.unwrap_or(DEFAULT_PAUSE_MS);
        if pause_ms < MIN_PAUSE_MS {
            let problem = format!("may be {MIN_PAUSE_MS} at the least");
            return Err(RpcError::invalid_params("pause_ms", &problem));
        }
        let terminal = self.catalog.find(&params.id).await?;
        let start = self.catalog.info(&terminal).await?.start;
        let until = params.until.unwrap_or(Offset(u64::MAX)).min(terminal.end());
        let since = params.since.unwrap_or_default().max(start).min(until);
        Ok(timeline(&terminal, (since, until), pause_ms).await?)
    }

    async fn keyframe(
        self: Arc<Self>,
        params: ReadKeyframe,
        context: Arc<ConnectionContext>,
    ) -> RpcResult<Keyframe> {
        if (self.output_secrets).are_hidden_everywhere(context.reader()) {
            let problem = "may not be read by an agent where secrets are hidden";
            return Err(RpcError::invalid_params("at", problem));
        }
        let terminal = self.catalog.find(&params.id).await?;
        let kept = (self.catalog.info(&terminal).await?.start, terminal.end());
        let at = offset_within(kept, params.at)?;
        Ok(self.screens.keyframe(&terminal, (kept.0, at)).await?)
    }
}

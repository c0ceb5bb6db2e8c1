//! `import.*`: a recording that was made elsewhere becomes a closed terminal.

use std::sync::Arc;

use termd_proto::import::{AddToImport, BeginImport, FinishImport, ImportBegun, MAX_IMPORTS};
use termd_proto::terminal::TerminalInfo;

use crate::rpc::api::Api;
use crate::rpc::context::ConnectionContext;
use crate::rpc::error::{RpcError, RpcResult};
use crate::service::Importer;
use crate::terminal::TerminalError;

/// Serves `import.*`.
#[derive(Debug)]
pub struct ImportHandler {
    importer: Arc<Importer>,
}

impl ImportHandler {
    pub(crate) fn new(importer: Arc<Importer>) -> Self {
        Self { importer }
    }

    /// Serves its methods.
    pub fn register(self, api: &mut Api) {
        let handler = Arc::new(self);
        api.method(&handler, Self::begin);
        api.method(&handler, Self::add);
        api.method(&handler, Self::finish);
    }

    #[expect(clippy::unused_async, reason = "the table of methods takes futures")]
    async fn begin(
        self: Arc<Self>,
        params: BeginImport,
        context: Arc<ConnectionContext>,
    ) -> RpcResult<ImportBegun> {
        let (connection, closed) = (context.id.0, context.closed.clone());
        let id = self.importer.begin(params, connection, closed)?;
        let id = id.ok_or_else(|| RpcError::overloaded("imports", MAX_IMPORTS))?;
        Ok(ImportBegun { id })
    }

    async fn add(
        self: Arc<Self>,
        params: AddToImport,
        context: Arc<ConnectionContext>,
    ) -> RpcResult<()> {
        let AddToImport { id, events } = params;
        Ok(self.importer.add(id, context.id.0, events).await?)
    }

    async fn finish(
        self: Arc<Self>,
        params: FinishImport,
        context: Arc<ConnectionContext>,
    ) -> RpcResult<TerminalInfo> {
        let (importer, actor) = (Arc::clone(&self.importer), context.native_owner());
        let connection = context.id.0;
        let finished =
            tokio::spawn(async move { importer.finish(params, connection, actor).await });
        Ok(finished.await.map_err(|_| TerminalError::Stopping)??)
    }
}

//! `file.*`: files, as a terminal's commands see them.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use termd_proto::file::{FoundFile, MAX_DATA_BYTES, SearchFile, WriteFile, WrittenFile};

use crate::rpc::api::Api;
use crate::rpc::context::ConnectionContext;
use crate::rpc::error::{RpcError, RpcResult};
use crate::service::{Catalog, ContentSource, FileClient, Files, NewFile};
use crate::terminal::TerminalError;

/// Serves `file.*`.
#[derive(Debug)]
pub struct FileHandler {
    pub(crate) catalog: Catalog,
    pub(crate) files: Arc<Files>,
}

impl FileHandler {
    /// Serves its methods.
    pub fn register(self, api: &mut Api) {
        let handler = Arc::new(self);
        api.method(&handler, Self::write);
        api.method(&handler, Self::search);
    }

    async fn write(
        self: Arc<Self>,
        params: WriteFile,
        context: Arc<ConnectionContext>,
    ) -> RpcResult<WrittenFile> {
        let terminal = self
            .catalog
            .find_for(&params.id, &context.native_owner())
            .await?;
        let content = content(&params)?;
        let client = client(params.confirmed, &context);
        let file = NewFile {
            path: params.path,
            mode: params.mode.unwrap_or_default(),
            follow_link: params.follow_link.unwrap_or(true),
            content,
        };
        let files = Arc::clone(&self.files);
        // A client that disconnects half-way leaves a whole file, and its record.
        let written = tokio::spawn(async move { files.write(&terminal, file, &client).await });
        Ok(written.await.map_err(|_| TerminalError::Stopping)??)
    }

    async fn search(
        self: Arc<Self>,
        params: SearchFile,
        context: Arc<ConnectionContext>,
    ) -> RpcResult<FoundFile> {
        let terminal = self
            .catalog
            .find_for(&params.id, &context.native_owner())
            .await?;
        let client = client(params.confirmed, &context);
        let files = Arc::clone(&self.files);
        let found = tokio::spawn(async move {
            let SearchFile { path, pattern, .. } = params;
            files
                .search(&terminal, &path, pattern.as_deref(), &client)
                .await
        });
        Ok(found.await.map_err(|_| TerminalError::Stopping)??)
    }
}

fn client(confirmed: Option<bool>, context: &ConnectionContext) -> FileClient {
    FileClient {
        owner: context.native_owner(),
        gate: context.gate(),
        confirmed: confirmed.unwrap_or_default(),
        asks: context.asks(),
    }
}

fn content(params: &WriteFile) -> RpcResult<ContentSource> {
    let transcript = params.transcript.unwrap_or_default();
    let bytes = match (&params.text, &params.data, transcript) {
        (None, None, true) => return Ok(ContentSource::Transcript),
        (Some(text), None, false) => text.clone().into_bytes(),
        (None, Some(data), false) => BASE64
            .decode(data)
            .map_err(|_| RpcError::invalid_params("data", "is not base64"))?,
        _ => {
            return Err(RpcError::invalid_params(
                "text",
                "or `data` or `transcript` must be given, and one of them alone",
            ));
        }
    };
    if bytes.len() > MAX_DATA_BYTES {
        return Err(RpcError::invalid_params(
            "text",
            "may be 2,097,152 bytes long at the most",
        ));
    }
    Ok(ContentSource::Bytes(bytes))
}

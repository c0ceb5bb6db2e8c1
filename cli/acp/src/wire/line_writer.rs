//! Writes whole lines in order, from several tasks.
//!
//! A slow reader holds up the writers: this back-pressure takes the place of a queue.

use std::fmt;
use std::io;

use jsonrpsee::types::ErrorObjectOwned;
use serde::Serialize;
use serde_json::value::RawValue;
use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use tokio::sync::Mutex;

use super::message::RequestId;

/// An answer of the proxy itself.
#[derive(Serialize)]
struct Response<'a> {
    jsonrpc: &'static str,
    id: &'a RawValue,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a ErrorObjectOwned>,
}

/// The client's end, or the agent's.
pub(crate) struct LineWriter {
    to: Mutex<Option<Box<dyn AsyncWrite + Send + Unpin>>>,
}

impl fmt::Debug for LineWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LineWriter").finish_non_exhaustive()
    }
}

impl LineWriter {
    pub(crate) fn new(stream: impl AsyncWrite + Send + Unpin + 'static) -> Self {
        Self {
            to: Mutex::new(Some(Box::new(stream))),
        }
    }

    /// Writes a line that has its end. Not cancel safe: half a line would be written.
    pub(crate) async fn line(&self, line: &[u8]) -> io::Result<()> {
        let mut to = self.to.lock().await;
        let stream = to.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        stream.write_all(line).await?;
        stream.flush().await
    }

    /// Writes a line, and its end if it has none. Not cancel safe either.
    pub(crate) async fn text(&self, mut line: String) -> io::Result<()> {
        if !line.ends_with('\n') {
            line.push('\n');
        }
        self.line(line.as_bytes()).await
    }

    /// Writes a message of the proxy itself.
    pub(crate) async fn message(&self, message: &impl Serialize) -> io::Result<()> {
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        self.line(&line).await
    }

    /// Answers a request.
    pub(crate) async fn answer(
        &self,
        id: &RequestId,
        answer: Result<&RawValue, &ErrorObjectOwned>,
    ) -> io::Result<()> {
        let id: &RawValue = serde_json::from_str(id.as_json())?;
        let response = Response {
            jsonrpc: "2.0",
            id,
            result: answer.ok(),
            error: answer.err(),
        };
        self.message(&response).await
    }

    /// Closes the stream after the line that is being written.
    pub(crate) async fn close(&self) {
        if let Some(mut stream) = self.to.lock().await.take() {
            // The stream is dropped either way.
            let _ = stream.shutdown().await;
        }
    }
}

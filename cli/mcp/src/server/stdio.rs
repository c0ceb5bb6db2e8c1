//! MCP's stdio transport: a JSON-RPC message a line.
//!
//! rmcp's own transport reports the end of stdin only after it has drained for seconds. This one
//! reports it at once, and counts unanswered requests, so that requests from a pipe get answers. A
//! line is bounded; a line that is no message is answered with an error and not passed on.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, ErrorCode, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::io::{StdioReader, StdioWriter, stdio_pipes};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::{Mutex, Notify};
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// Longest line: a MiB of input, each byte of it escaped, and room to spare.
const MAX_LINE_BYTES: usize = 8 << 20;
/// How long calls in flight may take to answer when stdin has ended.
const LAST_ANSWERS: Duration = Duration::from_millis(100);

/// The transport.
#[derive(Debug)]
pub(crate) struct Stdio<R = StdioReader, W = StdioWriter> {
    from: BufReader<R>,
    to: Arc<Mutex<W>>,
    line: Vec<u8>,
    /// The line is over its bound: the rest of it is skipped.
    skipping: bool,
    /// The refusal that is being written.
    refusal: Option<JoinHandle<()>>,
    state: Arc<State>,
}

#[derive(Debug, Default)]
struct State {
    unanswered: AtomicUsize,
    answered: Notify,
    ended: Notify,
}

/// The end of stdin, to wait for.
#[derive(Debug)]
pub(crate) struct Ended(Arc<State>);

impl Ended {
    /// Returns when stdin has ended and calls in flight are answered, or had a moment for it.
    pub(crate) async fn over(self) {
        self.0.ended.notified().await;
        let answers = async {
            while self.0.unanswered.load(Ordering::Acquire) > 0 {
                self.0.answered.notified().await;
            }
        };
        // The client may not be there to read the other answers.
        let _ = timeout(LAST_ANSWERS, answers).await;
    }
}

impl Stdio {
    /// This process's stdin and stdout.
    pub(crate) fn open() -> (Self, Ended) {
        let (from, to) = stdio_pipes();
        Self::on(from, to)
    }
}

impl<R, W> Stdio<R, W>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin + Send + 'static,
{
    fn on(from: R, to: W) -> (Self, Ended) {
        let state = Arc::new(State::default());
        let transport = Self {
            from: BufReader::with_capacity(64 << 10, from),
            to: Arc::new(Mutex::new(to)),
            line: Vec::new(),
            skipping: false,
            refusal: None,
            state: Arc::clone(&state),
        };
        (transport, Ended(state))
    }

    /// The next line that is not empty; `None` at the end. Cancel safe.
    async fn next_line(&mut self) -> Option<Result<Vec<u8>, TooLong>> {
        loop {
            let chunk = self.from.fill_buf().await.ok()?;
            if chunk.is_empty() {
                return None;
            }
            let end = chunk.iter().position(|&byte| byte == b'\n');
            let taken = end.unwrap_or(chunk.len());
            if self.line.len() + taken > MAX_LINE_BYTES {
                self.skipping = true;
                self.line.clear();
            }
            if !self.skipping {
                self.line
                    .extend_from_slice(chunk.get(..taken).unwrap_or_default());
            }
            self.from.consume(taken + usize::from(end.is_some()));
            if end.is_none() {
                continue;
            }
            let line = std::mem::take(&mut self.line);
            if std::mem::take(&mut self.skipping) {
                return Some(Err(TooLong));
            }
            if !line.trim_ascii().is_empty() {
                return Some(Ok(line));
            }
        }
    }

    /// Answers a line that is no message, by a task: rmcp drops a `receive` that is not done, and with
    /// it half a line would be written. The next line is taken after that. `id` is null where the
    /// line has none that is a string or a number (JSON-RPC 2.0, section 5).
    fn refuse(&mut self, id: &Value, code: ErrorCode, message: &str) {
        let error = json!({
            "jsonrpc": "2.0",
            "id": id,
            "error": { "code": code.0, "message": message },
        });
        let to = Arc::clone(&self.to);
        self.refusal = Some(tokio::spawn(async move {
            // A stdout that is closed shows at the next answer.
            let _ = write(&to, &error.to_string()).await;
        }));
    }
}

/// A line over [`MAX_LINE_BYTES`].
struct TooLong;

async fn write(to: &Mutex<impl AsyncWrite + Unpin>, message: &str) -> io::Result<()> {
    let mut line = String::with_capacity(message.len() + 1);
    line.push_str(message);
    line.push('\n');
    let mut to = to.lock().await;
    to.write_all(line.as_bytes()).await?;
    to.flush().await
}

impl<R, W> Transport<RoleServer> for Stdio<R, W>
where
    R: AsyncRead + Unpin + Send,
    W: AsyncWrite + Unpin + Send + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        item: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        let to = Arc::clone(&self.to);
        let state = Arc::clone(&self.state);
        async move {
            let answers = matches!(
                item,
                ServerJsonRpcMessage::Response(_) | ServerJsonRpcMessage::Error(_)
            );
            let written = match serde_json::to_string(&item) {
                Ok(message) => write(&to, &message).await,
                Err(error) => Err(io::Error::other(error)),
            };
            if answers {
                // One that was counted, but for a bare error that answers none.
                let _ =
                    state
                        .unanswered
                        .fetch_update(Ordering::AcqRel, Ordering::Acquire, |count| {
                            count.checked_sub(1)
                        });
                state.answered.notify_one();
            }
            written
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            if let Some(refusal) = &mut self.refusal {
                let _ = refusal.await;
                self.refusal = None;
            }
            let Some(line) = self.next_line().await else {
                self.state.ended.notify_one();
                return None;
            };
            let Ok(line) = line else {
                let message = format!("a message may be {MAX_LINE_BYTES} bytes long at the most");
                self.refuse(&Value::Null, ErrorCode::INVALID_REQUEST, &message);
                continue;
            };
            match serde_json::from_slice::<ClientJsonRpcMessage>(&line) {
                Ok(message) => {
                    if matches!(message, ClientJsonRpcMessage::Request(_)) {
                        self.state.unanswered.fetch_add(1, Ordering::AcqRel);
                    }
                    return Some(message);
                }
                Err(_) => match serde_json::from_slice::<Value>(&line) {
                    Err(error) => {
                        let message = format!("this is not JSON: {error}");
                        self.refuse(&Value::Null, ErrorCode::PARSE_ERROR, &message);
                    }
                    Ok(value) => {
                        let id = value
                            .get("id")
                            .filter(|id| id.is_string() || id.is_number());
                        self.refuse(
                            id.unwrap_or(&Value::Null),
                            ErrorCode::INVALID_REQUEST,
                            "this is JSON, but no message of MCP (one JSON-RPC 2.0 object a line)",
                        );
                    }
                },
            }
        }
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        self.to.lock().await.flush().await
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{duplex, split};

    use super::*;

    /// rmcp drops a `receive` whenever something else comes first.
    #[tokio::test]
    async fn a_refusal_is_whole_though_receive_is_dropped() {
        let (mut client, ours) = duplex(16);
        let (from, to) = split(ours);
        let (mut stdio, _ended) = Stdio::on(from, to);
        client.write_all(b"no json\n").await.unwrap();
        for _ in 0..3 {
            tokio::select! {
                biased;
                received = stdio.receive() => panic!("{received:?}"),
                () = tokio::task::yield_now() => {}
            }
        }
        drop(stdio);
        let mut line = String::new();
        BufReader::new(client).read_line(&mut line).await.unwrap();
        let answer: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(answer["error"]["code"], ErrorCode::PARSE_ERROR.0, "{line}");
    }
}

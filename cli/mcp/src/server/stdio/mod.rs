//! MCP's stdio transport: a JSON-RPC message a line.
//!
//! rmcp's own transport reports the end of stdin only after it has drained for seconds. This one
//! reports it at once, and counts unanswered requests, so that requests from a pipe get answers. A
//! line is bounded; a line that is no message is answered with an error and not passed on. Ids come
//! back to the letter, and batches are taken where the version has them.

mod batches;
mod ids;
mod message;
mod params;

use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex as StdMutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ErrorCode, ProtocolVersion, RequestId,
    ServerJsonRpcMessage, ServerResult,
};
use rmcp::transport::Transport;
use rmcp::transport::io::{StdioReader, StdioWriter, stdio_pipes};
use serde_json::value::RawValue;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::{Mutex, Notify};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use batches::{Batches, MAX_BATCH};
use ids::ReplacedIds;
use message::Refusal;

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
    /// What is being written that is no answer of rmcp's.
    writing: Option<JoinHandle<()>>,
    /// The messages of a batch that rmcp has not got yet.
    queued: VecDeque<ClientJsonRpcMessage>,
    state: Arc<State>,
}

#[derive(Debug, Default)]
struct State {
    unanswered: AtomicUsize,
    answered: Notify,
    ended: Notify,
    /// Whether the negotiated version has batches.
    has_batches: AtomicBool,
    requests: StdMutex<Requests>,
}

/// What is kept of requests until their answers.
#[derive(Debug, Default)]
struct Requests {
    ids: ReplacedIds,
    batches: Batches,
}

impl State {
    fn requests(&self) -> MutexGuard<'_, Requests> {
        // No holder of the lock can panic half way.
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a request. Returns what is to be written where the message cancels one.
    fn note(&self, message: &ClientJsonRpcMessage) -> Option<String> {
        match message {
            ClientJsonRpcMessage::Request(_) => {
                self.unanswered.fetch_add(1, Ordering::AcqRel);
                None
            }
            ClientJsonRpcMessage::Notification(it) => match &it.notification {
                ClientNotification::CancelledNotification(it) => {
                    let id = it.params.request_id.as_ref()?;
                    self.requests().batches.cancelled(id)
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// What is to be written for a message of rmcp's, now.
    fn to_line(&self, item: &ServerJsonRpcMessage) -> io::Result<Option<String>> {
        let Some(id) = answered(item) else {
            return Ok(Some(message::write(item, None)?));
        };
        let came = self.requests().ids.take(id);
        let answer = message::write(item, came.as_deref())?;
        Ok(self.requests().batches.answered(id, answer))
    }
}

/// The request that a message answers.
fn answered(item: &ServerJsonRpcMessage) -> Option<&RequestId> {
    match item {
        ServerJsonRpcMessage::Response(response) => Some(&response.id),
        ServerJsonRpcMessage::Error(error) => error.id.as_ref(),
        _ => None,
    }
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
            writing: None,
            queued: VecDeque::new(),
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

    /// Writes a line, by a task: rmcp drops a `receive` that is not done, and with it half a line
    /// would be written. The next line is taken after that.
    fn write_apart(&mut self, line: String) {
        let to = Arc::clone(&self.to);
        self.writing = Some(tokio::spawn(async move {
            // A stdout that is closed shows at the next answer.
            let _ = write(&to, &line).await;
        }));
    }

    fn refuse(&mut self, refusal: &Refusal) {
        if let Ok(line) = refusal.to_text() {
            self.write_apart(line);
        }
    }

    /// Takes a line in. Its messages are queued.
    fn take(&mut self, line: &[u8]) {
        let is_batch = line.trim_ascii_start().starts_with(b"[");
        if is_batch && self.state.has_batches.load(Ordering::Acquire) {
            self.take_batch(line);
            return;
        }
        let read = message::read(line, &mut self.state.requests().ids);
        match read {
            Ok(message) => self.queue(message),
            Err(refusal) => self.refuse(&refusal),
        }
    }

    /// Queues a message, but for `notifications/initialized`: nothing depends on it, and behind an
    /// `initialize` that was refused it would end rmcp's server.
    fn queue(&mut self, message: ClientJsonRpcMessage) {
        let is_needless = matches!(
            &message,
            ClientJsonRpcMessage::Notification(it)
                if matches!(it.notification, ClientNotification::InitializedNotification(_))
        );
        if !is_needless {
            self.queued.push_back(message);
        }
    }

    fn take_batch(&mut self, line: &[u8]) {
        let messages: Vec<&RawValue> = match serde_json::from_slice(line) {
            Ok(messages) => messages,
            Err(error) => {
                let message = format!("this is not JSON: {error}");
                self.refuse(&Refusal::new(ErrorCode::PARSE_ERROR, message));
                return;
            }
        };
        if messages.is_empty() || messages.len() > MAX_BATCH {
            let message = format!("a batch has 1 to {MAX_BATCH} messages");
            self.refuse(&Refusal::new(ErrorCode::INVALID_REQUEST, message));
            return;
        }
        let mut requests = Vec::new();
        let mut answers = Vec::new();
        for text in messages {
            let read = message::read(text.get().as_bytes(), &mut self.state.requests().ids);
            match read {
                Ok(message) => {
                    if let ClientJsonRpcMessage::Request(request) = &message {
                        requests.push(request.id.clone());
                    }
                    self.queue(message);
                }
                Err(refusal) => answers.extend(refusal.to_text()),
            }
        }
        let answer = self.state.requests().batches.begin(requests, answers);
        if let Some(answer) = answer {
            self.write_apart(answer);
        }
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
            if let ServerJsonRpcMessage::Response(response) = &item
                && let ServerResult::InitializeResult(result) = &response.result
            {
                let has_batches = result.protocol_version == ProtocolVersion::V_2025_03_26;
                state.has_batches.store(has_batches, Ordering::Release);
            }
            let written = match state.to_line(&item) {
                Ok(Some(line)) => write(&to, &line).await,
                Ok(None) => Ok(()),
                Err(error) => Err(error),
            };
            let answers = matches!(
                item,
                ServerJsonRpcMessage::Response(_) | ServerJsonRpcMessage::Error(_)
            );
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
            if let Some(writing) = &mut self.writing {
                let _ = writing.await;
                self.writing = None;
            }
            if let Some(message) = self.queued.pop_front() {
                if let Some(line) = self.state.note(&message) {
                    self.write_apart(line);
                }
                return Some(message);
            }
            match self.next_line().await {
                Some(Ok(line)) => self.take(&line),
                Some(Err(TooLong)) => {
                    let message =
                        format!("a message may be {MAX_LINE_BYTES} bytes long at the most");
                    self.refuse(&Refusal::new(ErrorCode::INVALID_REQUEST, message));
                }
                None => {
                    self.state.ended.notify_one();
                    return None;
                }
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
        let answer: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!(answer["error"]["code"], ErrorCode::PARSE_ERROR.0, "{line}");
    }
}

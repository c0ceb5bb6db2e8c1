//! The socket side over real sockets, with methods of its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tempfile::TempDir;
use termd_proto::method::Subscribe;
use termd_proto::{ErrorKind, Method};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::{Api, ConnectionContext, RpcError, RpcResult, ServeOptions, serve};

mod calls;
mod lines;
mod slow;

const PATIENCE: Duration = Duration::from_secs(20);

/// Calls of `never` now, and what was made for the peer in all: answers of `big` and
/// `when_two_wait`, events.
#[derive(Default)]
struct Waits {
    now: AtomicUsize,
    made: AtomicUsize,
    changed: watch::Sender<()>,
}

struct Wait(Arc<Waits>);

impl Wait {
    fn begin(waits: &Arc<Waits>) -> Self {
        waits.now.fetch_add(1, Ordering::SeqCst);
        waits.changed.send_replace(());
        Self(Arc::clone(waits))
    }
}

impl Drop for Wait {
    fn drop(&mut self) {
        self.0.now.fetch_sub(1, Ordering::SeqCst);
        self.0.changed.send_replace(());
    }
}

impl Waits {
    async fn until(&self, count: usize) {
        let mut changes = self.changed.subscribe();
        let reached = changes.wait_for(|()| self.now.load(Ordering::SeqCst) == count);
        timeout(PATIENCE, reached)
            .await
            .expect("in time")
            .expect("a sender");
    }
}

/// Declares a method of the tests: its params and its answer.
macro_rules! test_method {
    ($name:literal, $params:ident($fields:ty) => $answer:ty) => {
        #[derive(Serialize, Deserialize)]
        #[serde(transparent)]
        struct $params($fields);

        impl Method for $params {
            const NAME: &'static str = $name;
            type Answer = $answer;
        }
    };
}

/// The length of an answer.
#[derive(Serialize, Deserialize)]
struct Bytes {
    bytes: usize,
}

test_method!("echo", Echo(Value) => Value);
test_method!("never", Never(Value) => ());
test_method!("big", Big(Bytes) => String);
test_method!("when_two_wait", WhenTwoWait(Value) => ());
test_method!("fail", Fail(Value) => ());
test_method!("panic", Panic(Value) => ());
test_method!("subscribe", Numbers(Value) => u64);

impl Subscribe for Numbers {
    const END: &'static str = "unsubscribe";
    const NOTIFICATION: &'static str = "event";
    type Item = u64;
}

#[derive(Serialize, Deserialize)]
struct Typed {
    text: String,
    numbers: Option<Vec<u16>>,
}

impl Method for Typed {
    const NAME: &'static str = "typed";
    type Answer = u64;
}

type Context = Arc<ConnectionContext>;

impl Waits {
    fn api(self: &Arc<Self>) -> Api {
        let mut api = Api::default();
        api.method(self, |_, Echo(params), _| async { Ok(params) });
        api.method(self, |_, Typed { text, .. }, _| async move {
            Ok(text.len() as u64)
        });
        api.method(self, |waits, Never(_), _| async move {
            let _wait = Wait::begin(&waits);
            std::future::pending().await
        });
        api.method(self, Self::big);
        api.method(self, |waits, WhenTwoWait(_), _| async move {
            let _wait = Wait::begin(&waits);
            waits.until(2).await;
            waits.made.fetch_add(1, Ordering::SeqCst);
            Ok(())
        });
        api.method(self, |_, Fail(_), _| async {
            Err(RpcError::new(-32050, ErrorKind::Internal, "failed"))
        });
        api.method(self, |waits, Panic(_), _| async move {
            assert_ne!(waits.now.load(Ordering::SeqCst), 0, "panics as asked");
            Ok(())
        });
        api.subscription(self, |waits, Numbers(params), sink| async move {
            let events = params["events"].as_u64().unwrap_or(200);
            Ok(async move {
                for number in 0..events {
                    waits.made.fetch_add(1, Ordering::SeqCst);
                    if sink.send(&number).await.is_err() {
                        return;
                    }
                }
                sink.closed().await;
            })
        });
        api
    }

    async fn big(
        self: Arc<Self>,
        Big(Bytes { bytes: size }): Big,
        context: Context,
    ) -> RpcResult<String> {
        let _turn = context.turn(size as u64).await;
        tokio::task::yield_now().await;
        self.made.fetch_add(1, Ordering::SeqCst);
        Ok("x".repeat(size))
    }
}

/// A server on a socket in a directory of its own.
struct TestServer {
    directory: TempDir,
    waits: Arc<Waits>,
    options: ServeOptions,
    shutdown: CancellationToken,
    task: JoinHandle<()>,
}

impl TestServer {
    fn start() -> Self {
        Self::start_with(ServeOptions::default())
    }

    fn start_with(options: ServeOptions) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let waits = Arc::new(Waits::default());
        let shutdown = CancellationToken::new();
        let listener = UnixListener::bind(directory.path().join("s")).unwrap();
        let api = Arc::new(waits.api());
        let task = tokio::spawn(serve(listener, api, options.clone(), shutdown.clone()));
        Self {
            directory,
            waits,
            options,
            shutdown,
            task,
        }
    }

    /// Waits until nothing more is made: some round trips long everybody has had a turn, and only
    /// the peers' reading can bring anything on.
    async fn until_nothing_is_made(&self) {
        let mut other = self.connect().await;
        let mut before = 0;
        loop {
            for _ in 0..50 {
                other.lives().await;
            }
            match self.waits.made.load(Ordering::SeqCst) {
                now if now == before && now > 0 => return,
                now => before = now,
            }
        }
    }

    async fn connect(&self) -> Client {
        let stream = UnixStream::connect(self.directory.path().join("s"))
            .await
            .unwrap();
        Client(BufReader::new(stream))
    }
}

struct Client(BufReader<UnixStream>);

impl Client {
    async fn send(&mut self, line: &str) {
        let line = format!("{line}\n");
        timeout(PATIENCE, self.0.get_mut().write_all(line.as_bytes()))
            .await
            .unwrap()
            .unwrap();
    }

    async fn call(&mut self, id: &str, method: &str) {
        self.send(&format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}"}}"#
        ))
        .await;
    }

    async fn call_with(&mut self, id: u64, method: &str, params: &Value) {
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.send(&request.to_string()).await;
    }

    /// The next line; none at the end.
    async fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        match timeout(PATIENCE, self.0.read_line(&mut line))
            .await
            .expect("in time")
        {
            Ok(0) | Err(_) => None,
            Ok(_) => Some(line),
        }
    }

    async fn answer(&mut self) -> Value {
        serde_json::from_str(&self.line().await.expect("a line")).expect("JSON")
    }

    /// The next answer is this error.
    async fn error(&mut self, id: Value, code: i32, kind: &str) -> Value {
        let answer = self.answer().await;
        let error = &answer["error"];
        let seen = json!([answer["id"], error["code"], error["data"]["kind"]]);
        assert_eq!(seen, json!([id, code, kind]), "{answer}");
        answer["error"]["data"].clone()
    }

    /// The connection still answers.
    async fn lives(&mut self) {
        self.call("\"alive\"", "echo").await;
        assert_eq!(self.answer().await["id"], "alive");
    }
}

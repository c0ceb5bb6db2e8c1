//! The socket side over real sockets, with methods of its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use jsonrpsee::core::async_trait;
use jsonrpsee::proc_macros::rpc;
use jsonrpsee::types::ErrorObjectOwned;
use jsonrpsee::{Extensions, RpcModule};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::{ConnectionContext, ServeOptions, limits, serve};

const PATIENCE: Duration = Duration::from_secs(20);

/// Calls of `never` now, and how many have been dropped.
#[derive(Default)]
struct Waits {
    now: AtomicUsize,
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

#[rpc(server)]
trait Typed {
    #[method(name = "typed", param_kind = map, with_extensions)]
    async fn typed(&self, text: String, numbers: Option<Vec<u16>>)
    -> Result<u64, ErrorObjectOwned>;
}

struct TypedImpl;

#[async_trait]
impl TypedServer for TypedImpl {
    async fn typed(
        &self,
        ext: &Extensions,
        text: String,
        _numbers: Option<Vec<u16>>,
    ) -> Result<u64, ErrorObjectOwned> {
        assert!(ext.get::<Arc<ConnectionContext>>().is_some());
        Ok(text.len() as u64)
    }
}

fn module(waits: &Arc<Waits>) -> RpcModule<Arc<Waits>> {
    let mut module = RpcModule::new(Arc::clone(waits));
    module.merge(TypedImpl.into_rpc()).unwrap();
    module
        .register_method("echo", |params, _, _| {
            params.parse::<Value>().unwrap_or_default()
        })
        .unwrap();
    module
        .register_async_method("never", |_, waits, _| async move {
            let _wait = Wait::begin(&waits);
            std::future::pending::<()>().await;
        })
        .unwrap();
    module
        .register_async_method("big", |params, _, _| async move {
            let size = params.parse::<[usize; 1]>().unwrap()[0];
            tokio::task::yield_now().await;
            "x".repeat(size)
        })
        .unwrap();
    module
        .register_async_method("when_two_wait", |_, waits, _| async move {
            let _wait = Wait::begin(&waits);
            waits.until(2).await;
        })
        .unwrap();
    module
        .register_async_method("fail", |_, _, _| async {
            Err::<(), _>(ErrorObjectOwned::owned(-32050, "failed", None::<()>))
        })
        .unwrap();
    module
        .register_async_method("panic", |_, _, _| async {
            panic!("as asked");
            #[allow(unreachable_code, reason = "it gives the type")]
            ()
        })
        .unwrap();
    module
        .register_subscription(
            "subscribe",
            "event",
            "unsubscribe",
            |_, pending, _, _| async move {
                let Ok(sink) = pending.accept().await else {
                    return;
                };
                for number in 0..200 {
                    let message = serde_json::value::to_raw_value(&number).unwrap();
                    if sink.send(message).await.is_err() {
                        return;
                    }
                }
                sink.closed().await;
            },
        )
        .unwrap();
    module
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
        let methods = module(&waits).into();
        let task = tokio::spawn(serve(listener, methods, options.clone(), shutdown.clone()));
        Self {
            directory,
            waits,
            options,
            shutdown,
            task,
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

#[tokio::test]
async fn bad_lines_are_told_and_the_connection_goes_on() {
    let server = TestServer::start();
    let mut client = server.connect().await;
    for (line, code, kind) in [
        ("nonsense".to_owned(), -32700, "parse_error"),
        ("[".repeat(1 << 20), -32700, "parse_error"),
        ("[1,2]".to_owned(), -32600, "batch_unsupported"),
        ("{}".to_owned(), -32600, "invalid_request"),
        ("x".repeat(5 << 20), -32600, "line_too_long"),
    ] {
        client.send("\r\n \n").await;
        client.send(&line).await;
        let data = client.error(Value::Null, code, kind).await;
        if kind == "line_too_long" {
            assert_eq!(data["limit"], 4 << 20);
        }
        client.lives().await;
    }
    client
        .call("7", &format!("no\\u001b{}", "x".repeat(500)))
        .await;
    let data = client.error(json!(7), -32601, "method_not_found").await;
    let name = data["method"].as_str().unwrap();
    assert!(
        name.starts_with("no\\u{1b}xxx") && name.len() == 100,
        "{name}"
    );
    client.lives().await;
}

#[tokio::test]
async fn random_bytes_never_end_the_server() {
    let server = TestServer::start();
    let mut client = server.connect().await;
    // A fixed xorshift: the same bytes in every run.
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut line = Vec::new();
    for _ in 0..10_000 {
        line.clear();
        for _ in 0..20 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            line.push(state.to_le_bytes()[3]);
        }
        line.retain(|byte| *byte != b'\n');
        line.splice(0..0, *b"!");
        line.push(b'\n');
        client.0.get_mut().write_all(&line).await.unwrap();
        client.error(Value::Null, -32700, "parse_error").await;
    }
    client.lives().await;
}

#[tokio::test]
async fn ids_come_back_as_they_were_written() {
    let server = TestServer::start();
    let mut client = server.connect().await;
    for id in [
        "1",
        "-1",
        "1.50",
        "null",
        "1e400",
        "123456789012345678901234567890",
        r#""\u0061""#,
    ] {
        client.call(id, "echo").await;
        let expected = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{}}}}\n");
        assert_eq!(client.line().await.unwrap(), expected);
    }
}

#[tokio::test]
async fn every_error_has_a_kind_and_bad_params_a_field() {
    let server = TestServer::start();
    let mut client = server.connect().await;
    for (params, field) in [
        ("{}", "text"),
        (r#"{"text":5}"#, "text"),
        (r#"{"text":"a","numbers":[1,70000]}"#, "numbers[1]"),
        ("5", "params"),
    ] {
        let line = r#"{"jsonrpc":"2.0","id":1,"method":"typed","params":P}"#.replace('P', params);
        client.send(&line).await;
        let data = client.error(json!(1), -32602, "invalid_params").await;
        assert_eq!(data["field"], field, "{params}");
    }
    client.call("1", "fail").await;
    client.error(json!(1), -32050, "internal").await;
    client.call("2", "panic").await;
    client.error(json!(2), -32603, "internal").await;
    client.lives().await;
}

#[tokio::test]
async fn a_disconnect_ends_two_hundred_waits() {
    let server = TestServer::start();
    let mut client = server.connect().await;
    for id in 0..200 {
        client.call(&id.to_string(), "never").await;
    }
    server.waits.until(200).await;
    client.lives().await;
    drop(client);
    server.waits.until(0).await;
}

#[tokio::test]
async fn after_a_half_close_answers_still_come_and_a_hang_up_ends_the_wait() {
    let server = TestServer::start();
    let mut client = server.connect().await;
    let big = r#"{"jsonrpc":"2.0","id":1,"method":"big","params":[3000000]}"#;
    client.0.get_mut().write_all(big.as_bytes()).await.unwrap();
    client.0.get_mut().shutdown().await.unwrap();
    assert!(
        client.answer().await["result"]
            .as_str()
            .is_some_and(|text| text.len() == 3_000_000)
    );
    assert_eq!(client.line().await, None);

    // An answer that comes long after the half close.
    let mut client = server.connect().await;
    client.call("1", "when_two_wait").await;
    client.0.get_mut().shutdown().await.unwrap();
    server.waits.until(1).await;
    let mut other = server.connect().await;
    other.lives().await;
    other.call("2", "never").await;
    assert_eq!(client.answer().await["id"], 1);
    drop(other);
    server.waits.until(0).await;

    let mut client = server.connect().await;
    client.call("1", "never").await;
    client.0.get_mut().shutdown().await.unwrap();
    server.waits.until(1).await;
    drop(client);
    server.waits.until(0).await;
}

#[tokio::test]
async fn a_cancelled_call_is_dropped_and_answered() {
    let server = TestServer::start();
    let mut client = server.connect().await;
    for cancel in [r#""id":9,"#, ""] {
        client.call("\"w\"", "never").await;
        server.waits.until(1).await;
        client
            .send(&format!(
                r#"{{"jsonrpc":"2.0",{cancel}"method":"$/cancel_request","params":{{"requestId":"\u0077"}}}}"#
            ))
            .await;
        if !cancel.is_empty() {
            assert_eq!(client.answer().await["id"], 9);
        }
        client.error(json!("w"), -32800, "cancelled").await;
        server.waits.until(0).await;
    }
    client.send(r#"{"jsonrpc":"2.0","method":"never"}"#).await;
    client.lives().await;
    assert_eq!(server.waits.now.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn calls_in_flight_are_capped_by_an_answer() {
    let server = TestServer::start();
    let mut client = server.connect().await;
    for id in 0..limits::CALLS_IN_FLIGHT_MAX {
        client.call(&id.to_string(), "never").await;
    }
    client.call("\"more\"", "never").await;
    let data = client.error(json!("more"), -32009, "overloaded").await;
    assert_eq!(data["limit"], "calls_in_flight");
}

#[tokio::test]
async fn a_thousand_pipelined_requests_are_all_answered() {
    let server = TestServer::start();
    let mut client = server.connect().await;
    for id in 0..1000 {
        client.call(&id.to_string(), "echo").await;
    }
    for id in 0..1000 {
        let answer = client.answer().await;
        assert_eq!((&answer["id"], &answer["result"]), (&json!(id), &json!({})));
    }
}

#[tokio::test]
async fn a_client_that_never_reads_is_closed() {
    let server = TestServer::start();
    let mut client = server.connect().await;
    let line = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"echo\",\"params\":[\"{}\"]}}\n",
        "x".repeat(1000)
    );
    let flood = async { while client.0.get_mut().write_all(line.as_bytes()).await.is_ok() {} };
    timeout(PATIENCE, flood).await.expect("closed in time");
    server.connect().await.lives().await;
}

#[tokio::test]
async fn a_subscription_is_answered_first_and_loses_nothing() {
    let server = TestServer::start();
    let mut client = server.connect().await;
    client.call("-3", "subscribe").await;
    let answer = client.answer().await;
    assert_eq!(answer["id"], -3);
    for number in 0..200 {
        let event = client.answer().await;
        assert_eq!(
            event["params"],
            json!({"subscription": answer["result"], "result": number})
        );
    }
    let id = &answer["result"];
    client
        .send(&format!(
            r#"{{"jsonrpc":"2.0","id":4,"method":"unsubscribe","params":[{id}]}}"#
        ))
        .await;
    assert_eq!(client.answer().await["result"], true);
}

#[tokio::test]
async fn another_uid_is_closed_at_once() {
    let owner_uid = ServeOptions::default().owner_uid + 1;
    let server = TestServer::start_with(ServeOptions {
        owner_uid,
        ..ServeOptions::default()
    });
    assert_eq!(server.connect().await.line().await, None);
}

#[tokio::test]
async fn one_connection_too_many_is_told_so() {
    let options = ServeOptions {
        connections_max: 1,
        ..ServeOptions::default()
    };
    let server = TestServer::start_with(options);
    let mut first = server.connect().await;
    first.lives().await;
    let mut second = server.connect().await;
    let data = second.error(Value::Null, -32009, "overloaded").await;
    assert_eq!(data["limit"], "connections");
    assert_eq!(second.line().await, None);
    first.lives().await;
}

#[tokio::test]
async fn shutdown_answers_what_is_under_way_and_closes() {
    let server = TestServer::start();
    let mut client = server.connect().await;
    let mut idle = server.connect().await;
    idle.lives().await;
    client.call("1", "never").await;
    server.waits.until(1).await;
    assert_eq!(server.options.stats.connections(), 2);
    server.shutdown.cancel();
    client.error(json!(1), -32010, "unavailable").await;
    let mut rest = Vec::new();
    assert_eq!(client.0.read_to_end(&mut rest).await.unwrap(), 0);
    assert_eq!(idle.line().await, None);
    timeout(limits::SHUTDOWN_DEADLINE, server.task)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(server.options.stats.connections(), 0);
}

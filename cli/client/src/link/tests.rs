//! The link against a small peer that answers as it is told.

use std::path::{Path, PathBuf};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;

use serde_json::{Value, json};
use termd_proto::ErrorKind;
use termd_proto::terminal::{CloseTerminal, WaitForExit};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::UnixListener;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};

use super::connection::connect;
use super::*;
use crate::refusal::kind_of;

/// One connection, on the daemon's side.
struct Peer {
    from: BufReader<OwnedReadHalf>,
    to: OwnedWriteHalf,
}

impl Peer {
    async fn accept(listener: &UnixListener) -> Self {
        let (stream, _) = listener.accept().await.unwrap();
        let (from, to) = stream.into_split();
        Self {
            from: BufReader::new(from),
            to,
        }
    }

    /// The next request, which has to be of this method.
    async fn expect(&mut self, method: &str) -> Value {
        let mut line = String::new();
        assert_ne!(self.from.read_line(&mut line).await.unwrap(), 0, "{method}");
        let request: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(request["method"], method);
        request
    }

    async fn answer(&mut self, request: &Value, member: &str, value: Value) {
        let answer = json!({ "jsonrpc": "2.0", "id": request["id"], member: value });
        self.to
            .write_all(format!("{answer}\n").as_bytes())
            .await
            .unwrap();
    }
}

fn wait_result() -> Value {
    json!({ "exited": true, "exit_status": { "exit_code": 0, "signal": null }, "end": 5 })
}

/// A listener in a directory of its own, and the link's side of a scene.
fn scene() -> (tempfile::TempDir, UnixListener, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let socket = dir.path().join("s");
    let listener = UnixListener::bind(&socket).unwrap();
    (dir, listener, socket)
}

fn unopened(socket: &Path) -> Link {
    let introduction = Introduction::default();
    Link::at(
        SocketPlace::at(socket.to_owned()),
        StartPolicy::Never,
        introduction,
    )
}

async fn open(socket: &Path) -> Link {
    let link = unopened(socket);
    link.connect().await.unwrap();
    link
}

fn close() -> CloseTerminal {
    CloseTerminal {
        id: TerminalRef("t".to_owned()),
        eof_ms: None,
    }
}

fn wait(link: Arc<Link>) -> JoinHandle<Result<bool, ClientError>> {
    tokio::spawn(async move {
        let id = TerminalRef("t".to_owned());
        let request = WaitForExit {
            id,
            timeout_ms: Some(1000),
        };
        link.repeat(&request).await.map(|result| result.exited)
    })
}

#[tokio::test]
async fn hello_goes_first_and_nobody_waits_for_its_answer() {
    let (_dir, listener, socket) = scene();
    let link = Arc::new(open(&socket).await);
    let waiting = wait(Arc::clone(&link));
    let mut peer = Peer::accept(&listener).await;
    let hello = peer.expect("daemon.hello").await;
    assert_eq!(hello["params"]["client"], "termctl");
    assert_eq!(hello["params"]["front"], "cli");
    let request = peer.expect("session.wait").await;
    peer.answer(&request, "result", wait_result()).await;
    assert!(waiting.await.unwrap().unwrap());
}

#[tokio::test]
async fn a_broken_connection_is_replaced_and_the_call_repeated() {
    let (_dir, listener, socket) = scene();
    let link = Arc::new(open(&socket).await);
    link.keep_holding(TerminalRef("t".to_owned()));
    let waiting = wait(Arc::clone(&link));
    let mut first = Peer::accept(&listener).await;
    first.expect("daemon.hello").await;
    first.expect("session.wait").await;
    drop(first);

    let mut second = Peer::accept(&listener).await;
    second.expect("daemon.hello").await;
    let hold = second.expect("session.hold").await;
    assert_eq!(hold["params"]["id"], "t");
    second.answer(&hold, "result", Value::Null).await;
    let request = second.expect("session.wait").await;
    second.answer(&request, "result", wait_result()).await;
    assert!(waiting.await.unwrap().unwrap());
}

#[tokio::test]
async fn a_call_that_starts_something_is_never_sent_twice() {
    let (_dir, listener, socket) = scene();
    let link = Arc::new(open(&socket).await);
    let closer = Arc::clone(&link);
    let closing = tokio::spawn(async move { closer.once(&close()).await });
    let mut first = Peer::accept(&listener).await;
    first.expect("daemon.hello").await;
    first.expect("session.close").await;
    drop(first);
    let mut second = Peer::accept(&listener).await;
    let error = closing.await.unwrap().unwrap_err();
    assert!(matches!(error, ClientError::InDoubt), "{error}");
    // What comes next is the next call.
    let waiting = wait(link);
    second.expect("daemon.hello").await;
    let request = second.expect("session.wait").await;
    second.answer(&request, "result", wait_result()).await;
    assert!(waiting.await.unwrap().unwrap());
}

#[tokio::test]
async fn what_a_parting_daemon_did_not_take_goes_to_the_next() {
    let (_dir, listener, socket) = scene();
    let link = Arc::new(open(&socket).await);
    let closing = tokio::spawn(async move { link.once(&close()).await });
    let mut first = Peer::accept(&listener).await;
    first.expect("daemon.hello").await;
    let request = first.expect("session.close").await;
    let parting = json!({ "code": code::UNAVAILABLE, "message": "stopping" });
    first.answer(&request, "error", parting).await;
    let mut second = Peer::accept(&listener).await;
    second.expect("daemon.hello").await;
    let request = second.expect("session.close").await;
    second.answer(&request, "result", wait_result()).await;
    assert!(closing.await.unwrap().unwrap().exited);
}

#[tokio::test]
async fn a_refusal_is_the_daemons_and_final() {
    let (_dir, listener, socket) = scene();
    let link = Arc::new(open(&socket).await);
    let waiting = wait(link);
    let mut peer = Peer::accept(&listener).await;
    peer.expect("daemon.hello").await;
    let request = peer.expect("session.wait").await;
    let refusal = json!({
        "code": code::RESOURCE_NOT_FOUND,
        "message": "no terminal t",
        "data": { "kind": "terminal_not_found" },
    });
    peer.answer(&request, "error", refusal).await;
    let error = waiting.await.unwrap().unwrap_err();
    let refusal = error.refusal().unwrap();
    assert_eq!(refusal.code(), code::RESOURCE_NOT_FOUND);
    assert_eq!(kind_of(refusal), Some(ErrorKind::TerminalNotFound));
}

/// What a test waits for. A call that is held up fails it.
async fn soon<T>(event: impl Future<Output = T>) -> T {
    timeout(Duration::from_secs(20), event)
        .await
        .expect("held up")
}

/// Runs an event beside a call that has to stay without an answer.
async fn beside<T>(call: Pin<&mut impl Future>, event: impl Future<Output = T>) -> T {
    tokio::select! {
        biased;
        _ = call => panic!("answered"),
        event = soon(event) => event,
    }
}

#[tokio::test]
async fn a_call_that_is_polled_no_more_holds_up_no_other() {
    let (_dir, listener, socket) = scene();
    let link = Arc::new(open(&socket).await);
    link.keep_holding(TerminalRef("t".to_owned()));
    let request = CloseTerminal {
        id: TerminalRef("t".to_owned()),
        eof_ms: None,
    };
    let mut left = pin!(link.repeat(&request));
    let mut first = beside(left.as_mut(), Peer::accept(&listener)).await;
    beside(left.as_mut(), first.expect("daemon.hello")).await;
    beside(left.as_mut(), first.expect("session.close")).await;
    drop(first);
    let mut second = beside(left.as_mut(), Peer::accept(&listener)).await;
    beside(left.as_mut(), second.expect("daemon.hello")).await;
    let hold = beside(left.as_mut(), second.expect("session.hold")).await;
    // From here on nobody polls that call, which is in the midst of a reconnect.
    second.answer(&hold, "result", Value::Null).await;
    let waiting = wait(Arc::clone(&link));
    let request = soon(second.expect("session.wait")).await;
    second.answer(&request, "result", wait_result()).await;
    assert!(soon(waiting).await.unwrap().unwrap());
    // Polled again, the call goes on.
    let request = beside(left.as_mut(), second.expect("session.close")).await;
    second.answer(&request, "result", wait_result()).await;
    assert!(soon(left).await.unwrap().exited);
}

#[tokio::test]
async fn a_call_that_is_dropped_in_a_reconnect_holds_up_no_other() {
    let (_dir, listener, socket) = scene();
    let link = Arc::new(open(&socket).await);
    link.keep_holding(TerminalRef("t".to_owned()));
    let dropped = wait(Arc::clone(&link));
    let mut first = Peer::accept(&listener).await;
    first.expect("daemon.hello").await;
    first.expect("session.wait").await;
    drop(first);
    let mut second = soon(Peer::accept(&listener)).await;
    soon(second.expect("daemon.hello")).await;
    let hold = soon(second.expect("session.hold")).await;
    dropped.abort();
    // The next call needs no third connection.
    let waiting = wait(link);
    second.answer(&hold, "result", Value::Null).await;
    let request = soon(second.expect("session.wait")).await;
    second.answer(&request, "result", wait_result()).await;
    assert!(soon(waiting).await.unwrap().unwrap());
}

#[tokio::test]
async fn a_call_that_opens_the_link_and_is_polled_no_more_holds_up_no_other() {
    let (_dir, listener, socket) = scene();
    let link = Arc::new(unopened(&socket));
    let request = close();
    let mut left = pin!(link.once(&request));
    assert!(std::future::poll_fn(|cx| Poll::Ready(left.as_mut().poll(cx).is_pending())).await);
    let waiting = wait(Arc::clone(&link));
    let mut peer = soon(Peer::accept(&listener)).await;
    soon(peer.expect("daemon.hello")).await;
    let request = soon(peer.expect("session.wait")).await;
    peer.answer(&request, "result", wait_result()).await;
    assert!(soon(waiting).await.unwrap().unwrap());
}

#[tokio::test]
async fn what_is_tied_during_a_reconnect_is_named_too() {
    let (_dir, listener, socket) = scene();
    let link = Arc::new(open(&socket).await);
    link.keep_holding(TerminalRef("t".to_owned()));
    let waiting = wait(Arc::clone(&link));
    let mut first = Peer::accept(&listener).await;
    first.expect("daemon.hello").await;
    drop(first);
    let mut second = soon(Peer::accept(&listener)).await;
    soon(second.expect("daemon.hello")).await;
    let hold = soon(second.expect("session.hold")).await;
    link.keep_holding(TerminalRef("u".to_owned()));
    second.answer(&hold, "result", Value::Null).await;
    let hold = soon(second.expect("session.hold")).await;
    assert_eq!(hold["params"]["id"], "u");
    second.answer(&hold, "result", Value::Null).await;
    let request = soon(second.expect("session.wait")).await;
    second.answer(&request, "result", wait_result()).await;
    assert!(soon(waiting).await.unwrap().unwrap());
}

#[tokio::test(start_paused = true)]
async fn all_that_wait_for_a_daemon_give_it_up_together() {
    let (_dir, listener, socket) = scene();
    let link = Arc::new(open(&socket).await);
    let waiting = [wait(Arc::clone(&link)), wait(Arc::clone(&link))];
    drop(Peer::accept(&listener).await);
    drop(listener);
    let begun = Instant::now();
    for waiting in waiting {
        let error = waiting.await.unwrap().unwrap_err();
        assert!(error.to_string().contains("did not come back"), "{error}");
    }
    assert!(begun.elapsed() < Duration::from_secs(11));
}

#[tokio::test(start_paused = true)]
async fn a_daemon_that_stays_away_is_given_up() {
    let (_dir, listener, socket) = scene();
    let link = Arc::new(open(&socket).await);
    let waiting = wait(link);
    drop(Peer::accept(&listener).await);
    drop(listener);
    let error = waiting.await.unwrap().unwrap_err();
    assert!(error.to_string().contains("did not come back"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_daemon_that_was_given_up_is_looked_for_by_the_next_call() {
    let (_dir, listener, socket) = scene();
    let link = Arc::new(open(&socket).await);
    let waiting = wait(Arc::clone(&link));
    drop(Peer::accept(&listener).await);
    drop(listener);
    waiting.await.unwrap().unwrap_err();
    std::fs::remove_file(&socket).unwrap();
    let listener = UnixListener::bind(&socket).unwrap();
    let waiting = wait(link);
    let mut next = Peer::accept(&listener).await;
    next.expect("daemon.hello").await;
    let request = next.expect("session.wait").await;
    next.answer(&request, "result", wait_result()).await;
    assert!(waiting.await.unwrap().unwrap());
}

#[tokio::test]
async fn nobody_listening_is_no_error() {
    let (_dir, listener, socket) = scene();
    drop(listener);
    assert!(connect(&socket).await.unwrap().is_none());
}

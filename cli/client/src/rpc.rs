//! One connection: jsonrpsee's client, called through its service only.
//!
//! `Client::request` times each call with a timer that has its own thread. Starting that thread and
//! joining it at the end is a good part of a short `termctl`, and waits for a processor on a busy
//! machine. The calls here use the runtime's timer instead.
//!
//! A call ends with an answer, a broken connection or `RequestTimeout` within the connection's
//! deadline. Dropping a call's future cancels the call in the daemon (`$/cancel_request`).

use std::borrow::Cow;
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use jsonrpsee::core::client::async_client::RpcService;
use jsonrpsee::core::client::{
    Client, ClientBuilder, ClientT as _, Error, IdKind, Subscription, SubscriptionClientT as _,
};
use jsonrpsee::core::middleware::{Request as RpcRequest, RpcServiceBuilder, RpcServiceT};
use jsonrpsee::core::params::ObjectParams;
use jsonrpsee::core::traits::ToRpcParams;
use jsonrpsee::types::{Id, ResponseSuccess};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde::de::DeserializeOwned;
use serde_json::value::{RawValue, to_raw_value};
use termd_proto::Method;
use termd_proto::method::Subscribe;
use tokio::net::UnixStream;
use tokio::sync::watch;
use tokio::time::timeout;

use crate::transport::{LineReceiver, LineSender, MAX_LINE_BYTES, Sent, TransportError};

/// Longer than any call takes: a wait takes 30 s at most, ending a terminal takes its grace.
pub(crate) const CALL_DEADLINE: Duration = Duration::from_mins(2);

/// A connection to the daemon.
#[derive(Debug)]
pub struct Rpc {
    client: Arc<Client<RpcService>>,
    /// The service through which the client sends.
    service: Arc<OnceLock<RpcService>>,
    next_id: AtomicU64,
    /// A duplicate of the socket, to poll whether the daemon has hung up.
    socket: Option<OwnedFd>,
    deadline: Duration,
    /// Why no daemon will answer on this connection, once that is known.
    given_up: watch::Sender<Option<String>>,
}

impl Rpc {
    /// Speaks JSON-RPC on this stream, by tasks of the current runtime. `deadline` is for each call.
    pub fn on(stream: UnixStream, deadline: Duration) -> Self {
        let socket = stream.as_fd().try_clone_to_owned().ok();
        let (from, to) = stream.into_split();
        let sent = Sent::default();
        let service = Arc::new(OnceLock::new());
        let kept = Arc::clone(&service);
        // No other middleware: it would log calls, and with them typed text.
        let keep = RpcServiceBuilder::new().layer_fn(move |service: RpcService| {
            kept.get_or_init(|| service.clone());
            service
        });
        let client = ClientBuilder::new()
            // So that these ids never equal the numbers of `call`.
            .id_format(IdKind::String)
            .request_timeout(deadline)
            .set_rpc_middleware(keep)
            .build_with_tokio(
                LineSender::new(to, Arc::clone(&sent)),
                LineReceiver::new(from, MAX_LINE_BYTES, sent),
            );
        Self {
            client: Arc::new(client),
            service,
            next_id: AtomicU64::new(0),
            socket,
            deadline,
            given_up: watch::Sender::new(None),
        }
    }

    /// Ends the calls of this connection, which no daemon will answer.
    pub(crate) fn give_up(&self, reason: String) {
        self.given_up.send_replace(Some(reason));
    }

    /// Resolves to the reason when the connection is given up.
    pub(crate) async fn given_up(&self) -> String {
        let mut given_up = self.given_up.subscribe();
        let reason = given_up.wait_for(Option::is_some).await;
        match reason.ok().and_then(|reason| reason.clone()) {
            Some(reason) => reason,
            None => std::future::pending().await,
        }
    }

    /// Whether the connection stands, as far as is known.
    pub fn is_connected(&self) -> bool {
        self.client.is_connected() && !self.is_hung_up()
    }

    /// Waits until the connection has broken.
    pub async fn disconnected(&self) {
        self.client.on_disconnect().await;
    }

    /// Whether the daemon has hung up. The client knows that only after its task has run.
    fn is_hung_up(&self) -> bool {
        let gone = PollFlags::HUP | PollFlags::RDHUP | PollFlags::ERR;
        self.socket.as_ref().is_some_and(|socket| {
            let mut looked_at = [PollFd::new(socket, PollFlags::RDHUP)];
            let looked = poll(&mut looked_at, Some(&Timespec::default()));
            looked.is_ok() && looked_at[0].revents().intersects(gone)
        })
    }
}

/// Whether a connection has ended before the daemon read the call.
pub(crate) fn is_unread(error: &Error) -> bool {
    match error {
        Error::RestartNeeded(cause) => is_unread(cause),
        Error::Transport(cause) => matches!(cause.downcast_ref(), Some(TransportError::Unread)),
        _ => false,
    }
}

/// A call in flight. Dropping it with its id cancels the call in the daemon.
struct Awaited<'a> {
    client: &'a Arc<Client<RpcService>>,
    id: Option<u64>,
}

impl Drop for Awaited<'_> {
    fn drop(&mut self) {
        let (Some(id), Ok(runtime)) = (self.id, tokio::runtime::Handle::try_current()) else {
            return;
        };
        let client = Arc::clone(self.client);
        runtime.spawn(async move {
            let mut params = ObjectParams::new();
            if params.insert("requestId", id).is_ok() {
                // A broken connection has no call to cancel.
                let _ = client.notification("$/cancel_request", params).await;
            }
        });
    }
}

/// A request to the daemon: a [`Method`]'s params, or a [`RawRequest`].
pub trait Request: Sync {
    /// The type of the result.
    type Answer: DeserializeOwned + Send;

    /// The method's name.
    fn method(&self) -> &'static str;

    /// The params as JSON.
    fn params(&self) -> Result<Cow<'_, RawValue>, serde_json::Error>;
}

impl<M: Method> Request for M {
    type Answer = M::Answer;

    fn method(&self) -> &'static str {
        M::NAME
    }

    fn params(&self) -> Result<Cow<'_, RawValue>, serde_json::Error> {
        to_raw_value(self).map(Cow::Owned)
    }
}

/// A request whose params and result pass unparsed.
#[derive(Debug, Clone)]
pub struct RawRequest {
    /// The method's name.
    pub method: &'static str,
    /// The params as JSON.
    pub params: Arc<RawValue>,
}

impl Request for RawRequest {
    type Answer = Box<RawValue>;

    fn method(&self) -> &'static str {
        self.method
    }

    fn params(&self) -> Result<Cow<'_, RawValue>, serde_json::Error> {
        Ok(Cow::Borrowed(&self.params))
    }
}

impl Rpc {
    /// Makes a call. Dropping the future cancels the call.
    pub async fn call<R: Request>(&self, request: &R) -> Result<R::Answer, Error> {
        // The builder of the client has set it.
        let service = self.service.get().ok_or(Error::ServiceDisconnect)?;
        let number = self.next_id.fetch_add(1, Ordering::Relaxed);
        let params = request.params()?;
        let request = RpcRequest::borrowed(request.method(), Some(&params), Id::Number(number));
        let mut awaited = Awaited {
            client: &self.client,
            id: Some(number),
        };
        let answer = timeout(self.deadline, service.call(request)).await;
        if answer.is_ok() {
            awaited.id = None;
        }
        let response = match answer {
            Ok(Err(Error::ServiceDisconnect)) => return Err(self.client.on_disconnect().await),
            Ok(answer) => answer?,
            Err(_) => return Err(Error::RequestTimeout),
        };
        let success = ResponseSuccess::try_from(response.into_response().into_inner())?;
        Ok(serde_json::from_str(success.result.get())?)
    }

    /// Subscribes. Dropping the subscription ends it.
    pub async fn subscribe<S: Subscribe>(
        &self,
        params: &S,
    ) -> Result<Subscription<S::Item>, Error> {
        let params = RawParams(to_raw_value(params)?);
        self.client.subscribe(S::NAME, params, S::END).await
    }
}

/// Params that are JSON already.
struct RawParams(Box<RawValue>);

impl ToRpcParams for RawParams {
    fn to_rpc_params(self) -> Result<Option<Box<RawValue>>, serde_json::Error> {
        Ok(Some(self.0))
    }
}

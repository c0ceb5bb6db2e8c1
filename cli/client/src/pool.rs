//! Several connections to the daemon, for a front that lives long: one for calls, opened at first use,
//! and others for waits.
//!
//! The daemon bounds the calls in flight on one connection. Waits on their own connections never keep
//! a call from being made. Dropping a call's future cancels the call in the daemon.

use std::borrow::Borrow;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use jsonrpsee::core::client::Subscription;
use termd_proto::method::Subscribe;
use termd_proto::{Tags, TerminalId};
use tokio::time::Instant;

use crate::error::ClientError;
use crate::link::{Introduction, Link, StartPolicy};
use crate::rpc::Request;

/// Most waits on one connection: fewer than the daemon accepts, and than jsonrpsee queues.
const WAITS_PER_LINK: usize = 200;
/// Most characters of a client's name that go into audit records.
const MAX_NAME_CHARS: usize = 100;

/// The daemon, over as many connections as the waits need.
pub struct Pool {
    start: StartPolicy,
    introduction: Mutex<Introduction>,
    calls: OnceLock<Link>,
    waits: Mutex<Vec<Arc<WaitLink>>>,
}

/// A connection for waits.
struct WaitLink {
    link: Link,
    waiting: AtomicUsize,
}

/// A place on a connection for waits.
struct Place(Arc<WaitLink>);

impl Drop for Place {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").finish_non_exhaustive()
    }
}

impl Pool {
    /// A pool without a connection.
    pub fn new(start: StartPolicy, introduction: Introduction) -> Self {
        Self {
            start,
            introduction: Mutex::new(introduction),
            calls: OnceLock::new(),
            waits: Mutex::new(Vec::new()),
        }
    }

    /// Names this client on connections from now on. Control characters, and characters beyond
    /// `MAX_NAME_CHARS`, are left out.
    pub fn introduce_as(&self, name: &str) {
        let name: String = name
            .chars()
            .filter(|character| !character.is_control())
            .take(MAX_NAME_CHARS)
            .collect();
        let mut introduction = self
            .introduction
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        name.trim().clone_into(&mut introduction.client);
    }

    /// Says on connections from now on whether this client can ask its person.
    pub fn set_asks(&self, asks: bool) {
        let introduction = self.introduction.lock();
        introduction.unwrap_or_else(PoisonError::into_inner).asks = asks;
    }

    /// Sets on connections from now on the tags of each terminal that this client creates.
    pub fn set_tags(&self, tags: Tags) {
        let introduction = self.introduction.lock();
        introduction.unwrap_or_else(PoisonError::into_inner).tags = tags;
    }

    /// Connects, so that the first call finds a connection. That call reports a failure.
    pub async fn connect(&self) {
        if let Ok(link) = self.link() {
            let _ = link.connect().await;
        }
    }

    /// Makes an idempotent call, and repeats it until it has an answer.
    pub async fn repeat<R: Request>(&self, request: &R) -> Result<R::Answer, ClientError> {
        self.link()?.repeat(request).await
    }

    /// Makes a call that must not be made twice: it starts, types or ends something.
    pub async fn once<R: Request>(&self, request: &R) -> Result<R::Answer, ClientError> {
        self.link()?.once(request).await
    }

    /// Makes a long idempotent call.
    pub async fn wait<R: Request>(&self, request: &R) -> Result<R::Answer, ClientError> {
        self.wait_with::<R, _>(|| request).await
    }

    /// Makes a long idempotent call, until `deadline` at most. The request is built for each attempt
    /// from the milliseconds that are left.
    pub async fn wait_until<R: Request + Send>(
        &self,
        deadline: Instant,
        request: impl Fn(u64) -> R + Send + Sync,
    ) -> Result<R::Answer, ClientError> {
        let left = || millis(deadline.saturating_duration_since(Instant::now()));
        self.wait_with::<R, _>(|| request(left())).await
    }

    async fn wait_with<R, B>(
        &self,
        request: impl Fn() -> B + Send + Sync,
    ) -> Result<R::Answer, ClientError>
    where
        R: Request,
        B: Borrow<R> + Send + Sync,
    {
        let place = self.place()?;
        // On the heap: many such futures live long.
        Box::pin(place.0.link.repeat_with::<R, B>(request)).await
    }

    /// Subscribes on the connection for calls. The connection's end ends the subscription.
    pub async fn subscribe<S: Subscribe>(
        &self,
        params: &S,
    ) -> Result<Subscription<S::Item>, ClientError> {
        self.link()?.subscribe(params).await
    }

    /// Ties a terminal to this client, over all its connections: the terminal ends with the client.
    pub fn keep_holding(&self, terminal: &TerminalId) -> Result<(), ClientError> {
        self.link()?.keep_holding(terminal.into());
        Ok(())
    }

    /// Unties a terminal that was closed.
    pub fn stop_holding(&self, terminal: &TerminalId) -> Result<(), ClientError> {
        self.link()?.stop_holding(&terminal.into());
        Ok(())
    }

    /// Keeps up the connection that terminals are tied to: reconnects as soon as it breaks, also
    /// without a call. Fails if the daemon stays away.
    pub async fn stay(&self) -> Result<(), ClientError> {
        self.link()?.stay().await
    }

    fn link(&self) -> Result<&Link, ClientError> {
        if let Some(link) = self.calls.get() {
            return Ok(link);
        }
        let link = self.unopened()?;
        Ok(self.calls.get_or_init(|| link))
    }

    fn unopened(&self) -> Result<Link, ClientError> {
        let introduction = self.introduction.lock();
        let introduction = introduction.unwrap_or_else(PoisonError::into_inner);
        Link::unopened(self.start, introduction.clone())
    }

    fn place(&self) -> Result<Place, ClientError> {
        let mut waits = self.waits.lock().unwrap_or_else(PoisonError::into_inner);
        let free = waits
            .iter()
            .find(|link| link.waiting.load(Ordering::Relaxed) < WAITS_PER_LINK);
        let link = if let Some(link) = free {
            Arc::clone(link)
        } else {
            let link = Arc::new(WaitLink {
                link: self.unopened()?,
                waiting: AtomicUsize::new(0),
            });
            waits.push(Arc::clone(&link));
            link
        };
        // Under the lock, so that no other wait takes the same last place.
        link.waiting.fetch_add(1, Ordering::Relaxed);
        Ok(Place(link))
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pool() -> Pool {
        Pool::new(StartPolicy::Never, Introduction::default())
    }

    #[test]
    fn a_wait_more_than_a_connection_takes_gets_another_one() {
        let pool = pool();
        let places: Vec<_> = (0..=WAITS_PER_LINK)
            .map(|_| pool.place().unwrap())
            .collect();
        assert!(Arc::ptr_eq(&places[0].0, &places[WAITS_PER_LINK - 1].0));
        assert!(!Arc::ptr_eq(&places[0].0, &places[WAITS_PER_LINK].0));
        let first = Arc::clone(&places[0].0);
        drop(places);
        assert!(Arc::ptr_eq(&first, &pool.place().unwrap().0));
    }

    #[test]
    fn a_name_has_no_control_characters_and_an_end() {
        let table = [
            ("a\u{1b}[31m 1", "a[31m 1".to_owned()),
            ("  b \n", "b".to_owned()),
            (&"é".repeat(200), "é".repeat(100)),
        ];
        for (name, want) in table {
            let pool = pool();
            pool.introduce_as(name);
            let introduction = pool.introduction.lock().unwrap();
            assert_eq!(introduction.client, want, "{name:?}");
        }
    }
}

//! Progress notifications of a long call, once a second, to a client that gave a token.

use std::time::Duration;

use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RoleServer};
use termd_proto::TerminalRef;
use termd_proto::terminal::ShowTerminal;
use tokio::time::{Instant, MissedTickBehavior, interval_at};

use crate::backend::Backend;

/// The time between two notifications.
const PERIOD: Duration = Duration::from_secs(1);

/// The notifications of one call.
#[derive(Debug, Clone)]
pub(crate) struct Progress {
    /// `None`: the client gave no token.
    receiver: Option<(Peer<RoleServer>, ProgressToken)>,
}

impl Progress {
    pub(crate) fn new(peer: Peer<RoleServer>, token: Option<ProgressToken>) -> Self {
        Self {
            receiver: token.map(|token| (peer, token)),
        }
    }

    /// Does the work. The client hears how long it has taken and how much the terminal has printed.
    pub(crate) async fn during<T>(
        &self,
        backend: &Backend,
        terminal: &TerminalRef,
        work: impl Future<Output = T>,
    ) -> T {
        let Some((peer, token)) = &self.receiver else {
            return work.await;
        };
        let begun = Instant::now();
        let mut ticks = interval_at(begun + PERIOD, PERIOD);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut before = None;
        let mut work = std::pin::pin!(work);
        loop {
            tokio::select! {
                biased;
                done = &mut work => return done,
                _ = ticks.tick() => {}
            }
            let tell = async {
                let end = backend
                    .pool()
                    .repeat(&ShowTerminal {
                        id: terminal.clone(),
                    })
                    .await
                    .map(|info| info.end)
                    .ok();
                let seconds = begun.elapsed().as_secs_f64();
                let message = match (end, before) {
                    (Some(end), Some(before)) => {
                        format!("{seconds:.1} s, {} more bytes", end.since(before))
                    }
                    _ => format!("{seconds:.1} s"),
                };
                before = before.or(end);
                let param =
                    ProgressNotificationParam::new(token.clone(), seconds).with_message(message);
                // A client that is gone ends the process.
                let _ = peer.notify_progress(param).await;
            };
            tokio::select! {
                biased;
                done = &mut work => return done,
                () = tell => {}
            }
        }
    }
}

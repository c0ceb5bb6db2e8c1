//! Telling the client how a long call goes, where it gave a token: once a second, not more often.

use std::time::Duration;

use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RoleServer};
use termd_proto::TerminalRef;
use termd_proto::terminal::ShowTerminal;
use tokio::time::{Instant, MissedTickBehavior, interval_at};

use super::backend::Backend;

/// Between two notifications.
const PERIOD: Duration = Duration::from_secs(1);

/// Tells the client of one call how it goes.
#[derive(Debug, Clone)]
pub(crate) struct Progress {
    asked: Option<(Peer<RoleServer>, ProgressToken)>,
}

impl Progress {
    /// To this client, where it gave a token.
    pub(crate) fn new(peer: Peer<RoleServer>, token: Option<ProgressToken>) -> Self {
        Self {
            asked: token.map(|token| (peer, token)),
        }
    }

    /// Does the work, and tells the client how long it has taken and how much the terminal has
    /// printed meanwhile.
    pub(crate) async fn during<T>(
        &self,
        backend: &Backend,
        terminal: &TerminalRef,
        work: impl Future<Output = T>,
    ) -> T {
        let Some((peer, token)) = &self.asked else {
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

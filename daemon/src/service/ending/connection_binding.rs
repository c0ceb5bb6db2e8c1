//! Terminals that end with the connections they are bound to.

use std::sync::Arc;
use std::time::Duration;

use termd_proto::terminal::{CloseCause, Owner, TerminalState};
use tokio_util::sync::CancellationToken;

use super::closing::Closing;
use super::ender::Ender;
use super::leftovers::Leftovers;
use crate::keeper_client::KeeperClient;
use crate::terminal::handle::Terminal;

/// How long a terminal that is to end with its connection waits for that client to come back after
/// the server was replaced.
const CLIENT_RETURNS_WITHIN: Duration = Duration::from_secs(30);

/// Binds terminals to connections. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct ConnectionBinding {
    ender: Arc<Ender>,
    leftovers: Leftovers,
    stopping: CancellationToken,
}

impl ConnectionBinding {
    pub(crate) fn new(
        ender: Arc<Ender>,
        keeper: KeeperClient,
        stopping: CancellationToken,
    ) -> Self {
        let leftovers = Leftovers::new(keeper);
        Self {
            ender,
            leftovers,
            stopping,
        }
    }

    /// Binds a terminal to something that ends. It is closed with the last that it is bound to.
    pub(crate) fn bind_to_connection(
        &self,
        terminal: &Arc<Terminal>,
        actor: Owner,
        ended: impl Future<Output = ()> + Send + 'static,
    ) {
        terminal.connections.bind();
        let (this, terminal) = (self.clone(), Arc::clone(terminal));
        tokio::spawn(async move {
            let mut watch = terminal.watch_unattended();
            let closed = watch.wait_for(|progress| progress.closed_at_ms.is_some());
            tokio::select! {
                () = ended => {}
                _ = closed => return,
            }
            // When the server ends, its connections do too. The next server hears from the clients.
            if terminal.connections.unbind() && !this.stopping.is_cancelled() {
                this.close_unbound(&terminal, &actor).await;
            }
        });
    }

    /// Closes a terminal that an earlier server had bound, unless its client comes back soon.
    pub(crate) fn expect_client(&self, terminal: &Arc<Terminal>) {
        let (this, terminal) = (self.clone(), Arc::clone(terminal));
        tokio::spawn(async move {
            tokio::time::sleep(CLIENT_RETURNS_WITHIN).await;
            this.close_unbound(&terminal, &terminal.record.owner).await;
        });
    }

    /// Closes a terminal that is bound to nothing, or what its command has left, once that may not live
    /// any longer.
    async fn close_unbound(&self, terminal: &Arc<Terminal>, actor: &Owner) {
        if !terminal.connections.is_unbound() {
            return;
        }
        let has_exited = terminal.state() == TerminalState::Exited;
        let children = terminal.record.children.filter(|_| has_exited);
        let cause = match children {
            Some(children) => {
                let mut watch = terminal.watch_unattended();
                let closed = watch.wait_for(|progress| progress.closed_at_ms.is_some());
                tokio::select! {
                    cause = self.leftovers.outlived(terminal, children) => cause,
                    _ = closed => return,
                }
            }
            None => CloseCause::Disconnect,
        };
        let closing = Closing::because(cause);
        if let Err(error) = self.ender.finish(terminal, actor, closing).await {
            tracing::warn!(terminal = %terminal.id(), %error, "cannot close what is bound to nothing");
        }
    }
}

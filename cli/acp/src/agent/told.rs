//! The signals that the proxy and the agent's supervisor listen to.

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::error::AcpError;

/// Signals by which somebody says that it is to end.
#[derive(Debug)]
pub(super) struct Told {
    terminate: Signal,
    interrupt: Signal,
    hang_up: Signal,
}

impl Told {
    /// Listens from now on.
    pub(super) fn listen() -> Result<Self, AcpError> {
        Ok(Self {
            terminate: listen(SignalKind::terminate())?,
            interrupt: listen(SignalKind::interrupt())?,
            hang_up: listen(SignalKind::hangup())?,
        })
    }

    /// Somebody says it.
    pub(super) async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
            _ = self.hang_up.recv() => {}
        }
    }
}

/// Children that end.
#[derive(Debug)]
pub(super) struct Children(Signal);

impl Children {
    /// Listens from now on; also to those signals that are nothing to us, so that what whoever
    /// started us ignores is not ignored in what is started from here: execve(2) keeps what is
    /// ignored, and takes back what has a handler.
    pub(super) fn listen() -> Result<Self, AcpError> {
        for kind in [
            SignalKind::quit(),
            SignalKind::user_defined1(),
            SignalKind::user_defined2(),
            SignalKind::alarm(),
        ] {
            // The handler stays; the stream is not needed.
            drop(listen(kind)?);
        }
        Ok(Self(listen(SignalKind::child())?))
    }

    /// One or more have ended, or stopped, or go on.
    pub(super) async fn changed(&mut self) {
        self.0.recv().await;
    }
}

fn listen(kind: SignalKind) -> Result<Signal, AcpError> {
    signal(kind).map_err(AcpError::Signals)
}
